/* A contestant: a program that does the work of one side in a process of its own, told what to do line by
 * line (contestants/PROTOCOL.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CONTESTANT_H
#define BENCH_CONTESTANT_H

#include "tests/bench/support/bench.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct bench_contestant bench_contestant;

/* Whether `who` is there to take part: its program is, and nobody wants it to stay out. If not, says so on
 * the table, once a run. */
bool contestant_is_there(const bench_run *bench, const char *who);
/* Starts it, which dies with this program, and has it open the server at `url`. A JVM that was started
 * before and was ended since is taken again, compiled as its code is by then. NULL: it failed, which has been
 * said, as below. */
bench_contestant *contestant_start(const bench_run *bench, const char *who, const char *url);
pid_t contestant_pid(const bench_contestant *contestant);
/* Whether it is taken again: it needs no long warm-up. */
bool contestant_is_warm(const bench_contestant *contestant);

/* Sends one line, which `format` makes (without its end). */
bool contestant_tell(bench_contestant *contestant, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next line it answers within `ms`, without its first word, which has to be `word`; it is valid until the
 * next one. NULL: another line, none in time, or the program ended. */
const char *contestant_hear(bench_contestant *contestant, const char *word, int ms);
/* Both. */
const char *contestant_ask(bench_contestant *contestant, int ms, const char *word, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends it, or keeps a JVM for the next contestant_start(). */
void contestant_end(bench_contestant *contestant);
/* Ends it in any case. */
void contestant_quit(bench_contestant *contestant);
/* Ends those that are kept. */
void contestant_end_all(void);

#endif

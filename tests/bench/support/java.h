/* The real Redisson in a JVM: the agent of the interop tests, told what to do line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_JAVA_H
#define BENCH_JAVA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct bench_java {
    pid_t pid;
    FILE *in, *out; /* its stdin and stdout */
    int tags;
} bench_java;

/* Starts the launcher at `agent`, which dies with this program, and has it connect to the server at
 * `url`. False: it has been said. */
bool java_start(bench_java *java, const char *agent, const char *url);
void java_stop(bench_java *java);

/* Has `threads` Java threads take turns on the counter in `file` under the fair lock `name` until it
 * stands at `total`. *ns: from the first one's begin to the last one's end. */
bool java_turns(bench_java *java, const char *name, int threads, const char *file, int64_t total, int64_t *ns);

#endif

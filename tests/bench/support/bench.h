/* The bench: what every row of the report is measured with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "tests/bench/support/redis.h"
#include "tests/bench/support/report.h"

#include <stdbool.h>

typedef struct bench_run {
    bench_redis redis;
    bench_report report;
    const char *url;      /* of the server, for contestants in C; others know loopback alone */
    const char *folder;   /* where the contestants' programs are */
    const char *before;   /* where another version's are, whose rlock stands in for raw; NULL: there is none */
    const char *scratch;  /* a folder for what a row writes; it goes with all that is in it */
    const char *without;  /* contestants that are to stay out, words between commas; NULL: none */
    bool all_peers;       /* other products than the usual ones take part, too */
    char claims[64];      /* the path of the file of claims */
} bench_run;

/* Whether `word` is one of those between commas in `words`. */
bool bench_has_word(const char *words, const char *word);

#endif

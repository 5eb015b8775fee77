/* Ranges of sorted sets: by rank or by score, either way round. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_ZRANGES_H
#define SIM_SERVER_ZRANGES_H

#include "tests/sim/server/answer.h"

/* Members by their rank, from `first` to before `end`. */
typedef struct zspan {
    size_t first, end;
} zspan;

typedef struct zbounds {
    double least, most;
    bool above, below; /* the bound itself is left out */
} zbounds;

/* False: an error was said. */
bool zbounds_read(sim_call *call, int least_word, int most_word, zbounds *bounds);
zspan zspan_in(const sim_value *zset, const zbounds *bounds);
/* From and to count from the end when below 0. */
zspan zspan_by_rank(const sim_value *zset, int64_t from, int64_t to);

void run_zunionstore(sim_call *call); /* zstore.c */
void run_zinterstore(sim_call *call);

void run_zrange(sim_call *call);
void run_zrevrange(sim_call *call);
void run_zrangebyscore(sim_call *call);
void run_zrevrangebyscore(sim_call *call);

#endif

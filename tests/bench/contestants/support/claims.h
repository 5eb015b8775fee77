/* Claims: who holds a lock says so in memory that all contestants share, so that a second holder is seen. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CLAIMS_H
#define BENCH_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_claim {
    _Atomic uint64_t holder; /* 0, or the id of the contender that holds the lock of that name */
    _Atomic uint64_t last;   /* the id of the contender that held it last; the holder alone writes it */
} bench_claim;

/* Maps the file of claims at `path`; false: errno says why. */
bool claims_map(const char *path);
/* The claim of a name; the same for every contestant. */
bench_claim *claims_of(const char *name);
/* The id of thread `index` of this process. */
uint64_t claims_id(int index);
/* To be called with the lock held, and before it is given back. False: somebody else is in there. */
bool claims_enter(bench_claim *claim, uint64_t id);
bool claims_leave(bench_claim *claim, uint64_t id);
/* To be called with the lock held. Whether it was handed on: another contender held it last. */
bool claims_handed(bench_claim *claim, uint64_t id);

#endif

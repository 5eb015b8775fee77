/* A gate: what the parts of a client know of its life, that is whether it is open, and that it is still needed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GATE_H
#define RLI_GATE_H

#include "base/park.h"

#include <pthread.h>
#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One that sleeps behind the gate, to be woken when it closes. */
typedef struct rli_sleeper {
    struct rli_sleeper *next, *previous; /* guarded by the gate's mutex */
    rli_parker *parker;
} rli_sleeper;

typedef struct rli_gate {
    atomic_int references; /* the program's own, one a handle, one an operation under way */
    atomic_bool closed;
    unsigned generation; /* of forks, when it was made */
    pthread_mutex_t mutex;
    rli_sleeper *sleepers;                   /* guarded by mutex */
    void (*unneeded)(struct rli_gate *gate); /* the last reference has gone: frees what the gate is of */
} rli_gate;

/* Open, with one reference. */
void rli_gate_init(rli_gate *gate, void (*unneeded)(rli_gate *gate));
void rli_gate_destroy(rli_gate *gate);

/* Whether a parent process made it; all that it is of is the parent's then. */
bool rli_gate_is_forked(const rli_gate *gate);
/* RLOCK_OK, RLOCK_FORKED: the parent process made it, or RLOCK_CLOSED; touches no mutex. */
rlock_status rli_gate_check(const rli_gate *gate);
/* RLOCK_OK, or RLOCK_CLOSED with its message. */
rlock_status rli_gate_check_open(const rli_gate *gate);

void rli_gate_keep(rli_gate *gate);
/* One reference less. In a forked child nothing happens: mutexes may be in any state there, and the copy is left alone. */
void rli_gate_release(rli_gate *gate);

/* False: it was closed before, or just now; the sleeper is listed all the same. */
bool rli_gate_list(rli_gate *gate, rli_sleeper *sleeper);
void rli_gate_unlist(rli_gate *gate, rli_sleeper *sleeper);
/* For good; wakes those who sleep. */
void rli_gate_close(rli_gate *gate);

#endif

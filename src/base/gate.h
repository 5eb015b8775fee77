/* A gate: whether a client is open, and how many references it has.
 *
 * The parts of a client share its gate and need not know the client itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GATE_H
#define RLI_GATE_H

#include "base/bell.h"
#include "base/park.h"

#include <pthread.h>
#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A thread that sleeps in an operation and must wake when the gate closes. Lives on that thread's stack. */
typedef struct rli_sleeper {
    struct rli_sleeper *next, *previous; /* guarded by the gate's mutex */
    rli_parker *parker;
} rli_sleeper;

typedef struct rli_gate {
    atomic_int references; /* the program's own, one per handle, one per operation */
    atomic_bool closed;
    unsigned generation; /* fork generation in which the gate was created */
    pthread_mutex_t mutex;
    rli_sleeper *sleepers; /* guarded by mutex */
    rli_bell bell;         /* for an operation that polls a socket while it sleeps */
    /* called when the last reference is released; frees the owner of the gate */
    void (*unneeded)(struct rli_gate *gate);
} rli_gate;

/* Opens the gate with one reference. `unneeded` is called, on the releasing thread, when the last reference goes. */
void rli_gate_init(rli_gate *gate, void (*unneeded)(rli_gate *gate));
void rli_gate_destroy(rli_gate *gate);

/* Whether the gate was created by a parent process. If so, everything that belongs to it is the parent's. */
bool rli_gate_is_forked(const rli_gate *gate);
/* RLOCK_OK; RLOCK_FORKED: a parent process created the gate; RLOCK_CLOSED. Sets the error message. Touches no mutex. */
rlock_status rli_gate_check(const rli_gate *gate);
/* RLOCK_OK, or RLOCK_CLOSED with the error message set. Does not check for a fork. */
rlock_status rli_gate_check_open(const rli_gate *gate);

/* Adds a reference. */
void rli_gate_ref(rli_gate *gate);
/* Drops a reference, and calls `unneeded` if it was the last. Does nothing in a forked child: mutexes may be in any
 * state there, so the child's copy is left alone. */
void rli_gate_unref(rli_gate *gate);

/* Registers the sleeper, so that rli_gate_close unparks its parker. False: the gate is closed, so do not sleep; the
 * sleeper is registered even then. Always pair with rli_gate_unlist. */
bool rli_gate_list(rli_gate *gate, rli_sleeper *sleeper);
void rli_gate_unlist(rli_gate *gate, rli_sleeper *sleeper);
/* Closes the gate for good and unparks all registered sleepers. */
void rli_gate_close(rli_gate *gate);

#endif

/* A run: the processes of a plan in their world, from their first call to their last. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "tests/sim/check/ledger.h"
#include "tests/sim/program/plan.h"
#include "tests/sim/world/network.h"
#include "tests/sim/world/threads.h"

#include <rlock/rlock.h>

#define OWNERS PLAN_OWNERS
#define PERMITS_HELD 8

/* One client, in a process of its own. */
typedef struct process {
    const plan *plan;
    int index;
    machine *machine;
    rlock_client *client; /* NULL: it could not be opened */
    bool closed;
    thread *main;
    rlock_singleflight *flights; /* NULL: the plan has none, or no memory */
    int told;             /* losses, so far */
    bool doubts; /* a call of it did not succeed */
} process;

/* One thread of the plan. */
typedef struct worker {
    process *of;
    const plan_thread *plan;
    int index;
    thread *thread;
    rlock *locks[PLAN_OBJECTS][OWNERS];
    rlock_read_write_lock *pairs[PLAN_OBJECTS];
    rlock_semaphore *semaphores[PLAN_OBJECTS];
    rlock_permit_semaphore *permit_semaphores[PLAN_OBJECTS];
    rlock_count_down_latch *latches[PLAN_OBJECTS];
    rlock_permit permits[PLAN_OBJECTS][PERMITS_HELD];
    int permit_count[PLAN_OBJECTS];
    int taken[PLAN_OBJECTS]; /* of a plain semaphore */
    int waits_for;           /* the resource of an acquire under way that may wait; -1: none */
    int wants;               /* of permits */
    side waits_as;           /* for a lock */
    bool waits_named;        /* as a named owner, who may wait in several threads */
    const struct hold *waits_with; /* its owner's hold of that */
    unsigned waits_gains;          /* how often that had been granted when the call began */
    int64_t waits_until_ns;  /* it gives up then */
    int64_t waits_since_ns, could_since_ns; /* it could have what it waits for, whenever the checker looked */
    uint64_t token;          /* of the last fenced lock that it took; 0: it took none */
    bool left;               /* it ended, whatever it held */
} worker;

/* The run of a plan, in this process, which it ends: RUN_WELL or RUN_FOUND. Writes what is to be counted of it. */
typedef struct run_counts {
    int64_t calls, faults, steps, virtual_ms;
    uint64_t trace;
} run_counts;
run_counts run_plan(const plan *plan);

/* --- of the run under way --- */

extern const plan *run_of;
int64_t run_patience_ms(const process *of);
int64_t run_background_ms(void); /* within that time what is in doubt is given back, where nothing goes wrong */
int64_t run_timeout_ms(const process *of); /* for an answer */
/* The timeout of its handles, which is a part of its client's; -1: they have none of their own. */
int64_t run_hasty_ms(const process *of);
int64_t run_watchdog_ms(const process *of);
/* A field that no lock has stands in that one, and stays. */
void run_odd_field(int resource);
bool run_has_odd_field(int resource);
int run_resource(const plan *plan, int object);
/* Whether all locks that share its name are of one kind. */
bool run_is_of_one_kind(int resource);
/* …and wait in one queue. */
bool run_is_fair(int resource);
/* Whether nothing happens in which a hold of that client's that is renewed could be lost: a connection is cut or silent, once
 * or twice; or slots move. */
bool run_keeps_holds(int client);
bool run_has_composite(void);
bool run_has_fault(fault_kind kind);
/* Whether all that goes wrong is that machines stand still. */
bool run_only_stops(void);
bool run_only_deletes_and_cuts(void); /* foreign hands delete locks, and connections end */
bool run_only_fills(void); /* all that is wrong is that the server takes no more connections for a while */
/* Whether a lock has that key on a server, or a member of it has. */
bool run_is_of(int object, const char *name, size_t length);
/* Whether rlock_on_lost calls it so: by its own name, or by that of a part of it. */
bool run_is_called(int object, const char *name);
/* Foreign hands were at that lock, and so at all that are made of it: see ledger_void. */
void run_void(int object, const char *why);
int run_worker_count(void);
worker *run_worker(int index);
process *run_process(int index);
machine *run_machine(int number); /* of a client or an actor */
/* Whether nothing has gone wrong, nor will, that could excuse a call that fails. */
bool run_is_calm(void);
/* Nothing but that slots of a cluster move, which no call is to notice. */
bool run_only_moves(void);
bool run_only_shortens(void); /* nothing goes wrong but that others set the time of keys */
/* Whether nothing goes wrong but that foreign hands delete locks. */
bool run_is_gentle(void);
/* Whether nothing fails in it at all, however long it takes. */
bool run_is_whole(void);
void run_count_call(void);
void run_count_fault(void);
/* The faults are over. */
bool run_is_healed(void);
/* Since when nothing goes wrong any more that a call could fail for; WORLD_NEVER: that cannot be said. */
int64_t run_well_since_ns(void);

#endif

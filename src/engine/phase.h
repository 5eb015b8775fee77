/* Phase: what has become of a session, and what may become of it next. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PHASE_H
#define RLI_PHASE_H

#include <stdbool.h>

typedef enum rli_phase {
    RLI_OPEN, /* it has operations under way, or holds that are valid until the deadline */
    /* Its last hold was released. A call that still wants the lock needs another session, because that release may have
     * been sent twice, and may run late. */
    RLI_DONE,
    RLI_RELEASING_ASYNC, /* its last release is under way, and nobody waits for the answer (async_release.h) */
    RLI_KEPT, /* its last hold was given back in this process alone; a waiter here may take it (local_handoff.h) */
    RLI_LOST, /* lost, for good: its unlocks answer RLOCK_LOST */
    RLI_COMPENSATING, /* it has no owner any more; it is released in the background while a request may run late */
    RLI_PHASES
} rli_phase;

/* Whether a session may go from one phase to the other. The table in phase.c holds all transitions there are. */
bool rli_phase_may_become(rli_phase from, rli_phase to);

#endif

/* Acquiring: one more hold for an owner, at once or after a wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ACQUIRE_H
#define RLI_ACQUIRE_H

#include "engine/engine.h"
#include "engine/kind.h"
#include "engine/owner.h"

#include <rlock/cancel.h>
#include <rlock/lock.h>

typedef struct rli_acquire {
    rli_engine *engine;
    const rli_kind *kind;
    const rli_names *names;
    rli_owner owner;
    int64_t wait_ms;   /* RLOCK_FOREVER; 0 or less: ask once */
    int64_t answer_ms; /* how long a question is waited for at least; RLI_NEVER: for the configured timeout */
    int64_t lease_ms;  /* RLOCK_WATCHDOG or checked */
    const rlock_back_off *back_off; /* kinds that spin: how long between two questions */
    uint64_t *token;                /* of a fenced lock's grant, set on RLOCK_OK; NULL: not wanted */
    rlock_cancel *cancel;
} rli_acquire;

/* As rlock_lock_with. */
rlock_status rli_acquire_run(const rli_acquire *acquire);

#endif

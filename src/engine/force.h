/* Force: releases a lock whoever holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_FORCE_H
#define RLI_FORCE_H

#include "engine/engine.h"
#include "engine/kind.h"

typedef struct rli_forced_hold {
    rli_entry *entry; /* referenced */
    uint64_t number;  /* of its session */
    const rli_kind *kind;
} rli_forced_hold;

/* One forced release under way. */
typedef struct rli_forcing {
    rli_engine *engine;
    const rli_kind *kind;
    const rli_names *names;
    rli_operation *op;
    rli_entry *entry;      /* referenced */
    rli_forced_hold *held; /* those that it is meant for; NULL: none */
    size_t held_count;
    bool was_locked; /* set on RLOCK_OK */
    rli_call call;
} rli_forcing;

/* Releases as rlock_force_unlock does, with the same statuses, for an operation with or without a thread. Takes the
 * engine's mutex itself. rli_force_begin: RLOCK_OK, or the status with which it ends. rli_force_go_on: RLI_WAITING, or
 * the status with which it has ended. */
rlock_status rli_force_begin(rli_forcing *forcing, rli_engine *engine, const rli_kind *kind, const rli_names *names,
                             rli_operation *op);
rlock_status rli_force_go_on(rli_forcing *forcing);

#endif

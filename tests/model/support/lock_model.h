/* A model of what one lock's owners know and hold: the sessions of C's owners, and Redisson's threads,
 * which know nothing but what the server says. Below it is the model of the server (stored_lock.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOCK_MODEL_H
#define LOCK_MODEL_H

#include "tests/integration/support/kinds.h"
#include "tests/model/support/sequence.h"
#include "tests/model/support/stored_lock.h"

#define MODEL_SESSIONS 128
#define MODEL_LEVELS 16 /* how often an owner may hold it */
#define MODEL_WATCHDOG_MS 30000

typedef enum lock_operation {
    LOCK_PASS = MOVE_PASS,
    LOCK_TRY,   /* without waiting */
    LOCK_TOKEN, /* the same, and gets the token */
    LOCK_LOCK,  /* and waits, if need be */
    LOCK_UNLOCK,
    LOCK_FORCE,
    LOCK_IS_LOCKED,
    LOCK_IS_HELD,
    LOCK_COUNT,
    LOCK_TTL,
    LOCK_VALID_FOR,
    LOCK_GET_TOKEN,
    LOCK_VANISH, /* somebody deletes the key */
    LOCK_REMAKE, /* frees the owner's handle and makes another */
    LOCK_OPERATIONS
} lock_operation;

/* All that one owner of C does on one side, until no hold of it is left; or is lost, until it is told. */
typedef struct session {
    char label[LABEL];
    int client, owner;
    lock_side side;
    bool write, over;
    bool lent;   /* a write hold under whose label the owner has read */
    int count;   /* holds; when over: unlocks that are still to be told */
    int highest; /* the most there were */
    int64_t leases_ms[MODEL_LEVELS]; /* of each hold, or RLOCK_WATCHDOG */
    span ends[MODEL_LEVELS];         /* read holds: of each */
    int64_t explicit_ms;             /* the longest lease asked for */
    span deadline;                   /* until when it may be relied on */
    int64_t token;                   /* of the latest grant; 0: it had none */
} session;

typedef struct lock_model {
    bool theirs[2]; /* whether the client is Redisson */
    stored_lock stored;
    session sessions[MODEL_SESSIONS]; /* older ones first */
    int session_count, labels;
    char newest[LABEL];
    bool settles; /* something is done in the background since the last lock_model_expect */
} lock_model;

outcome lock_model_play(lock_model *model, const move *step, const kind *of, span when);
void lock_model_pass(lock_model *model, int64_t now_ms);
span lock_model_next_end(const lock_model *model, int64_t now_ms);
/* How often the owner holds it, as far as it knows. */
int lock_model_held(const lock_model *model, const move *step, const kind *of);
void lock_model_expect(lock_model *model, const char *name, expected *keys);

#endif

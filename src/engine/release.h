/* Release: gives back one hold of its owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RELEASE_H
#define RLI_RELEASE_H

#include "engine/engine.h"
#include "engine/handoff.h"
#include "engine/kind.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct rli_release {
    rli_engine *engine;
    const rli_kind *kind;
    const rli_names *names;
    rli_owner owner;
    int64_t answer_ms; /* how long to wait for the answer; RLI_NEVER: as long as the configured attempts take */
    uint64_t only; /* gives back nothing but a hold of the session with that number; 0: of whichever the owner has */
    bool sharded;  /* gives back nothing but a hold that a sharded lock has taken */
} rli_release;

/* How far a release is. */
typedef enum rli_release_stage {
    RLI_RELEASE_AWAITS_TURN, /* another operation of the owner is under way in its session */
    RLI_RELEASE_UNDER_WAY    /* its request is, in the session's turn */
} rli_release_stage;

/* One release under way. */
typedef struct rli_releasing {
    const rli_release *asked;
    rli_engine *engine;
    rli_operation *op;
    rli_release_stage stage;
    rli_session *session; /* NULL: not known yet */
    const rli_kind *kind;
    const rli_names *names;
    bool sharded;
    char owner[RLI_OWNER_TEXT];
    rli_request request;
    int64_t stands_ms; /* a read hold: until when it was valid; else 0 */
    int64_t ends_ms;   /* a read hold: until when the server keeps it if the release does not arrive; else 0 */
    bool hands_over;
    rli_handoff handoff; /* with hands_over */
    rli_call call;
} rli_releasing;

/* Releases as rlock_unlock does, with the same statuses, for an operation with or without a thread. Takes the engine's
 * mutex itself. `asked` must live until its end. rli_release_go_on: RLI_WAITING, or the status with which it has
 * ended. */
void rli_release_begin(rli_releasing *release, const rli_release *asked, rli_operation *op);
rlock_status rli_release_go_on(rli_releasing *release);

/* Releases on the server a hold that was kept for a waiter which has gone (rli_local_handoff_pass_on), as a part of
 * its operation. Waits briefly; if there is no answer, the watchdog repeats the release in the background. RLI_WAITING:
 * call it again; RLOCK_OK: done, as far as it can be. Mutex not held. */
rlock_status rli_release_kept(rli_engine *engine, rli_session *kept, const rli_names *names, rli_operation *op);

#endif

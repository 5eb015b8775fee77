/* Async releases: last releases that nobody waits for. They are on the wire when unlock returns; what the server made of
 * them is heard later, and a refusal is reported as a loss. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASYNC_RELEASE_H
#define RLI_ASYNC_RELEASE_H

#include "engine/holds.h"
#include "redis/call.h"
#include "redis/pipeline/pending.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a session, from its last release until it is known what became of that. Guarded by the engine's mutex, but for its
 * slot, which is the pipeline's until it is told. */
typedef struct rli_async_release {
    rli_pending pending; /* first: the request */
    rli_engine *engine;
    rli_session *session;
    rli_pipeline *pipeline; /* where it went… */
    unsigned drops;         /* …and how often connections had been dropped there before */
    uint64_t run;           /* the server run that may have run it unheard; 0: unknown */
    bool told;              /* its slot has its outcome, and is the pipeline's no more */
    bool unanswered;        /* it may have run unheard */
    bool replaced;          /* a later session of the owner has asked for the lock in this one's place */
} rli_async_release;

/* Sends the session's last release, which `call` says, and waits for nothing. False: it is to be waited for, by the
 * client's settings or because it could not be sent so; nothing has been sent. True: the session is gone for its
 * owner. In the session's turn, with an attempt that keeps it. Engine's mutex held on entry and return, not meanwhile. */
bool rli_async_release_send(rli_engine *engine, rli_session *session, rli_call *call);

/* The release was sent again in the background: what came of that. True: the session was reported as lost, and perhaps
 * freed. Engine's mutex held. */
bool rli_async_release_repeated(rli_engine *engine, rli_session *session, rlock_status status, const rli_call *call);
/* It is not sent again: its lease has ended. The session is reported as lost, and perhaps freed. Engine's mutex held. */
void rli_async_release_end(rli_engine *engine, rli_session *session);

/* Waits until it is known of all async releases what became of them, for so long at most. Engine's mutex not held. */
void rli_async_releases_await(rli_engine *engine, int64_t until_ms);

#endif

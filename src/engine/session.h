/* Sessions: what an owner holds of a name, and until when it may rely on that. They are begun, found and ended in
 * holds.h, whose mutex every function here expects to be held. No I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SESSION_H
#define RLI_SESSION_H

#include "engine/engine.h"

/* Within a session, which has an attempt, one request is under way at a time. Waits (without the mutex meanwhile)
 * until it is this call's turn, `until_ms`, or the call was ended. RLOCK_OK: end the turn. RLOCK_TIMEOUT. */
rlock_status rli_session_begin_turn(rli_engine *engine, rli_session *session, rli_operation *op, int64_t until_ms);
void rli_session_end_turn(rli_session *session);
/* The same in the session by which the owner holds the lock, with an attempt: to be left. RLOCK_OK with *held NULL: it
 * holds nothing. RLOCK_NO_MEMORY. */
rlock_status rli_session_take_turn(rli_engine *engine, const rli_names *names, const rli_kind *kind,
                                   const rli_owner *owner, rli_operation *op, int64_t until_ms, bool gives_back,
                                   rli_session **held);

/* What the server is told of a lease that was asked for: RLOCK_WATCHDOG has a length there, too.
 * Needs no mutex. */
int64_t rli_lease_on_server(const rli_engine *engine, int64_t lease_ms);
/* Until when a lease asked for at `sent_ms` may be relied on. */
int64_t rli_valid_until(int64_t sent_ms, int64_t lease_ms);
/* What an answer to a request sent at `sent_ms`, which set the PTTL to lease_ms at least, is worth. */
void rli_session_confirm(rli_session *session, int64_t sent_ms, int64_t lease_ms);

/* How many of its holds have no lease of their own. */
int rli_session_renewed(const rli_session *session);
/* Whether the watchdog has something to send for it before its deadline. */
bool rli_session_is_renewed(const rli_session *session);
/* Puts what is next on the timer heap; the last request that set the PTTL was sent at `sent_ms`. */
void rli_session_plan(rli_engine *engine, rli_session *session, int64_t sent_ms);

/* Room for one hold more, made before it is asked for. False: out of memory. */
bool rli_session_make_room(rli_session *session);
/* The server granted one hold more, asked for at `sent_ms`; the session has an attempt. */
void rli_session_gain(rli_engine *engine, rli_session *session, int64_t sent_ms, int64_t lease_ms);
/* A red lock took one hold more without this member, which it holds already: that hold is not given back here. */
void rli_session_miss(rli_session *session);
/* Whether the innermost hold is one that was missed; it is over then. */
bool rli_session_drop_missed(rli_session *session);
/* The innermost hold is given back; the session has an attempt. */
void rli_session_drop(rli_engine *engine, rli_session *session);
/* The lease that the holds left ask for. */
int64_t rli_session_lease(const rli_engine *engine, const rli_session *session);

/* A request with a lease of so many ms may still run late: once the session ends, it is released in the
 * background for as long. Forgotten if there is no attempt, and no memory. */
void rli_session_in_doubt(rli_engine *engine, rli_session *session, int64_t lease_ms);
/* The same of a re-entry or an extension. It changes nothing once the hold is gone, and may keep the lock for so long if
 * the hold runs out first: only a session that is lost is released in the background for it. */
void rli_session_in_doubt_more(rli_engine *engine, rli_session *session, int64_t lease_ms);
/* Its last release may not have run: the same for the longest lease that the server may keep it for. The session
 * has an cold fields. */
void rli_session_release_in_doubt(rli_engine *engine, rli_session *session);
/* The head of the queue on the server was told that the lock is free, and nobody heard (NULL: somebody
 * did): the background release tells it again after RLI_UNHEARD_MS, and removes it if need be. */
void rli_session_note_unheard(rli_session *session, const char *unheard);
/* For so long: somewhat longer than the time after which it tells it again. */
#define RLI_UNHEARD_DOUBT_MS (RLI_UNHEARD_MS + 2000)

#endif

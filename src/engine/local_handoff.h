/* Keeping, the local handoff: a last release that tells the server nothing and leaves the hold with this
 * process, for a waiter of it to take. Only with localHandOver. All of it expects the engine's mutex to be held.
 *
 * Who runs takes a kept hold before the waiter that was called has woken up; a waiter that came too late once is
 * served next. After LOCAL_MAX turns, or LOCAL_MS, the hold goes back to the server, where others may wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LOCAL_HANDOFF_H
#define RLI_LOCAL_HANDOFF_H

#include "engine/ask.h"

/* Instead of its last release: keeps the session's one hold for the first waiter, which is called. In the session's
 * turn, which is then over. False: nobody waits that could take it, or others must have their chance. */
bool rli_local_handoff(rli_engine *engine, rli_session *session);

/* The attempt takes what is kept, with no request. False: there is nothing for it. */
bool rli_local_handoff_take(rli_attempt *attempt);

/* The same for the attempt's waiter, in its session's turn: it is handed what is kept; or, if it was called and came
 * too late, is served next. */
void rli_local_handoff_look(rli_attempt *attempt);
/* The same when there is no turn, and only if the waiter was called. True: it was handed it, or has to ask. */
bool rli_local_handoff_answer_call(rli_attempt *attempt);

/* The attempt's waiter leaves with nothing: what it was called for goes to the next one. The session that is to be
 * released on the server when there is none; NULL: nothing to do. */
rli_session *rli_local_handoff_decline(rli_attempt *attempt);

/* Nobody is to take any more what is kept of that name, if anything is: it is released in the background. */
void rli_local_handoff_abandon(rli_engine *engine, rli_entry *entry);

/* The server says that somebody else has the lock: what was kept has ended. */
void rli_local_handoff_forget(rli_engine *engine, rli_entry *entry);

#endif

/* Local handoff: a last release that sends nothing to the server and keeps the hold for a waiter of this process.
 *
 * Only with the setting localHandOver. A thread that runs may take the kept hold before the waiter that was
 * notified of it has woken up; a waiter that came too late once is served next. After LOCAL_MAX handoffs or LOCAL_MS,
 * the hold goes back to the server, where waiters of other processes may be. Every function here expects the
 * engine's mutex to be held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LOCAL_HANDOFF_H
#define RLI_LOCAL_HANDOFF_H

#include "engine/ask.h"

/* Instead of a last release: keeps the session's only hold for the first waiter, and wakes that (waiter.notified).
 * The caller has the session's turn, which ends here. Returns false when no waiter can take the hold, or the hold must
 * go back to the server now; then the turn is still the caller's. */
bool rli_local_handoff_keep(rli_engine *engine, rli_session *session);

/* Takes the kept hold for the attempt, without a request. The hold keeps its number on the server: the attempt's
 * session takes that number over. Returns false when there is nothing to take. */
bool rli_local_handoff_take(rli_attempt *attempt);

/* The same for the attempt's waiter, in the turn of its session: on success sets waiter.handed. If the waiter was
 * notified (waiter.notified) but another thread took the hold first, it is served next. If it cannot take the hold,
 * another waiter is notified. */
void rli_local_handoff_take_in_turn(rli_attempt *attempt);
/* The same without the turn, and only if the waiter was notified. Returns true when the waiter has the hold, or must
 * ask. */
bool rli_local_handoff_take_if_notified(rli_attempt *attempt);

/* Called when the attempt's waiter leaves with nothing: the hold kept for it goes to the next waiter. If
 * there is none, returns the session to release on the server with rli_release_kept; its turn is the caller's.
 * NULL: nothing to do. */
rli_session *rli_local_handoff_pass_on(rli_attempt *attempt);

/* Ends the keeping of a hold on that name, if there is one. The watchdog releases it in the background. */
void rli_local_handoff_withdraw_and_compensate(rli_engine *engine, rli_entry *entry);

/* Ends the keeping of a hold on that name, if there is one, because it has ended on the server. */
void rli_local_handoff_withdraw(rli_engine *engine, rli_entry *entry);

#endif

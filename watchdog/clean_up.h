/* Clean-up: what is in doubt is given back when nothing else is due, one request after the other.
 *
 * After an outage there may be many clean-ups. Over a slow link they take long, and holds whose renewals waited for
 * them would be lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLEAN_UP_H
#define RLI_CLEAN_UP_H

#include "watchdog/watchdog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every function here but the last expects the engine's mutex to be held. */

/* Whether the timer is of a session that is compensated, or of permits in doubt. */
bool rli_clean_up_is(const rli_watchdog *watchdog, const rli_timer *timer);
/* Takes such a timer, which is due, off the timer heap, and lets it wait until rli_clean_up_next. */
void rli_clean_up_wait(rli_watchdog *watchdog, rli_timer *timer);
/* Returns from when on one of those that wait may be cleaned up; RLI_NEVER: none waits. */
int64_t rli_clean_up_due_ms(const rli_watchdog *watchdog);
/* Returns the session that has waited longest, which is not `busy` any more; NULL: it is the turn of permits in doubt.
 * One of them waits. While the client is closed, those at servers that were silent come last. */
struct rli_session *rli_clean_up_next(rli_watchdog *watchdog);

/* Returns until when to wait for the answer to a clean-up request. Such a request need not be answered to be
 * carried out, and while the watchdog waits, it renews nothing and declares nothing lost. While the client is being
 * closed, the watchdog does nothing else but the clean-ups that wait. */
int64_t rli_clean_up_answer_by(const rli_watchdog *watchdog);
/* Notes whether the clean-up of that name that began then was answered. If not, all others that are due are put off for
 * a while: in an outage there may be many, and waiting for the server for each of them would take too long. */
void rli_clean_up_note(rli_watchdog *watchdog, const char *name, size_t length, bool answered, int64_t began_ms);
/* The pauses between two requests for the same double, beginning with half a second, but stay short while there is no
 * answer: perhaps nothing was given back at all. While the client is being closed they are shorter still. Returns the
 * pause after one of pause_ms; 0: there was none yet. answered: the last request was. */
int64_t rli_clean_up_pause(const rli_watchdog *watchdog, int64_t pause_ms, bool answered);

/* Sends a clean-up request, once, and waits for its answer until then. RLOCK_OK; RLOCK_SERVER: the server refused.
 * Otherwise it was not answered, or not even sent. While the client is being closed, a server that takes no writes at
 * all (a replica, a full disk) has not answered: it may take them soon. The caller clears the call. The mutex must not
 * be held. */
rlock_status rli_clean_up_send(const rli_watchdog *watchdog, rli_call *call, int64_t answer_by_ms);

#endif

/* Not found: a hold that was valid, and that a server does not have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/not_found.h"

#include "base/clock.h"
#include "engine/session.h"

/* By then this client has long heard of the present master. */
#define RELEASED_MS 60000
/* How many are released within that time, at most. Usually the data itself is gone, and any number of holds with it;
 * and while the watchdog awaits the answer to a release, it renews nothing. */
#define RELEASED_MOST 100

void rli_session_not_found(rli_engine *engine, rli_session *session)
{
    int64_t now_ms = rli_now_ms();
    if (session->deadline_ms - now_ms <= engine->settings->watchdog_timeout_ms || session->forced)
        return;
    if (now_ms - engine->not_found_since_ms >= RELEASED_MS) {
        engine->not_found_since_ms = now_ms;
        engine->not_found = 0;
    }
    if (engine->not_found == RELEASED_MOST)
        return;
    engine->not_found++;
    rli_session_in_doubt(engine, session, RELEASED_MS);
}

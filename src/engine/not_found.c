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
    bool ends_soon = session->deadline_ms - rli_now_ms() <= engine->settings->watchdog_timeout_ms;
    if (!ends_soon && !session->forced && rli_allowance_take(&engine->not_found, RELEASED_MOST, RELEASED_MS))
        rli_session_in_doubt(engine, session, RELEASED_MS);
}

/* Blocked: whether waiters of signal-list locks have gone so far that only a signal wakes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/blocked.h"

#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#define LIMIT_MS 10000

void await_blocked(int64_t count)
{
    for (int64_t end_ms = limit_end_ms(LIMIT_MS); server_info(stage.server, "blocked_clients") != count; pass_ms(1))
        cr_assert(now_ms() < end_ms, "%lld connections wait", (long long)server_info(stage.server, "blocked_clients"));
}

void begin_blocked(actor *waiter, rlock *lock, int64_t count)
{
    assert_status(actor_try(waiter, lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT); /* from now on the server has the script */
    int64_t looks = scripts_run() + 2;
    actor_begin_lock(waiter, lock);
    await_blocked(count);
    for (int64_t end_ms = limit_end_ms(LIMIT_MS); scripts_run() < looks; pass_ms(1))
        cr_assert(now_ms() < end_ms, "it does not look again");
}

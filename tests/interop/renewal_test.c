/* Renewal: the watchdog of the one side keeps the other side out past the first TTL. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#define NAME "order:42"

TestSuite(renewal, .init = java_stage_quick, .fini = java_stage_close, .timeout = 120);

/* Three TTLs long Java's wait is in vain; then it has the lock at once. */
Test(renewal, of_c_keeps_java_out)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    bool taken = java_try("t1", NAME, 3 * QUICK_MS, LASTING_MS);
    if (quick_ran_out(!taken && rlock_valid_for(lock) > 0))
        return;
    assert_ok(rlock_unlock(lock));
    cr_assert(java_try("t1", NAME, 0, -1));
}

Test(renewal, of_java_keeps_c_out)
{
    rlock *lock = lock_of(stage.client, NAME);
    java_lock("t1", NAME);
    rlock_status status = rlock_try_lock(lock, 3 * QUICK_MS, LASTING_MS);
    if (quick_ran_out(status != RLOCK_OK && java_is_held("t1", NAME)))
        return;
    assert_status(status, RLOCK_TIMEOUT);
    java_unlock("t1", NAME);
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
}

/* Re-entered and partly released on both sides, at the same time. */
Test(renewal, of_both_goes_on_until_the_last_unlock)
{
    rlock *lock = lock_of(stage.client, "ours");
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_lock(lock));
        java_lock("t1", "theirs");
    }
    assert_ok(rlock_unlock(lock));
    java_unlock("t1", "theirs");
    for (int64_t end_ms = now_ms() + 2 * QUICK_MS; now_ms() < end_ms; pass_ms(20)) {
        int64_t ours_ms = pttl_of("ours"), theirs_ms = pttl_of("theirs");
        if (quick_ran_out(ours_ms > 0 && theirs_ms > 0))
            return;
        cr_assert(ours_ms <= QUICK_MS && theirs_ms <= QUICK_MS);
    }
    assert_ok(rlock_unlock(lock));
    java_unlock("t1", "theirs");
    assert_no_keys();
}

/* What C let go of is Java's, with Java's lease: nothing of C's renews it. */
Test(renewal, ends_when_the_lock_goes_to_the_other_side)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    pass_ms(QUICK_MS);
    int waiting = java_begin_try("t1", NAME, 10000, 2 * QUICK_MS);
    cr_assert(wait_listened(NAME, 5000));
    int64_t released_ms = now_ms();
    if (quick_ran_out(rlock_unlock(lock) == RLOCK_OK))
        return;
    const answer *taken = agent_await(java, waiting, BY_MESSAGE_MS);
    assert_result(taken, "true");
    cr_assert(server_wait_exists(stage.server, NAME, false, 2 * QUICK_MS + BY_MESSAGE_MS));
    int64_t gone_ms = now_ms();
    assert_between(gone_ms - released_ms, 2 * QUICK_MS - 2, INT64_MAX);
    assert_between(gone_ms - taken->ended_ns / 1000000, 0, 2 * QUICK_MS + at_most_ms(100));
}

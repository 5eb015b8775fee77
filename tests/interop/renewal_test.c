/* Renewal: the watchdog of the one side keeps the other side out past the first TTL. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#define NAME "order:42"

TestSuite(renewal, .init = java_stage_quick, .fini = java_stage_close);

/* Beyond the first TTL Java's wait is in vain; then it has the lock at once. */
Test(renewal, of_c_keeps_java_out)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    cr_assert(!java_try("t1", NAME, QUICK_MS + 1000, LASTING_MS));
    cr_assert(rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    cr_assert(java_try("t1", NAME, 0, -1));
}

Test(renewal, of_java_keeps_c_out)
{
    rlock *lock = lock_of(stage.client, NAME);
    java_lock("t1", NAME);
    assert_status(rlock_try_lock(lock, QUICK_MS + 1000, LASTING_MS), RLOCK_TIMEOUT);
    cr_assert(java_is_held("t1", NAME));
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
    for (int64_t end_ms = now_ms() + QUICK_MS + 1000; now_ms() < end_ms; pass_ms(20)) {
        int64_t ours_ms = pttl_of("ours"), theirs_ms = pttl_of("theirs");
        cr_assert(ours_ms > 0 && theirs_ms > 0, "it ran out although it was renewed");
        cr_assert(ours_ms <= QUICK_MS && theirs_ms <= QUICK_MS);
    }
    assert_ok(rlock_unlock(lock));
    java_unlock("t1", "theirs");
    assert_no_keys();
}

/* What C let go of is Java's, with Java's lease: nothing of C's renews it. */
Test(renewal, ends_when_the_lock_goes_to_the_other_side, .lasts = 13)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    cr_assert(wait_renewed(NAME, 30000));
    int waiting = java_begin_try("t1", NAME, LASTING_MS, QUICK_MS);
    cr_assert(wait_listened(NAME, 5000));
    assert_ok(rlock_unlock(lock));
    assert_result(agent_await(java, waiting, BY_MESSAGE_MS), "true");
    for (int64_t left_ms = QUICK_MS, was_ms; left_ms > 0; pass_ms(1)) {
        was_ms = left_ms;
        left_ms = pttl_of(NAME);
        cr_assert(left_ms <= was_ms, "C renews what it has let go of");
    }
}

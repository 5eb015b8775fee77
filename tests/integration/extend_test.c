/* Extensions: rlock_extend on every kind of lock, and on locks made of others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#define KIND_SUITE extend
TestSuite(extend, .init = stage_open, .fini = stage_close);

#define NAME "order"

static int64_t remaining(rlock *lock)
{
    int64_t ms = -99;
    assert_ok(rlock_remain_time_to_live(lock, &ms));
    return ms;
}

KIND_TEST(lengthens_a_lease_on_the_server_and_here)
{
    rlock *lock = kind_of(of, stage.client, kind_name(of, NAME));
    assert_ok(rlock_lock_lease(lock, 10000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_extend(lock, 60000));
    assert_between(remaining(lock), 60000 - (now_ms() - since_ms) - 2, 60000);
    assert_between(rlock_valid_for(lock), 59400 - (now_ms() - since_ms) - 2, 59400);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_free_keys(of, kind_name(of, NAME));
}

KIND_TEST(shortens_nothing)
{
    rlock *lock = kind_of(of, stage.client, kind_name(of, NAME));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 60000));
    assert_ok(rlock_extend(lock, 1));
    assert_between(remaining(lock), 60000 - (now_ms() - since_ms) - 2, 60000);
    assert_between(rlock_valid_for(lock), 59400 - (now_ms() - since_ms) - 2, 59400);
    assert_ok(rlock_unlock(lock));
}

KIND_TEST(is_for_the_owner_alone)
{
    rlock *lock = kind_of(of, stage.client, kind_name(of, NAME)), *theirs = kind_of(of, stage.other, kind_name(of, NAME));
    assert_status(rlock_extend(lock, 1000), RLOCK_NOT_OWNER);
    assert_error(NAME, "extended");
    assert_ok(rlock_lock_lease(theirs, 10000));
    int64_t left_ms = remaining(theirs);
    assert_status(rlock_extend(lock, 60000), RLOCK_NOT_OWNER);
    assert_between(remaining(theirs), 0, left_ms);
    assert_ok(rlock_unlock(theirs));
}

/* Lost while the owner did not know: the extension finds out, and the unlock still answers for it. */
KIND_TEST(of_a_hold_that_is_gone_says_so)
{
    rlock *lock = kind_of(of, stage.client, kind_name(of, NAME));
    bool was_locked;
    assert_ok(rlock_lock_lease(lock, 60000));
    assert_ok(rlock_force_unlock(kind_of(of, stage.other, kind_name(of, NAME)), &was_locked));
    cr_assert(was_locked);
    assert_status(rlock_extend(lock, 60000), RLOCK_LOST);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* Extended again and again, a lease lasts; left alone, it ends at the end of the last extension, and is told of. */
KIND_TIMED_TEST(keeps_a_hold_until_its_own_end)
{
    losses lost;
    losses_init(&lost);
    rlock_on_lost(stage.client, losses_note, &lost);
    rlock *lock = kind_of(of, stage.client, kind_name(of, NAME));
    assert_ok(rlock_lock_lease(lock, 1000));
    for (int i = 0; i < 5; i++) {
        pass_ms(700);
        assert_ok(rlock_extend(lock, 1000));
    }
    cr_assert(lost.count == 0);
    int64_t since_ms = now_ms();
    losses_await(&lost, 1, 1100);
    assert_between(lost.all[0].at_ms - since_ms, 980, 1000 + at_most_ms(20));
    assert_status(rlock_extend(lock, 1000), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_extend(lock, 1000), RLOCK_NOT_OWNER);
}

/* The watchdog goes on, and the server keeps the lock longer than the watchdog asks for. */
TimedTest(extend, leaves_a_renewed_hold_to_the_watchdog)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_extend(lock, 120000));
    assert_between(pttl_of(NAME), 119990, 120000);
    pass_ms(60000);
    assert_between(pttl_of(NAME), 59900, 60000);
    pass_ms(90000);
    assert_between(pttl_of(NAME), 19900, 30000);
    cr_assert(rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

TimedTest(extend, applies_to_all_levels_of_a_hold)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 1000));
    assert_ok(rlock_lock_lease(lock, 1000));
    assert_ok(rlock_extend(lock, 20000));
    assert_ok(rlock_unlock(lock));
    pass_ms(5000);
    cr_assert(rlock_valid_for(lock) > 10000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(extend, refuses_a_lease_that_is_none)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    static const int64_t wrong[] = {0, -1, INT64_MIN, RLOCK_LEASE_MAX_MS + 1};
    for (int i = 0; i < 4; i++) {
        assert_status(rlock_extend(lock, wrong[i]), RLOCK_INVALID);
        assert_error("100 years");
        assert_status(rlock_extend_async(lock, wrong[i], &(rlock_owner){1}, NULL, NULL), RLOCK_INVALID);
    }
    assert_status(rlock_extend(NULL, 1000), RLOCK_INVALID);
    assert_status(rlock_extend_async(lock, 1000, NULL, NULL, NULL), RLOCK_INVALID);
    assert_ok(rlock_unlock(lock));
}

/* --- locks made of others --- */

Test(extend, of_a_multi_lock_extends_all_members)
{
    rlock *members[] = {lock_of(stage.client, "a"), lock_of(stage.other, "b")};
    rlock *lock = stage_keep(rlock_get_multi_lock(members, 2));
    assert_status(rlock_extend(lock, 60000), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_extend(lock, 60000));
    assert_between(rlock_valid_for(lock), 50000, 59400);
    assert_between(pttl_of("a"), 50000, 60000);
    assert_between(pttl_of("b"), 50000, 60000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* One of three members may be gone. */
TimedTest(extend, of_a_red_lock_needs_a_majority)
{
    rlock *members[] = {lock_of(stage.client, "a"), lock_of(stage.client, "b"), lock_of(stage.client, "c")};
    rlock *lock = stage_keep(rlock_get_red_lock(members, 3));
    bool was_locked;
    assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_force_unlock(lock_of(stage.other, "b"), &was_locked));
    assert_ok(rlock_extend(lock, 60000));
    assert_between(pttl_of("a"), 50000, 60000);
    assert_between(pttl_of("c"), 50000, 60000);
    assert_ok(rlock_force_unlock(lock_of(stage.other, "c"), &was_locked));
    assert_status(rlock_extend(lock, 60000), RLOCK_LOST);
    assert_error("a red lock: 1 of 3 extended, 2 needed, 2 lost before; lock \"", "unlock it as often as it was locked");
    cr_assert(rlock_unlock(lock) != RLOCK_OK);
}

/* As a lock of one name, it says so as long as its unlock is due. */
TimedTest(extend, of_several_whose_leases_have_ended_says_so)
{
    rlock *members[] = {lock_of(stage.client, "a"), lock_of(stage.client, "b"), lock_of(stage.client, "c")};
    rlock *tokens[] = {stage_keep(rlock_get_token_lock(stage.client, "ta")),
                       stage_keep(rlock_get_token_lock(stage.client, "tb")),
                       stage_keep(rlock_get_token_lock(stage.client, "tc"))};
    rlock *locks[] = {stage_keep(rlock_get_multi_lock(members, 3)), stage_keep(rlock_get_red_lock(members, 3)),
                      stage_keep(rlock_get_red_lock(tokens, 3)), stage_keep(rlock_get_sharded_lock(stage.client, NAME, 4))};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        assert_status(rlock_extend(locks[i], 60000), RLOCK_NOT_OWNER);
        assert_ok(rlock_lock_lease(locks[i], 1000));
        pass_ms(1500);
        for (int times = 0; times < 2; times++)
            assert_status(rlock_extend(locks[i], 60000), RLOCK_LOST);
        assert_status(rlock_unlock(locks[i]), RLOCK_LOST);
        assert_status(rlock_extend(locks[i], 60000), RLOCK_NOT_OWNER);
        assert_no_keys();
    }
}

TimedTest(extend, of_a_red_lock_over_token_locks_extends_most_of_them)
{
    rlock *members[] = {stage_keep(rlock_get_token_lock(stage.client, "a")),
                        stage_keep(rlock_get_token_lock(stage.client, "b")),
                        stage_keep(rlock_get_token_lock(stage.client, "c"))};
    rlock *lock = stage_keep(rlock_get_red_lock(members, 3));
    assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_extend(lock, 60000));
    assert_between(rlock_valid_for(lock), 50000, 59400);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(extend, of_a_sharded_lock_extends_the_part_that_is_held)
{
    rlock *lock = stage_keep(rlock_get_sharded_lock(stage.client, NAME, 4));
    int shard;
    char part[32];
    assert_status(rlock_extend(lock, 60000), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_get_shard(lock, &shard));
    assert_ok(rlock_extend(lock, 60000));
    snprintf(part, sizeof part, NAME ":%d", shard);
    assert_between(pttl_of(part), 50000, 60000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- without a thread --- */

RealTest(extend, works_without_a_thread)
{
    rlock *lock = lock_of(stage.client, NAME);
    called taken = {0}, extended = {0}, not_held = {0};
    rlock_lock_options options = called_options(1, 0);
    options.lease_ms = 10000;
    assert_ok(rlock_lock_async(lock, &options, called_note, &taken));
    assert_ok(called_await(stage.client, &taken));
    assert_ok(rlock_extend_async(lock, 60000, &(rlock_owner){1}, called_note, &extended));
    assert_ok(called_await(stage.client, &extended));
    assert_between(pttl_of(NAME), 50000, 60000);
    assert_ok(rlock_extend_async(lock, 60000, &(rlock_owner){2}, called_note, &not_held));
    assert_status(called_await(stage.client, &not_held), RLOCK_NOT_OWNER);
    assert_ok(called_unlock(stage.client, lock, 1));
    assert_no_keys();
}

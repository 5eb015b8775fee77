/* The lock itself: who gets it, who holds it, who frees it, and that two never do at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>

TestSuite(lock, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* Seen by its holder, by another handle, another owner and another process. */
Test(lock, is_locked_only_between_lock_and_unlock_for_all)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock *seen[] = {lock, lock_of(stage.client, NAME), owned_by(lock, 7), lock_of(stage.other, NAME)};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            cr_assert(!is_locked(seen[i]));
        assert_ok(rlock_lock(lock));
        for (int i = 0; i < 4; i++)
            cr_assert(is_locked(seen[i]));
        assert_ok(rlock_unlock(lock));
        for (int i = 0; i < 4; i++)
            cr_assert(!is_locked(seen[i]));
    }
}

Test(lock, hold_count_follows_locks_and_unlocks)
{
    rlock *lock = lock_of(stage.client, NAME);
    cr_assert(hold_count(lock) == 0);
    assert_ok(rlock_lock(lock));
    cr_assert(hold_count(lock) == 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(hold_count(lock) == 0);
    for (int i = 1; i <= 5; i++) {
        assert_ok(rlock_lock(lock));
        cr_assert(hold_count(lock) == i);
    }
    for (int i = 4; i >= 0; i--) {
        assert_ok(rlock_unlock(lock));
        cr_assert(hold_count(lock) == i);
    }
}

Test(lock, is_held_by_its_holder_alone)
{
    rlock *lock = lock_of(stage.client, NAME), *elsewhere = lock_of(stage.other, NAME);
    actor *another = actor_start();
    cr_assert(!is_held(lock));
    assert_ok(rlock_lock(lock));
    cr_assert(is_held(lock));
    cr_assert(!is_held(elsewhere));
    cr_assert(!actor_holds(another, lock));
    cr_assert(actor_hold_count(another, lock) == 0);
    assert_ok(rlock_unlock(lock));
    cr_assert(!is_held(lock));
    cr_assert(!actor_holds(another, lock));
    actor_end(another);
}

Test(lock, try_by_the_holder_counts_up_and_the_last_unlock_frees)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *another = actor_start();
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(lock));
    assert_status(actor_try(another, lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_try(another, lock, 0, RLOCK_WATCHDOG));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(another, lock));
    actor_end(another);
}

/* By another thread, another process, and one that never locked. */
Test(lock, unlock_by_another_owner_is_refused_at_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *another = actor_start();
    assert_ok(rlock_lock(lock));
    int64_t since_ms = now_ms();
    assert_status(actor_unlock(another, lock), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(lock_of(stage.other, NAME)), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(owned_by(lock, 1)), RLOCK_NOT_OWNER);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    cr_assert(hold_count(lock) == 1);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    actor_end(another);
}

Test(lock, unlock_of_a_free_lock_is_refused)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_no_keys();
}

Test(lock, force_unlock_frees_it_for_all)
{
    rlock *lock = lock_of(stage.client, NAME), *elsewhere = lock_of(stage.other, NAME);
    bool was_locked = false;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(elsewhere, &was_locked));
    cr_assert(was_locked);
    cr_assert(!is_locked(lock) && !is_locked(elsewhere));
    cr_assert(!is_held(lock));
    assert_ok(rlock_try_lock(elsewhere, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(elsewhere));
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_force_unlock(lock, NULL));
}

/* Its own client's force unlock ends the holder's session at once, too. */
Test(lock, force_unlock_in_the_same_client_is_a_loss_to_the_holder)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *another = actor_start();
    assert_ok(actor_lock(another, lock));
    cr_assert(actor_valid_for(another, lock) > 0);
    assert_ok(rlock_force_unlock(lock, NULL));
    cr_assert(actor_valid_for(another, lock) == 0);
    assert_ok(rlock_lock(lock));
    assert_status(actor_unlock(another, lock), RLOCK_LOST);
    assert_status(actor_unlock(another, lock), RLOCK_NOT_OWNER);
    cr_assert(hold_count(lock) == 1);
    assert_ok(rlock_unlock(lock));
    actor_end(another);
}

Test(lock, is_one_through_all_handles_of_a_name)
{
    rlock *first = lock_of(stage.client, NAME), *second = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(first));
    assert_ok(rlock_lock(second));
    cr_assert(hold_count(first) == 2 && hold_count(second) == 2);
    assert_ok(rlock_unlock(first));
    assert_ok(rlock_unlock(first));
    assert_status(rlock_unlock(second), RLOCK_NOT_OWNER);
    cr_assert(!is_locked(second));
}

/* A handle keeps no lock: freed while its lock is held, another handle gives it back. */
Test(lock, outlives_the_handle_it_was_taken_with)
{
    rlock *lock = rlock_get_lock(stage.client, NAME);
    cr_assert(lock != NULL);
    assert_ok(rlock_lock(lock));
    rlock_free(lock);
    lock = lock_of(stage.client, NAME);
    cr_assert(hold_count(lock) == 1);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Redisson's unlock once hung when it came before its lock's renewal was set up. */
Test(lock, unlock_may_follow_lock_at_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 500; i++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
    }
    assert_no_keys();
}

/* 15 tasks of one client. */
Test(lock, counts_right_with_many_tasks_of_one_client)
{
    static crowd all = {.name = NAME, .turns = 1};
    for (int i = 0; i < 15; i++)
        crowd_add(&all, stage.client);
    crowd_run(&all, 60000);
    cr_assert(all.counter == 15 && all.most_inside == 1);
}

/* 100 clients, one turn each. */
TimedTest(lock, counts_right_with_many_clients)
{
    static crowd all = {.name = NAME, .turns = 1};
    for (int i = 0; i < 100; i++)
        crowd_add(&all, stage_client(NULL));
    crowd_run(&all, 60000);
    cr_assert(all.counter == 100 && all.most_inside == 1);
}

/* 16 clients, 100 turns each. */
TimedTest(lock, counts_right_with_clients_in_a_loop)
{
    static crowd all = {.name = NAME, .turns = 100, .hold_ms = 1};
    for (int i = 0; i < 16; i++)
        crowd_add(&all, stage_client(NULL));
    crowd_run(&all, 100000);
    cr_assert(all.counter == 1600 && all.most_inside == 1);
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
}

/* Several threads in each of several clients: local and remote waiters mixed. */
TimedTest(lock, counts_right_with_threads_of_several_clients)
{
    static crowd all = {.name = NAME, .turns = 100, .nested = 1};
    for (int i = 0; i < 8; i++)
        crowd_add(&all, i % 2 ? stage.client : stage.other);
    crowd_run(&all, 100000);
    cr_assert(all.counter == 800 && all.most_inside == 1);
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
}

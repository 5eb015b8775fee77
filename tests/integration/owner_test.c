/* Owners: threads and named owners, their sessions, and the numbers that others see. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdint.h>
#include <stdio.h>

TestSuite(owner, .init = stage_open, .fini = stage_close);

#define NAME "order"

Test(owner, named_1_holds_and_named_2_does_not)
{
    rlock *lock = lock_of(stage.client, NAME), *first = owned_by(lock, 1), *second = owned_by(lock, 2);
    assert_ok(rlock_lock(first));
    cr_assert(is_held(first) && !is_held(second));
    assert_status(rlock_try_lock(second, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(rlock_unlock(second), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(first));
    assert_ok(rlock_lock(second));
    cr_assert(!is_held(first) && is_held(second));
    assert_ok(rlock_unlock(second));
    assert_no_keys();
}

/* Threads have numbers of their own; whatever they are, naming such a number gains nothing. */
TimedTest(owner, named_and_thread_never_meet)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    int64_t number = wire_number(NAME, stage.client);
    for (int64_t owner = -2; owner < 40; owner++) {
        rlock *named = owned_by(lock, owner < 39 ? owner : number);
        cr_assert(!is_held(named) && hold_count(named) == 0 && rlock_valid_for(named) == 0);
        assert_status(rlock_try_lock(named, 0, 5000), RLOCK_TIMEOUT);
        assert_status(rlock_unlock(named), RLOCK_NOT_OWNER);
    }
    cr_assert(hold_count(lock) == 1);
    assert_ok(rlock_unlock(lock));
    for (int64_t owner = 0; owner < 8; owner++) {
        rlock *named = owned_by(lock, owner);
        assert_ok(rlock_lock(named));
        cr_assert(!is_held(lock));
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
        assert_ok(rlock_unlock(named));
    }
}

Test(owner, named_may_be_any_number)
{
    static const int64_t numbers[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 5; i++) {
        rlock *named = owned_by(lock, numbers[i]);
        assert_ok(rlock_lock(named));
        for (int j = 0; j < 5; j++)
            cr_assert(is_held(owned_by(lock, numbers[j])) == (i == j));
        assert_held_alone(NAME, stage.client, 1, 30000, now_ms() - 30000);
        assert_ok(rlock_unlock(named));
    }
}

/* Locked by one thread, taken again by a second, given back by a third. */
Test(owner, named_acts_through_any_thread)
{
    rlock *named = owned_by(lock_of(stage.client, NAME), 42);
    actor *first = actor_start(), *second = actor_start();
    assert_ok(actor_lock(first, named));
    assert_ok(actor_try(second, named, 0, RLOCK_WATCHDOG));
    cr_assert(hold_count(named) == 2);
    assert_ok(actor_unlock(second, named));
    assert_ok(rlock_unlock(named));
    assert_status(actor_unlock(first, named), RLOCK_NOT_OWNER);
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* Two threads wait for one named owner: once it has the lock, both have it. */
Test(owner, named_is_granted_to_all_its_waiting_threads)
{
    rlock *named = owned_by(lock_of(stage.client, NAME), 42), *held = lock_of(stage.other, NAME);
    actor *first = actor_start(), *second = actor_start(), *stranger = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(first, named);
    cr_assert(wait_listened(NAME, 5000));
    /* Not the same owner, and before the second thread in line. */
    actor_begin_lock(stranger, lock_of(stage.client, NAME));
    cr_assert(actor_asleep(stranger, 5000));
    actor_begin_lock(second, named);
    cr_assert(actor_asleep(second, 5000));
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_finish(second, 5000));
    cr_assert(hold_count(named) == 2);
    cr_assert(!actor_ended(stranger, 0));
    assert_ok(actor_unlock(first, named));
    assert_ok(actor_unlock(first, named));
    assert_ok(actor_finish(stranger, 5000));
    assert_ok(actor_unlock(stranger, lock_of(stage.client, NAME)));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
    actor_end(stranger);
}

Test(owner, named_in_the_options_is_the_one_of_the_handle)
{
    rlock *lock = lock_of(stage.client, NAME), *named = owned_by(lock, 9);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = 9;
    assert_ok(rlock_lock_with(lock, &options));
    cr_assert(is_held(named) && !is_held(lock));
    assert_ok(rlock_lock(named));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(named));
    assert_ok(rlock_unlock(named));
    assert_no_keys();
}

/* The options' owner goes before the handle's; without one, the handle's stays. */
Test(owner, named_in_the_options_overrides_the_handles)
{
    rlock *lock = lock_of(stage.client, NAME), *first = owned_by(lock, 1), *second = owned_by(lock, 2);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = 2;
    assert_ok(rlock_lock_with(first, &options));
    cr_assert(!is_held(first) && is_held(second));
    assert_ok(rlock_unlock(second));
    options.named_owner = false;
    assert_ok(rlock_lock_with(first, &options));
    cr_assert(is_held(first) && !is_held(second));
    assert_ok(rlock_unlock(first));
}

Test(owner, handle_works_without_the_handle_it_came_from)
{
    rlock *lock = rlock_get_lock(stage.client, NAME);
    cr_assert(lock != NULL);
    rlock *named = owned_by(owned_by(lock, 1), 2);
    rlock_free(lock);
    assert_ok(rlock_lock(named));
    cr_assert(is_held(owned_by(lock_of(stage.client, NAME), 2)));
    assert_ok(rlock_unlock(named));
}

/* The same number in two clients is two owners. */
TimedTest(owner, named_belongs_to_its_client)
{
    rlock *ours = owned_by(lock_of(stage.client, NAME), 1), *theirs = owned_by(lock_of(stage.other, NAME), 1);
    assert_ok(rlock_lock(ours));
    cr_assert(!is_held(theirs));
    assert_status(rlock_try_lock(theirs, 0, 5000), RLOCK_TIMEOUT);
    assert_status(rlock_unlock(theirs), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(ours));
}

/* A request that runs late can hit only its own session, for no later one has its number. */
Test(owner, number_is_new_in_each_session_and_kept_within_it)
{
    rlock *lock = lock_of(stage.client, NAME), *named = owned_by(lock, 3);
    int64_t seen[60];
    for (int i = 0; i < 60; i++) {
        rlock *acting = i % 3 ? lock : named;
        assert_ok(rlock_lock(acting));
        seen[i] = wire_number(NAME, stage.client);
        assert_ok(rlock_lock(acting));
        cr_assert(wire_number(NAME, stage.client) == seen[i]);
        for (int j = 0; j < i; j++)
            cr_assert(seen[j] != seen[i], "session %d has the number %lld again", i, (long long)seen[i]);
        assert_ok(rlock_unlock(acting));
        assert_ok(rlock_unlock(acting));
    }
}

/* One owner's sessions on two names are apart. */
Test(owner, may_hold_many_locks_at_once)
{
    rlock *locks[20];
    char name[24];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "order:%d", i);
        locks[i] = lock_of(stage.client, name);
        assert_ok(rlock_lock(locks[i]));
    }
    for (int i = 0; i < 20; i++) {
        cr_assert(hold_count(locks[i]) == 1);
        assert_ok(rlock_unlock(locks[i]));
        assert_status(rlock_unlock(locks[i]), RLOCK_NOT_OWNER);
    }
    assert_no_keys();
}

/* A new thread is a new owner, also when the system gives it a former thread's ids. */
Test(owner, thread_is_not_the_one_before_it)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *first = actor_start();
    assert_ok(actor_try(first, lock, 0, 60000));
    actor_end(first);
    for (int i = 0; i < 20; i++) {
        actor *later = actor_start();
        cr_assert(!actor_holds(later, lock));
        assert_status(actor_try(later, lock, 0, 60000), RLOCK_TIMEOUT);
        assert_status(actor_unlock(later, lock), RLOCK_NOT_OWNER);
        actor_end(later);
    }
}

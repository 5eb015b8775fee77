/* Any lock: what the scenarios ask of every kind about who holds it, and how often. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>

#define KIND_SUITE any_lock
TestSuite(any_lock, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* What one more acquire by its holder answers. */
static rlock_status once_more(const kind *of)
{
    return of->once ? RLOCK_ALREADY_HELD : RLOCK_OK;
}

/* 1. Seen by its holder, by another handle, another owner and another process; twice. */
KIND_TEST(is_locked_only_between_lock_and_unlock_for_all)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    rlock *seen[] = {lock, kind_of(of, stage.client, NAME), owned_by(lock, 7), kind_of(of, stage.other, NAME)};
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
    assert_free_keys(of, NAME);
}

/* 2. */
KIND_TEST(hold_count_follows_locks_and_unlocks)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    for (int most = 1; most <= 3; most++) {
        cr_assert(hold_count(lock) == 0);
        assert_ok(rlock_lock(lock));
        for (int i = 2; i <= most; i++)
            assert_status(rlock_lock(lock), once_more(of));
        for (int count = of->once ? 1 : most; count > 0; count--) {
            cr_assert(hold_count(lock) == count);
            assert_ok(rlock_unlock(lock));
        }
        cr_assert(hold_count(lock) == 0);
    }
    assert_free_keys(of, NAME);
}

/* 3. */
KIND_TEST(is_held_by_its_holder_alone)
{
    rlock *lock = kind_of(of, stage.client, NAME), *elsewhere = kind_of(of, stage.other, NAME);
    actor *another = actor_start();
    cr_assert(!is_held(lock));
    assert_ok(rlock_lock(lock));
    cr_assert(is_held(lock) && rlock_valid_for(lock) > 0);
    cr_assert(!is_held(elsewhere) && rlock_valid_for(elsewhere) == 0);
    cr_assert(!actor_holds(another, lock) && actor_valid_for(another, lock) == 0);
    cr_assert(actor_hold_count(another, lock) == 0);
    assert_ok(rlock_unlock(lock));
    cr_assert(!is_held(lock));
    assert_ok(actor_lock(another, lock));
    cr_assert(!is_held(lock) && actor_holds(another, lock));
    assert_ok(actor_unlock(another, lock));
    actor_end(another);
}

/* 4. */
KIND_TEST(try_by_the_holder_counts_up_and_the_last_unlock_frees)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.client, NAME);
    actor *another = actor_start();
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), once_more(of));
    if (!of->once)
        assert_ok(rlock_unlock(lock));
    assert_status(actor_try(another, rival, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_try(another, rival, 0, RLOCK_WATCHDOG));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(another, rival));
    actor_end(another);
}

/* 5. By another thread, another process, and a named owner. */
KIND_TEST(unlock_by_another_owner_is_refused_at_once)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    actor *another = actor_start();
    assert_ok(rlock_lock(lock));
    char *before = server_keyspace(stage.server);
    int64_t since_ms = now_ms();
    assert_status(actor_unlock(another, lock), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(kind_of(of, stage.other, NAME)), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(owned_by(lock, 1)), RLOCK_NOT_OWNER);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    assert_keyspace(stage.other, before); /* which it holds nothing of */
    free(before);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    actor_end(another);
}

/* 6. */
KIND_TEST(force_unlock_frees_it_for_all)
{
    rlock *lock = kind_of(of, stage.client, NAME), *elsewhere = kind_of(of, stage.other, NAME);
    rlock *rival = rival_of(of, stage.other, NAME);
    bool was_locked = true;
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_lock(lock));
    assert_status(rlock_lock(lock), once_more(of));
    assert_ok(rlock_force_unlock(elsewhere, &was_locked));
    cr_assert(was_locked);
    cr_assert(!is_locked(lock) && !is_locked(elsewhere) && !is_held(lock));
    assert_ok(rlock_try_lock(rival, 0, RLOCK_WATCHDOG));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    if (!of->once)
        assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(is_held(rival));
    assert_ok(rlock_unlock(rival));
}

/* 6, in the holder's own client: it knows at once. */
KIND_TEST(force_unlock_in_the_same_client_is_a_loss_to_the_holder)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.client, NAME);
    actor *another = actor_start();
    assert_ok(actor_lock(another, lock));
    assert_ok(rlock_force_unlock(lock, NULL));
    cr_assert(actor_valid_for(another, lock) == 0);
    assert_ok(rlock_lock(rival));
    assert_status(actor_unlock(another, lock), RLOCK_LOST);
    assert_status(actor_unlock(another, lock), RLOCK_NOT_OWNER);
    cr_assert(hold_count(rival) == 1);
    assert_ok(rlock_unlock(rival));
    actor_end(another);
}

/* 11. */
KIND_TEST(is_one_through_all_handles_of_a_name)
{
    rlock *first = kind_of(of, stage.client, NAME), *second = kind_of(of, stage.client, NAME);
    assert_ok(rlock_lock(first));
    assert_status(rlock_lock(second), once_more(of));
    cr_assert(hold_count(first) == hold_count(second) && hold_count(second) == (of->once ? 1 : 2));
    assert_ok(rlock_unlock(second));
    if (!of->once)
        assert_ok(rlock_unlock(first));
    assert_status(rlock_unlock(second), RLOCK_NOT_OWNER);
    cr_assert(!is_locked(first));
    rlock *third = of->get(stage.client, NAME);
    assert_ok(rlock_lock(third));
    rlock_free(third); /* keeps nothing and frees nothing */
    cr_assert(is_held(first));
    assert_ok(rlock_unlock(first));
    assert_free_keys(of, NAME);
}

/* 12. */
KIND_TEST(is_held_by_the_named_owner_it_was_locked_for)
{
    rlock *lock = kind_of(of, stage.client, NAME), *one = owned_by(lock, 1), *two = owned_by(lock, 2);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    assert_ok(rlock_lock(one));
    cr_assert(is_held(one) && !is_held(two) && !is_held(lock));
    assert_ok(rlock_unlock(one));
    options.named_owner = true;
    options.owner = 2;
    assert_ok(rlock_lock_with(lock, &options));
    cr_assert(is_held(two) && !is_held(one) && !is_held(lock));
    assert_status(rlock_unlock(one), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(two));
    assert_free_keys(of, NAME);
}

/* Read holds of one owner, each with a lease of its own, when answers are lost or late. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/support/event.h"

TestSuite(read_hold, .init = scene_watchdog, .fini = scene_close);

#define NAME "order"

/* Held twice: the outer hold has ended on the server, the inner one has not. */
static rlock *held_within(rlock_read_write_lock *pair)
{
    rlock *lock = rlock_read_lock(pair);
    assert_ok(rlock_try_lock(lock, 0, 200));
    assert_ok(rlock_try_lock(lock, 0, 60000));
    redisReply *outer = server_command(stage.server, "KEYS *:rwlock_timeout:1");
    if (outer->elements)
        cr_assert(server_wait_exists(stage.server, outer->element[0]->str, false, 10000), "the outer hold does not end");
    freeReplyObject(outer);
    return lock;
}

/* The first attempt finds that nothing is left to hold, and removes the lock; the second finds nothing at all. */
Test(read_hold, whose_release_is_repeated_is_not_told_as_lost)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(scene.client, NAME);
    rlock *lock = held_within(pair);
    on_script(&rli_script_read_release, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_LOST); /* the outer one */
    rlock_free(lock);
    rlock_read_write_lock_free(pair);
}

#define OUTER_MS 2000
#define HUNDRED_YEARS_MS INT64_C(3155760000000)

/* The server keeps the inner hold, since the first `lost` releases do not arrive: three of rlock_unlock, the others of the
 * background. */
static void assert_inner_ends_with_outer(int lost)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(scene.client, NAME);
    rlock *lock = rlock_read_lock(pair);
    assert_ok(rlock_try_lock(lock, 0, OUTER_MS));
    assert_ok(rlock_try_lock(lock, 0, HUNDRED_YEARS_MS));
    on_script(&rli_script_read_release, PROXY_CUT_BEFORE, lost);
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    cr_assert(pttl_of(NAME) > OUTER_MS, "the inner hold was given back");
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000), "it stands though nobody holds it");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    rlock_free(lock);
    rlock_read_write_lock_free(pair);
}

/* The outer hold has run out long before the inner one would. */
Test(read_hold, whose_release_was_lost_does_not_outlast_the_others)
{
    assert_inner_ends_with_outer(3);
}

/* The same while the server is not reached for some time after that. */
Test(read_hold, whose_release_was_lost_is_released_until_the_server_answers)
{
    assert_inner_ends_with_outer(6);
}

/* An unlock whose first attempt is late takes the end of the hold that was taken after it: others get the lock when the outer
 * lease has ended. */
Test(read_hold, that_follows_a_late_release_is_relied_on_no_longer_than_it_stands)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(scene.client, NAME);
    rlock *lock = rlock_read_lock(pair);
    assert_ok(rlock_try_lock(lock, 0, 3000));
    assert_ok(rlock_try_lock(lock, 0, 3000));
    int rule = on_script(&rli_script_read_release, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(lock, 0, 60000));
    let_through(rule);
    int64_t valid_ms = rlock_valid_for(lock), stands_ms = pttl_of(NAME);
    cr_assert(valid_ms <= stands_ms + 1, "relies on %lld of %lld ms", (long long)valid_ms, (long long)stands_ms);
    rlock_free(lock);
    rlock_read_write_lock_free(pair);
}

/* Of two read holds under one write hold, one after the other: a release of the first that is late leaves the second, so that
 * it keeps writers out when the write hold has ended. */
Test(read_hold, under_a_write_hold_is_left_by_a_late_release_of_another)
{
    rlock *write = kind_of(&kind_write, scene.client, NAME), *read = kind_of(&kind_read, scene.client, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    int rule = on_script(&rli_script_read_release, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_lock(read));
    let_through(rule);
    assert_ok(rlock_unlock(write));
    assert_status(rlock_try_lock(kind_of(&kind_write, stage.other, NAME), 0, 1000), RLOCK_TIMEOUT);
    cr_assert(rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(read));
}

/* Offers under faults: what a waiter is told when it cannot be sure that it is of its present registration. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

TestSuite(offer_in_faults, .init = scene_open, .fini = scene_close);

#define NAME "order"

/* The first may have been registered, offered the lock and overtaken by the second. */
Test(offer_in_faults, is_not_taken_unasked_when_the_registration_was_repeated)
{
    rlock *lock = lock_of(scene.client, NAME), *held = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(held));
    int asks = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    proxy_add(scene.proxy,
              &(proxy_rule){
                  .act = PROXY_CUT_AFTER, .text = rli_script_lock_acquire.sha1[RLI_COUNTED], .skip = 1, .times = 1});
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(proxy_await(scene.proxy, asks, PROXY_ANSWERED, 3, 10000) && actor_asleep(waiter, 5000));
    int asked = proxy_count(scene.proxy, asks, PROXY_ANSWERED);
    offer_late(NAME, scene.client, 3000);
    cr_assert(proxy_await(scene.proxy, asks, PROXY_ANSWERED, asked + 1, 10000) && actor_asleep(waiter, 5000));
    cr_assert(!actor_ended(waiter, 0), "it took what was offered long ago");
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    assert_no_keys();
}

/* An earlier try of the same owner is in doubt. Whether the offer is asked for or not, the late request only lengthens the
 * hold of its own session, and what it leaves is given back with it. */
Test(offer_in_faults, to_a_session_in_doubt_is_held_and_leaves_nothing)
{
    rlock *lock = owned_by(lock_of(scene.client, NAME), 7), *held = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(held));
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1);
    actor *first = actor_start(), *second = actor_start();
    actor_begin_try(first, lock, 0, 60000);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    int others = on_text("EVAL", PROXY_CUT_BEFORE, 2); /* its repetitions */
    actor_begin_lock(second, lock);
    assert_status(actor_finish(first, 10000), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, others);
    cr_assert(actor_asleep(second, 5000) && wait_listened(NAME, 5000));
    pass_ms(20);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(second, 5000));
    let_through(rule);
    cr_assert(actor_valid_for(second, lock) > 0);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 1);
    assert_status(rlock_try_lock(held, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(second, lock));
    actor_end(first);
    actor_end(second);
    assert_ok(rlock_try_lock(held, 5000, 1000));
    assert_ok(rlock_unlock(held));
}

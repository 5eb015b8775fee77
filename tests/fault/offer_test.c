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

/* Outages and the queue of one process: one waiter's failure ends the waits that were queued before its
 * first failed attempt, and no others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

TestSuite(outage, .init = scene_open, .fini = scene_close);

#define NAME "order"

static actor *queued(rlock *lock)
{
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(actor_asleep(waiter, 5000));
    return waiter;
}

/* Makes the waiter that talks for all ask the server. */
static void stir(void)
{
    freeReplyObject(server_command(stage.server, "PUBLISH %s 0", channel_of(NAME)));
}

Test(outage, ends_the_waits_from_before_it_and_no_others)
{
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 60000);
    actor *talker = queued(lock), *before = queued(lock), *also_before = queued(lock);
    cr_assert(wait_listened(NAME, 5000));
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
    stir();
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    pass_ms(2); /* who comes in the same millisecond may count as either */
    actor *after = queued(lock);
    assert_status(actor_finish(talker, 5000), RLOCK_UNAVAILABLE);
    assert_status(actor_finish(before, 5000), RLOCK_UNAVAILABLE);
    assert_status(actor_finish(also_before, 5000), RLOCK_UNAVAILABLE);
    assert_between(actor_ended_at(also_before) - actor_ended_at(talker), -at_most_ms(100), at_most_ms(100));
    cr_assert(actor_error(before)[0] != 0);
    proxy_release(scene.proxy, rule);
    cr_assert(!actor_ended(after, 0));
    foreign_release(NAME);
    assert_ok(actor_finish(after, 5000));
    assert_ok(actor_unlock(after, lock));
    actor_end(talker);
    actor_end(before);
    actor_end(also_before);
    actor_end(after);
}

/* A talker whose own time is up says nothing about the server. */
Test(outage, is_not_what_a_timed_wait_that_runs_out_has_found)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *timed = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_try(timed, lock, 1000, RLOCK_WATCHDOG);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(timed, 5000));
    actor *waiter = queued(lock);
    /* the second attempt of the talker is under way when its time is up */
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
    for (int64_t until_ms = now_ms() + 600; now_ms() < until_ms;)
        pass_ms(1);
    stir();
    assert_status(actor_finish(timed, 5000), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    cr_assert(!actor_ended(waiter, 0));
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(timed);
    actor_end(waiter);
}

/* Waits for other names are not concerned. */
Test(outage, of_one_name_ends_no_wait_for_another)
{
    rlock *lock = lock_of(scene.client, NAME), *another = lock_of(scene.client, "another");
    foreign_hold(NAME, 60000);
    foreign_hold("another", 60000);
    actor *ended = queued(lock), *waiter = queued(another);
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .and_text = "\r\n" NAME "\r\n",
                                                    .text = rli_script_lock_acquire.sha1[RLI_COUNTED]});
    stir();
    assert_status(actor_finish(ended, 5000), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    cr_assert(actor_asleep(waiter, 5000));
    foreign_release("another");
    assert_ok(actor_finish(waiter, 5000));
    actor_end(ended);
    actor_end(waiter);
}

/* Waiters of an empty queue come, find the server again, and are served in turn. */
Test(outage, leaves_a_queue_that_works)
{
    enum { WAITERS = 6 };
    actor *waiters[WAITERS];
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 60000);
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = queued(lock);
    proxy_pass(scene.proxy, false, false);
    stir();
    proxy_cut(scene.proxy);
    for (int i = 0; i < WAITERS; i++)
        assert_status(actor_finish(waiters[i], 5000), RLOCK_UNAVAILABLE);
    proxy_pass(scene.proxy, true, true);
    for (int i = 0; i < WAITERS; i++) {
        actor_begin_lock(waiters[i], lock);
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    cr_assert(wait_listened(NAME, 5000));
    foreign_release(NAME);
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
        actor_end(waiters[i]);
    }
    assert_no_keys();
}

/* Waits for permits and latches whose messages are lost, or whose subscription is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"

#include <string.h>

static void open_hasty(void)
{
    scene_open_with(QUICK "&subscriptionTimeout=700");
}

TestSuite(object_wait, .init = open_hasty, .fini = scene_close);

#define SEMAPHORE "se"
#define PERMITS "pe"
#define LATCH "la"

/* Nothing to be had: no permit, and a closed latch. */
static void shut(void)
{
    freeReplyObject(server_command(stage.server, "MSET " SEMAPHORE " 0 " PERMITS " 0 " LATCH " 1"));
}

static void make_all(void)
{
    assert_ok(rlock_semaphore_release(semaphore_of(stage.other, SEMAPHORE), 1));
    assert_ok(rlock_permit_semaphore_add_permits(permits_of(stage.other, PERMITS), 1));
    assert_ok(rlock_count_down_latch_count_down(latch_of(stage.other, LATCH)));
}

typedef struct waits {
    actor *actors[3];
    taking taking;
    leasing leasing;
    awaiting awaiting;
    rlock_permit permit;
} waits;

static void begin(waits *all, int64_t wait_ms)
{
    all->taking = (taking){semaphore_of(scene.client, SEMAPHORE), 1, wait_ms, NULL};
    all->leasing = (leasing){permits_of(scene.client, PERMITS), 1, wait_ms, 60000, NULL, &all->permit};
    all->awaiting = (awaiting){latch_of(scene.client, LATCH), wait_ms, NULL};
    for (int i = 0; i < 3; i++)
        all->actors[i] = actor_start();
    actor_begin(all->actors[0], take, &all->taking);
    actor_begin(all->actors[1], lease, &all->leasing);
    actor_begin(all->actors[2], await_open, &all->awaiting);
}

static void end_from(int first, waits *all, rlock_status expected)
{
    for (int i = first; i < 3; i++) {
        assert_status(actor_finish(all->actors[i], 10000), expected);
        actor_end(all->actors[i]);
    }
}

static void end(waits *all, rlock_status expected)
{
    end_from(0, all, expected);
}

/* The connection of messages breaks, and what wakes them is said before there is another. */
Test(object_wait, survives_a_lost_message)
{
    waits all;
    shut();
    begin(&all, RLOCK_FOREVER);
    cr_assert(wait_semaphore_heard(SEMAPHORE, 1) && wait_semaphore_heard(PERMITS, 1) && wait_latch_heard(LATCH, 1));
    for (int i = 0; i < 3; i++)
        cr_assert(actor_asleep(all.actors[i], 5000));
    proxy_accept(scene.proxy, false);
    proxy_cut_subscribers(scene.proxy);
    make_all();
    proxy_accept(scene.proxy, true);
    end(&all, RLOCK_OK);
    cr_assert(wait_no_channels(5000));
}

/* No subscription is confirmed: a wait with a limit is just over, and the next one finds nothing of it. */
Test(object_wait, with_a_limit_and_no_subscription_is_just_over)
{
    waits all;
    shut();
    int rule = on_text("SUBSCRIBE", PROXY_HOLD_REPLY, 0);
    begin(&all, 300);
    end(&all, RLOCK_TIMEOUT);
    proxy_release(scene.proxy, rule);
    cr_assert(wait_no_channels(5000));
    begin(&all, 10000);
    cr_assert(wait_semaphore_heard(SEMAPHORE, 1) && wait_semaphore_heard(PERMITS, 1) && wait_latch_heard(LATCH, 1));
    make_all();
    end(&all, RLOCK_OK);
}

/* The server takes no connection for messages. Nobody tells them, so they ask from time to time. */
Test(object_wait, with_a_limit_and_no_connection_for_messages_asks)
{
    waits all;
    shut();
    rlock *held = lock_of(stage.other, "order"), *lock = lock_of(scene.client, "order");
    assert_ok(rlock_lock(held));
    proxy_accept(scene.proxy, false);
    begin(&all, 20000);
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, 20000, RLOCK_WATCHDOG);
    for (int i = 0; i < 3; i++)
        cr_assert(actor_asleep(all.actors[i], 5000));
    cr_assert(actor_asleep(waiter, 5000));
    make_all();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 15000));
    assert_ok(actor_unlock(waiter, lock));
    end(&all, RLOCK_OK);
    proxy_accept(scene.proxy, true);
    actor_end(waiter);
}

/* Who waits without end must know that it will be woken. */
Test(object_wait, without_end_and_without_a_subscription_says_so)
{
    waits all;
    shut();
    on_text("SUBSCRIBE", PROXY_HOLD_REPLY, 0);
    begin(&all, RLOCK_FOREVER);
    end(&all, RLOCK_UNAVAILABLE);
}

/* Made between the question and the subscription: it is asked again once that is confirmed. */
Test(object_wait, misses_nothing_before_its_subscription)
{
    waits all;
    shut();
    int rule = on_text("SUBSCRIBE", PROXY_HOLD_REQUEST, 0);
    begin(&all, 10000);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    for (int i = 0; i < 3; i++)
        cr_assert(actor_asleep(all.actors[i], 5000));
    make_all();
    proxy_release(scene.proxy, rule);
    end(&all, RLOCK_OK);
}

/* The server is gone for longer than all attempts: the wait says so, and nothing is taken later. */
Test(object_wait, ends_with_an_outage)
{
    waits all;
    shut();
    begin(&all, RLOCK_FOREVER);
    cr_assert(wait_semaphore_heard(SEMAPHORE, 1) && wait_semaphore_heard(PERMITS, 1) && wait_latch_heard(LATCH, 1));
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    /* The messages' connection may go first, and a request that this causes leave on another one just before that
     * goes: what became of one that must not be repeated is then not known. Each connection takes one along at most. */
    rlock_status plain;
    int connections = 8;
    while ((plain = actor_finish(all.actors[0], 10000)) == RLOCK_UNKNOWN && connections--)
        actor_begin(all.actors[0], take, &all.taking);
    assert_status(plain, RLOCK_UNAVAILABLE);
    actor_end(all.actors[0]);
    end_from(1, &all, RLOCK_UNAVAILABLE);
    make_all();
    cr_assert(server_integer(stage.server, "GET " SEMAPHORE) == 1);
    cr_assert(server_integer(stage.server, "GET " PERMITS) == 1);
}

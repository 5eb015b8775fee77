/* The queue of one process: of all that wait for a name here, one talks to the server; the others
 * come behind it in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdlib.h>

TestSuite(queue, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define WAITERS 8

/* Waiters in their order; the first listens and has asked, the others sleep behind it. */
static void line_up(actor **waiters, int count, rlock *lock)
{
    for (int i = 0; i < count; i++) {
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], lock);
        cr_assert(i || wait_listened(NAME, 5000));
        cr_assert(actor_asleep(waiters[i], 5000));
    }
}

static void end_all(actor **waiters, int count)
{
    for (int i = 0; i < count; i++)
        actor_end(waiters[i]);
}

/* However many wait: one subscription, and the questions of one. */
TimedTest(queue, asks_and_subscribes_once_for_all)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[WAITERS];
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_TIMEOUT);
    int64_t before = scripts_run(), connected = server_info(stage.server, "connected_clients");
    line_up(waiters, WAITERS, lock);
    cr_assert(scripts_run() - before == 2);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 1, 5000));
    cr_assert(server_info(stage.server, "connected_clients") == connected + 1);
    cr_assert(commands_within(500) == 0);
    assert_ok(rlock_unlock(lock_of(stage.other, NAME)));
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    end_all(waiters, WAITERS);
}

/* Two processes wait: two subscriptions. */
TimedTest(queue, is_one_a_process)
{
    rlock *lock = lock_of(stage.client, NAME), *elsewhere = lock_of(stage.other, NAME);
    actor *here[3], *there[3];
    foreign_hold(NAME, RLOCK_WATCHDOG);
    line_up(here, 3, lock);
    for (int i = 0; i < 3; i++) {
        there[i] = actor_start();
        actor_begin_lock(there[i], elsewhere);
    }
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 2, 5000));
    foreign_release(NAME);
    for (int done = 0; done < 6; pass_ms(1)) {
        for (int i = 0; i < 6; i++) {
            actor *waiter = i < 3 ? here[i] : there[i - 3];
            if (actor_ended(waiter, 0)) {
                assert_ok(actor_finish(waiter, 0));
                assert_ok(actor_unlock(waiter, i < 3 ? lock : elsewhere));
                done++;
            }
        }
    }
    end_all(here, 3);
    end_all(there, 3);
}

Test(queue, is_served_in_order)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[WAITERS];
    foreign_hold(NAME, RLOCK_WATCHDOG);
    line_up(waiters, WAITERS, lock);
    foreign_release(NAME);
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        for (int behind = i + 1; behind < WAITERS; behind++)
            cr_assert(!actor_ended(waiters[behind], 0));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    end_all(waiters, WAITERS);
}

/* From each unlock to the next waiter's return, all told. */
Test(queue, is_handed_the_lock_without_delay)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[WAITERS];
    assert_ok(rlock_lock(lock));
    line_up(waiters, WAITERS, lock);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    assert_between(now_ms() - since_ms, 0, at_most_ms(WAITERS * 50));
    end_all(waiters, WAITERS);
}

/* Who waits in the middle, and who has more patience than the talker, keeps to its own time. */
Test(queue, member_gives_up_at_its_own_time)
{
    static const int64_t waits_ms[] = {900, 300, 600, 200};
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[4];
    foreign_hold(NAME, RLOCK_WATCHDOG);
    for (int i = 0; i < 4; i++) {
        waiters[i] = actor_start();
        actor_begin_try(waiters[i], lock, waits_ms[i], 5000);
    }
    for (int i = 0; i < 4; i++) {
        assert_status(actor_finish(waiters[i], 5000), RLOCK_TIMEOUT);
        assert_between(actor_took(waiters[i]), waits_ms[i] - 1, waits_ms[i] + at_most_ms(200));
    }
    cr_assert(wait_no_channels(5000));
    end_all(waiters, 4);
}

/* The talker gives up: the next one hears the message that comes after. */
TimedTest(queue, talker_that_gives_up_passes_the_wake_up_on)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *talker = actor_start(), *next = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_try(talker, lock, 1700, 5000);
    cr_assert(wait_listened(NAME, 5000));
    actor_begin_lock(next, lock);
    assert_status(actor_finish(talker, 5000), RLOCK_TIMEOUT);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 1, 5000));
    cr_assert(!actor_ended(next, 50));
    int64_t since_ms = now_ms();
    foreign_release(NAME);
    assert_ok(actor_finish(next, 5000));
    assert_between(actor_ended_at(next) - since_ms, 0, at_most_ms(200));
    assert_ok(actor_unlock(next, lock));
    actor_end(talker);
    actor_end(next);
}

/* The message came to a talker whose time was just over: its successor asks first of all. */
TimedTest(queue, loses_no_wake_up_to_a_talker_that_gives_up)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *talker = actor_start(), *next = actor_start();
    for (int i = 0; i < 40; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        actor_begin_try(talker, lock, 30, 5000);
        while (!wait_listened(NAME, 1) && !actor_ended(talker, 0)) /* on a busy machine, its time may be over */
            continue;
        actor_begin_lock(next, lock);
        pass_ms(28 + i % 4); /* the moment is the subject */
        foreign_release(NAME);
        rlock_status status = actor_finish(talker, 5000);
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(talker, lock));
        else
            assert_status(status, RLOCK_TIMEOUT);
        assert_ok(actor_finish(next, 5000));
        assert_ok(actor_unlock(next, lock));
    }
    actor_end(talker);
    actor_end(next);
}

/* A try without wait does not stand in the line, and is answered at once. */
TimedTest(queue, is_passed_by_a_try_without_wait)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[2], *trying = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    line_up(waiters, 2, lock);
    int64_t before = scripts_run();
    assert_status(actor_try(trying, lock, 0, 5000), RLOCK_TIMEOUT);
    assert_between(actor_took(trying), 0, at_most_ms(200));
    cr_assert(scripts_run() - before == 1);
    /* No message was heard yet: the try finds it free. */
    foreign_vanish(NAME);
    assert_ok(actor_try(trying, lock, 0, 5000));
    assert_ok(actor_unlock(trying, lock));
    for (int i = 0; i < 2; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    actor_end(trying);
    end_all(waiters, 2);
}

/* Its holder takes it again at once, whoever waits. */
TimedTest(queue, is_passed_by_the_holder)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[3];
    assert_ok(rlock_lock(lock));
    line_up(waiters, 3, lock);
    for (int i = 0; i < 20; i++) {
        int64_t since_ms = now_ms();
        assert_ok(i % 2 ? rlock_lock(lock) : rlock_try_lock(lock, 1000, 5000));
        assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    }
    for (int i = 0; i < 21; i++) {
        cr_assert(!actor_ended(waiters[0], 0));
        assert_ok(rlock_unlock(lock));
    }
    for (int i = 0; i < 3; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    end_all(waiters, 3);
}

/* Threads that take turns here leave a turn to another process that waits. */
TimedTest(queue, starves_no_other_process)
{
    static crowd busy = {.name = NAME, .turns = 400, .hold_ms = 1};
    for (int i = 0; i < 4; i++)
        crowd_add(&busy, stage.client);
    actor *waiter = actor_start();
    crowd_begin(&busy);
    rlock *lock = lock_of(stage.other, NAME);
    for (int i = 0; i < 5; i++) {
        assert_ok(actor_lock(waiter, lock));
        assert_between(actor_took(waiter), 0, at_most_ms(1000));
        assert_ok(actor_unlock(waiter, lock));
    }
    crowd_finish(&busy, 60000);
    actor_end(waiter);
}

/* A name's waiters do not hinder another name's. */
Test(queue, is_one_a_name)
{
    rlock *lock = lock_of(stage.client, NAME), *free_lock = lock_of(stage.client, "free");
    actor *waiters[WAITERS], *another = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    line_up(waiters, WAITERS, lock);
    for (int i = 0; i < 50; i++) {
        assert_ok(actor_lock(another, free_lock));
        assert_between(actor_took(another), 0, at_most_ms(200));
        assert_ok(actor_unlock(another, free_lock));
    }
    foreign_release(NAME);
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    actor_end(another);
    end_all(waiters, WAITERS);
}

/* The server goes: waits that began before end in time, all of them, not one after the other. */
TimedTest(queue, ends_together_when_the_server_is_gone)
{
    rlock_client *hasty = stage_client("timeout=300&retryAttempts=1&retryBaseDelay=100&retryMaxDelay=100");
    rlock *lock = lock_of(hasty, NAME);
    actor *waiters[WAITERS];
    foreign_hold(NAME, 2500);
    line_up(waiters, WAITERS, lock);
    int64_t since_ms = now_ms(); /* some may end before the kill returns */
    server_kill(stage.server);
    for (int i = 0; i < WAITERS; i++) {
        assert_status(actor_finish(waiters[i], 20000), RLOCK_UNAVAILABLE);
        assert_between(actor_ended_at(waiters[i]) - since_ms, 0, at_most_ms(4500));
    }
    end_all(waiters, WAITERS);
    server_restart(stage.server);
    assert_ok(rlock_try_lock(lock, 5000, 60000));
    assert_ok(rlock_unlock(lock));
}

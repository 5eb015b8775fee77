/* Subscriptions: what becomes of waits whose channel comes late, breaks, or is refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/stopped.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

TestSuite(subscription, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* --- many threads, few names --- */

struct tasks {
    rlock *locks[5];
    atomic_int left, failed;
    int64_t wait_ms;
};

static void *work(void *arg)
{
    struct tasks *self = arg;
    unsigned random = (unsigned)(uintptr_t)&arg;
    while (atomic_fetch_sub(&self->left, 1) > 0) {
        random = random * 1103515245u + 12345u;
        rlock *lock = self->locks[(random >> 16) % 5];
        if (rlock_try_lock(lock, self->wait_ms, RLOCK_WATCHDOG) != RLOCK_OK) {
            atomic_fetch_add(&self->failed, 1);
            continue;
        }
        pass_ms((random >> 20) % 4); /* held */
        if (rlock_unlock(lock) != RLOCK_OK)
            atomic_fetch_add(&self->failed, 1);
    }
    return NULL;
}

/* 32 threads, 5 names; as fast as that goes, channels come and go. */
TimedTest(subscription, is_left_when_all_is_done)
{
    static struct tasks tasks = {.wait_ms = RLOCK_FOREVER};
    pthread_t threads[32];
    char name[24];
    atomic_store(&tasks.left, 1000);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "lock-%d", i);
        tasks.locks[i] = lock_of(stage.client, name);
    }
    for (int i = 0; i < 32; i++)
        cr_assert(pthread_create(&threads[i], NULL, work, &tasks) == 0);
    for (int i = 0; i < 32; i++)
        pthread_join(threads[i], NULL);
    cr_assert(atomic_load(&tasks.failed) == 0);
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

/* 4 threads, two a name, each tries for a while, and unlocks. */
Test(subscription, serves_two_names_at_once)
{
    rlock *locks[] = {lock_of(stage.client, "Lock1"), lock_of(stage.client, "Lock2")};
    actor *actors[4];
    for (int i = 0; i < 4; i++)
        actors[i] = actor_start();
    for (int round = 0; round < 25; round++) {
        for (int i = 0; i < 4; i++)
            actor_begin_try(actors[i], locks[i / 2], 10000, RLOCK_WATCHDOG);
        for (int done = 0; done < 4;) {
            for (int i = 0; i < 4; i++) {
                if (actor_ended(actors[i], 0)) {
                    assert_ok(actor_finish(actors[i], 0));
                    assert_ok(actor_unlock(actors[i], locks[i / 2]));
                    done++;
                }
            }
        }
    }
    for (int i = 0; i < 4; i++)
        actor_end(actors[i]);
    cr_assert(wait_no_channels(5000));
}

/* Channels left and joined again while the former confirmation is still on its way. */
TimedTest(subscription, survives_being_left_and_joined_at_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 100; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        for (int j = 0; j < 3; j++)
            assert_status(rlock_try_lock(lock, 1, 5000), RLOCK_TIMEOUT);
        actor_begin_lock(waiter, lock);
        cr_assert(wait_listened(NAME, 5000));
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
    cr_assert(wait_no_channels(5000));
}

/* --- broken --- */

/* A waiter may be registered on the server before its client is connected for messages again, which ended before. */
static void kill_subscriber(void)
{
    for (int64_t end_ms = limit_end_ms(5000); server_integer(stage.server, "CLIENT KILL TYPE pubsub") == 0; pass_ms(1))
        cr_assert(now_ms() < end_ms, "nobody is connected for messages");
}

/* The connection breaks: subscribed again, and the message is heard. */
Test(subscription, is_made_again_when_it_broke)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 5; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        actor_begin_lock(waiter, lock);
        cr_assert(wait_listened(NAME, 5000));
        kill_subscriber();
        cr_assert(wait_listened(NAME, 5000));
        cr_assert(!actor_ended(waiter, 20));
        int64_t since_ms = now_ms();
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
}

/* The release's message falls into the gap: the waiter looks once it is subscribed again. */
Test(subscription, break_hides_no_release)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 20; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        actor_begin_lock(waiter, lock);
        cr_assert(wait_listened(NAME, 5000));
        kill_subscriber();
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
}

/* A server closes clients that are idle (`timeout 1`): neither a wait nor a later call is hurt. */
TimedTest(subscription, survives_the_servers_idle_timeout)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(stage.server, "CONFIG SET timeout 1"));
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000));
    pass_ms(3000);
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 1, 5000));
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- many waiters --- */

/* A thread that waits alone reads the messages itself; when it goes, those that came after it still hear theirs. */
TimedTest(subscription, is_heard_by_those_who_stay_when_one_goes)
{
    rlock *one = lock_of(stage.client, "one"), *two = lock_of(stage.client, "two");
    actor *first = actor_start(), *second = actor_start();
    for (int i = 0; i < 5; i++) {
        foreign_hold("one", RLOCK_WATCHDOG);
        foreign_hold("two", RLOCK_WATCHDOG);
        actor_begin_lock(first, one);
        cr_assert(wait_listened("one", 5000));
        cr_assert(!actor_ended(first, 20));
        actor_begin_lock(second, two);
        cr_assert(wait_listened("two", 5000));
        foreign_release("one");
        assert_ok(actor_finish_soon(first, 100));
        cr_assert(!actor_ended(second, 0));
        int64_t since_ms = now_ms();
        foreign_release("two");
        assert_ok(actor_finish(second, 5000));
        assert_between(actor_ended_at(second) - since_ms, 0, at_most_ms(1));
        assert_ok(actor_unlock(first, one));
        assert_ok(actor_unlock(second, two));
    }
    actor_end(first);
    actor_end(second);
}

/* Waits alone, so reads the messages itself, and gets the lock. Its channel lingers, so the next waits are not held up
 * by subscribing. */
static void wait_alone(actor *waiter, rlock *lock, const char *name)
{
    foreign_hold(name, RLOCK_WATCHDOG);
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(name, 5000));
    cr_assert(!actor_ended(waiter, 20));
    foreign_release(name);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
}

/* An async call never reads them. It does not wait until it is clear that no thread comes to read. */
TimedTest(subscription, is_heard_at_once_by_a_call_without_a_thread_after_one_with)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    const rlock_lock_options options = called_options(7, RLOCK_FOREVER);
    called done = {0};
    wait_alone(waiter, lock, NAME);
    foreign_hold(NAME, RLOCK_WATCHDOG);
    assert_ok(rlock_lock_async(lock, &options, called_note, &done));
    called_process_for(stage.client, 1);
    int64_t since_ms = now_ms();
    foreign_release(NAME);
    assert_ok(called_await(stage.client, &done));
    assert_between(now_ms() - since_ms, 0, at_most_ms(1));
    assert_ok(called_unlock(stage.client, lock, 7));
    actor_end(waiter);
}

/* The same when the subscriber's thread has slept since. */
TimedTest(subscription, is_heard_at_once_by_a_call_without_a_thread_long_after_one_with)
{
    rlock *lock = lock_of(stage.client, NAME), *theirs = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    const rlock_lock_options options = called_options(7, RLOCK_FOREVER);
    for (int i = 0; i < 5; i++) {
        called done = {0};
        assert_ok(rlock_lock(theirs));
        actor_begin_lock(waiter, lock);
        cr_assert(!actor_ended(waiter, 20));
        assert_ok(rlock_unlock(theirs));
        assert_ok(actor_finish(waiter, 5000));
        assert_ok(actor_unlock(waiter, lock));
        pass_ms(300);
        assert_ok(rlock_lock(theirs));
        assert_ok(rlock_lock_async(lock, &options, called_note, &done));
        called_process_for(stage.client, 5);
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(theirs));
        assert_ok(called_await(stage.client, &done));
        assert_between(now_ms() - since_ms, 0, at_most_ms(2));
        assert_ok(called_unlock(stage.client, lock, 7));
    }
    actor_end(waiter);
}

/* Nor do two threads that wait at the same time. */
TimedTest(subscription, is_heard_at_once_by_two_threads_after_one)
{
    rlock *one = lock_of(stage.client, "one"), *two = lock_of(stage.client, "two");
    actor *first = actor_start(), *second = actor_start();
    wait_alone(first, one, "one");
    wait_alone(second, two, "two");
    foreign_hold("one", RLOCK_WATCHDOG);
    foreign_hold("two", RLOCK_WATCHDOG);
    actor_begin_lock(first, one);
    actor_begin_lock(second, two);
    cr_assert(!actor_ended(first, 1));
    int64_t since_ms = now_ms();
    foreign_release("one");
    assert_ok(actor_finish(first, 5000));
    assert_between(actor_ended_at(first) - since_ms, 0, at_most_ms(1));
    foreign_release("two");
    assert_ok(actor_finish(second, 5000));
    assert_ok(actor_unlock(first, one));
    assert_ok(actor_unlock(second, two));
    actor_end(first);
    actor_end(second);
}

/* The channel of the wait before stays subscribed for a while: one that begins by then keeps it for as long as it takes. */
TimedTest(subscription, is_kept_for_a_long_wait_soon_after_another)
{
    rlock *lock = lock_of(stage.client, NAME), *theirs = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_lock(theirs));
        actor_begin_lock(waiter, lock);
        cr_assert(!actor_ended(waiter, i == 0 ? 20 : 5000));
        cr_assert(channels_listened() == 1, "it has left the channel");
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(theirs));
        assert_ok(actor_finish(waiter, 5000));
        assert_between(actor_ended_at(waiter) - since_ms, 0, 2);
        assert_ok(actor_unlock(waiter, lock));
    }
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* A request to subscribe that the socket does not take at once is sent on as soon as there is room, though another
 * thread reads. */
TimedTest(subscription, is_sent_on_when_there_is_room)
{
    enum { LENGTH = 3 << 20 }; /* longer than the simulated network's window */
    char *name = calloc(LENGTH + 1, 1);
    cr_assert(name != NULL);
    memset(name, 'n', LENGTH);
    rlock *alone = lock_of(stage.client, NAME);
    rlock *mine = lock_of(stage.client, name), *theirs = lock_of(stage.other, name);
    actor *reader = actor_start(), *waiter = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_lock(reader, alone);
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(!actor_ended(reader, 20));
    assert_ok(rlock_lock(theirs));
    actor_begin_lock(waiter, mine);
    cr_assert(!actor_ended(waiter, 100));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(theirs));
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(20));
    assert_ok(actor_unlock(waiter, mine));
    foreign_release(NAME);
    assert_ok(actor_finish(reader, 5000));
    assert_ok(actor_unlock(reader, alone));
    actor_end(reader);
    actor_end(waiter);
    free(name);
}

/* Nothing is said on the channel for long: the answers to the pings are heard, whoever reads them. */
TimedTest(subscription, is_kept_while_a_thread_reads)
{
    rlock_client *client = stage_client("pingConnectionInterval=300&timeout=500");
    actor *waiter = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_lock(waiter, lock_of(client, NAME));
    cr_assert(wait_listened(NAME, 5000));
    int64_t connections = server_info(stage.server, "total_connections_received");
    cr_assert(!actor_ended(waiter, 5000));
    cr_assert(server_info(stage.server, "total_connections_received") == connections);
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock_of(client, NAME)));
    actor_end(waiter);
}

/* The reader stands still, as in a signal handler: what it leaves unread is no silence of the server, and is read for
 * the others. */
TimedTest(subscription, is_read_for_others_when_its_reader_stands_still)
{
    rlock *one = lock_of(stage.client, "one"), *two = lock_of(stage.client, "two");
    actor *first = actor_start(), *second = actor_start();
    foreign_hold("one", RLOCK_WATCHDOG);
    foreign_hold("two", RLOCK_WATCHDOG);
    actor_begin_lock(first, one);
    cr_assert(wait_listened("one", 5000));
    cr_assert(!actor_ended(first, 20));
    int64_t connections = server_info(stage.server, "total_connections_received");
    actor_stop(first);
    actor_begin_lock(second, two);
    cr_assert(!actor_ended(second, 4000));
    assert_between(server_info(stage.server, "total_connections_received") - connections, 0, 0);
    int64_t since_ms = now_ms();
    foreign_release("two");
    assert_ok(actor_finish(second, 5000));
    assert_between(actor_ended_at(second) - since_ms, 0, at_most_ms(20));
    actor_go_on();
    foreign_release("one");
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_unlock(first, one));
    assert_ok(actor_unlock(second, two));
    actor_end(first);
    actor_end(second);
}

/* --- not to be had --- */

/* No more connections than there are: no subscriber can come. */
static void refuse_connections(void)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET maxclients 1"));
}

static void allow_connections(void)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET maxclients 1000"));
}

/* The server did answer the question itself: that the time is over is all there is to say. */
TimedTest(subscription, unconfirmed_is_a_plain_timeout_and_the_next_wait_is_clean)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    foreign_hold(NAME, RLOCK_WATCHDOG);
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_TIMEOUT);
    refuse_connections();
    for (int i = 0; i < 3; i++) {
        int64_t since_ms = now_ms();
        assert_status(rlock_try_lock(lock, 200, 5000), RLOCK_TIMEOUT);
        assert_between(now_ms() - since_ms, 199, at_most_ms(400));
    }
    allow_connections();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000));
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* Who waits without end must know that it will be woken. */
TimedTest(subscription, unconfirmed_ends_a_wait_without_end)
{
    rlock_client *client = stage_client("subscriptionTimeout=500");
    rlock *lock = lock_of(client, NAME);
    actor *waiters[3];
    foreign_hold(NAME, RLOCK_WATCHDOG);
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_TIMEOUT);
    refuse_connections();
    int64_t since_ms = now_ms();
    for (int i = 0; i < 3; i++) {
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], lock);
    }
    /* One after the other at the worst, each with a time of its own. */
    for (int i = 0; i < 3; i++) {
        assert_status(actor_finish(waiters[i], 10000), RLOCK_UNAVAILABLE);
        assert_between(actor_ended_at(waiters[i]) - since_ms, 499, at_most_ms(1700));
    }
    allow_connections();
    actor_begin_lock(waiters[0], lock);
    cr_assert(wait_listened(NAME, 5000));
    foreign_release(NAME);
    assert_ok(actor_finish(waiters[0], 5000));
    assert_ok(actor_unlock(waiters[0], lock));
    for (int i = 0; i < 3; i++)
        actor_end(waiters[i]);
}

TimedTest(subscription, wait_for_one_is_cancellable)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = token;
    actor *waiter = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_TIMEOUT);
    refuse_connections();
    actor_begin_with(waiter, lock, &options);
    cr_assert(!actor_ended(waiter, 300));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    actor_end(waiter);
    rlock_cancel_free(token);
}

/* A user who may not listen: the wait ends and says why; once he may, the name is not spoiled. */
RealTest(subscription, refused_by_an_acl_says_so_and_works_once_allowed)
{
    char url[512];
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~* +@all resetchannels"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d?subscriptionTimeout=2000", server_port(stage.server));
    rlock_client *bobs = NULL;
    assert_ok(rlock_client_open(&bobs, url));
    rlock *lock = rlock_get_lock(bobs, NAME);
    actor *waiter = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    for (int i = 0; i < 2; i++) {
        actor_begin_lock(waiter, lock);
        rlock_status status = actor_finish(waiter, 10000);
        cr_assert(status == RLOCK_SERVER || status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
        cr_assert(strstr(actor_error(waiter), "NOPERM") != NULL, "%s", actor_error(waiter));
    }
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob allchannels"));
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(!actor_ended(waiter, 100)); /* it knows that it is subscribed, and waits on */
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    rlock_free(lock);
    rlock_client_close(bobs);
}

/* The server goes on to count, and to tell, a client whose unsubscription it refused, as a former master of a cluster
 * does: only the end of the connection takes the client off the channel. */
RealTest(subscription, whose_end_is_refused_ends_with_its_connection)
{
    char url[512];
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~* &* +@all -unsubscribe"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    rlock *lock = lock_of(stage_client_at(url), NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 3; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        actor_begin_lock(waiter, lock);
        cr_assert(wait_listened(NAME, 20000));
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 20000));
        assert_ok(actor_unlock(waiter, lock));
        cr_assert(wait_unlistened(NAME, 20000), "the server still counts a listener");
    }
    actor_end(waiter);
}

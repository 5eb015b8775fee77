/* Patience: what ends a wait that nobody grants, and what does not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

TestSuite(patience, .init = stage_open, .fini = stage_close);

#define NAME "order"

TimedTest(patience, ends_when_its_time_is_over)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 3000, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 2990, at_most_ms(3350));
    cr_assert(wait_no_channels(5000));
}

/* Short waits are kept as well as long ones. */
Test(patience, may_be_a_few_milliseconds)
{
    static const int64_t waits_ms[] = {1, 2, 5, 10, 20, 50, 100};
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        int64_t since_ms = now_ms();
        assert_status(rlock_try_lock(lock, waits_ms[i], 1000), RLOCK_TIMEOUT);
        assert_between(now_ms() - since_ms, waits_ms[i] - 1, waits_ms[i] + at_most_ms(200));
    }
    cr_assert(wait_no_channels(5000));
}

/* RLOCK_FOREVER and waits that would overflow a clock are waits without end. */
Test(patience, may_be_without_end)
{
    static const int64_t waits_ms[] = {RLOCK_FOREVER, RLOCK_FOREVER - 1, INT64_MAX / 2};
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        foreign_hold(NAME, RLOCK_WATCHDOG);
        actor_begin_try(waiter, lock, waits_ms[i], 5000);
        cr_assert(wait_listened(NAME, 5000));
        cr_assert(!actor_ended(waiter, 50));
        foreign_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
}

/* A hold without TTL, which nobody should leave: there is no end to wait for but the deadline. */
TimedTest(patience, ends_at_the_deadline_when_the_lock_has_no_ttl)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, RLOCK_WATCHDOG);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 300, 1000), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 299, at_most_ms(500));
    cr_assert(pttl_of(NAME) == -1);
}

/* In the real world a machine may be so busy that the pings of idle connections come in the end. */
TimedTest(patience, leaves_no_subscription_behind)
{
    rlock *lock = lock_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    for (int i = 0; i < 300; i++)
        assert_status(rlock_try_lock(lock, 1 + i % 3, 1000), RLOCK_TIMEOUT);
    cr_assert(wait_no_channels(5000));
    cr_assert(commands_within(200) == 0);
    freeReplyObject(server_command(stage.server, "DEL %s", NAME));
    assert_ok(rlock_try_lock(lock, 10, 60000));
    assert_ok(rlock_unlock(lock));
}

/* --- no server --- */

#define TIMEOUT_MS 500

/* A server is given the timeout to answer, however short the wait. The call ends by itself: the server is still away. */
static void assert_unavailable(rlock *lock, int64_t wait_ms)
{
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, wait_ms, 10000), RLOCK_UNAVAILABLE);
    int64_t took_ms = now_ms() - since_ms, least_ms = wait_ms > TIMEOUT_MS ? wait_ms : TIMEOUT_MS;
    cr_assert(took_ms >= least_ms - 2, "a try of %lld ms ended after %lld", (long long)wait_ms, (long long)took_ms);
    cr_assert(rlock_valid_for(lock) == 0);
}

/* Neither "held by another" nor a hang: the server is gone. */
TimedTest(patience, ends_when_the_server_is_gone_for_longer_than_the_timeout)
{
    rlock *lock = lock_of(stage_client("timeout=500&retryAttempts=1000&retryBaseDelay=20&retryMaxDelay=20"), NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    server_kill(stage.server);
    assert_unavailable(lock, 0);
    assert_unavailable(lock, 100);
    assert_unavailable(lock, 800);
    server_restart(stage.server);
    assert_ok(rlock_try_lock(lock, 5000, 10000));
    assert_ok(rlock_unlock(lock));
}

/* It is back within the timeout, as after a restart. */
TimedTest(patience, outlives_a_server_that_is_gone_for_a_moment)
{
    static const int64_t waits_ms[] = {0, 5, 100};
    enum { TRIES = sizeof waits_ms / sizeof *waits_ms };
    rlock_client *client = stage_client("timeout=20000&retryAttempts=1000&retryBaseDelay=20&retryMaxDelay=20");
    rlock *locks[TRIES] = {lock_of(client, "order-0"), lock_of(client, "order-1"), lock_of(client, "order-2")};
    actor *tries[TRIES];
    for (int i = 0; i < TRIES; i++)
        tries[i] = actor_start();
    server_kill(stage.server);
    for (int i = 0; i < TRIES; i++)
        actor_begin_try(tries[i], locks[i], waits_ms[i], 60000);
    pass_ms(600); /* how long it is away */
    server_restart(stage.server);
    for (int i = 0; i < TRIES; i++) {
        rlock_status status = actor_finish(tries[i], 30000);
        cr_assert(status == RLOCK_OK, "a try of %lld ms: %s", (long long)waits_ms[i], actor_error(tries[i]));
        assert_ok(actor_unlock(tries[i], locks[i]));
        actor_end(tries[i]);
    }
}

/* It is stopped: what it answers later is undone, so that the lock does not stay for its lease. */
TimedTest(patience, ends_when_the_server_is_silent_for_longer_than_the_timeout_and_leaves_nothing)
{
    rlock *lock = lock_of(stage_client("timeout=500"), NAME), *elsewhere = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 3; i++) {
        server_freeze(stage.server);
        assert_unavailable(lock, i * 400);
        server_thaw(stage.server);
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
        assert_ok(rlock_try_lock(elsewhere, 5000, 10000));
        assert_ok(rlock_unlock(elsewhere));
        cr_assert(server_wait_exists(stage.server, NAME, false, 5000));
        cr_assert(!server_wait_exists(stage.server, NAME, true, 700));
    }
}

/* --- what does not end a wait --- */

static void on_signal(int number)
{
    (void)number;
}

/* Signals interrupt system calls, not waits. */
RealTest(patience, is_not_ended_by_signals)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART */
    cr_assert(sigaction(SIGUSR1, &action, NULL) == 0);
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_lock(waiter, lock);
    for (int64_t end_ms = now_ms() + 1000; now_ms() < end_ms; pass_ms(1))
        actor_signal(waiter, SIGUSR1);
    cr_assert(!actor_ended(waiter, 0));
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor_begin_try(waiter, lock, 500, 1000);
    for (int64_t end_ms = now_ms() + 300; now_ms() < end_ms; pass_ms(1))
        actor_signal(waiter, SIGUSR1);
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    assert_between(actor_took(waiter), 499, at_most_ms(700));
    actor_end(waiter);
}

struct cancelled {
    rlock *lock;
    event begun, held;
    rlock_status locked, unlocked;
};

static void *lock_while_cancelled(void *arg)
{
    struct cancelled *self = arg;
    event_set(&self->begun);
    self->locked = rlock_lock(self->lock);
    self->unlocked = rlock_unlock(self->lock);
    event_set(&self->held);
    for (;;)
        pthread_testcancel(); /* here the thread ends, and not before */
    return NULL;
}

/* A plain lock is not to be interrupted: pthread_cancel takes effect after it. */
RealTest(patience, is_not_ended_by_pthread_cancel)
{
    struct cancelled self = {.lock = lock_of(stage.client, NAME), .locked = RLOCK_CLOSED, .unlocked = RLOCK_CLOSED};
    pthread_t thread;
    void *end = NULL;
    event_init(&self.begun);
    event_init(&self.held);
    foreign_hold(NAME, RLOCK_WATCHDOG);
    cr_assert(pthread_create(&thread, NULL, lock_while_cancelled, &self) == 0);
    cr_assert(event_wait_ms(&self.begun, 5000));
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(pthread_cancel(thread) == 0);
    cr_assert(!event_wait_ms(&self.held, 500));
    foreign_release(NAME);
    cr_assert(event_wait_ms(&self.held, 5000));
    assert_status(self.locked, RLOCK_OK);
    assert_status(self.unlocked, RLOCK_OK);
    cr_assert(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED);
    assert_no_keys();
    event_destroy(&self.begun);
    event_destroy(&self.held);
}

/* --- a thread that is to end, and calls the library first --- */

typedef struct ending {
    pthread_t thread;
    void (*call)(void *arg);
    void *arg;
    event returned;
} ending;

static void *call_while_ending(void *arg)
{
    ending *self = arg;
    pthread_cancel(pthread_self());
    self->call(self->arg);
    event_set(&self->returned);
    pthread_testcancel();
    return NULL;
}

/* The call must return although its thread was cancelled: otherwise a mutex that it holds would never be released. */
static void assert_returns(void (*call)(void *arg), void *arg)
{
    ending self = {.call = call, .arg = arg};
    void *end = NULL;
    event_init(&self.returned);
    cr_assert(pthread_create(&self.thread, NULL, call_while_ending, &self) == 0);
    cr_assert(pthread_join(self.thread, &end) == 0 && end == PTHREAD_CANCELED);
    cr_assert(event_count(&self.returned) == 1);
    event_destroy(&self.returned);
}

static void fire(void *token)
{
    rlock_cancel_fire(token);
}

RealTest(patience, ends_by_a_token_that_a_cancelled_thread_fires)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    actor *waiter = actor_start();
    options.cancel = rlock_cancel_new();
    foreign_hold(NAME, 60000);
    actor_begin_with(waiter, lock_of(stage.client, NAME), &options);
    cr_assert(wait_listened(NAME, 5000));
    assert_returns(fire, options.cancel);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    actor_end(waiter);
    rlock_cancel_free(options.cancel);
}

static void ignore_event(const rlock_event *of, void *arg)
{
    (void)of;
    (void)arg;
}

static void listen_for_a_moment(void *lock)
{
    rlock_listener *listener;
    assert_ok(rlock_add_listener(lock, ignore_event, NULL, &listener));
    rlock_remove_listener(listener);
}

RealTest(patience, of_a_listener_is_not_ended_by_pthread_cancel)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events Kgx"));
    assert_returns(listen_for_a_moment, lock_of(stage.client, NAME));
    listen_for_a_moment(lock_of(stage.client, NAME));
}

static atomic_int called;

static void note_result(const rlock_result *result, void *arg)
{
    (void)arg;
    assert_ok(result->status);
    called++;
}

static void begin_lock(void *lock)
{
    assert_ok(rlock_lock_async(lock, NULL, note_result, NULL));
}

static void open_and_close(void *at)
{
    rlock_client *client;
    assert_ok(rlock_client_open(&client, server_url(at)));
    rlock_client_close(client);
}

RealTest(patience, of_a_client_is_not_ended_by_pthread_cancel)
{
    rlock *lock = rlock_for_owner(lock_of(stage.client, NAME), 7);
    assert_returns(begin_lock, lock);
    for (int i = 0; i < 5000 && !called; i++, pass_ms(1))
        assert_ok(rlock_client_process(stage.client));
    cr_assert(called == 1);
    rlock_free(lock);
    assert_returns(open_and_close, stage.server);
}

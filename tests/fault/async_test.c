/* Async calls while the server fails: each operation ends once, and no hold is left that nobody knows of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"
#include "tests/support/memory.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

TestSuite(async, .init = scene_open, .fini = scene_close);

#define NAME "order"

/* --- no connection --- */

typedef struct refusals {
    rlock *lock;
    atomic_int begun, ended, unavailable, untold;
} refusals;

static void note_refusal(const rlock_result *result, void *arg)
{
    refusals *self = arg;
    atomic_fetch_add(&self->unavailable, result->status == RLOCK_UNAVAILABLE);
    atomic_fetch_add(&self->untold, strstr(result->error, "in the time given") != NULL);
    atomic_fetch_add(&self->ended, 1);
}

#define EACH 300

static void *ask_often(void *arg)
{
    refusals *self = arg;
    for (int i = 0; i < EACH; i++) {
        int before = atomic_load(&self->ended);
        assert_ok(rlock_is_locked_async(self->lock, note_refusal, self));
        for (int64_t until_ms = limit_end_ms(20000); atomic_load(&self->ended) == before && now_ms() < until_ms;)
            sched_yield();
    }
    return NULL;
}

static void *process_all(void *arg)
{
    refusals *self = arg;
    for (int64_t until_ms = limit_end_ms(60000); atomic_load(&self->ended) < 2 * EACH && now_ms() < until_ms;)
        called_process_for(stage.other, 1);
    return NULL;
}

/* Connections are refused at once. An operation that begins while an attempt to connect ends hears of the next attempt,
 * and is not left waiting for one that nobody makes. */
RealTest(async, leaves_no_operation_waiting_for_a_connection_that_nobody_makes)
{
    stage.other = stage_client("retryAttempts=0&timeout=1000&connectTimeout=1000");
    refusals here = {.lock = lock_of(stage.other, NAME)};
    pthread_t asking[2], processing;
    server_kill(stage.server);
    for (int i = 0; i < 2; i++)
        cr_assert(pthread_create(&asking[i], NULL, ask_often, &here) == 0);
    cr_assert(pthread_create(&processing, NULL, process_all, &here) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(asking[i], NULL);
    pthread_join(processing, NULL);
    assert_between(atomic_load(&here.ended), 2 * EACH, 2 * EACH);
    assert_between(atomic_load(&here.unavailable), 2 * EACH, 2 * EACH);
    assert_between(atomic_load(&here.untold), 0, 0);
    server_restart(stage.server);
}

/* --- broken connections --- */

/* The connection breaks after the server ran the acquire: the second attempt finds its own hold. */
RealTest(async, acquires_once_when_the_answer_is_lost)
{
    rlock *lock = lock_of(scene.client, NAME);
    int64_t since_ms = now_ms();
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    assert_ok(called_lock(scene.client, lock, 1, RLOCK_FOREVER));
    assert_held_alone(NAME, scene.client, 1, 30000, since_ms);
    on_script(&rli_script_lock_release, PROXY_CUT_AFTER, 1);
    assert_ok(called_unlock(scene.client, lock, 1));
    assert_no_keys();
}

/* The server is gone for good: an acquire, a wait and a question end, each with the reason. */
RealTest(async, ends_with_the_reason_when_the_server_is_gone)
{
    rlock *lock = lock_of(scene.client, NAME);
    called waits = {0}, asks = {0};
    rlock_lock_options options = called_options(1, RLOCK_FOREVER);
    foreign_hold(NAME, 60000);
    assert_ok(rlock_lock_async(lock, &options, called_note, &waits));
    while (!wait_listened(NAME, 1))
        called_process_for(scene.client, 1);
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    assert_ok(rlock_is_locked_async(lock, called_note, &asks));
    assert_status(called_await(scene.client, &asks), RLOCK_UNAVAILABLE);
    assert_words(asks.error, NAME);
    assert_status(called_await(scene.client, &waits), RLOCK_UNAVAILABLE);
    assert_words(waits.error, NAME);
}

/* A server that takes requests and answers none: each attempt ends after the timeout. */
RealTest(async, times_out_on_a_silent_server)
{
    rlock *lock = lock_of(scene.client, NAME);
    called asks = {0};
    assert_ok(called_lock(scene.client, lock, 1, 0));
    proxy_pass(scene.proxy, true, false);
    assert_ok(rlock_is_locked_async(lock, called_note, &asks));
    assert_status(called_await(scene.client, &asks), RLOCK_UNAVAILABLE);
    assert_words(asks.error, NAME, "3 attempts");
    proxy_pass(scene.proxy, true, true);
    assert_ok(called_unlock(scene.client, lock, 1));
}

/* One of two calls on a connection hears READONLY, so the connection takes no more requests; the other one is cancelled,
 * or waits on. Its answer, when it comes, is read: the descriptor does not stay readable. */
static void read_on_an_old_connection(bool cancels)
{
    rlock_client *client = scene_client(QUICK "&connectionPoolSize=1&timeout=20000");
    rlock *first = lock_of(client, "first"), *second = lock_of(client, "second");
    rlock_lock_options options = called_options(1, 0);
    called one = {0}, other = {0};
    int wakes = 0;
    assert_ok(called_lock(client, first, 1, 0));
    assert_ok(called_unlock(client, first, 1));
    freeReplyObject(server_command(stage.server, "REPLICAOF 127.0.0.1 1"));
    int rule = on_text("second", PROXY_HOLD_REPLY, 1), asked = on_text("first", PROXY_NOTE, 0);
    assert_ok(rlock_lock_async(first, &options, called_note, &one));
    options.cancel = rlock_cancel_new();
    assert_ok(rlock_lock_async(second, &options, called_note, &other));
    while (!proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 1) || !proxy_await(scene.proxy, asked, PROXY_SEEN, 2, 1))
        called_process_for(client, 1); /* the first is asked for again, elsewhere */
    if (cancels) {
        rlock_cancel_fire(options.cancel);
        assert_status(called_await(client, &other), RLOCK_CANCELLED);
    }
    proxy_release(scene.proxy, rule);
    for (int i = 0; i < 300; i++) {
        struct pollfd descriptor = {rlock_client_fd(client), POLLIN, 0};
        bool readable = poll(&descriptor, 1, 2) > 0;
        wakes += readable;
        if (readable)
            assert_ok(rlock_client_process(client));
    }
    cr_assert(wakes < 200, "it woke %d times of 300", wakes);
    freeReplyObject(server_command(stage.server, "REPLICAOF NO ONE"));
    called_await(client, &one);
    called_await(client, &other);
    rlock_cancel_free(options.cancel);
}

RealTest(async, reads_what_is_abandoned_on_an_old_connection)
{
    read_on_an_old_connection(true);
}

RealTest(async, reads_what_is_awaited_on_an_old_connection)
{
    read_on_an_old_connection(false);
}

/* --- memory --- */

/* Memory ends at the first allocation of an acquire, the second…: it answers so, and nothing stays locked. */
RealTest(async, leaves_nothing_locked_when_memory_ends)
{
    int failed = 1;
    for (int first = 1; failed > 0; first++) {
        char name[32];
        called done = {0};
        cr_assert(first < 200);
        snprintf(name, sizeof name, NAME "-%d", first);
        rlock *lock = lock_of(scene.client, name);
        rlock_lock_options options = called_options(1, RLOCK_FOREVER);
        memory_end(first);
        rlock_status status = rlock_lock_async(lock, &options, called_note, &done);
        failed = memory_return();
        if (status == RLOCK_OK)
            status = called_await(scene.client, &done);
        else
            cr_assert(done.times == 0);
        if (status == RLOCK_OK)
            status = called_unlock(scene.client, lock, 1);
        cr_assert(status == RLOCK_OK || status == RLOCK_NO_MEMORY, "%s", rlock_strstatus(status));
        cr_assert(server_wait_exists(stage.server, name, false, 60000), "%s is left locked", name);
    }
}

/* The same while the answers are read and functions are called. */
RealTest(async, ends_each_operation_when_memory_ends_in_the_loop)
{
    int failed = 1;
    for (int first = 1; failed > 0; first++) {
        char name[32];
        called done = {0};
        cr_assert(first < 200);
        snprintf(name, sizeof name, NAME "-%d", first);
        rlock *lock = lock_of(scene.client, name);
        rlock_lock_options options = called_options(1, RLOCK_FOREVER);
        foreign_hold(name, 60000);
        assert_ok(rlock_lock_async(lock, &options, called_note, &done));
        memory_end(first);
        for (int64_t until_ms = now_ms() + 5; now_ms() < until_ms;)
            (void)!rlock_client_process(scene.client);
        failed = memory_return();
        foreign_release(name);
        rlock_status status = called_await(scene.client, &done);
        if (status == RLOCK_OK)
            status = called_unlock(scene.client, lock, 1);
        cr_assert(done.times == 1);
        cr_assert(status == RLOCK_OK || status == RLOCK_NO_MEMORY || status == RLOCK_UNAVAILABLE, "%s",
                  rlock_strstatus(status));
        cr_assert(server_wait_exists(stage.server, name, false, 60000), "%s is left locked", name);
    }
}

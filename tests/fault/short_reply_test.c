/* Shortened answers: the connection ends in the middle of one, after each of its bytes in turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

TestSuite(short_reply, .init = scene_open, .fini = scene_close);

#define NAME "order"

/* The next answer to such a request is cut to `length` bytes. */
static int shorten(const char *text, size_t length)
{
    return proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = text, .times = 1,
                                                .amount = (int64_t)length});
}

static void done_with(int rule)
{
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000), "nothing was shortened");
    proxy_release(scene.proxy, rule);
}

Test(short_reply, to_an_acquire_does_not_count_it_twice)
{
    rlock *lock = lock_of(scene.client, NAME);
    for (size_t length = 0; length < strlen("$-1\r\n"); length++) {
        int count = 0;
        int rule = shorten(rli_script_lock_acquire.sha1[RLI_COUNTED], length);
        assert_ok(rlock_lock(lock));
        done_with(rule);
        assert_ok(rlock_get_hold_count(lock, &count));
        cr_assert(count == 1, "%zu bytes: held %d times", length, count);
        rule = shorten(rli_script_lock_acquire.sha1[RLI_COUNTED], length);
        assert_ok(rlock_lock(lock));
        done_with(rule);
        assert_ok(rlock_get_hold_count(lock, &count));
        cr_assert(count == 2, "%zu bytes: held %d times", length, count);
        assert_ok(rlock_unlock(lock));
        assert_ok(rlock_unlock(lock));
        assert_no_keys();
    }
}

Test(short_reply, to_a_refused_acquire_takes_nothing)
{
    rlock *lock = lock_of(scene.client, NAME);
    foreign_hold(NAME, 60000);
    for (size_t length = 0; length < strlen(":59000\r\n"); length++) {
        int rule = shorten(rli_script_lock_acquire.sha1[RLI_COUNTED], length);
        assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        done_with(rule);
        cr_assert_str_eq(holder_of(NAME), FOREIGN_CLIENT);
    }
}

Test(short_reply, to_a_release_is_a_success)
{
    rlock *lock = lock_of(scene.client, NAME);
    for (size_t length = 0; length < strlen(":1\r\n"); length++) {
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_lock(lock));
        int rule = shorten(rli_script_lock_release.sha1[RLI_COUNTED], length);
        assert_ok(rlock_unlock(lock));
        done_with(rule);
        cr_assert(rlock_valid_for(lock) > 0 && pttl_of(NAME) > 0);
        rule = shorten(rli_script_lock_release.sha1[RLI_COUNTED], length);
        assert_ok(rlock_unlock(lock));
        done_with(rule);
        assert_no_keys();
    }
}

Test(short_reply, to_a_force_is_unknown)
{
    rlock *lock = lock_of(scene.client, NAME);
    for (size_t length = 0; length < strlen(":1\r\n"); length++) {
        foreign_hold(NAME, 60000);
        int rule = shorten(rli_script_lock_force.sha1[RLI_COUNTED], length);
        assert_status(rlock_force_unlock(lock, NULL), RLOCK_UNKNOWN);
        done_with(rule);
        assert_no_keys();
    }
}

Test(short_reply, to_a_question_is_asked_again)
{
    rlock *lock = lock_of(scene.client, NAME);
    for (size_t length = 0; length < strlen("*2\r\n:-2\r\n:0\r\n"); length++) {
        bool locked = true;
        int rule = shorten(rli_script_lock_state.sha1[RLI_COUNTED], length);
        assert_ok(rlock_is_locked(lock, &locked));
        done_with(rule);
        cr_assert(!locked);
    }
}

/* A client greets the server with its first bytes; until that is answered there is no client. */
Test(short_reply, to_the_greeting_is_an_error_or_greeted_again)
{
    for (size_t length = 0; length < 40; length++) {
        char url[512];
        rlock_client *client = NULL;
        int rule = shorten("INFO", length);
        snprintf(url, sizeof url, "unix://%s?%s", proxy_socket(scene.proxy), QUICK);
        rlock_status status = rlock_client_open(&client, url);
        cr_assert(status == RLOCK_OK || status == RLOCK_UNAVAILABLE, "%zu bytes: %s", length,
                  rlock_strstatus(status));
        done_with(rule);
        if (status == RLOCK_OK)
            rlock_client_close(client);
    }
}

/* Each in turn: the holder lets go as soon as the subscription was cut. */
Test(short_reply, to_a_subscription_loses_no_wake_up)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    const char *channel = channel_of(NAME);
    size_t whole = strlen("*3\r\n$9\r\nsubscribe\r\n$99\r\n\r\n:1\r\n") + strlen(channel);
    for (size_t length = 0; length < whole; length++) {
        assert_ok(rlock_lock(others));
        int rule = shorten("\r\nSUBSCRIBE", length);
        actor_begin_try(waiter, lock, 20000, RLOCK_WATCHDOG);
        cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(others));
        assert_status(actor_finish(waiter, 20000), RLOCK_OK);
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(500));
        done_with(rule);
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
}

/* The message that would wake is cut, and with it the connection. */
Test(short_reply, instead_of_a_message_wakes_the_waiter_as_well)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    const char *channel = channel_of(NAME);
    size_t whole = strlen("*3\r\n$7\r\nmessage\r\n$99\r\n\r\n$1\r\n0\r\n") + strlen(channel);
    for (size_t length = 0; length < whole; length++) {
        assert_ok(rlock_lock(others));
        actor_begin_try(waiter, lock, 20000, RLOCK_WATCHDOG);
        cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
        int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .messages = true, .times = 1,
                                                        .amount = (int64_t)length});
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(others));
        assert_status(actor_finish(waiter, 20000), RLOCK_OK);
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(500));
        done_with(rule);
        assert_ok(actor_unlock(waiter, lock));
        cr_assert(wait_unlistened(NAME, 5000));
    }
    actor_end(waiter);
}

/* --- renewals: each of them is shortened --- */

TestSuite(short_renewal, .init = scene_watchdog, .fini = scene_close);

Test(short_renewal, does_not_end_the_hold)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    for (size_t length = 0; length < strlen("*1\r\n:1\r\n"); length++) {
        int rule = shorten(rli_script_lock_renew.sha1[RLI_COUNTED], length);
        cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 2, 5000), "not renewed again");
        done_with(rule);
        cr_assert(rlock_valid_for(lock) > 0);
    }
    cr_assert(event_count(&lost.came) == 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* TLS connections that are cut, or fall silent, at any byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/secure.h"
#include "tests/support/event.h"

#include <stdio.h>

#define NAME "order"
#define QUICK_TRIES "connectTimeout=5000&retryAttempts=100&retryBaseDelay=5&retryMaxDelay=10"

static proxy *between;

static void open_between(void)
{
    secure_stage(CERTIFICATE_SERVER, "no", NULL);
    between = proxy_start_port(stage.server); /* before there are threads: it forks */
}

static void close_between(void)
{
    proxy_pass(between, true, true);
    secure_close();
    proxy_stop(between);
}

TestSuite(tls, .init = open_between, .fini = close_between);

static const char *url_through(const char *query)
{
    static char url[512];
    snprintf(url, sizeof url, "rediss://localhost:%d?sslTruststore=%s&%s", proxy_port(between),
             certificate_file(CERTIFICATE_AUTHORITY), query);
    return url;
}

/* Opens with so many bytes of one direction; true: that was enough. */
static bool opens_with(int64_t to_server, int64_t to_client, bool stalls)
{
    proxy_limit(between, to_server, to_client, stalls);
    rlock_client *client = NULL;
    int64_t since_ms = now_ms();
    rlock_status status = rlock_client_open(&client, url_through(stalls ? "connectTimeout=150&timeout=150" : "timeout=5000"));
    assert_between(now_ms() - since_ms, 0, at_most_ms(stalls ? 1000 : 3000));
    if (status == RLOCK_OK) {
        rlock_client_close(client);
        return true;
    }
    cr_assert(status == RLOCK_UNAVAILABLE, "after %lld bytes to the server, or %lld to the client: %s",
              (long long)to_server, (long long)to_client, rlock_last_error());
    return false;
}

/* --- the handshake and the greeting --- */

Test(tls, opening_that_is_cut_at_any_byte_says_so)
{
    int64_t cut = 0;
    while (!opens_with(cut, -1, false))
        cut += 3;
    cr_assert(cut > 300, "a handshake of %lld bytes", (long long)cut);
    cut = 0;
    while (!opens_with(-1, cut, false))
        cut += 5;
    cr_assert(cut > 500, "a handshake of %lld bytes", (long long)cut);
}

Test(tls, opening_that_stalls_ends_in_its_time)
{
    int64_t stalled = 0;
    while (!opens_with(stalled, -1, true))
        stalled += 90;
    stalled = 0;
    while (!opens_with(-1, stalled, true))
        stalled += 180;
}

Test(tls, handshake_that_stalls_can_be_cancelled)
{
    actor *caller = actor_start();
    rlock *lock = lock_of(secure_client(url_through(QUICK_TRIES)), NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    for (int64_t passed = 0; passed < 700; passed += 100) {
        assert_ok(actor_lock(caller, lock));
        assert_ok(actor_unlock(caller, lock));
        rlock_cancel *token = rlock_cancel_new();
        options.cancel = token;
        proxy_limit(between, -1, passed, true);
        int before = proxy_accepted(between);
        proxy_cut(between);
        actor_begin_with(caller, lock, &options);
        for (int64_t end_ms = limit_end_ms(5000); proxy_accepted(between) == before && now_ms() < end_ms;)
            pass_ms(1);
        cr_assert(!actor_ended(caller, 30), "%s", actor_error(caller));
        int64_t since_ms = now_ms();
        rlock_cancel_fire(token);
        assert_status(actor_finish(caller, 5000), RLOCK_CANCELLED);
        assert_between(actor_ended_at(caller) - since_ms, 0, at_most_ms(100));
        proxy_limit(between, -1, -1, false);
        rlock_cancel_free(token);
    }
    actor_end(caller);
}

/* --- requests and messages --- */

/* Begins to lock or unlock with so many bytes left to the client, opens the way again when the connection was
 * cut, and gives whether it was. */
static bool survives_cut(actor *caller, rlock *lock, void (*begin)(actor *, rlock *), int64_t bytes)
{
    int before = proxy_accepted(between);
    proxy_limit(between, -1, bytes, false);
    begin(caller, lock);
    while (!actor_ended(caller, 0) && proxy_accepted(between) == before)
        pass_ms(1);
    proxy_limit(between, -1, -1, false);
    assert_ok(actor_finish(caller, at_most_ms(10000)));
    return proxy_accepted(between) != before;
}

/* Held once, whether the server's answer was lost in front of, within, or behind its record. */
Test(tls, answer_that_is_cut_at_any_byte_counts_once)
{
    rlock *lock = lock_of(secure_client(url_through(QUICK_TRIES)), NAME);
    actor *caller = actor_start();
    assert_ok(actor_lock(caller, lock));
    assert_ok(actor_unlock(caller, lock));
    bool cut = true;
    int64_t bytes = 0;
    for (; cut; bytes++) {
        cut = survives_cut(caller, lock, actor_begin_lock, bytes);
        cr_assert(actor_hold_count(caller, lock) == 1);
        cut |= survives_cut(caller, lock, actor_begin_unlock, bytes);
        assert_no_keys();
    }
    cr_assert(bytes > 20, "a record of %lld bytes", (long long)bytes);
    actor_end(caller);
}

Test(tls, message_that_is_cut_at_any_byte_wakes_all_the_same)
{
    rlock *lock = lock_of(secure_client(url_through(QUICK_TRIES)), NAME);
    rlock *held = lock_of(secure_client(secure_url("%s", "")), NAME);
    actor *waiter = actor_start();
    for (int64_t bytes = 0; bytes < 120; bytes += 4) {
        assert_ok(rlock_lock(held));
        actor_begin_lock(waiter, lock);
        cr_assert(wait_listened(NAME, 5000));
        int before = proxy_accepted(between);
        proxy_limit(between, -1, bytes, false);
        assert_ok(rlock_unlock(held));
        for (int64_t end_ms = limit_end_ms(5000); !actor_ended(waiter, 0) && proxy_accepted(between) == before && now_ms() < end_ms;)
            pass_ms(1);
        proxy_limit(between, -1, -1, false);
        assert_ok(actor_finish(waiter, at_most_ms(5000))); /* the key would have stood for 30 s */
        assert_ok(actor_unlock(waiter, lock));
    }
    actor_end(waiter);
    assert_no_keys();
}

/* A reset throws away what has come and was not read yet; one more way for an answer to get lost. */
Test(tls, connection_that_is_reset_again_and_again_loses_no_lock)
{
    proxy_reset(between, true);
    rlock *lock = lock_of(secure_client(url_through(QUICK_TRIES)), NAME);
    actor *caller = actor_start();
    for (int i = 0; i < 50; i++) {
        actor_begin_lock(caller, lock);
        proxy_cut(between);
        assert_ok(actor_finish(caller, at_most_ms(10000)));
        cr_assert(actor_hold_count(caller, lock) == 1);
        actor_begin_unlock(caller, lock);
        proxy_cut(between);
        assert_ok(actor_finish(caller, at_most_ms(10000)));
    }
    actor_end(caller);
    assert_no_keys();
}

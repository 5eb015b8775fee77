/* Patience: a server that does not answer, or is not there, is given the configured time and no more;
 * a timed wait keeps to its time, and a cancelled one ends at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

TestSuite(patience, .init = scene_open, .fini = scene_close);

#define NAME "order"
#define SLACK_MS 150   /* for a thread to be scheduled */

/* --- a server that stands still --- */

Test(patience, with_a_stopped_server_ends_in_the_configured_time)
{
    rlock *lock = lock_of(scene.client, NAME);
    bool locked;
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, ATTEMPT_MS, at_most_ms(PATIENCE_MS + SLACK_MS));
    since_ms = now_ms();
    assert_status(rlock_is_locked(lock, &locked), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 0, at_most_ms(PATIENCE_MS + SLACK_MS));
}

Test(patience, of_an_unlock_ends_in_the_configured_time)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, ATTEMPT_MS, at_most_ms(PATIENCE_MS + SLACK_MS));
    cr_assert(rlock_valid_for(lock) == 0);
    server_thaw(stage.server);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000), "held by nobody");
}

/* A search asks one server after the other, and gives each a second. When none has answered, they share the timeout. */
Test(patience, of_an_open_is_the_whole_timeout_where_servers_are_searched)
{
    char url[80];
    rlock_client *client = NULL;
    proxy *between = proxy_start_port(stage.server);
    proxy_add(between, &(proxy_rule){.act = PROXY_DELAY, .text = "replication", .amount = 1500});
    snprintf(url, sizeof url, "redis-replicated://127.0.0.1:%d/?timeout=20000", proxy_port(between));
    assert_ok(rlock_client_open(&client, url));
    rlock_client_close(client);
    proxy_stop(between);
}

static bool answer_never(impostor_peer *peer, const char *request)
{
    (void)peer, (void)request;
    return true;
}

/* Its note 0: its port. */
static bool answer_late(impostor_peer *peer, const char *request)
{
    char map[120];
    if (!strstr(request, "\r\nSLOTS"))
        return impostor_answer(peer, request);
    pass_ms(1500);
    snprintf(map, sizeof map, "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$1\r\na\r\n",
             (int)impostor_noted(peer->of, 0));
    return impostor_say(peer, map);
}

/* A node that did not answer is asked after the others, and again although that was long ago by then. */
static void find_the_late_one(const char *query)
{
    char url[160];
    bool locked;
    rlock_client *client = NULL;
    impostor *silent = impostor_start(answer_never, NULL), *late = impostor_start(answer_late, NULL);
    impostor_note(late, 0, impostor_port(late));
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d/?timeout=12000%s", impostor_port(silent),
             impostor_port(late), query);
    assert_ok(rlock_client_open(&client, url));
    rlock *lock = rlock_get_lock(client, NAME);
    rlock_status status = rlock_is_locked(lock, &locked);
    cr_assert(status != RLOCK_UNAVAILABLE, "%s", rlock_last_error());
    rlock_free(lock);
    rlock_client_close(client);
    impostor_stop(silent);
    impostor_stop(late);
}

Test(patience, of_an_open_finds_the_one_node_of_a_cluster_that_answers)
{
    find_the_late_one("");
}

Test(patience, of_a_client_that_was_opened_lazily_finds_it_too)
{
    find_the_late_one("&lazyInitialization=true&retryAttempts=20");
}

/* With Redisson's own settings, whose attempts would take longer than the wait. It ends by itself, with the server
 * still away. */
Test(patience, of_a_try_of_5_s_with_a_stopped_server_is_5_s)
{
    rlock *lock = lock_of(stage.other, NAME);
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 5000, 10000), RLOCK_UNAVAILABLE);
    cr_assert(now_ms() - since_ms >= 5000 - 2);
}

Test(patience, of_a_try_of_5_s_with_no_server_is_no_more_than_its_attempts)
{
    rlock *lock = lock_of(scene_client("timeout=20000&retryAttempts=1&retryBaseDelay=10&retryMaxDelay=10"), NAME);
    server_kill(stage.server);
    assert_status(rlock_try_lock(lock, 5000, 10000), RLOCK_UNAVAILABLE);
    assert_error("2 attempts");
}

/* One attempt, which has its whole timeout, is all that a wait shorter than that makes; a longer one asks again, until it
 * is over. Whether its connection stands, or has to be made anew. */
Test(patience, of_a_timed_wait_is_that_of_one_attempt_at_least)
{
    static const int64_t waits_ms[] = {0, 1, 20, 100, ATTEMPT_MS / 2, 2 * ATTEMPT_MS};
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        int before = seen_by(rule);
        int64_t since_ms = now_ms(), least_ms = waits_ms[i] > ATTEMPT_MS ? waits_ms[i] : ATTEMPT_MS;
        assert_status(rlock_try_lock(lock, waits_ms[i], 1000), RLOCK_UNAVAILABLE);
        int64_t took_ms = now_ms() - since_ms;
        cr_assert(took_ms >= least_ms - 2, "a try of %lld ms ended after %lld", (long long)waits_ms[i], (long long)took_ms);
        int asked = seen_by(rule) - before;
        cr_assert(waits_ms[i] < ATTEMPT_MS ? asked == 1 : asked >= 2, "a try of %lld ms asked %d times",
                  (long long)waits_ms[i], asked);
    }
}

/* The same for threads that queue behind each other, for names and for connections: all end, with the server away. */
Test(patience, of_many_timed_waits_ends)
{
    enum { ACTORS = 16, NAMES = 4, WAIT_MS = 600 };
    actor *actors[ACTORS];
    rlock *locks[NAMES];
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%d", i);
        locks[i] = lock_of(scene.client, name);
    }
    for (int i = 0; i < ACTORS; i++)
        actors[i] = actor_start();
    server_freeze(stage.server);
    for (int i = 0; i < ACTORS; i++)
        actor_begin_try(actors[i], locks[i % NAMES], WAIT_MS, 1000);
    for (int i = 0; i < ACTORS; i++) {
        assert_status(actor_finish(actors[i], 30000), RLOCK_UNAVAILABLE);
        cr_assert(actor_took(actors[i]) >= WAIT_MS - 2);
        actor_end(actors[i]);
    }
}

/* Asleep when the server stops, with no reason to ask before its time is up. */
Test(patience, of_a_sleeping_waiter_ends)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *waiter = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_try(waiter, lock, 1500, 1000);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    server_freeze(stage.server);
    rlock_status status = actor_finish(waiter, 30000);
    cr_assert(status == RLOCK_UNAVAILABLE || status == RLOCK_TIMEOUT, "%s", rlock_strstatus(status));
    cr_assert(actor_took(waiter) >= 1500 - 2);
    actor_end(waiter);
}

/* --- a network that swallows all, a server that is not there --- */

Test(patience, with_a_black_hole_ends_in_the_configured_time)
{
    rlock *lock = lock_of(scene.client, NAME);
    proxy_pass(scene.proxy, false, false);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, ATTEMPT_MS, at_most_ms(PATIENCE_MS + SLACK_MS));
    rlock_client *client;
    char url[512];
    snprintf(url, sizeof url, "unix://%s?%s", proxy_socket(scene.proxy), QUICK);
    since_ms = now_ms();
    assert_status(rlock_client_open(&client, url), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 0, at_most_ms(500 + ATTEMPT_MS + SLACK_MS));
}

Test(patience, with_no_server_is_no_more_than_the_pauses)
{
    rlock *lock = lock_of(scene.client, NAME);
    server_kill(stage.server);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 0, at_most_ms(50 + 100 + SLACK_MS));
}

/* An answer that comes late, but in time, is taken. */
Test(patience, is_enough_for_an_answer_just_in_time)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = rli_script_lock_acquire.sha1[RLI_COUNTED],
                                                    .amount = 150});
    assert_ok(rlock_lock(lock));
    cr_assert(seen_by(rule) == 1, "sent %d times", seen_by(rule));
    assert_ok(rlock_unlock(lock));
}

/* It finds the connection dead, so that the next one has another. */
Test(patience, of_a_short_wait_finds_a_dead_connection)
{
    rlock *lock = lock_of(scene.client, NAME);
    on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1); /* the next connection passes all */
    assert_status(rlock_try_lock(lock, 1, 1000), RLOCK_UNAVAILABLE);
    assert_ok(rlock_try_lock(lock, 1, 1000));
    assert_ok(rlock_unlock(lock));
}

/* More than the kernel takes at once: the rest is left to send when the server stops reading. */
Test(patience, to_send_a_long_request_ends_in_the_configured_time)
{
    enum { LENGTH = 1 << 20, ONCE_MS = 1500 };
    static char name[LENGTH + 1];
    memset(name, 'n', LENGTH);
    rlock_client *client = scene_client("timeout=1500&retryAttempts=0");
    rlock *lock = lock_of(client, name), *another = lock_of(client, NAME);
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, ONCE_MS, at_most_ms(ONCE_MS + SLACK_MS));
    server_thaw(stage.server);
    assert_ok(rlock_lock(another));
    assert_ok(rlock_unlock(another));
    assert_ok(rlock_try_lock(lock, 5000, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(lock));
}

/* After an outage the next call finds the server again at once. */
Test(patience, is_not_needed_any_more_once_the_server_goes_on)
{
    rlock *lock = lock_of(scene.client, NAME);
    server_freeze(stage.server);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    server_thaw(stage.server);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_between(now_ms() - since_ms, 0, at_most_ms(SLACK_MS));
    assert_ok(rlock_unlock(lock));
}

/* --- cancelling --- */

#define SLOW "timeout=10000&connectTimeout=10000&retryAttempts=4&retryBaseDelay=10000&retryMaxDelay=10000"

static void open_slow(void)
{
    scene_open_with(SLOW);
}

TestSuite(cancelled, .init = open_slow, .fini = scene_close);

/* Fires the token of waits that `ready` says are under way; each ends at once. */
static void assert_cancel_ends(int waiters, bool (*ready)(void), const char *name)
{
    enum { MOST = 8 };
    actor *actors[MOST];
    rlock *lock = lock_of(scene.client, name);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    for (int i = 0; i < waiters; i++) {
        actors[i] = actor_start();
        actor_begin_with(actors[i], lock, &options);
    }
    cr_assert(ready());
    for (int i = 0; i < waiters; i++)
        cr_assert(actor_asleep(actors[i], 5000), "waiter %d does not wait", i);
    int64_t since_ms = now_ms();
    rlock_cancel_fire(options.cancel);
    for (int i = 0; i < waiters; i++) {
        assert_status(actor_finish(actors[i], 30000), RLOCK_CANCELLED);
        assert_between(actor_ended_at(actors[i]) - since_ms, 0, at_most_ms(SLACK_MS));
        actor_end(actors[i]);
    }
    rlock_cancel_free(options.cancel);
}

static int kept;

static bool one_is_kept(void)
{
    return proxy_await(scene.proxy, kept, PROXY_ACTED, 1, 5000);
}

Test(cancelled, request_that_stalls_ends_at_once)
{
    kept = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
    assert_cancel_ends(1, one_is_kept, NAME);
}

Test(cancelled, waits_behind_a_request_that_stalls_end_at_once)
{
    kept = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
    assert_cancel_ends(8, one_is_kept, NAME);
}

Test(cancelled, answer_that_stalls_ends_at_once)
{
    kept = on_script(&rli_script_lock_acquire, PROXY_HOLD_REPLY, 0);
    assert_cancel_ends(4, one_is_kept, NAME);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000), "held by nobody");
}

/* The connection was cut, and the server says nothing to the next one's greeting. */
Test(cancelled, connecting_that_stalls_ends_at_once)
{
    kept = on_text("INFO", PROXY_HOLD_REQUEST, 0);
    proxy_cut(scene.proxy);
    assert_cancel_ends(4, one_is_kept, NAME);
}

static bool at_once(void)
{
    return true;
}

/* Each attempt fails at once; between them are 5 to 10 s. */
Test(cancelled, pause_between_attempts_ends_at_once)
{
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    assert_cancel_ends(4, at_once, NAME);
}

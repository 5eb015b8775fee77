/* Silence: connections that are dead without a sign, of requests, of messages, and to sentinels. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/fronts.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/renewal.h"

#include <stdio.h>

#define NAME "order"
#define CHANNEL "redisson_lock__channel:{" NAME "}"
#define PINGING SPRY_WATCHDOG "&pingConnectionInterval=300"

/* --- one server behind a proxy --- */

static server *single;
static proxy *front;
static rlock_client *client, *past; /* past the proxy */

static void open_single(void)
{
    single = server_start();
    front = proxy_start_port(single);
    client = client_at("redis://127.0.0.1:%d?" PINGING, proxy_port(front));
    past = client_at("%s?" SPRY, server_tcp_url(single));
}

static void close_single(void)
{
    clients_close();
    proxy_stop(front);
    server_stop(single);
}

TestSuite(silence, .init = open_single, .fini = close_single);

static actor *sleeper(rlock *lock)
{
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(server_wait_subscribers(single, CHANNEL, 1, 10000) && actor_asleep(waiter, 10000));
    return waiter;
}

/* The message is lost on a connection that both sides take for alive; the lease of the holder is long. */
Test(silence, of_messages_is_found_by_a_ping)
{
    rlock *lock = lock_of(client, NAME), *others = lock_of(past, NAME);
    assert_ok(rlock_lock_lease(others, 60000));
    actor *waiter = sleeper(lock);
    int rule = proxy_add(front, &(proxy_rule){.act = PROXY_HOLD_REPLY, .messages = true, .times = 1});
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(others));
    assert_ok(actor_finish(waiter, 20000));
    cr_log_info("the waiter had it after %lld ms", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300 + 1000 + 300)); /* interval and timeout */
    cr_assert(proxy_count(front, rule, PROXY_ACTED) == 1);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Everything is swallowed for a while, in both directions; then new connections work. */
Test(silence, of_everything_for_a_while_is_outlived_by_holds_and_waits)
{
    rlock *lock = lock_of(client, NAME), *others = lock_of(past, NAME), *held = lock_of(client, "held");
    assert_ok(rlock_lock(held));
    assert_ok(rlock_lock(others));
    actor *waiter = sleeper(lock);
    proxy_pass(front, false, false);
    pass_ms(2500);
    assert_ok(rlock_unlock(others)); /* its message is swallowed */
    int64_t since_ms = now_ms();
    proxy_cut(front);
    proxy_pass(front, true, true);
    assert_ok(actor_finish(waiter, 20000));
    cr_log_info("the waiter had it after %lld ms", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(2000));
    cr_assert(rlock_valid_for(held) > 0);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Nobody listens at the address any more: packets vanish. */
Test(silence, of_the_whole_machine_ends_a_call_in_its_time)
{
    rlock_client *hasty = client_at("redis://127.0.0.1:%d?timeout=300&connectTimeout=300&retryAttempts=2&"
                                    "retryBaseDelay=50&retryMaxDelay=100", proxy_port(front));
    rlock *lock = lock_of(hasty, NAME);
    proxy_pass(front, false, false);
    proxy_deafen(front, true);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 300, at_most_ms(3 * 600 + 200));
    since_ms = now_ms();
    client_end(hasty);
    assert_between(now_ms() - since_ms, 0, at_most_ms(300));
    proxy_deafen(front, false);
    proxy_pass(front, true, true);
}

/* --- sentinels behind proxies --- */

static sentinel *own;

static void open_sentinels(void)
{
    fronts_begin();
    own = sentinel_start(NULL);
    client = client_at("%s&" PINGING, sentinel_url(own));
}

static void close_sentinels(void)
{
    clients_close();
    fronts_end();
    sentinel_stop(own);
}

TestSuite(sentinel_silence, .init = open_sentinels, .fini = close_sentinels);

/* The silent one hears the others, who do not hear it: now and then it leads a failover beside theirs, and what the
 * first of two new masters granted, or had been passed on, is gone with it. */
static void assert_kept_or_lost(rlock_status unlocked)
{
    cr_assert(unlocked == RLOCK_OK || unlocked == RLOCK_LOST, "%s", rlock_strstatus(unlocked));
}

/* The one that is asked first answers nothing any more; another tells of the failover. */
Test(sentinel_silence, of_a_sentinel_hides_no_failover)
{
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    proxy_pass(front_of(sentinel_node(own, 0)), false, false);
    server_kill(sentinel_server(own, 0));
    fleet *servers = sentinel_fleet(own);
    for (int64_t end_ms = limit_end_ms(SENTINEL_FAILOVER_MS); !fleet_wait_master(servers, 1, 5) && !fleet_wait_master(servers, 2, 5);)
        cr_assert(now_ms() < end_ms, "no failover took place");
    rlock *fresh = lock_of(client, "fresh");
    actor *first = actor_start();
    actor_begin_lock(first, fresh);
    int master = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS); /* some may hear of it seconds after the first */
    cr_assert(master > 0, "the sentinels do not agree");
    int64_t since_ms = now_ms();
    assert_ok(actor_finish(first, 10000));
    cr_log_info("the first lock came %lld ms after all sentinels had the new master",
                (long long)(actor_ended_at(first) - since_ms));
    cr_assert(actor_ended_at(first) - since_ms <= at_most_ms(3500));
    rlock *later = lock_of(client, "later");
    assert_ok(rlock_lock(later));
    cr_assert(server_integer(sentinel_server(own, master), "EXISTS later") == 1);
    assert_ok(rlock_unlock(later));
    assert_kept_or_lost(actor_unlock(first, fresh));
    assert_kept_or_lost(rlock_unlock(lock));
    actor_end(first);
}

/* All of them: what is held, and who asks, does without. */
Test(sentinel_silence, of_all_sentinels_stops_nobody)
{
    rlock *lock = lock_of(client, NAME), *another = lock_of(client, "another");
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < 3; i++)
        proxy_pass(front_of(sentinel_node(own, i)), false, false);
    for (int64_t begun_ms = now_ms(); !is_renewed(lock, SPRY_WATCHDOG_MS, begun_ms); pass_ms(5)) {
        int64_t since_ms = now_ms();
        assert_ok(rlock_lock(another));
        assert_ok(rlock_unlock(another));
        assert_between(now_ms() - since_ms, 0, at_most_ms(300));
        cr_assert(rlock_valid_for(lock) > 0);
    }
    int64_t since_ms = now_ms();
    client_end(client); /* while its thread asks those who do not answer */
    assert_between(now_ms() - since_ms, 0, at_most_ms(300));
}

/* Whom clients and sentinels do not reach is replaced, though it lives, and its clients come along. */
Test(sentinel_silence, of_a_master_is_followed_by_a_failover)
{
    rlock_client *other = client_at("%s&" PINGING, sentinel_url(own));
    rlock *lock = lock_of(client, NAME), *waiting = lock_of(other, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    int64_t since_ms = now_ms();
    proxy_pass(front_of(sentinel_server(own, 0)), false, false);
    rlock *fresh = lock_of(client, "fresh");
    assert_ok(rlock_lock(fresh));
    cr_log_info("locked %lld ms after the master fell silent", (long long)(now_ms() - since_ms));
    cr_assert(server_integer(sentinel_server(own, 0), "EXISTS fresh") == 0);
    cr_assert(rlock_valid_for(lock) > 0);
    proxy_pass(front_of(sentinel_server(own, 0)), true, true);
    since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(500));
    assert_ok(actor_unlock(waiter, waiting));
    assert_ok(rlock_unlock(fresh));
    actor_end(waiter);
}

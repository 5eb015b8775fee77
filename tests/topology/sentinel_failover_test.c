/* Failover under sentinels: holds, waits and idle clients go over to the new master, and nobody goes back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/load.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/renewal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "order"

static sentinel *own;
static rlock_client *client, *other;

static void open_with(const char *query)
{
    client = client_at("%s&%s&clientName=one", sentinel_url(own), query);
    other = client_at("%s&%s&clientName=two", sentinel_url(own), query);
}

static void open_own(void)
{
    own = sentinel_start(NULL);
    open_with(SPRY_WATCHDOG);
}

static void close_own(void)
{
    clients_close();
    sentinel_stop(own);
    own = NULL;
}

TestSuite(sentinel_failover, .init = open_own, .fini = close_own);

static server *node(int number)
{
    return sentinel_server(own, number);
}

/* The new master's number, as soon as it is one. */
static int await_master(int64_t *at_ms)
{
    for (int64_t end_ms = limit_end_ms(SENTINEL_FAILOVER_MS); now_ms() < end_ms; pass_ms(1)) {
        for (int i = 1; i < 3; i++) {
            if (server_is_up(node(i)) && fleet_wait_master(sentinel_fleet(own), i, 0)) {
                *at_ms = now_ms();
                return i;
            }
        }
    }
    cr_assert_fail("no failover took place");
    return -1;
}

static void say(server *to, const char *command)
{
    redisReply *reply = server_command(to, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

/* How many scripts that server has run. */
static long long scripts_at(server *at)
{
    return server_times(at, "evalsha") + server_times(at, "eval");
}

/* Whether a client of that name has asked for the role, as it does first of all, or gone on from there. */
static bool has_asked(server *at, const char *name)
{
    char text[40], *list = server_text(at, "CLIENT LIST"), *rest = list;
    bool asked = false;
    snprintf(text, sizeof text, "name=%s ", name);
    for (char *line; (line = strsep(&rest, "\n"));)
        asked |= strstr(line, text) && (strstr(line, "cmd=info") || strstr(line, "cmd=eval"));
    free(list);
    return asked;
}

/* Waits until that client has come to the server. */
static void await_client(server *at, const char *name)
{
    for (int64_t end_ms = limit_end_ms(SENTINEL_FAILOVER_MS); !has_asked(at, name); pass_ms(1))
        cr_assert(now_ms() < end_ms, "client \"%s\" does not come to the new master", name);
    pass_ms(50); /* it has the answer, and uses it */
}

/* --- by the end of the master --- */

/* The holder's lock is renewed on the new master; who waits for it waits there. */
static void goes_over(void (*fail)(server *))
{
    rlock *lock = lock_of(client, NAME), *waiting = lock_of(other, NAME), *fresh = lock_of(client, "fresh");
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    int64_t failed_ms = now_ms(), master_ms;
    fail(node(0));
    actor *caller = actor_start();
    actor_begin_lock(caller, fresh);
    int master = await_master(&master_ms);
    assert_ok(actor_finish(caller, SENTINEL_FAILOVER_MS));
    cr_log_info("the new master was one %lld ms after the failure; the first lock on it came %lld ms after that",
                (long long)(master_ms - failed_ms), (long long)(actor_ended_at(caller) - master_ms));
    assert_between(actor_ended_at(caller) - master_ms, -at_most_ms(50), at_most_ms(2500));
    cr_assert(server_integer(node(master), "EXISTS " NAME) == 1, "the hold was not replicated");
    await_renewal(lock, SPRY_WATCHDOG_MS, now_ms());
    cr_assert(server_integer(node(master), "PTTL " NAME) > 2 * SPRY_WATCHDOG_MS / 3, "not renewed on the new master");
    cr_assert(!actor_ended(waiter, 0));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 10000));
    cr_log_info("the waiter had it %lld ms after the unlock", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300));
    assert_ok(actor_unlock(waiter, waiting));
    assert_ok(actor_unlock(caller, fresh));
    cr_assert(server_integer(node(master), "DBSIZE") == 0);
    actor_end(waiter);
    actor_end(caller);
}

Test(sentinel_failover, of_a_killed_master_takes_holds_and_waits_along)
{
    goes_over(server_kill);
}

Test(sentinel_failover, of_a_frozen_master_takes_holds_and_waits_along)
{
    goes_over(server_freeze);
}

/* Thawed, the former master believes that it is one until the sentinels tell it; no client asks it. */
Test(sentinel_failover, leads_nobody_back_to_a_master_that_was_frozen)
{
    rlock *lock = lock_of(client, NAME), *others = lock_of(other, NAME), *another = lock_of(client, "another");
    assert_ok(rlock_lock(lock));
    actor *caller = actor_start();
    actor_begin_lock(caller, others);
    cr_assert(actor_asleep(caller, 10000));
    long long before = scripts_at(node(0));
    int64_t master_ms;
    server_freeze(node(0));
    int master = await_master(&master_ms);
    await_client(node(master), "one");
    await_client(node(master), "two");
    server_thaw(node(0));
    for (int i = 0; i < 50; i++) {
        assert_ok(rlock_lock(another));
        assert_ok(rlock_unlock(another));
    }
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(caller, SENTINEL_FAILOVER_MS));
    cr_assert(server_integer(node(master), "EXISTS " NAME) == 1);
    cr_assert(fleet_wait_in_step(sentinel_fleet(own), 0, SENTINEL_FAILOVER_MS));
    /* A renewal or a question may have been on its way to it when it froze. */
    cr_log_info("the former master ran %lld scripts", scripts_at(node(0)) - before);
    cr_assert(scripts_at(node(0)) - before <= 2);
    assert_ok(actor_unlock(caller, others));
    actor_end(caller);
}

/* Calls that were connecting to the master when it froze end up on the new one, whatever the former one
 * does when it goes on. */
Test(sentinel_failover, takes_calls_along_that_were_connecting_to_the_frozen_master)
{
    enum { CALLERS = 8 };
    actor *callers[CALLERS];
    rlock *locks[CALLERS];
    rlock_client *patient = client_at("%s&timeout=8000&connectTimeout=8000&retryAttempts=10&retryBaseDelay=100&"
                                      "retryMaxDelay=300&scanInterval=500&clientName=three", sentinel_url(own));
    for (int i = 0; i < CALLERS; i++) {
        char name[20];
        snprintf(name, sizeof name, "lock-%d", i);
        callers[i] = actor_start();
        locks[i] = lock_of(patient, name);
    }
    int64_t master_ms;
    long long before = scripts_at(node(0));
    say(node(0), "CLIENT KILL TYPE normal");
    server_freeze(node(0));
    for (int i = 0; i < CALLERS; i++)
        actor_begin_lock(callers[i], locks[i]);
    for (int i = 0; i < CALLERS; i++)
        cr_assert(actor_asleep(callers[i], 10000));
    int master = await_master(&master_ms);
    await_client(node(master), "three");
    server_thaw(node(0));
    for (int i = 0; i < CALLERS; i++)
        assert_ok(actor_finish(callers[i], SENTINEL_FAILOVER_MS));
    cr_log_info("the first had its lock %lld ms after the new master was one",
                (long long)(actor_ended_at(callers[0]) - master_ms));
    cr_assert(server_integer(node(master), "DBSIZE") == CALLERS, "locked somewhere else");
    cr_assert(fleet_wait_in_step(sentinel_fleet(own), 0, SENTINEL_FAILOVER_MS));
    cr_assert(scripts_at(node(0)) == before, "the former master ran %lld scripts", scripts_at(node(0)) - before);
    for (int i = 0; i < CALLERS; i++) {
        assert_ok(actor_unlock(callers[i], locks[i]));
        actor_end(callers[i]);
    }
}

Test(sentinel_failover, is_followed_while_nobody_does_anything)
{
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    int64_t master_ms;
    server_freeze(node(0));
    int master = await_master(&master_ms);
    await_client(node(master), "one");
    cr_log_info("the idle client came %lld ms after the new master was one", (long long)(now_ms() - master_ms));
    assert_between(now_ms() - master_ms, 0, at_most_ms(3000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_between(now_ms() - since_ms, 0, at_most_ms(300));
    assert_ok(rlock_unlock(lock));
}

/* Many wait, in two clients; each of them is served on the new master. */
Test(sentinel_failover, loses_no_waiter)
{
    enum { WAITERS = 20 };
    actor *waiters[WAITERS];
    rlock *lock = lock_of(client, NAME), *handles[2] = {lock, lock_of(other, NAME)};
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], handles[i % 2]);
    }
    for (int i = 0; i < WAITERS; i++)
        cr_assert(actor_asleep(waiters[i], 10000));
    int64_t master_ms;
    server_kill(node(0));
    await_master(&master_ms);
    assert_ok(rlock_unlock(lock));
    int served = 0;
    for (int64_t end_ms = limit_end_ms(SENTINEL_FAILOVER_MS); served < WAITERS; pass_ms(1)) {
        cr_assert(now_ms() < end_ms, "only %d waiters were served", served);
        for (int i = 0; i < WAITERS; i++) {
            if (!waiters[i] || !actor_ended(waiters[i], 0))
                continue;
            assert_ok(actor_finish(waiters[i], 0));
            assert_ok(actor_unlock(waiters[i], handles[i % 2]));
            actor_end(waiters[i]);
            waiters[i] = NULL;
            served++;
        }
    }
    cr_log_info("%d waiters were served within %lld ms of the new master", served, (long long)(now_ms() - master_ms));
}

/* --- what the replicas had not got --- */

/* Replicas that stand still, cut off, do not know what the master grants to those who do not ask for them. */
Test(sentinel_failover, tells_of_a_hold_that_was_not_replicated)
{
    static losses lost;
    rlock_client *careless = client_at("%s&" SPRY_WATCHDOG "&checkLockSyncedSlaves=false", sentinel_url(own));
    losses_init(&lost);
    rlock_on_lost(careless, losses_note, &lost);
    rlock *lock = lock_of(careless, NAME), *waiting = lock_of(other, NAME);
    actor *waiter = actor_start();
    server_freeze(node(1));
    server_freeze(node(2));
    say(node(0), "CLIENT KILL TYPE replica");
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    server_kill(node(0));
    server_thaw(node(1));
    server_thaw(node(2));
    int64_t master_ms;
    int master = await_master(&master_ms);
    cr_assert(event_wait_ms(&lost.came, SENTINEL_FAILOVER_MS), "the loss was not told");
    cr_log_info("told %lld ms after the new master was one, as reason %d", (long long)(lost.all[0].at_ms - master_ms),
                (int)lost.all[0].reason);
    assert_between(lost.all[0].at_ms - master_ms, -at_most_ms(100), at_most_ms(SPRY_WATCHDOG_MS));
    cr_assert(strcmp(lost.all[0].name, NAME) == 0 && rlock_valid_for(lock) == 0);
    assert_ok(actor_finish(waiter, SENTINEL_FAILOVER_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(server_integer(node(master), "EXISTS " NAME) == 1, "the lost hold's unlock took the next one's");
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
}

/* --- what sentinels know --- */

/* An unlock: what the former master granted until its clients left it is lost. */
static void assert_released(rlock_status status)
{
    cr_assert(status == RLOCK_OK || status == RLOCK_LOST, "%s", rlock_last_error());
}

/* A sentinel that leads the failover waits until every replica follows, here in vain, before it says that
 * the master has changed. The client does not. */
Test(sentinel_failover, is_followed_before_the_last_replica_follows)
{
    say(node(2), "CONFIG SET replica-priority 0");
    say(node(1), "ACL SETUSER default -psync -sync");
    for (int64_t end_ms = limit_end_ms(10000);; pass_ms(50)) { /* until the sentinels know */
        redisReply *reply = server_command(sentinel_node(own, 0), "SENTINEL REPLICAS " SENTINEL_MASTER);
        bool known = false;
        for (size_t i = 0; i < reply->elements; i++) {
            for (size_t j = 0; j + 1 < reply->element[i]->elements; j += 2)
                known |= strcmp(reply->element[i]->element[j]->str, "slave-priority") == 0 &&
                         strcmp(reply->element[i]->element[j + 1]->str, "0") == 0;
        }
        freeReplyObject(reply);
        if (known)
            break;
        cr_assert(now_ms() < end_ms, "the sentinel does not learn the priority");
    }
    rlock *lock = lock_of(client, NAME);
    say(sentinel_node(own, 0), "SENTINEL FAILOVER " SENTINEL_MASTER);
    int64_t master_ms;
    int master = await_master(&master_ms);
    cr_assert(master == 1);
    for (;; pass_ms(5)) {
        assert_ok(rlock_lock(lock));
        bool there = server_integer(node(1), "EXISTS " NAME) == 1;
        assert_released(rlock_unlock(lock));
        if (there)
            break;
        cr_assert(now_ms() - master_ms < at_most_ms(2000), "still on the former master");
    }
    cr_log_info("on the new master %lld ms after it was one", (long long)(now_ms() - master_ms));
}

/* Who stood still while the others elected knows nothing of it when it goes on, nor does the master. */
Test(sentinel_failover, is_not_undone_by_a_sentinel_that_missed_it)
{
    rlock *lock = lock_of(client, NAME), *another = lock_of(client, "another");
    assert_ok(rlock_lock(lock));
    server_freeze(sentinel_node(own, 0)); /* the first that is asked */
    server_freeze(node(0));
    int64_t master_ms;
    int master = await_master(&master_ms);
    assert_ok(rlock_lock(another));
    cr_assert(server_integer(node(master), "EXISTS another") == 1);
    server_thaw(node(0));
    server_thaw(sentinel_node(own, 0));
    for (int64_t end_ms = now_ms() + 3000; now_ms() < end_ms;) {
        assert_ok(rlock_lock(another));
        cr_assert(server_integer(node(master), "EXISTS another") == 1, "it went back");
        assert_ok(rlock_unlock(another));
        cr_assert(rlock_valid_for(lock) > 0);
    }
    assert_ok(rlock_unlock(lock));
}

/* A sentinel that the others do not know stands for one that is cut off from them, with the former master. */
Test(sentinel_failover, is_not_undone_by_a_sentinel_that_is_cut_off)
{
    server *former = server_start();
    char config[200];
    snprintf(config, sizeof config, "sentinel monitor " SENTINEL_MASTER " 127.0.0.1 %d 1\n", server_port(former));
    server *lone = server_start_sentinel(config, NULL);
    cr_assert(sentinel_fail_over(own) > 0);
    rlock_client *fresh = client_at("redis-sentinel://127.0.0.1:%d,%s/?masterName=" SENTINEL_MASTER "&" SPRY,
                                    server_port(lone), sentinel_hosts(own));
    rlock *lock = lock_of(fresh, NAME);
    for (int64_t since_ms = now_ms();; pass_ms(1)) {
        assert_ok(rlock_lock(lock));
        bool there = server_integer(node(sentinel_master(own)), "EXISTS " NAME) == 1;
        assert_released(rlock_unlock(lock));
        if (there)
            break;
        cr_assert(now_ms() - since_ms < at_most_ms(2000), "still on the former master");
    }
    long long before = scripts_at(former);
    server_kill(sentinel_node(own, 0));
    server_kill(sentinel_node(own, 1));
    for (int64_t end_ms = now_ms() + 2500; now_ms() < end_ms; pass_ms(5)) { /* some scans */
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(scripts_at(former) == before, "it went back");
    client_end(fresh);
    server_stop(lone);
    server_stop(former);
}

/* --- under load --- */

static void under_load(void (*fail)(server *))
{
    load *turns = load_start_of(client, other, RLOCK_WATCHDOG);
    load_await_turns(turns, 20, 20000);
    load_data_lost_soon(turns);
    int64_t failed_ms = now_ms();
    if (fail)
        fail(node(0));
    int next = fail ? sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS) : sentinel_fail_over(own);
    cr_assert(next > 0);
    load_await_turns(turns, 3, SENTINEL_FAILOVER_MS); /* nobody is inside since before it */
    load_data_lost(turns);
    cr_log_info("all have had turns %lld ms after the failure", (long long)(now_ms() - failed_ms));
    if (fail == server_freeze)
        server_thaw(node(0));
    load_await_turns(turns, 50, SENTINEL_FAILOVER_MS);
    load_stop(turns);
    cr_log_info("the longest lock took %lld ms, the longest unlock %lld ms; %d unlocks found the hold lost",
                (long long)load_longest_ms(turns, LOAD_LOCK), (long long)load_longest_ms(turns, LOAD_UNLOCK),
                load_answers(turns, LOAD_UNLOCK, RLOCK_LOST));
    load_assert_answers(turns, (const rlock_status[]){RLOCK_LOST, RLOCK_TIMEOUT, RLOCK_NOT_SYNCED, RLOCK_UNAVAILABLE, 0},
                        (const rlock_status[]){RLOCK_LOST, RLOCK_UNAVAILABLE, 0});
    cr_assert(load_answers(turns, LOAD_LOCK, RLOCK_TIMEOUT) == 0, "somebody starved");
}

Test(sentinel_failover, on_demand_under_load_stops_nobody)
{
    under_load(NULL);
}

Test(sentinel_failover, of_a_killed_master_under_load_stops_nobody)
{
    under_load(server_kill);
}

Test(sentinel_failover, of_a_frozen_master_under_load_stops_nobody)
{
    under_load(server_freeze);
}

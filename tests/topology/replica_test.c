/* Replicas: who becomes the master is found by what the servers say of themselves, and a server that will
 * not write for a while is asked again, or named. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/disk.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/fleet.h"
#include "tests/support/shell.h"
#include "tests/support/texts.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/renewal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "order"
#define FOLLOW_MS 10000

static fleet *own;

static void open_own(void)
{
    own = fleet_start(2, NULL);
}

static void close_own(void)
{
    clients_close();
    fleet_stop(own);
    own = NULL;
}

TestSuite(replica, .init = open_own, .fini = close_own);

static void say(server *to, const char *command)
{
    redisReply *reply = server_command(to, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

static rlock_client *client_of(const char *scheme, const char *query)
{
    return client_at("%s://%s/?%s", scheme, fleet_hosts(own), query);
}

/* --- another becomes the master --- */

static void goes_over(const char *scheme, const char *query, bool dead)
{
    rlock_client *client = client_of(scheme, query), *other = client_of(scheme, query);
    rlock *lock = lock_of(client, NAME), *waiting = lock_of(other, NAME), *fresh = lock_of(client, "fresh");
    actor *waiter = actor_start(), *caller = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    if (dead)
        server_kill(fleet_node(own, 0));
    fleet_promote(own, 2);
    int64_t since_ms = now_ms();
    assert_ok(actor_lock(caller, fresh));
    cr_log_info("locked %lld ms after another was the master", (long long)(now_ms() - since_ms));
    assert_between(now_ms() - since_ms, 0, at_most_ms(2000));
    cr_assert(server_integer(fleet_node(own, 2), "EXISTS fresh") == 1);
    await_renewal(lock, SPRY_WATCHDOG_MS, now_ms());
    cr_assert(server_integer(fleet_node(own, 2), "EXISTS " NAME) == 1);
    cr_assert(!actor_ended(waiter, 0));
    since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300));
    assert_ok(actor_unlock(waiter, waiting));
    assert_ok(actor_unlock(caller, fresh));
    actor_end(waiter);
    actor_end(caller);
}

Test(replica, that_takes_over_from_a_demoted_master_is_found_among_a_master_and_slaves)
{
    goes_over("redis-master-slave", SPRY_WATCHDOG, false);
}

Test(replica, that_takes_over_from_a_demoted_master_is_found_among_replicated_servers)
{
    goes_over("redis-replicated", SPRY_WATCHDOG, false);
}

Test(replica, that_takes_over_from_a_dead_master_is_found_among_a_master_and_slaves)
{
    goes_over("redis-master-slave", SPRY_WATCHDOG, true);
}

Test(replica, that_takes_over_from_a_dead_master_is_found_among_replicated_servers)
{
    goes_over("redis-replicated", SPRY_WATCHDOG, true);
}

/* What is asked for regularly is off; a reason to ask is a reason all the same. */
Test(replica, that_takes_over_is_found_though_names_are_not_monitored)
{
    goes_over("redis-master-slave", SPRY_WATCHDOG "&dnsMonitoringInterval=-1&pingConnectionInterval=0", false);
}

Test(replica, that_takes_over_is_found_by_waiters_that_do_nothing)
{
    rlock_client *client = client_of("redis-replicated", SPRY_WATCHDOG), *other = client_of("redis-replicated", SPRY);
    rlock *lock = lock_of(client, NAME), *waiting = lock_of(other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    fleet_promote(own, 1);
    int64_t since_ms = now_ms();
    while (!server_wait_subscribers(fleet_node(own, 1), "redisson_lock__channel:{" NAME "}", 1, 0))
        cr_assert(now_ms() - since_ms < FOLLOW_MS, "the waiter does not listen there");
    cr_log_info("the waiter listened there after %lld ms", (long long)(now_ms() - since_ms));
    since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300));
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
}

Test(replica, is_all_that_there_is_says_the_message)
{
    char url[300], *hosts = strchr(fleet_hosts(own), ',');
    snprintf(url, sizeof url, "redis-replicated://%s", hosts + 1);
    refused_at(url, RLOCK_UNAVAILABLE, "no master", "replica", NULL);
    server_kill(fleet_node(own, 2));
    refused_at(url, RLOCK_UNAVAILABLE, "no master", "refused", NULL);
}

/* A refusal is no silence, whoever else is silent. */
Test(replica, that_refuses_the_password_outweighs_one_that_is_down)
{
    char url[300];
    for (int node = 0; node < 3; node++)
        freeReplyObject(server_command(fleet_node(own, node), "ACL SETUSER locks on >right ~* &* +@all"));
    server_kill(fleet_node(own, 0));
    server_kill(fleet_node(own, 2));
    snprintf(url, sizeof url, "redis-replicated://locks:wrong@%s", fleet_hosts(own));
    refused_at(url, RLOCK_SERVER, "WRONGPASS", "password", NULL);
}

/* --- servers that do not write for a while --- */

static server *single;

static void open_single(void)
{
    single = server_start_with(ARGS("--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024"));
}

static void close_single(void)
{
    clients_close();
    server_stop(single);
}

TestSuite(unwilling, .init = open_single, .fini = close_single);

#define FEW "timeout=60000&connectTimeout=60000&retryAttempts=2&retryBaseDelay=50&retryMaxDelay=100&lockWatchdogTimeout=3000"

/* The replicas are away for a moment, or for good. */
Test(unwilling, server_without_its_replicas_is_asked_again_and_then_named)
{
    rlock_client *client = client_at("%s?" FEW, server_tcp_url(single));
    rlock_client *patient = client_at("%s?" SPRY, server_tcp_url(single));
    rlock *lock = lock_of(client, NAME), *patients = lock_of(patient, NAME);
    say(single, "CONFIG SET min-replicas-to-write 1");
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    assert_error("NOREPLICAS", "min-replicas-to-write");
    actor *caller = actor_start();
    actor_begin_lock(caller, patients);
    cr_assert(!actor_ended(caller, 500));
    say(single, "CONFIG SET min-replicas-to-write 0");
    assert_ok(actor_finish(caller, 10000));
    cr_assert(actor_hold_count(caller, patients) == 1);
    assert_ok(actor_unlock(caller, patients));
    actor_end(caller);
}

/* As after a disk has become full. */
Test(unwilling, server_that_cannot_save_is_named_at_once_and_keeps_nothing)
{
    static losses lost;
    losses_init(&lost);
    rlock_client *client = client_at("%s?" FEW, server_tcp_url(single));
    rlock_on_lost(client, losses_note, &lost);
    rlock *lock = lock_of(client, NAME), *held = lock_of(client, "held"), *kept = lock_of(client, "kept");
    assert_ok(rlock_lock(held));
    assert_ok(rlock_lock_lease(kept, 60000));
    disk_spoil(single);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    assert_between(now_ms() - since_ms, 0, at_most_ms(100));
    assert_error("MISCONF", "disk");
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(kept), RLOCK_SERVER); /* given back later, in the background */
    cr_assert(rlock_valid_for(kept) == 0);
    cr_assert(event_wait_ms(&lost.came, 10000), "the loss was not told");
    cr_assert(strcmp(lost.all[0].name, "held") == 0);
    cr_assert_str_eq(lost.all[0].said, "the server refused to renew it: it cannot save to its disk (MISCONF)");
    disk_mend(single);
    cr_assert(server_wait_exists(single, "kept", false, 20000), "not given back");
    assert_status(rlock_unlock(held), RLOCK_LOST);
    assert_error("\"held\"", "refused to renew it: it cannot save to its disk (MISCONF)");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* Holds outlast a server that loads its data for less than the watchdog timeout. */
Test(unwilling, server_that_loads_its_data_is_waited_for)
{
    rlock_client *client = client_at("%s?" SPRY_WATCHDOG, server_tcp_url(single));
    rlock *lock = lock_of(client, NAME), *held = lock_of(client, "held");
    assert_ok(rlock_lock(held));
    say(single, "DEBUG POPULATE 2000 key 100");
    say(single, "CONFIG SET key-load-delay 1000");
    redisContext *loader = redisConnectUnix(server_socket(single));
    cr_assert(loader && !loader->err);
    redisAppendCommand(loader, "DEBUG RELOAD");
    int done = 0;
    while (!done)
        redisBufferWrite(loader, &done);
    for (bool loading = false; !loading;) {
        redisReply *reply = server_command(single, "GET key:1");
        loading = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING", 7) == 0;
        freeReplyObject(reply);
    }
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    cr_log_info("locked after %lld ms", (long long)(now_ms() - since_ms));
    cr_assert(rlock_valid_for(held) > 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(held));
    redisFree(loader);
}

/* A replica that has lost its master, and does not serve what it had from it. */
Test(unwilling, replica_without_its_master_is_asked_again_and_then_named)
{
    rlock_client *client = client_at("%s?" FEW, server_tcp_url(single));
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    say(single, "CONFIG SET replica-serve-stale-data no");
    say(single, "REPLICAOF 127.0.0.1 1");
    rlock_status status = rlock_lock(lock);
    cr_log_info("%s", rlock_last_error());
    cr_assert(status == RLOCK_UNAVAILABLE || status == RLOCK_SERVER);
    assert_error("MASTERDOWN", "connect to the master");
    say(single, "REPLICAOF NO ONE");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* Who is pointed at a replica hears that, however it asks. */
Test(unwilling, replica_is_named_to_each_operation)
{
    rlock_client *client = client_at("%s?" FEW, server_tcp_url(single));
    rlock *lock = lock_of(client, NAME), *held = lock_of(client, "held");
    rlock_semaphore *semaphore = rlock_get_semaphore(client, "semaphore");
    rlock_count_down_latch *latch = rlock_get_count_down_latch(client, "latch");
    bool set, forced;
    assert_ok(rlock_lock_lease(held, 60000));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 2, &set));
    say(single, "REPLICAOF 127.0.0.1 1");
    struct {
        const char *what;
        rlock_status status;
    } asked[] = {
        {"lock", rlock_lock(lock)},
        {"try", rlock_try_lock(lock, 0, RLOCK_WATCHDOG)},
        {"unlock", rlock_unlock(held)},
        {"force", rlock_force_unlock(held, &forced)},
        {"release", rlock_semaphore_release(semaphore, 1)},
        {"count down", rlock_count_down_latch_count_down(latch)},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        cr_expect(asked[i].status == RLOCK_SERVER, "%s: %s", asked[i].what, rlock_strstatus(asked[i].status));
    assert_error("READONLY", "master");
    rlock_semaphore_free(semaphore);
    rlock_count_down_latch_free(latch);
}

/* --- a master that has become an empty replica, behind the client's back --- */

/* Where there is no counter a latch is open, and a count-down does nothing. Only a master may say so. */
Test(replica, that_was_the_master_is_not_believed_that_a_latch_is_open)
{
    rlock_client *client = client_of("redis-replicated", "retryAttempts=0&timeout=500");
    rlock_count_down_latch *latch = latch_of(client, "gate");
    server *empty = server_start(), *former = fleet_node(own, 0);
    bool set;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    freeReplyObject(server_command(former, "REPLICAOF 127.0.0.1 %d", server_port(empty)));
    for (int64_t end_ms = limit_end_ms(FOLLOW_MS); server_integer(former, "DBSIZE") > 0; pass_ms(1))
        cr_assert(now_ms() < end_ms, "it does not follow");
    cr_assert(rlock_count_down_latch_try_await(latch, 200) != RLOCK_OK);
    cr_assert(rlock_count_down_latch_count_down(latch) != RLOCK_OK);
    server_stop(empty);
}

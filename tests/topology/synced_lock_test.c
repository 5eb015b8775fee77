/* Locks of a master with a replica: the replica has to confirm what is taken, with one WAIT for all who ask at
 * a time, and whoever need not wait for it does not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/fleet.h"
#include "tests/topology/support/clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_MS 10000
#define THREADS 64
#define SYNC_MS 300
#define QUICK "timeout=5000&retryAttempts=1&retryBaseDelay=20&retryMaxDelay=50"

static fleet *own;
static server *master;

static void open_with(const char *const *args)
{
    own = fleet_start(1, args);
    master = fleet_node(own, 0);
}

static void await_confirmation(void)
{
    freeReplyObject(server_command(master, "PUBLISH nobody hears"));
    cr_assert(server_integer(master, "WAIT 1 10000") == 1, "the replica confirms nothing");
}

/* A replica that has all data is heard of by its master a second later, when it first acknowledges it. */
static void open_pair(void)
{
    open_with(NULL);
    await_confirmation();
}

static void open_without_wait(void)
{
    open_with((const char *const[]){"--rename-command", "WAIT", "", NULL});
}

static void close_pair(void)
{
    clients_close();
    fleet_stop(own);
}

TestSuite(synced_lock, .init = open_pair, .fini = close_pair);
TestSuite(synced_lock_without_wait, .init = open_without_wait, .fini = close_pair);

/* A client that has taken and released once, so that the server knows the scripts; counting begins here. */
static rlock_client *open_client(const char *query)
{
    rlock_client *client = client_at("redis-master-slave://%s?" QUICK "&%s", fleet_hosts(own), query);
    rlock *lock = lock_of(client, "warm-up");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(master, "CONFIG RESETSTAT"));
    return client;
}

static void freeze_replica(void)
{
    server_freeze(fleet_node(own, 1));
}

/* The server has a WAIT under way. */
static void await_wait(void)
{
    int64_t until_ms = limit_end_ms(SOON_MS);
    while (server_info(master, "blocked_clients") == 0) {
        cr_assert(now_ms() < until_ms, "no WAIT was sent");
        pass_ms(1);
    }
}

Test(synced_lock, is_confirmed_by_the_replica_when_it_is_held)
{
    rlock *lock = lock_of(open_client("slavesSyncTimeout=5000"), "lock");
    assert_ok(rlock_lock(lock));
    cr_assert(server_times(master, "wait") == 1);
    cr_assert(server_integer(fleet_node(own, 1), "EXISTS lock") == 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_times(master, "wait") == 2);
    cr_assert(server_integer(fleet_node(own, 1), "EXISTS lock") == 0);
}

Test(synced_lock, is_waited_for_together_by_threads_that_ask_meanwhile)
{
    rlock_client *client = open_client("slavesSyncTimeout=20000&timeout=60000");
    actor *actors[THREADS];
    for (int i = 0; i < THREADS; i++)
        actors[i] = actor_start();
    freeze_replica();
    for (int i = 0; i < THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "lock-%d", i);
        actor_begin_lock(actors[i], lock_of(client, name));
        if (i == 0)
            await_wait();
    }
    for (int i = 0; i < THREADS; i++)
        cr_assert(actor_asleep(actors[i], SOON_MS));
    cr_assert(server_integer(master, "DBSIZE") == 1, "they do not wait for the first");
    server_thaw(fleet_node(own, 1));
    for (int i = 0; i < THREADS; i++)
        assert_ok(actor_finish(actors[i], SOON_MS));
    int64_t scripts = server_times(master, "evalsha"), waits = server_times(master, "wait");
    cr_assert(scripts == THREADS && waits == 2, "%d WAITs for %d scripts", (int)waits, (int)scripts);
    for (int i = 0; i < THREADS; i++)
        actor_end(actors[i]);
}

Test(synced_lock, is_given_back_when_the_replica_does_not_confirm_it)
{
    rlock *lock = lock_of(open_client("slavesSyncTimeout=300"), "lock");
    freeze_replica();
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 0, 60000), RLOCK_NOT_SYNCED);
    cr_assert(now_ms() - since_ms >= SYNC_MS);
    cr_assert(rlock_valid_for(lock) == 0);
    cr_assert(server_integer(master, "EXISTS lock") == 0);
    server_thaw(fleet_node(own, 1));
    await_confirmation();
    assert_ok(rlock_try_lock(lock, 0, 60000));
    assert_ok(rlock_unlock(lock));
}

/* The thread that waits for the lock has it only when the replica has confirmed its own grant. */
Test(synced_lock, of_the_next_thread_is_confirmed_as_well)
{
    rlock *lock = lock_of(open_client("slavesSyncTimeout=300"), "lock");
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_try(waiter, lock, RLOCK_FOREVER, 60000);
    cr_assert(actor_asleep(waiter, SOON_MS));
    freeze_replica();
    assert_ok(rlock_unlock(lock));
    assert_status(actor_finish(waiter, SOON_MS), RLOCK_NOT_SYNCED);
    cr_assert(server_integer(master, "EXISTS lock") == 0);
    server_thaw(fleet_node(own, 1));
    actor_end(waiter);
}

Test(synced_lock, is_held_without_the_replica_where_that_is_not_to_be_checked)
{
    rlock *lock = lock_of(open_client("slavesSyncTimeout=300&checkLockSyncedSlaves=false"), "lock");
    freeze_replica();
    assert_ok(rlock_try_lock(lock, 0, 60000));
    assert_ok(rlock_unlock(lock));
    cr_assert(server_times(master, "wait") == 2);
}

Test(synced_lock, is_released_though_the_replica_does_not_confirm_it)
{
    rlock *lock = lock_of(open_client("slavesSyncTimeout=300"), "lock");
    assert_ok(rlock_lock(lock));
    freeze_replica();
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(master, "EXISTS lock") == 0);
}

/* Questions and renewals go past the WAIT that a thread sits in. */
Test(synced_lock, of_a_slow_replica_stalls_no_question_and_no_renewal)
{
    rlock_client *client = open_client("slavesSyncTimeout=20000&timeout=60000&lockWatchdogTimeout=12000");
    rlock *held = lock_of(client, "held"), *slow = lock_of(client, "slow");
    assert_ok(rlock_lock(held));
    freeze_replica();
    actor *waiter = actor_start();
    actor_begin_lock(waiter, slow);
    await_wait();
    int64_t since_ms = now_ms();
    bool locked = false;
    assert_ok(rlock_is_locked(held, &locked));
    assert_between(now_ms() - since_ms, 0, at_most_ms(500));
    cr_assert(locked);
    int64_t before = server_times(master, "evalsha");
    while (server_times(master, "evalsha") == before) { /* a third of the watchdog timeout, at most */
        cr_assert(now_ms() - since_ms < 15000, "nothing is renewed");
        pass_ms(5);
    }
    cr_assert(!actor_ended(waiter, 0), "the WAIT was over too soon for the test");
    server_thaw(fleet_node(own, 1));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, slow));
    assert_ok(rlock_unlock(held));
    actor_end(waiter);
}

/* It is tried once a connection. */
Test(synced_lock_without_wait, is_held_all_the_same)
{
    freeReplyObject(server_command(master, "CONFIG RESETSTAT"));
    rlock *lock = lock_of(client_at("redis-master-slave://%s?" QUICK, fleet_hosts(own)), "lock");
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_try_lock(lock, 0, 60000));
        assert_ok(rlock_unlock(lock));
    }
    char *stats = server_text(master, "INFO errorstats");
    cr_assert(strstr(stats, "errorstat_ERR:count=1\r\n"), "not one WAIT: %s", stats);
    free(stats);
}

/* Redisson's single-server mode has no replicas to know of. */
Test(synced_lock, waits_for_nobody_in_single_server_mode)
{
    rlock *lock = lock_of(client_at("%s", server_url(master)), "lock");
    freeze_replica();
    int64_t before = server_times(master, "wait");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(server_times(master, "wait") == before);
}

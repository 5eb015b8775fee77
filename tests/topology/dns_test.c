/* Names of hosts that change what they stand for: clients follow them, while the former server lives on,
 * too. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/server.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/names.h"

#include <string.h>

#define LOCK "order"
#define URL "redis://" NAME_OF_HOST ":6379?"
#define EVERY_MS 300
#define MONITORED SPRY "&lockWatchdogTimeout=6000&dnsMonitoringInterval=300"
#define UNMONITORED SPRY "&lockWatchdogTimeout=6000&dnsMonitoringInterval=-1"

static server *before, *after;

static void open_both(void)
{
    before = server_start();
    after = server_start();
    name_leads_to(server_port(before));
}

static void close_both(void)
{
    clients_close();
    server_stop(before);
    server_stop(after);
}

TestSuite(dns, .init = open_both, .fini = close_both);

static bool stands_at(server *at)
{
    return server_integer(at, "EXISTS " LOCK) == 1;
}

/* Locks and unlocks until it does so at `after`. How long that took. */
static int64_t await_move(rlock *lock)
{
    int64_t since_ms = now_ms();
    for (bool moved = false; !moved;) {
        assert_ok(rlock_lock(lock));
        moved = stands_at(after);
        rlock_status status = rlock_unlock(lock);
        cr_assert(status == RLOCK_OK || status == RLOCK_LOST, "%s", rlock_last_error());
        cr_assert(moved || now_ms() - since_ms < 10000, "the name is not followed");
    }
    return now_ms() - since_ms;
}

Test(dns, name_is_followed_while_its_former_server_lives)
{
    rlock *lock = lock_of(client_at(URL MONITORED), LOCK);
    assert_ok(rlock_lock(lock));
    cr_assert(stands_at(before));
    assert_ok(rlock_unlock(lock));
    name_leads_to(server_port(after));
    cr_log_info("followed after %lld ms", (long long)await_move(lock));
}

/* What is held at the former server protects nothing any more. */
Test(dns, name_that_leads_elsewhere_loses_holds)
{
    static losses lost;
    losses_init(&lost);
    rlock_client *client = client_at(URL MONITORED);
    rlock_on_lost(client, losses_note, &lost);
    rlock *lock = lock_of(client, LOCK);
    assert_ok(rlock_lock(lock));
    name_leads_to(server_port(after));
    cr_assert(event_wait_ms(&lost.came, 10000), "the loss was not told");
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
    cr_assert(stands_at(after));
    assert_ok(rlock_unlock(lock));
}

/* What is asked of the former server is not waited for: it may stand still for ever. */
Test(dns, name_that_leads_elsewhere_ends_what_is_under_way)
{
    rlock *lock = lock_of(client_at(URL "timeout=600000&dnsMonitoringInterval=300"), LOCK);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    server_freeze(before);
    actor *asker = actor_start();
    actor_begin_lock(asker, lock);
    cr_assert(actor_asleep(asker, 10000));
    name_leads_to(server_port(after));
    assert_ok(actor_finish(asker, 30000));
    cr_assert(stands_at(after));
    assert_ok(actor_unlock(asker, lock));
    actor_end(asker);
    server_thaw(before);
}

/* The resolver's answer wakes the client, whose next look is due in an hour; a server that refused was the reason for this
 * one. */
Test(dns, name_is_followed_as_soon_as_the_resolver_has_answered)
{
    rlock_client *client = client_at(URL "retryAttempts=0&dnsMonitoringInterval=3600000&pingConnectionInterval=0");
    rlock *lock = lock_of(client, LOCK), *other = lock_of(client, "another");
    rlock *held = lock_of(client_at("%s?" SPRY, server_tcp_url(before)), LOCK);
    assert_ok(rlock_lock_lease(held, 3600000));
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, 3600000, 60000);
    cr_assert(server_wait_subscribers(before, "redisson_lock__channel:{" LOCK "}", 1, 10000) && actor_asleep(waiter, 10000));
    name_leads_to(server_port(after));
    freeReplyObject(server_command(before, "CONFIG SET min-replicas-to-write 1"));
    assert_status(rlock_try_lock(other, 0, 60000), RLOCK_UNAVAILABLE);
    assert_ok(actor_finish(waiter, 30000));
    cr_assert(stands_at(after));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Its lock is free where the name leads now. */
Test(dns, name_that_leads_elsewhere_takes_waiters_along)
{
    rlock_client *client = client_at(URL MONITORED), *other = client_at(URL MONITORED);
    rlock *lock = lock_of(client, LOCK), *waiting = lock_of(other, LOCK);
    assert_ok(rlock_lock_lease(lock, 60000));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    int64_t since_ms = now_ms();
    name_leads_to(server_port(after));
    assert_ok(actor_finish(waiter, 10000));
    cr_log_info("the waiter had it after %lld ms", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(EVERY_MS + 300));
    cr_assert(stands_at(after));
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
}

/* A resolver that is down says nothing about the server. */
Test(dns, name_that_cannot_be_resolved_changes_nothing)
{
    rlock *lock = lock_of(client_at(URL MONITORED), LOCK);
    assert_ok(rlock_lock(lock));
    int asked = name_asked();
    name_leads_to(0);
    for (int64_t end_ms = limit_end_ms(10000); name_asked() < asked + 3; pass_ms(5))
        cr_assert(now_ms() < end_ms, "the name is not monitored");
    cr_assert(rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    name_leads_to(server_port(after));
    await_move(lock);
}

Test(dns, name_that_cannot_be_resolved_at_first_is_said)
{
    name_leads_to(0);
    refused_at(URL MONITORED, RLOCK_UNAVAILABLE, NAME_OF_HOST, "known", NULL);
}

Test(dns, name_is_looked_up_again_for_each_connection_though_not_monitored)
{
    rlock *lock = lock_of(client_at(URL UNMONITORED), LOCK);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    int asked = name_asked();
    name_leads_to(server_port(after));
    pass_ms(3 * EVERY_MS);
    cr_assert(name_asked() == asked);
    assert_ok(rlock_lock(lock));
    cr_assert(stands_at(before));
    assert_ok(rlock_unlock(lock));
    server_kill(before);
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(after, "EXISTS " LOCK) == 1);
    assert_ok(rlock_unlock(lock));
}

/* As behind the name of a managed service's primary, which is moved after a failover. */
Test(dns, name_is_looked_up_again_when_its_server_has_become_a_replica)
{
    rlock *lock = lock_of(client_at(URL UNMONITORED), LOCK);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(before, "REPLICAOF 127.0.0.1 1"));
    name_leads_to(server_port(after));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    assert_between(now_ms() - since_ms, 0, at_most_ms(500));
    cr_assert(stands_at(after));
    assert_ok(rlock_unlock(lock));
}

/* The same for the one that is configured as the master among its slaves. */
Test(dns, name_of_a_master_among_slaves_is_followed_when_it_has_become_a_replica)
{
    rlock *lock = lock_of(client_at("redis-master-slave://" NAME_OF_HOST ":6379?" UNMONITORED), LOCK);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(before, "REPLICAOF 127.0.0.1 1"));
    name_leads_to(server_port(after));
    assert_ok(rlock_lock(lock));
    cr_assert(stands_at(after));
    assert_ok(rlock_unlock(lock));
}

Test(dns, name_of_a_master_among_slaves_is_followed_while_its_former_server_lives)
{
    rlock *lock = lock_of(client_at("redis-master-slave://" NAME_OF_HOST ":6379?" MONITORED), LOCK);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    name_leads_to(server_port(after));
    cr_log_info("followed after %lld ms", (long long)await_move(lock));
}

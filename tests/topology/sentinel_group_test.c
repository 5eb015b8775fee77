/* Group locks under sentinels: held and waited for over a failover. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/renewal.h"

#define GROUP "class_100"

static sentinel *own;
static rlock_client *client, *other;
static losses lost;

static void open_own(void)
{
    own = sentinel_start(NULL);
    client = client_at("%s&" SPRY_WATCHDOG, sentinel_url(own));
    other = client_at("%s&" SPRY_WATCHDOG, sentinel_url(own));
    losses_init(&lost);
    rlock_on_lost(client, losses_note, &lost);
}

static void close_own(void)
{
    clients_close();
    sentinel_stop(own);
}

TestSuite(sentinel_group, .init = open_own, .fini = close_own);

/* Each of its values, which others want alone, and a hold with a lease beside it. */
static void goes_over(void (*fail)(server *))
{
    rlock *ab = group_of(client, GROUP, "ab"), *bc = group_of(other, GROUP, "bc"),
          *leased = group_of(client, GROUP, "d");
    actor *waiter = actor_start();
    assert_ok(rlock_lock(ab));
    assert_ok(rlock_lock_lease(leased, 10 * SPRY_WATCHDOG_MS));
    actor_begin_lock(waiter, bc);
    cr_assert(actor_asleep(waiter, 10000));
    fail(sentinel_server(own, 0));
    int master = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_assert(master > 0);
    await_renewal(ab, SPRY_WATCHDOG_MS, now_ms());
    for (int i = 0; i < 3; i++) {
        rlock *wanted = group_of(other, GROUP, (const char *[]){"a", "bx", "d"}[i]);
        assert_status(rlock_try_lock(wanted, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    }
    cr_assert(!actor_ended(waiter, 0), "a second holder, or an error: %s", actor_error(waiter));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(ab));
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(500));
    assert_ok(actor_unlock(waiter, bc));
    actor_end(waiter);
    assert_ok(rlock_unlock(leased));
    cr_assert(event_count(&lost.came) == 0);
    cr_assert(server_integer(sentinel_server(own, master), "DBSIZE") == 0);
}

Test(sentinel_group, is_kept_over_the_end_of_the_master)
{
    goes_over(server_kill);
}

Test(sentinel_group, is_kept_over_a_master_that_stands_still)
{
    goes_over(server_freeze);
}

/* As if the replicas had not had it: told, and the values are free. */
Test(sentinel_group, that_the_next_master_does_not_have_is_told_as_lost)
{
    rlock *ab = group_of(client, GROUP, "ab");
    assert_ok(rlock_lock(ab));
    server_kill(sentinel_server(own, 0));
    int master = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_assert(master > 0);
    cr_assert(server_integer(sentinel_server(own, master), "DEL " GROUP) == 1);
    losses_await(&lost, 1, SPRY_WATCHDOG_MS);
    cr_assert(lost.all[0].reason == RLOCK_LOST_GONE && rlock_valid_for(ab) == 0);
    assert_ok(rlock_try_lock(group_of(other, GROUP, "b"), 0, RLOCK_WATCHDOG));
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    assert_ok(rlock_unlock(group_of(other, GROUP, "b")));
}

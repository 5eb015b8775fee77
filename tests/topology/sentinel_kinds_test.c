/* Failover with every kind of lock: held over it, waited for over it, and given back to who waited. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/renewal.h"

#include <stdlib.h>

static sentinel *own;
static rlock_client *client, *other;

static void open_own(void)
{
    own = sentinel_start(NULL);
    client = client_at("%s&" SPRY_WATCHDOG, sentinel_url(own));
    other = client_at("%s&" SPRY_WATCHDOG, sentinel_url(own));
}

static void close_own(void)
{
    clients_close();
    stage_close();
    sentinel_stop(own);
}

TestSuite(sentinel_kinds, .init = open_own, .fini = close_own);

static void goes_over(void (*fail)(server *))
{
    rlock *held[KINDS], *waiting[KINDS];
    actor *waiters[KINDS];
    for (int i = 0; i < KINDS; i++) {
        held[i] = rival_of(all_kinds[i], client, all_kinds[i]->name);
        waiting[i] = kind_of(all_kinds[i], other, all_kinds[i]->name);
        waiters[i] = actor_start();
        assert_ok(rlock_lock(held[i]));
        actor_begin_lock(waiters[i], waiting[i]);
    }
    for (int i = 0; i < KINDS; i++)
        cr_assert(all_kinds[i]->channel == NULL || actor_asleep(waiters[i], 10000));
    fail(sentinel_server(own, 0));
    int master = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_assert(master > 0);
    int64_t switched_ms = now_ms();
    for (int i = 0; i < KINDS; i++)
        await_renewal(held[i], SPRY_WATCHDOG_MS, switched_ms);
    for (int i = 0; i < KINDS; i++) {
        cr_assert(!actor_ended(waiters[i], 0), "%s", all_kinds[i]->name);
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(held[i]));
        assert_ok(actor_finish(waiters[i], 10000));
        cr_log_info("%s: the waiter had it %lld ms after the unlock", all_kinds[i]->name,
                    (long long)(actor_ended_at(waiters[i]) - since_ms));
        assert_between(actor_ended_at(waiters[i]) - since_ms, 0, at_most_ms(500));
        assert_ok(actor_unlock(waiters[i], waiting[i]));
        actor_end(waiters[i]);
    }
    rlock *last = lock_of(client, "last");
    assert_ok(rlock_lock(last));
    assert_ok(rlock_unlock(last));
    freeReplyObject(server_command(sentinel_server(own, master), "DEL lock-signal:signal"));
    char *left = server_keyspace(sentinel_server(own, master));
    cr_assert(server_integer(sentinel_server(own, master), "DBSIZE") <= 1, "left behind:\n%s", left); /* a fence's counter */
    free(left);
}

Test(sentinel_kinds, all_outlive_the_end_of_the_master)
{
    goes_over(server_kill);
}

Test(sentinel_kinds, all_outlive_a_master_that_stands_still)
{
    goes_over(server_freeze);
}

/* Calls that a replica has to confirm, cut off between the script's answer and that to the WAIT behind it, and
 * everywhere else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut_calls.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/fleet.h"
#include "tests/support/test.h"

#include <stdio.h>

static fleet *own;

/* The client is told of one replica, at a proxy that it never needs: it asks the master who follows it. */
static void open_pair(void)
{
    char url[128];
    own = fleet_start(1, NULL);
    server *master = fleet_node(own, 0);
    freeReplyObject(server_command(master, "PUBLISH nobody hears"));
    cr_assert(server_integer(master, "WAIT 1 10000") == 1, "the replica confirms nothing");
    snprintf(url, sizeof url, "redis-master-slave://127.0.0.1:%%s,127.0.0.1:%d", server_port(fleet_node(own, 1)));
    cuts_open_at(master, url);
}

static void close_pair(void)
{
    stage.server = NULL; /* the fleet's */
    cuts_close();
    fleet_stop(own);
}

TestSuite(cut_synced, .init = open_pair, .fini = close_pair);

static rlock_status take(cell *self)
{
    return rlock_permit_semaphore_try_acquire(self->permits, 0, CUT_LEASE_MS, self->permit);
}

static void one_taken(cell *self)
{
    five(self);
    rlock_permit_semaphore *others = rlock_get_permit_expirable_semaphore(stage.other, self->name);
    assert_ok(rlock_permit_semaphore_try_acquire(others, 0, CUT_LEASE_MS, self->permit));
    rlock_permit_semaphore_free(others);
}

static rlock_status give(cell *self)
{
    return rlock_permit_semaphore_release(self->permits, self->permit[0].id);
}

static void drop(cell *self, bool done)
{
    (void)done;
    int permits = -1;
    assert_ok(rlock_semaphore_available_permits(self->semaphore, &permits));
    past(self, "DEL %s");
    past(self, "DEL {%s}:timeout");
}

#define TAKEN "N string 4\n{N}:timeout zset 1\n"

static const operation table[] = {
    {"try", &kind_reentrant, NULL, try_lock, .undone = true, .brief = true, .says = -1, .has = 1},
    {"second try", &kind_reentrant, NULL, try_lock, .brief = true, .says = -1, .had = 1, .has = 2},
    {"last unlock", &kind_reentrant, NULL, unlock, .ends = true, .says = -1, .had = 1},
    {"try", &kind_fair, NULL, try_lock, .undone = true, .brief = true, .says = -1, .has = 1},
    {"last unlock", &kind_fair, NULL, unlock, .ends = true, .says = -1, .had = 1},
    {"try", &kind_read, NULL, try_lock, .undone = true, .brief = true, .says = -1, .has = 1},
    {"last unlock", &kind_read, NULL, unlock, .ends = true, .says = -1, .had = 1},
    {"acquire", NULL, five, try_acquire, drop, .once = true, .confirmed = true, .says = -1, .is = FIVE, .becomes = "N string 3\n"},
    {"release", NULL, five, release, drop, .once = true, .confirmed = true, .says = -1, .is = FIVE, .becomes = "N string 7\n"},
    {"take a permit", NULL, five, take, drop, .undone = true, .brief = true, .says = -1, .is = FIVE, .becomes = TAKEN},
    {"give a permit", NULL, one_taken, give, drop, .says = -1, .is = TAKEN, .becomes = FIVE},
};

Test(cut_synced, lock_is_held_once_or_not_at_all_however_it_is_cut)
{
    cut_operations(table, 7);
}

Test(cut_synced, permits_are_counted_once_however_a_call_is_cut)
{
    cut_operations(table + 7, COUNT(table) - 7);
}

/* The script has run and said so; that it is confirmed is never heard, or not whole. */
static void cut_wait(const operation *of)
{
    rlock_client *client = cut_client(CUT_CALM);
    for (int bytes = -1; bytes < 5; bytes++) { /* -1: the request for it is lost; :1\r\n has 4 */
        proxy_rule rule = {.act = bytes < 0 ? PROXY_CUT_BEFORE : PROXY_CUT_AFTER, .text = "\r\nWAIT\r\n", .times = 1,
                           .amount = bytes < 0 ? 0 : bytes};
        cut_with(of, client, &rule, bytes >= 4);
    }
    cut_end(client);
}

Test(cut_synced, answer_without_that_to_wait_is_none)
{
    for (size_t i = 0; i < COUNT(table); i++)
        cut_wait(&table[i]);
}

#define SOON_MS 10000
#define KEEN "timeout=8000&connectTimeout=8000&retryAttempts=20&retryBaseDelay=50&retryMaxDelay=100&slavesSyncTimeout=200"

static rlock_status take_one(void *semaphore)
{
    return rlock_semaphore_try_acquire(semaphore, 1, 0);
}

/* No replica confirms the permit, and the request that gives it back is lost. To ask again would take another one. */
Test(cut_synced, permits_that_could_not_be_given_back_are_not_asked_for_again)
{
    rlock_client *client = cut_client(KEEN);
    rlock_semaphore *semaphore = rlock_get_semaphore(client, "permits");
    actor *taker = actor_start();
    freeReplyObject(server_command(stage.server, "SET permits 5"));
    server_freeze(fleet_node(own, 1));
    int giving_back = on_text("redisson_sc", PROXY_CUT_BEFORE, 1);
    actor_begin(taker, take_one, semaphore);
    cr_assert(proxy_await(scene.proxy, giving_back, PROXY_ACTED, 1, SOON_MS), "nothing is given back");
    server_thaw(fleet_node(own, 1));
    assert_status(actor_finish(taker, SOON_MS), RLOCK_UNKNOWN);
    cr_assert(server_integer(stage.server, "INCRBY permits 0") == 4);
    actor_end(taker);
    rlock_semaphore_free(semaphore);
    cut_end(client);
}

static rlock_status take_permit(void *semaphore)
{
    static rlock_permit permit;
    return rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permit);
}

/* The answer to the first request is lost, so that the permit gets a new id; nobody but the master has that. */
Test(cut_synced, permit_whose_new_id_no_replica_confirms_is_not_granted)
{
    rlock_client *client = cut_client(KEEN);
    rlock_permit_semaphore *semaphore = rlock_get_permit_expirable_semaphore(client, "permits");
    actor *taker = actor_start();
    freeReplyObject(server_command(stage.server, "SET permits 5"));
    on_script(&rli_script_permit_semaphore_acquire, PROXY_CUT_AFTER, 1);
    int replacing = on_script(&rli_script_permit_semaphore_replace, PROXY_HOLD_REQUEST, 1);
    actor_begin(taker, take_permit, semaphore);
    cr_assert(proxy_await(scene.proxy, replacing, PROXY_ACTED, 1, SOON_MS), "the permit gets no new id");
    server_freeze(fleet_node(own, 1));
    proxy_release(scene.proxy, replacing);
    assert_status(actor_finish(taker, SOON_MS), RLOCK_NOT_SYNCED);
    server_thaw(fleet_node(own, 1));
    for (int64_t end_ms = limit_end_ms(SOON_MS); server_integer(stage.server, "INCRBY permits 0") != 5; pass_ms(1))
        cr_assert(now_ms() < end_ms, "it stays taken");
    actor_end(taker);
    rlock_permit_semaphore_free(semaphore);
    cut_end(client);
}

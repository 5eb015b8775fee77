/* Closing: calls end, threads and connections go, handles answer RLOCK_CLOSED. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

TestSuite(closed, .init = stage_open, .fini = stage_close);

#define NAME "order"

TimedTest(closed, client_answers_so_to_every_call)
{
    rlock *lock = lock_of(stage.client, NAME), *named = owned_by(lock, 3);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    bool flag = true;
    int count = 77;
    int64_t ms = 77;
    assert_ok(rlock_lock(lock));
    stage_close_client(stage.client);
    rlock *handles[] = {lock, named};
    for (int i = 0; i < 2; i++) {
        rlock *handle = handles[i];
        assert_status(rlock_lock(handle), RLOCK_CLOSED);
        assert_status(rlock_lock_lease(handle, 1000), RLOCK_CLOSED);
        assert_status(rlock_try_lock(handle, 0, 1000), RLOCK_CLOSED);
        assert_status(rlock_try_lock(handle, 1000, 1000), RLOCK_CLOSED);
        assert_status(rlock_lock_with(handle, &options), RLOCK_CLOSED);
        assert_status(rlock_unlock(handle), RLOCK_CLOSED);
        assert_status(rlock_force_unlock(handle, &flag), RLOCK_CLOSED);
        assert_status(rlock_is_locked(handle, &flag), RLOCK_CLOSED);
        assert_status(rlock_is_held(handle, &flag), RLOCK_CLOSED);
        assert_status(rlock_get_hold_count(handle, &count), RLOCK_CLOSED);
        assert_status(rlock_remain_time_to_live(handle, &ms), RLOCK_CLOSED);
        assert_error("closed");
        cr_assert(rlock_for_owner(handle, 1) == NULL);
        cr_assert(strcmp(rlock_name(handle), NAME) == 0);
    }
    cr_assert(flag && count == 77 && ms == 77, "an answer was set");
    RLOCK_WITH(lock) {
        cr_assert(false, "the block runs without the lock");
    }
}

/* No more is promised for what nobody renews. */
Test(closed, client_promises_nothing_any_more)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    stage_close_client(stage.client);
    cr_assert(rlock_valid_for(lock) == 0);
}

Test(closed, client_leaves_its_locks_to_their_ttl)
{
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock_of(stage.client, NAME)));
    char owner[64];
    snprintf(owner, sizeof owner, "%s", holder_of(NAME));
    stage_close_client(stage.client);
    assert_between(pttl_of(NAME), 30000 - (now_ms() - since_ms) - 2, 30000);
    cr_assert(strcmp(holder_of(NAME), owner) == 0);
}

/* Every wait that is under way: who talks, who queues, who waits for a time, who could be cancelled. */
TimedTest(closed, client_ends_waits_at_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_cancel *token = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = token;
    actor *waiters[6];
    foreign_hold(NAME, RLOCK_WATCHDOG);
    for (int i = 0; i < 6; i++) {
        waiters[i] = actor_start();
        if (i % 3 == 0)
            actor_begin_lock(waiters[i], lock);
        else if (i % 3 == 1)
            actor_begin_try(waiters[i], lock, 30000, 1000);
        else
            actor_begin_with(waiters[i], lock, &options);
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    int64_t since_ms = now_ms();
    stage_close_client(stage.client);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    for (int i = 0; i < 6; i++) {
        assert_status(actor_finish(waiters[i], 5000), RLOCK_CLOSED);
        assert_between(actor_ended_at(waiters[i]) - since_ms, 0, at_most_ms(200));
        actor_end(waiters[i]);
    }
    cr_assert(wait_no_channels(5000));
    rlock_cancel_free(token);
}

static rlock_status close_it(void *arg)
{
    rlock_client_close(arg);
    return RLOCK_OK;
}

/* The server is silent: neither the calls nor the close wait for it. */
Test(closed, client_does_not_wait_for_a_silent_server)
{
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, server_url(stage.server)));
    rlock *lock = rlock_get_lock(client, NAME);
    assert_ok(rlock_lock(lock));
    actor *asking = actor_start(), *closing = actor_start();
    server_freeze(stage.server);
    actor_begin_lock(asking, lock);
    cr_assert(actor_asleep(asking, 5000));
    actor_begin(closing, close_it, client);
    assert_ok(actor_finish(closing, 5000));
    assert_between(actor_took(closing), 0, at_most_ms(300));
    assert_status(actor_finish(asking, 5000), RLOCK_CLOSED);
    server_thaw(stage.server);
    actor_end(asking);
    actor_end(closing);
    rlock_free(lock);
}

/* Threads joined, sockets closed: as if it had never been. */
TimedTest(closed, client_leaves_no_thread_and_no_connection)
{
    static losses told;
    losses_init(&told);
    int64_t connected = server_info(stage.server, "connected_clients");
    int tasks = tasks_named("rlock-"); /* of the stage's clients */
    for (int i = 0; i < 5; i++) {
        rlock_client *client = NULL;
        assert_ok(rlock_client_open(&client, server_url(stage.server)));
        rlock_on_lost(client, losses_note, &told);
        rlock *lock = rlock_get_lock(client, NAME);
        foreign_hold(NAME, 60000);
        assert_status(rlock_try_lock(lock, 20, 1000), RLOCK_TIMEOUT); /* has a subscriber by now */
        foreign_vanish(NAME);
        assert_ok(rlock_lock(lock)); /* and a watchdog */
        cr_assert(tasks_named("rlock-subscribe") == 1 && tasks_named("rlock-watchdog") == 1);
        assert_ok(rlock_unlock(lock));
        rlock_client_close(client);
        cr_assert(tasks_named("rlock-") == tasks);
        rlock_free(lock);
    }
    for (int64_t end_ms = limit_end_ms(5000); now_ms() < end_ms; pass_ms(1)) {
        if (server_info(stage.server, "connected_clients") == connected)
            break;
    }
    cr_assert(server_info(stage.server, "connected_clients") == connected);
}

/* Which descriptors are open, as a text of digits. */
static void list_descriptors(char open[64])
{
    for (int fd = 0; fd < 63; fd++)
        open[fd] = fcntl(fd, F_GETFD) >= 0 ? '1' : '0';
    open[63] = 0;
}

/* Whether it has used nothing of itself, a pipeline, a watchdog, or a subscriber. */
TimedTest(closed, client_closes_no_descriptor_but_its_own)
{
    char before[64], after[64];
    freeReplyObject(server_command(stage.server, "PING"));
    list_descriptors(before);
    for (int used = 0; used < 4; used++) {
        rlock_client *client = NULL;
        assert_ok(rlock_client_open(&client, server_url(stage.server)));
        rlock *lock = rlock_get_lock(client, NAME);
        if (used == 1)
            assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_OK);
        if (used == 2)
            assert_ok(rlock_lock(lock));
        if (used == 3)
            assert_status(rlock_try_lock(lock, 20, 1000), RLOCK_TIMEOUT);
        rlock_client_close(client);
        rlock_free(lock);
        foreign_vanish(NAME);
        if (used == 2)
            foreign_hold(NAME, 60000); /* for the next to wait for */
        list_descriptors(after);
        cr_assert(strcmp(before, after) == 0, "open before %s, after %s", before, after);
    }
}

struct storm {
    rlock *locks[4];
    atomic_int odd, ended;
};

static void *lock_until_closed(void *arg)
{
    struct storm *self = arg;
    rlock_status status = RLOCK_OK;
    for (int i = 0; status == RLOCK_OK; i++) {
        status = rlock_lock(self->locks[i % 4]);
        if (status == RLOCK_OK)
            status = rlock_unlock(self->locks[i % 4]);
    }
    atomic_fetch_add(&self->odd, status != RLOCK_CLOSED);
    atomic_fetch_add(&self->ended, 1);
    return NULL;
}

/* Closed in the middle of all that its threads do. */
TimedTest(closed, client_may_be_closed_while_it_is_busy)
{
    static struct storm storm;
    pthread_t threads[8];
    char name[24];
    for (int round = 0; round < 5; round++) {
        rlock_client *client = NULL;
        atomic_store(&storm.ended, 0);
        assert_ok(rlock_client_open(&client, server_url(stage.server)));
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "%d-%d", round, i);
            storm.locks[i] = rlock_get_lock(client, name);
        }
        for (int i = 0; i < 8; i++)
            cr_assert(pthread_create(&threads[i], NULL, lock_until_closed, &storm) == 0);
        pass_ms(50 + round * 7); /* of business */
        rlock_client_close(client);
        for (int64_t end_ms = limit_end_ms(10000); atomic_load(&storm.ended) < 8 && now_ms() < end_ms;)
            pass_ms(1);
        cr_assert(atomic_load(&storm.ended) == 8, "a call has not ended");
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 4; i++)
            rlock_free(storm.locks[i]);
        cr_assert(atomic_load(&storm.odd) == 0);
    }
}

/* Handles end before or after their client, in any order. */
Test(closed, client_and_handles_end_in_any_order)
{
    for (int order = 0; order < 4; order++) {
        rlock_client *client = NULL;
        assert_ok(rlock_client_open(&client, server_url(stage.server)));
        rlock *lock = rlock_get_lock(client, NAME), *named = rlock_for_owner(lock, 1);
        if (order & 1)
            rlock_free(lock);
        if (order & 2)
            rlock_client_close(client);
        assert_status(rlock_try_lock(named, 0, 1), order & 2 ? RLOCK_CLOSED : RLOCK_OK);
        rlock_free(named);
        if (!(order & 2))
            rlock_client_close(client);
        if (!(order & 1))
            rlock_free(lock);
        freeReplyObject(server_command(stage.server, "DEL %s", NAME));
    }
}

Test(closed, client_can_be_followed_by_another)
{
    for (int i = 0; i < 20; i++) {
        rlock_client *client = NULL;
        assert_ok(rlock_client_open(&client, server_url(stage.server)));
        rlock *lock = rlock_get_lock(client, NAME);
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        rlock_free(lock);
        rlock_client_close(client);
    }
    assert_no_keys();
}

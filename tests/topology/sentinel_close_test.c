/* Closing a client of several servers, whatever it is about: at once, and with nothing left behind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"

#define NAME "order"
#define CLOSE_MS 300

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
    sentinel_stop(own);
}

TestSuite(sentinel_close, .init = open_own, .fini = close_own);

/* The client under test. The other goes as well, so that no thread of the library may be there. */
static void assert_closes(actor *caller)
{
    int64_t since_ms = now_ms();
    client_end(client);
    assert_between(now_ms() - since_ms, 0, at_most_ms(CLOSE_MS));
    if (caller) {
        assert_status(actor_finish(caller, 10000), RLOCK_CLOSED);
        assert_between(actor_ended_at(caller) - since_ms, 0, at_most_ms(2 * CLOSE_MS));
        actor_end(caller);
    }
    client_end(other);
    cr_assert(tasks_named("rlock-") == 0, "%d threads are left", tasks_named("rlock-"));
}

Test(sentinel_close, of_a_client_that_does_nothing)
{
    assert_closes(NULL);
}

Test(sentinel_close, of_a_client_that_holds)
{
    assert_ok(rlock_lock(lock_of(client, NAME)));
    assert_closes(NULL);
    cr_assert(server_integer(sentinel_server(own, 0), "EXISTS " NAME) == 1); /* as Redisson's shutdown() */
}

Test(sentinel_close, of_a_client_that_waits)
{
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock_of(other, NAME)));
    actor_begin_lock(waiter, lock_of(client, NAME));
    cr_assert(actor_asleep(waiter, 10000));
    assert_closes(waiter);
}

Test(sentinel_close, of_a_client_whose_master_does_not_answer)
{
    actor *caller = actor_start();
    server_freeze(sentinel_server(own, 0));
    actor_begin_lock(caller, lock_of(client, NAME));
    cr_assert(actor_asleep(caller, 10000));
    assert_closes(caller);
}

Test(sentinel_close, of_a_client_that_connects_to_a_master_that_does_not_answer)
{
    actor *caller = actor_start();
    freeReplyObject(server_command(sentinel_server(own, 0), "CLIENT KILL TYPE normal"));
    server_freeze(sentinel_server(own, 0));
    actor_begin_lock(caller, lock_of(client, NAME));
    cr_assert(actor_asleep(caller, 10000));
    assert_closes(caller);
}

/* Its thread is asking them, or connecting to them. */
Test(sentinel_close, of_a_client_whose_sentinels_do_not_answer)
{
    for (int i = 0; i < 3; i++)
        server_freeze(sentinel_node(own, i));
    pass_ms(700); /* more than scanInterval */
    assert_closes(NULL);
}

Test(sentinel_close, of_a_client_that_rests_between_attempts)
{
    actor *caller = actor_start();
    for (int i = 0; i < 3; i++)
        server_kill(sentinel_server(own, i));
    actor_begin_lock(caller, lock_of(client, NAME));
    cr_assert(actor_asleep(caller, 10000) && !actor_ended(caller, 200));
    assert_closes(caller);
}

Test(sentinel_close, of_a_client_during_a_failover_at_any_time)
{
    enum { CLIENTS = 12 };
    rlock_client *clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_at("%s&" SPRY_WATCHDOG, sentinel_url(own));
        rlock *lock = lock_of(clients[i], i % 2 ? "one" : "two");
        rlock_status status = rlock_try_lock(lock, 0, RLOCK_WATCHDOG);
        cr_assert(status == RLOCK_OK || status == RLOCK_TIMEOUT);
    }
    server_kill(sentinel_server(own, 0));
    for (int i = 0; i < CLIENTS; i++) {
        pass_ms(250); /* until after the failover */
        int64_t since_ms = now_ms();
        client_end(clients[i]);
        assert_between(now_ms() - since_ms, 0, at_most_ms(CLOSE_MS));
    }
    assert_ok(rlock_lock(lock_of(client, NAME)));
    assert_closes(NULL);
}

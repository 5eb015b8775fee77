/* TLS: locks over connections that are encrypted, which must not show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/secure.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>

TestSuite(tls, .init = secure_open, .fini = secure_close);

TestSuite(tls_renewal, .init = secure_quick, .fini = secure_close);

#define NAME "order"

/* --- as without --- */

/* Two clients, so that turns are passed on by messages, too. */
Test(tls, threads_take_turns)
{
    static crowd all = {.name = NAME, .turns = 100, .nested = 1};
    for (int i = 0; i < 8; i++)
        crowd_add(&all, i % 2 ? stage.client : stage.other);
    crowd_run(&all, at_most_ms(30000));
    cr_assert(all.counter == 800 && all.most_inside == 1, "%d turns, %d at once", all.counter, all.most_inside);
    assert_no_keys();
}

Test(tls, locks_of_one_client_that_are_not_one_lock_need_no_turns)
{
    static crowd all[8];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (int i = 0; i < 8; i++) {
        all[i] = (crowd){.name = names[i], .turns = 300};
        crowd_add(&all[i], stage.client);
    }
    for (int i = 0; i < 8; i++)
        crowd_begin(&all[i]);
    for (int i = 0; i < 8; i++)
        crowd_finish(&all[i], at_most_ms(30000));
    assert_no_keys();
}

#define KIND_SUITE tls_kinds
TestSuite(tls_kinds, .init = secure_open, .fini = secure_close);

KIND_TEST(is_taken_waited_for_and_given_back)
{
    rlock *lock = kind_of(of, stage.client, NAME), *rival = rival_of(of, stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    assert_status(actor_try(waiter, rival, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, rival);
    if (of->channel && !of->fair)
        cr_assert(server_wait_subscribers(stage.server, kind_channel(of, NAME), 1, 5000));
    else
        cr_assert(!actor_ended(waiter, 50));
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish_soon(waiter, 1000));
    assert_ok(actor_unlock(waiter, rival));
    actor_end(waiter);
}

Test(tls, waiter_is_woken_by_the_message)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, lock_of(stage.other, NAME));
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(!actor_ended(waiter, 50));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000)); /* the key would have stood for 30 s */
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(50));
    assert_ok(actor_unlock(waiter, lock_of(stage.other, NAME)));
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

Test(tls_renewal, keeps_a_held_lock, .lasts = 13)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- what is large, and what has to wait --- */

static char *long_name(char first, size_t length)
{
    char *name = malloc(length + 1);
    cr_assert(name != NULL);
    memset(name, first, length);
    name[length] = 0;
    return name;
}

/* Requests of several records, and more than a socket takes at once. */
Test(tls, large_requests_arrive_whole)
{
    for (size_t length = 16000; length <= 4096000; length *= 4) {
        char *name = long_name('n', length);
        rlock *lock = lock_of(stage.client, name);
        assert_ok(rlock_lock(lock));
        redisReply *keys = server_command(stage.server, "KEYS *");
        cr_assert(keys->elements == 1 && keys->element[0]->len == length, "another key than that of %zu bytes", length);
        freeReplyObject(keys);
        assert_ok(rlock_unlock(lock));
        free(name);
    }
    assert_no_keys();
}

/* While the server sleeps the socket fills up; what was encrypted then must neither be lost nor sent twice. */
Test(tls, what_could_not_leave_at_once_leaves_later)
{
    enum { THREADS = 8, LENGTH = 1500000 };
    actor *actors[THREADS];
    rlock *locks[THREADS];
    for (int i = 0; i < THREADS; i++) {
        char *name = long_name((char)('a' + i), LENGTH);
        locks[i] = lock_of(stage.client, name);
        actors[i] = actor_start();
        free(name);
    }
    for (int turn = 0; turn < 3; turn++) {
        server_freeze(stage.server);
        for (int i = 0; i < THREADS; i++)
            actor_begin_lock(actors[i], locks[i]);
        for (int i = 0; i < THREADS; i++)
            cr_assert(!actor_ended(actors[i], 20));
        server_thaw(stage.server);
        for (int i = 0; i < THREADS; i++)
            assert_ok(actor_finish_soon(actors[i], 10000));
        cr_assert(server_integer(stage.server, "DBSIZE") == THREADS);
        for (int i = 0; i < THREADS; i++) {
            cr_assert(actor_hold_count(actors[i], locks[i]) == 1);
            assert_ok(actor_unlock(actors[i], locks[i]));
        }
    }
    assert_no_keys();
    for (int i = 0; i < THREADS; i++)
        actor_end(actors[i]);
}

/* --- connections that end --- */

Test(tls, killed_connections_are_made_again)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 20; i++) {
        assert_ok(rlock_lock(lock));
        actor_begin_lock(waiter, lock_of(stage.other, NAME));
        cr_assert(wait_listened(NAME, 5000));
        secure_kill_connections();
        assert_ok(rlock_unlock(lock));
        assert_ok(actor_finish_soon(waiter, 5000));
        assert_ok(actor_unlock(waiter, lock_of(stage.other, NAME)));
    }
    assert_no_keys();
    actor_end(waiter);
}

/* What may be sent only once is not sent on a connection that the server has left: over TLS it says goodbye
 * before, and that is there to be read. */
Test(tls, request_that_is_sent_once_takes_no_connection_that_was_left)
{
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 10; i++) {
        bool was_locked = false;
        assert_ok(rlock_lock(lock));
        secure_kill_connections();
        freeReplyObject(server_command(stage.server, "PING")); /* behind what the kill has written */
        pass_ms(5); /* its bytes are on their way to us within this machine */
        assert_ok(rlock_force_unlock(lock, &was_locked));
        cr_assert(was_locked);
        assert_status(rlock_unlock(lock), RLOCK_LOST);
    }
}

Test(tls, server_that_starts_again_is_found_again)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    server_restart(stage.server);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- processes --- */

static rlock *shared;

static const char *use_and_close(child *self)
{
    (void)self;
    child_check(rlock_lock(shared) == RLOCK_FORKED);
    child_check(rlock_unlock(shared) == RLOCK_FORKED);
    rlock_client_close(stage.client);
    if (!CHILD_MAY_START_THREADS)
        return NULL;
    rlock_client *own = NULL;
    child_check(rlock_client_open(&own, secure_url("%s", "")) == RLOCK_OK);
    rlock *lock = rlock_get_lock(own, "of the child");
    child_check(rlock_lock(lock) == RLOCK_OK);
    child_check(rlock_unlock(lock) == RLOCK_OK);
    rlock_free(lock);
    rlock_client_close(own);
    return NULL;
}

/* A child that said anything on its copy of the connection would spoil the parent's. */
Test(tls, forked_child_says_nothing_on_its_parents_connections)
{
    shared = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(shared));
    int64_t connections = server_info(stage.server, "total_connections_received") + (CHILD_MAY_START_THREADS ? 1 : 0);
    child_await_rest();
    in_child(use_and_close);
    cr_assert(server_info(stage.server, "total_connections_received") == connections);
    assert_ok(rlock_lock(shared));
    assert_ok(rlock_unlock(shared));
    assert_ok(rlock_unlock(shared));
    cr_assert(server_info(stage.server, "total_connections_received") == connections, "the parent had to connect again");
}

/* Lookups: a resolver that does not answer delays no call beyond its own limits, and nothing else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/support/server.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/names.h"

#include <stdio.h>

#define LOCK "order"
#define LATEST_MS 30000 /* a failure, not a bound: nothing here takes nearly as long */
#define AT "redis://" NAME_OF_HOST ":6379?dnsMonitoringInterval=-1&"
#define BRIEF "timeout=400&connectTimeout=400&retryAttempts=1&retryBaseDelay=10&retryMaxDelay=10"
/* Whatever ends a call that has these is not its own limit. */
#define LONG "timeout=60000&connectTimeout=60000&retryAttempts=4"

static server *single;

static void open_single(void)
{
    single = server_start();
    name_leads_to(server_port(single));
}

/* The threads that look names up end when they have their answer, and leave nothing. */
static void await_no_lookup(void)
{
    for (int64_t end_ms = limit_end_ms(LATEST_MS); tasks_named("rlock-lookup") > 0; pass_ms(1))
        cr_assert(now_ms() < end_ms, "a thread that looked a name up is left");
}

static void close_single(void)
{
    name_stall(false);
    await_no_lookup();
    clients_close();
    server_stop(single);
}

TestSuite(lookup, .init = open_single, .fini = close_single);

/* The name is asked for anew by the next call, which gets no answer. */
static void stall(void)
{
    name_stall(true);
    freeReplyObject(server_command(single, "CLIENT KILL TYPE normal SKIPME yes"));
}

static rlock_status open_one(void *url)
{
    rlock_client *client = NULL;
    return rlock_client_open(&client, url);
}

static rlock_status close_one(void *client)
{
    client_end(client);
    return RLOCK_OK;
}

static rlock_status is_locked(void *lock)
{
    bool locked;
    return rlock_is_locked(lock, &locked);
}

/* Ends while the resolver is silent: nothing else could have ended it. */
static void assert_ends(actor *caller, rlock_status expected)
{
    assert_status(actor_finish(caller, LATEST_MS), expected);
    actor_end(caller);
}

/* --- the end of a call that looks a name up --- */

Test(lookup, that_stalls_does_not_keep_a_client_from_failing_to_open)
{
    actor *opener = actor_start();
    name_stall(true);
    actor_begin(opener, open_one, AT BRIEF);
    assert_ends(opener, RLOCK_UNAVAILABLE);
}

Test(lookup, that_stalls_ends_each_call_within_its_attempts)
{
    rlock_client *client = client_at(AT BRIEF);
    rlock *lock = lock_of(client, LOCK), *held = owned_by(lock_of(client, "held"), 7);
    assert_ok(rlock_lock(held));
    stall();
    actor *locking = actor_start(), *trying = actor_start(), *unlocking = actor_start(), *asking = actor_start();
    actor_begin_lock(locking, lock);
    actor_begin_try(trying, lock, 200, 1000);
    actor_begin_unlock(unlocking, held);
    actor_begin(asking, is_locked, lock);
    assert_ends(trying, RLOCK_UNAVAILABLE);
    assert_ends(unlocking, RLOCK_UNAVAILABLE);
    assert_ends(asking, RLOCK_UNAVAILABLE);
    assert_ends(locking, RLOCK_UNAVAILABLE);
}

/* With attempts that would take minutes. */
Test(lookup, that_stalls_ends_with_the_time_of_a_wait)
{
    rlock *lock = lock_of(client_at(AT "connectTimeout=60000&timeout=400"), LOCK);
    stall();
    actor *trying = actor_start();
    actor_begin_try(trying, lock, 300, 1000);
    assert_ends(trying, RLOCK_UNAVAILABLE);
}

Test(lookup, that_stalls_ends_with_the_cancel_token)
{
    rlock *lock = lock_of(client_at(AT LONG), LOCK);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    int asked = name_asked();
    stall();
    actor *locking = actor_start(), *behind = actor_start();
    actor_begin_with(locking, lock, &options);
    cr_assert(name_await_asked(asked + 1, LATEST_MS));
    actor_begin_with(behind, lock, &options);
    rlock_cancel_fire(options.cancel);
    assert_ends(locking, RLOCK_CANCELLED);
    assert_ends(behind, RLOCK_CANCELLED);
    rlock_cancel_free(options.cancel);
}

/* That of a call, and that of the thread which follows the name. */
Test(lookup, that_stalls_does_not_keep_the_client_from_closing)
{
    rlock_client *client = client_at("redis://" NAME_OF_HOST ":6379?dnsMonitoringInterval=50&" LONG);
    rlock *lock = lock_of(client, LOCK);
    int asked = name_asked();
    stall();
    actor *locking = actor_start(), *closing = actor_start();
    cr_assert(name_await_asked(asked + 1, LATEST_MS), "the name is not followed");
    actor_begin_lock(locking, lock);
    cr_assert(actor_asleep(locking, LATEST_MS));
    actor_begin(closing, close_one, client);
    assert_ends(closing, RLOCK_OK);
    assert_ends(locking, RLOCK_CLOSED);
}

/* --- other calls and duties meanwhile --- */

/* The thread that follows the name has other duties: here, to ping the server. */
Test(lookup, that_stalls_does_not_stop_pings)
{
    client_at("redis://" NAME_OF_HOST ":6379?dnsMonitoringInterval=50&pingConnectionInterval=50&" LONG);
    int asked = name_asked();
    name_stall(true);
    cr_assert(name_await_asked(asked + 1, LATEST_MS), "the name is not followed");
    int64_t pings = server_times(single, "ping");
    for (int64_t end_ms = limit_end_ms(LATEST_MS); server_times(single, "ping") < pings + 3; pass_ms(5))
        cr_assert(now_ms() < end_ms, "no pings any more");
}

/* The name's answer, once it comes, is followed though the lookup took long. */
Test(lookup, that_comes_late_is_followed)
{
    server *after = server_start();
    rlock *lock = lock_of(client_at("redis://" NAME_OF_HOST ":6379?dnsMonitoringInterval=50&" SPRY), LOCK);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    int asked = name_asked();
    name_stall(true);
    cr_assert(name_await_asked(asked + 1, LATEST_MS));
    name_leads_to(server_port(after));
    name_stall(false);
    for (int64_t end_ms = limit_end_ms(LATEST_MS); server_integer(after, "EXISTS " LOCK) == 0;) {
        cr_assert(now_ms() < end_ms, "the name is not followed");
        rlock_status status = rlock_unlock(lock);
        cr_assert(status == RLOCK_OK || status == RLOCK_NOT_OWNER || status == RLOCK_LOST, "%s", rlock_last_error());
        assert_ok(rlock_lock(lock));
    }
    assert_ok(rlock_unlock(lock));
    clients_close();
    server_stop(after);
}

/* Numbers are no names. */
Test(lookup, that_stalls_is_not_in_the_way_of_addresses)
{
    actor *opener = actor_start();
    rlock_client *named = client_at(AT LONG);
    rlock *lock = lock_of(named, LOCK), *other = lock_of(client_at("%s", server_tcp_url(single)), LOCK);
    int asked = name_asked();
    stall();
    actor_begin_lock(opener, lock);
    cr_assert(name_await_asked(asked + 1, LATEST_MS));
    assert_ok(rlock_lock(other));
    assert_ok(rlock_unlock(other));
    cr_assert(tasks_named("rlock-lookup") == 1);
    name_stall(false);
    assert_ends(opener, RLOCK_OK);
}

/* --- how many there are --- */

/* Calls of two clients, and their further attempts, wait for one answer, which serves all of them. */
Test(lookup, that_stalls_is_shared_by_all_callers, .lasts = 17)
{
    enum { EACH = 4 };
    rlock_client *clients[] = {client_at(AT SPRY), client_at(AT SPRY)};
    actor *locking[2 * EACH];
    rlock *locks[2 * EACH];
    int asked = name_asked();
    stall();
    for (int i = 0; i < 2 * EACH; i++) {
        char name[] = "order-0";
        name[6] = (char)('0' + i);
        locking[i] = actor_start();
        locks[i] = lock_of(clients[i / EACH], name);
        for (int again = 0; again < 2; again++) /* each attempt after the first finds it under way */
            assert_status(actor_try(locking[i], locks[i], 20, 1000), RLOCK_UNAVAILABLE);
        actor_begin_lock(locking[i], locks[i]);
    }
    cr_assert(name_asked() == asked + 1, "asked for %d times", name_asked() - asked);
    cr_assert(tasks_named("rlock-lookup") == 1);
    name_stall(false);
    for (int i = 0; i < 2 * EACH; i++)
        assert_ends(locking[i], RLOCK_OK);
}

static rlock_status open_and_close(void *url)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    rlock_client_close(client);
    return status;
}

/* Sixteen are asked for at a time; the others wait for their turn, or, without patience, never have it. */
Test(lookup, that_stalls_takes_sixteen_threads_at_most)
{
    enum { ASKED = 16, PATIENT = 4, HASTY = 4, ALL = ASKED + PATIENT + HASTY };
    static char urls[ALL][160];
    actor *openers[ALL];
    name_stall(true);
    for (int i = 0; i < ALL; i++) {
        bool hasty = i >= ASKED && i < ASKED + HASTY;
        snprintf(urls[i], sizeof urls[i], "redis://host-%d" NAMES_END ":6379?dnsMonitoringInterval=-1&%s", i,
                 hasty ? BRIEF : LONG);
        openers[i] = actor_start();
        actor_begin(openers[i], open_and_close, urls[i]);
        if (i < ASKED)
            cr_assert(name_await_asked(i + 1, LATEST_MS));
    }
    for (int i = ASKED; i < ASKED + HASTY; i++)
        assert_ends(openers[i], RLOCK_UNAVAILABLE);
    for (int i = ASKED + HASTY; i < ALL; i++)
        cr_assert(actor_asleep(openers[i], LATEST_MS));
    cr_assert(tasks_named("rlock-lookup") == ASKED && name_asked() == ASKED);
    name_stall(false);
    for (int i = 0; i < ALL; i++) {
        if (i < ASKED || i >= ASKED + HASTY)
            assert_ends(openers[i], RLOCK_OK);
    }
    cr_assert(name_asked() == ASKED + PATIENT, "asked for %d names", name_asked());
}

/* --- forks --- */

static const char *lock_in_child(child *self)
{
    (void)self;
    rlock_client *client = NULL;
    name_stall(false); /* in the child alone */
    child_check(rlock_client_open(&client, AT LONG) == RLOCK_OK);
    rlock *lock = rlock_get_lock(client, "child's");
    child_check(rlock_try_lock(lock, 5000, 1000) == RLOCK_OK);
    child_check(rlock_unlock(lock) == RLOCK_OK);
    rlock_free(lock);
    rlock_client_close(client);
    return NULL;
}

/* The lookup under way is its parent's, and nobody answers it in the child. */
Test(lookup, that_stalls_is_begun_anew_by_a_forked_child)
{
    if (!CHILD_MAY_START_THREADS)
        cr_skip_test("ThreadSanitizer takes the child's threads for its parent's");
    rlock *lock = lock_of(client_at(AT LONG), LOCK);
    int asked = name_asked();
    stall();
    actor *locking = actor_start();
    actor_begin_lock(locking, lock);
    cr_assert(name_await_asked(asked + 1, LATEST_MS));
    in_child(lock_in_child);
    name_stall(false);
    assert_ends(locking, RLOCK_OK);
}

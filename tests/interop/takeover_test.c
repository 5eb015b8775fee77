/* Takeover: a lock whose holder is gone, killed or late goes to the other side when its TTL ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/process.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define NAME "order:42"
#define LEASE_MS 2000
#define LEFT_MS 10000 /* of a closed client's hold: longer than closing it takes on a loaded machine, and asking again */
#define KILLED "killed" /* client name of the C process that is */
/* Behind the end of the TTL, at most; Java's own timers and threads are not what is tested. */
#define C_LATE_MS 250
#define JAVA_LATE_MS 500

TestSuite(takeover, .init = java_stage_quick, .fini = java_stage_close);

/* When the TTL that NAME has now will have ended, in now_ms(). */
static int64_t ttl_end_ms(void)
{
    int64_t asked_ms = now_ms(), left_ms = pttl_of(NAME);
    cr_assert(left_ms > 0, "the lock is not held: PTTL %lld", (long long)left_ms);
    return asked_ms + left_ms;
}

static void assert_taken_at(int64_t ended_ms, int64_t ttl_ended_ms, int64_t late_ms)
{
    fprintf(stderr, "taken over %lld ms after the end of the TTL\n", (long long)(ended_ms - ttl_ended_ms));
    assert_between(ended_ms, ttl_ended_ms - 2, ttl_ended_ms + at_most_ms(late_ms));
}

static void assert_taken_by_java_at(const answer *locked, int64_t ttl_ended_ms)
{
    assert_result(locked, "");
    assert_taken_at(locked->ended_ns / 1000000, ttl_ended_ms, JAVA_LATE_MS);
}

struct holder {
    char url[256];
    atomic_int holds; /* 1: it holds NAME; -1: it could not */
};

static int hold_for_ever(void *arg)
{
    struct holder *self = arg;
    rlock_client *client = NULL;
    rlock *lock = NULL;
    bool held = rlock_client_open(&client, self->url) == RLOCK_OK &&
                (lock = rlock_get_lock(client, NAME)) != NULL && rlock_lock(lock) == RLOCK_OK;
    atomic_store(&self->holds, held ? 1 : -1);
    pause();
    return 0;
}

/* The holder is a C process, whose watchdog had renewed the lock; Java waits already. */
Test(takeover, by_java_follows_sigkill_of_c, .lasts = 14)
{
    struct holder *holder = shared_memory(sizeof *holder);
    snprintf(holder->url, sizeof holder->url, "%s?lockWatchdogTimeout=%d&clientName=" KILLED, server_url(stage.server), QUICK_MS);
    pid_t child = process_start(hold_for_ever, holder);
    for (int64_t end_ms = limit_end_ms(5000); !atomic_load(&holder->holds) && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(atomic_load(&holder->holds) == 1, "the child could not lock");
    int waiting = java_begin_lock("t1", NAME);
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(wait_renewed(NAME, 30000));
    process_kill(child);
    wait_disconnected(KILLED);
    cr_assert(!agent_answered(java, waiting, 0));
    int64_t end_ms = ttl_end_ms();
    assert_taken_by_java_at(agent_await(java, waiting, 5000), end_ms);
}

Test(takeover, by_c_follows_sigkill_of_java, .lasts = 14)
{
    actor *waiter = actor_start();
    java_lock("t1", NAME);
    actor_begin_lock(waiter, lock_of(stage.client, NAME));
    cr_assert(wait_listened(NAME, 5000));
    cr_assert(wait_renewed(NAME, 30000));
    java_kill();
    cr_assert(!actor_ended(waiter, 0));
    int64_t end_ms = ttl_end_ms();
    assert_ok(actor_finish(waiter, 5000));
    assert_taken_at(actor_ended_at(waiter), end_ms, C_LATE_MS);
    actor_end(waiter);
}

/* Its place among the waiters dies with it: C's lock is free for C at once. */
Test(takeover, is_not_hindered_by_a_waiter_that_was_killed)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, LASTING_MS));
    java_begin_lock("t1", NAME);
    cr_assert(wait_listened(NAME, 5000));
    java_kill();
    cr_assert(wait_unlistened(NAME, 5000));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(lock, 0, LASTING_MS));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* In the scenario's 20 ms: from the answer to Java that it holds it for 2 s. */
Test(takeover, by_c_follows_the_end_of_javas_lease)
{
    rlock *lock = lock_of(stage.client, NAME);
    const answer *leased = ASK(java, "t1", "lock", NAME, "lease", "2000");
    assert_result(leased, "");
    assert_ok(rlock_lock_lease(lock, LASTING_MS));
    int64_t taken_ns = now_ns();
    fprintf(stderr, "taken over %.1f ms after Java had its lease of %d\n", (double)(taken_ns - leased->ended_ns) / 1e6, LEASE_MS);
    assert_between((taken_ns - leased->began_ns) / 1000000, LEASE_MS - 1, INT64_MAX);
    assert_between((taken_ns - leased->ended_ns) / 1000000, 0, LEASE_MS + at_most_ms(20));
    assert_thrown(ASK(java, "t1", "lock", NAME, "unlock"), "IllegalMonitorStateException");
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(takeover, by_java_follows_the_end_of_cs_lease)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t began_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, LEASE_MS));
    int64_t leased_ms = now_ms();
    int waiting = java_begin_try("t1", NAME, LASTING_MS, LASTING_MS);
    const answer *locked = agent_await(java, waiting, LEASE_MS + 5000);
    assert_result(locked, "true");
    int64_t taken_ms = locked->ended_ns / 1000000;
    cr_assert(rlock_valid_for(lock) == 0);
    assert_between(taken_ms, began_ms + LEASE_MS - 1, leased_ms + LEASE_MS + at_most_ms(JAVA_LATE_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(java_is_held("t1", NAME));
    java_unlock("t1", NAME);
}

/* A program that starts anew is a new client: not the owner of what its last run left behind. */
Test(takeover, from_a_closed_client_of_c_waits_for_the_ttl)
{
    rlock_client *first = stage_client("lockWatchdogTimeout=10000"); /* LEFT_MS */
    assert_ok(rlock_lock(lock_of(first, NAME)));
    stage_close_client(first);
    int64_t end_ms = ttl_end_ms();
    rlock *again = lock_of(stage_client("lockWatchdogTimeout=1000"), NAME);
    assert_status(rlock_unlock(again), RLOCK_NOT_OWNER);
    assert_status(rlock_try_lock(again, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_taken_by_java_at(agent_await(java, java_begin_lock("t1", NAME), LEFT_MS + 5000), end_ms);
}

Test(takeover, from_a_closed_client_of_java_waits_for_the_ttl)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_result(ASK(java, "agent", "close"), "");
    agent_open(java, server_tcp_url(stage.server), LEFT_MS);
    java_lock("t1", NAME);
    assert_result(ASK(java, "agent", "close"), "");
    int64_t end_ms = ttl_end_ms();
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_lock(lock));
    assert_taken_at(now_ms(), end_ms, C_LATE_MS);
    agent_open(java, server_tcp_url(stage.server), QUICK_MS);
    assert_thrown(ASK(java, "t1", "lock", NAME, "unlock"), "IllegalMonitorStateException");
}

/* The signal-list lock beside python-redis-lock, for which a client of the tests stands (python_redis_lock/agent.py). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/blocked.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/interop/support/agent.h"
#include "tests/interop/support/process.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define NAME "report"
#define LOCK "lock:" NAME
#define LIST "lock-signal:" NAME
#define SOON_MS 20000
#define LOOK_MS 300    /* how long to look at what must not come */
#define OWN_LOOK_MS 5000 /* after so long without a signal a waiter of ours asks */
#define WITHOUT_END ""
#define UNTIL_SIGNALLED ""

static agent *python;

static void open_python(void)
{
    python = agent_start_of("python-redis-lock"); /* first, so that a test without it is skipped before it starts a server */
    stage_open();
    assert_result(ASK(python, "t1", "open", server_tcp_url(stage.server)), "True");
}

static void close_python(void)
{
    agent_end(python);
    stage_close();
}

TestSuite(signal_python, .init = open_python, .fini = close_python);

static rlock *ours(rlock_client *client)
{
    return kind_of(&kind_signal, client, NAME);
}

static void assert_taken_by(const char *thread, const char *expire_s)
{
    assert_result(ASK(python, thread, "acquire", NAME, expire_s, "0"), "True");
}

static void assert_released_by(const char *thread)
{
    assert_result(ASK(python, thread, "release", NAME), "");
}

/* Begins a wait for as long as it takes, and waits until the server has it. The tag is agent_await's. */
static int begin_theirs(const char *thread, int64_t blocked)
{
    int tag = BEGIN(python, thread, "acquire", NAME, WITHOUT_END, UNTIL_SIGNALLED);
    await_blocked(blocked);
    return tag;
}

/* --- exclusion --- */

Test(signal_python, excludes_ours_and_ours_excludes_it)
{
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock(lock));
    assert_result(ASK(python, "t1", "acquire", NAME, "5", "0"), "False");
    assert_result(ASK(python, "t1", "acquire", NAME, "5", "1"), "False");
    assert_result(ASK(python, "t1", "owned", NAME), "False");
    assert_ok(rlock_unlock(lock));
    assert_taken_by("t1", "60");
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(rlock_try_lock(lock, 200, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_released_by("t1");
    assert_no_keys();
}

/* An inner unlock frees nothing, and wakes nobody. */
Test(signal_python, waits_for_the_last_unlock_of_ours)
{
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    int tag = begin_theirs("t1", 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(!agent_answered(python, tag, LOOK_MS), "beside ours");
    assert_ok(rlock_unlock(lock));
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_released_by("t1");
    assert_no_keys();
}

/* --- waking --- */

/* Neither side's waiter would get so many turns in the time of a test by asking: ours would take five seconds for each, and
 * theirs never asks. */
Test(signal_python, is_woken_by_ours_and_wakes_ours_turn_after_turn)
{
    enum { TURNS = 1 + 1000 * HANG_S / OWN_LOOK_MS };
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    assert_taken_by("t1", WITHOUT_END);
    for (int i = 0; i < TURNS; i++) {
        begin_blocked(waiter, lock, 1);
        assert_released_by("t1");
        assert_ok(actor_finish(waiter, SOON_MS));
        int tag = begin_theirs("t1", 1);
        assert_ok(actor_unlock(waiter, lock));
        assert_result(agent_await(python, tag, SOON_MS), "True");
    }
    assert_released_by("t1");
    assert_no_keys();
    actor_end(waiter);
}

/* One element wakes one of them. */
Test(signal_python, release_wakes_one_waiter_and_no_more)
{
    int tags[3];
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < 3; i++)
        tags[i] = begin_theirs(i == 0 ? "t1" : i == 1 ? "t2" : "t3", i + 1);
    assert_ok(rlock_unlock(lock));
    assert_result(agent_await(python, tags[0], SOON_MS), "True");
    cr_assert(server_info(stage.server, "blocked_clients") == 2);
    assert_released_by("t1");
    assert_result(agent_await(python, tags[1], SOON_MS), "True");
    cr_assert(server_info(stage.server, "blocked_clients") == 1);
    assert_released_by("t2");
    assert_result(agent_await(python, tags[2], SOON_MS), "True");
    assert_released_by("t3");
    assert_no_keys();
}

/* A reset frees the lock of whoever holds it. */
Test(signal_python, reset_frees_either_sides_lock_and_wakes_either_sides_waiter)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    assert_taken_by("t1", WITHOUT_END);
    actor_begin_lock(waiter, lock);
    await_blocked(1);
    assert_result(ASK(python, "t2", "reset", NAME), "");
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_thrown(ASK(python, "t1", "release", NAME), "NotAcquired");
    int tag = begin_theirs("t1", 1);
    assert_result(ASK(python, "t2", "reset", NAME), "");
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_status(actor_unlock(waiter, lock), RLOCK_LOST);
    assert_released_by("t1");
    assert_no_keys();
    actor_end(waiter);
}

Test(signal_python, is_forced_open_by_ours_and_its_next_waiter_is_woken)
{
    bool was_locked = false;
    assert_taken_by("t1", WITHOUT_END);
    int tag = begin_theirs("t2", 1);
    assert_ok(rlock_force_unlock(ours(stage.client), &was_locked));
    cr_assert(was_locked);
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_thrown(ASK(python, "t1", "release", NAME), "NotAcquired");
    assert_released_by("t2");
    assert_no_keys();
}

/* --- order --- */

enum { QUEUED = 4 };

/* Whoever has the lock now, of those that wait; it is given back, so that the next one's turn comes. */
static int serve_next(actor *const waiters[QUEUED], const int tags[QUEUED], rlock *const locks[QUEUED], bool served[QUEUED])
{
    static const char *const threads[QUEUED] = {"t1", NULL, "t2", NULL};
    for (int64_t end_ms = limit_end_ms(SOON_MS);; pass_ms(1)) {
        for (int i = 0; i < QUEUED; i++) {
            if (served[i] || !(threads[i] ? agent_answered(python, tags[i], 0) : actor_ended(waiters[i], 0)))
                continue;
            served[i] = true;
            if (threads[i]) {
                assert_result(agent_await(python, tags[i], SOON_MS), "True");
                assert_released_by(threads[i]);
            } else {
                assert_ok(actor_finish(waiters[i], SOON_MS));
                assert_ok(actor_unlock(waiters[i], locks[i]));
            }
            return i;
        }
        cr_assert(now_ms() < end_ms, "nobody is woken");
    }
}

/* Theirs, ours, theirs, and another process of ours. False: a waiter of ours may have asked by itself just when the lock
 * was free, since the machine stood still for so long; that says nothing of the order. */
static bool are_served_in_order(actor *const waiters[QUEUED], rlock *const locks[QUEUED])
{
    int tags[QUEUED] = {0};
    bool served[QUEUED] = {false}, in_order = true;
    assert_taken_by("t3", WITHOUT_END);
    tags[0] = begin_theirs("t1", 1);
    int64_t since_ms = now_ms();
    begin_blocked(waiters[1], locks[1], 2);
    tags[2] = begin_theirs("t2", 3);
    begin_blocked(waiters[3], locks[3], 4);
    assert_released_by("t3");
    for (int i = 0; i < QUEUED; i++)
        in_order = serve_next(waiters, tags, locks, served) == i && in_order;
    cr_assert(in_order || now_ms() - since_ms >= OWN_LOOK_MS, "not in the order in which they came");
    return in_order;
}

Test(signal_python, serves_the_client_that_has_waited_longest_on_whichever_side)
{
    rlock *const locks[QUEUED] = {NULL, ours(stage.client), NULL, ours(stage.other)};
    actor *const waiters[QUEUED] = {NULL, actor_start(), NULL, actor_start()};
    while (!are_served_in_order(waiters, locks))
        ;
    assert_no_keys();
    actor_end(waiters[1]);
    actor_end(waiters[3]);
}

/* --- time --- */

/* Nobody signals the end of a lease; ours asks at that moment. */
Test(signal_python, that_expired_is_ours_and_leaves_it_alone)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    assert_taken_by("t1", "1");
    actor_begin_lock(waiter, lock);
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_result(ASK(python, "t1", "owned", NAME), "False");
    assert_thrown(ASK(python, "t1", "extend", NAME, "60"), "NotAcquired");
    assert_thrown(ASK(python, "t1", "release", NAME), "NotAcquired");
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

/* It waits in BLPOP for as long as its own lock would live, and asks then. That is long enough for what may be stopped before
 * it extends its lock. */
Test(signal_python, with_an_expiry_takes_ours_when_its_lease_has_ended)
{
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock_lease(lock, 300));
    assert_result(ASK(python, "t1", "acquire", NAME, "5", UNTIL_SIGNALLED), "True");
    assert_result(ASK(python, "t1", "extend", NAME, "60"), "");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_result(ASK(python, "t1", "owned", NAME), "True");
    assert_released_by("t1");
    assert_no_keys();
}

/* Without any time it hangs beside a free lock, as beside one of its own library, until anybody releases. */
Test(signal_python, without_a_timeout_hangs_after_ours_expired_until_the_next_release)
{
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock_lease(lock, 60000));
    int tag = begin_theirs("t1", 1);
    cr_assert(server_integer(stage.server, "PEXPIRE " LOCK " 1") == 1);
    cr_assert(server_wait_exists(stage.server, LOCK, false, SOON_MS));
    cr_assert(!agent_answered(python, tag, LOOK_MS));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_released_by("t1");
    assert_no_keys();
}

/* It sets the time anew: a waiter that had been told less asks again then, and goes on waiting. */
Test(signal_python, that_is_extended_is_waited_for_longer)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    assert_taken_by("t1", "5");
    actor_begin_lock(waiter, lock);
    assert_result(ASK(python, "t1", "extend", NAME, "600"), "");
    assert_between(pttl_of(LOCK), 500000, 600000);
    cr_assert(!actor_ended(waiter, 5500), "beside python-redis-lock");
    assert_result(ASK(python, "t1", "extend", NAME, "60"), "");
    assert_between(pttl_of(LOCK), 1, 60000);
    assert_released_by("t1");
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* What is ours it neither extends nor releases, and a longer re-entry of ours does what its extend does. */
Test(signal_python, waits_for_ours_that_is_extended)
{
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock_lease(lock, 10000));
    assert_ok(rlock_lock_lease(lock, 60000));
    assert_thrown(ASK(python, "t1", "extend", NAME, "1"), "NotAcquired");
    assert_between(pttl_of(LOCK), 10001, 60000);
    assert_result(ASK(python, "t1", "acquire", NAME, "5", "2"), "False");
    assert_thrown(ASK(python, "t1", "release", NAME), "NotAcquired");
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Its lock without `expire` is waited for, and never broken. */
Test(signal_python, without_an_expiry_is_held_until_it_is_released)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    int64_t ttl_ms = 0;
    assert_taken_by("t1", WITHOUT_END);
    assert_ok(rlock_remain_time_to_live(lock, &ttl_ms));
    cr_assert(ttl_ms == -1);
    assert_thrown(ASK(python, "t1", "extend", NAME, "60"), "NotExpirable");
    actor_begin_lock(waiter, lock);
    cr_assert(!actor_ended(waiter, OWN_LOOK_MS + LOOK_MS));
    cr_assert(pttl_of(LOCK) == -1);
    assert_result(ASK(python, "t1", "owned", NAME), "True");
    assert_released_by("t1");
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- those that die or give up --- */

typedef struct doomed {
    char url[256];
    int64_t lease_ms;
    atomic_int status; /* of its lock, plus one; 0: it waits */
} doomed;

static int take_and_stay(void *arg)
{
    doomed *self = arg;
    rlock_client *client = NULL;
    rlock *lock = NULL;
    rlock_status status = rlock_client_open(&client, self->url);
    if (status == RLOCK_OK && (lock = rlock_get_signal_lock(client, NAME)))
        status = rlock_lock_lease(lock, self->lease_ms);
    atomic_store(&self->status, (int)status + 1);
    pause();
    return 0;
}

static pid_t start_doomed(doomed *self, int64_t lease_ms)
{
    snprintf(self->url, sizeof self->url, "%s", server_url(stage.server));
    self->lease_ms = lease_ms;
    return process_start(take_and_stay, self);
}

/* Nobody can release for it: who waits with a time gets in at the end of the lease, and not before. */
Test(signal_python, takes_the_lock_of_a_killed_process_of_ours_when_its_lease_has_ended)
{
    doomed *self = shared_memory(sizeof *self);
    pid_t process = start_doomed(self, 4500);
    cr_assert(server_wait_exists(stage.server, LOCK, true, SOON_MS));
    int64_t since_ms = now_ms(), left_ms = pttl_of(LOCK);
    process_kill(process);
    assert_result(ASK(python, "t1", "acquire", NAME, "5", "0"), "False");
    assert_result(ASK(python, "t1", "acquire", NAME, "5", UNTIL_SIGNALLED), "True");
    cr_assert(now_ms() - since_ms >= left_ms - 1, "%lld ms after the kill", (long long)(now_ms() - since_ms));
    assert_released_by("t1");
    assert_no_keys();
}

Test(signal_python, behind_a_killed_waiter_of_ours_is_next)
{
    doomed *self = shared_memory(sizeof *self);
    rlock *lock = ours(stage.client);
    assert_ok(rlock_lock(lock));
    pid_t process = start_doomed(self, 60000);
    await_blocked(1);
    int tag = begin_theirs("t1", 2);
    process_kill(process);
    await_blocked(1);
    assert_ok(rlock_unlock(lock));
    assert_result(agent_await(python, tag, SOON_MS), "True");
    cr_assert(atomic_load(&self->status) == 0);
    assert_released_by("t1");
    assert_no_keys();
}

/* Its wait ends when both wait: a time might be over before that. */
Test(signal_python, behind_a_waiter_of_ours_that_gives_up_is_next)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    assert_taken_by("t1", WITHOUT_END);
    actor_begin_with(waiter, lock, &options);
    await_blocked(1);
    int tag = begin_theirs("t2", 2);
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiter, SOON_MS), RLOCK_CANCELLED);
    assert_released_by("t1");
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_released_by("t2");
    assert_no_keys();
    actor_end(waiter);
    rlock_cancel_free(options.cancel);
}

Test(signal_python, that_was_killed_while_it_waited_is_in_nobodys_way)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    begin_theirs("t1", 1);
    actor_begin_lock(waiter, ours(stage.other));
    await_blocked(2);
    agent_kill(python);
    await_blocked(1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, ours(stage.other)));
    assert_no_keys();
    actor_end(waiter);
}

/* --- signals that mean nothing --- */

/* An element that nobody put there for a release, or that was left over: whoever gets it finds the lock held, and waits
 * on. */
Test(signal_python, and_ours_wait_on_after_a_stale_signal)
{
    rlock *lock = ours(stage.client);
    actor *waiter = actor_start();
    assert_taken_by("t1", WITHOUT_END);
    freeReplyObject(server_command(stage.server, "RPUSH " LIST " 1 1"));
    actor_begin_lock(waiter, lock);
    cr_assert(server_wait_exists(stage.server, LIST, false, SOON_MS));
    await_blocked(1);
    cr_assert(!actor_ended(waiter, LOOK_MS), "beside python-redis-lock");
    assert_released_by("t1");
    assert_ok(actor_finish(waiter, SOON_MS));
    freeReplyObject(server_command(stage.server, "RPUSH " LIST " 1 1"));
    int tag = BEGIN(python, "t1", "acquire", NAME, WITHOUT_END, UNTIL_SIGNALLED);
    cr_assert(server_wait_exists(stage.server, LIST, false, SOON_MS));
    await_blocked(1);
    cr_assert(!agent_answered(python, tag, LOOK_MS), "beside ours");
    assert_ok(actor_unlock(waiter, lock));
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_released_by("t1");
    assert_no_keys();
    actor_end(waiter);
}

/* The signal of a release that nobody waited for is still there when others take and release. */
Test(signal_python, release_replaces_the_signal_of_the_one_before)
{
    rlock *lock = ours(stage.client);
    for (int i = 0; i < 3; i++) {
        assert_taken_by("t1", "60");
        assert_released_by("t1");
        assert_ok(rlock_lock(lock));
        assert_ok(rlock_unlock(lock));
        cr_assert(server_integer(stage.server, "LLEN " LIST) <= 1); /* it lives for a second */
    }
    assert_no_keys();
}

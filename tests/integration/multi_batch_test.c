/* A multi lock of many members on one server: they are asked for, and released, together. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(multi_batch, .init = stage_open, .fini = stage_close);

static const char *member(int i)
{
    static char text[16];
    snprintf(text, sizeof text, "m%05d", i);
    return text;
}

/* Of members 0 to n-1, in that order or the other way round. */
static rlock *multi_of(rlock_client *client, int n, bool backwards)
{
    rlock **locks = calloc((size_t)n, sizeof *locks);
    for (int i = 0; i < n; i++)
        locks[i] = rlock_get_lock(client, member(backwards ? n - 1 - i : i));
    rlock *multi = rlock_get_multi_lock(locks, (size_t)n);
    cr_assert(multi != NULL, "%s", rlock_last_error());
    for (int i = 0; i < n; i++)
        rlock_free(locks[i]);
    free(locks);
    return stage_keep(multi);
}

/* From here on the server knows the scripts, and each request runs one. */
static void warm_up(void)
{
    rlock *lock = lock_of(stage.client, "warm-up");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* --- together --- */

/* Not in 600 round trips, as 300 locks one after the other. (What the server needs for a script remains.) */
TimedTest(multi_batch, is_taken_and_given_back_in_few_round_trips)
{
    rlock *multi = multi_of(stage.client, 300, false), *single = lock_of(stage.client, "single");
    assert_ok(rlock_lock(multi));
    assert_ok(rlock_unlock(multi));
    int64_t began_ms = now_ms();
    for (int i = 0; i < 300; i++) {
        assert_ok(rlock_lock(single));
        assert_ok(rlock_unlock(single));
    }
    int64_t in_turn_ms = now_ms() - began_ms;
    began_ms = now_ms();
    assert_ok(rlock_lock(multi));
    assert_ok(rlock_unlock(multi));
    assert_between(now_ms() - began_ms, 0, in_turn_ms * 3 / 4);
    assert_no_keys();
}

/* Of clients whose requests mingle, no two fail because each had some: the first to reach the server has all. */
RealTest(multi_batch, goes_over_one_connection)
{
    enum { N = 60 };
    /* No request is repeated, however late its answer, as no time is left for another attempt. */
    rlock *multi = multi_of(stage_client("timeout=600000"), N, false);
    monitor *all = monitor_open();
    assert_ok(rlock_try_lock(multi, 1, RLOCK_WATCHDOG));
    char *clients = server_text(stage.server, "CLIENT LIST");
    size_t evals = monitor_ran(all, &rli_script_lock_acquire);
    cr_assert(evals == N, "%zu requests", evals);
    int senders = 0;
    for (const char *at = clients; (at = strstr(at, "cmd=evalsha")); at++)
        senders++;
    for (const char *at = clients; (at = strstr(at, "cmd=eval ")); at++)
        senders++;
    cr_assert(senders == 1, "%d connections have sent scripts:\n%s", senders, clients);
    free(clients);
    monitor_close(all);
    assert_ok(rlock_unlock(multi));
}

Test(multi_batch, may_have_thousands_of_members)
{
    enum { N = 3000 };
    rlock *multi = multi_of(stage.client, N, false);
    bool held = false;
    assert_ok(rlock_lock_lease(multi, 60000));
    cr_assert(server_integer(stage.server, "DBSIZE") == N);
    cr_assert(rlock_valid_for(multi) > 0);
    assert_ok(rlock_is_held(multi, &held));
    cr_assert(held);
    assert_status(rlock_try_lock(owned_by(multi, 1), 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(multi));
    assert_no_keys();
}

/* --- when a member is refused --- */

static void refuse_each(int64_t wait_ms)
{
    enum { N = 200 };
    rlock *multi = multi_of(stage.client, N, false);
    static const int held[] = {0, 1, 63, 64, 65, 150, N - 1};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        foreign_hold(member(held[i]), 60000);
        assert_status(rlock_try_lock(multi, wait_ms, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        assert_error(member(held[i]));
        int64_t since_ms = now_ms();
        cr_assert(wait_key_count(1, 60000)); /* what takes long goes on in the background */
        assert_between(now_ms() - since_ms, 0, at_most_ms(5));
        assert_status(rlock_unlock(multi), RLOCK_NOT_OWNER);
        foreign_release(member(held[i]));
        assert_ok(rlock_try_lock(multi, 5000, RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(multi));
        assert_no_keys();
    }
}

Test(multi_batch, leaves_nothing_when_one_of_many_is_refused)
{
    refuse_each(0);
}

/* A wait may end while any member is asked; where nothing is late, the one that refused is named. */
TimedTest(multi_batch, leaves_nothing_when_one_of_many_is_refused_all_the_wait)
{
    refuse_each(60);
}

/* While it waits for one, it holds only those before: those who take the same members in the same order never wait for each
 * other in a circle. */
TimedTest(multi_batch, holds_only_the_members_before_the_one_that_it_waits_for)
{
    enum { N = 50, HELD = 20 };
    rlock *multi = multi_of(stage.client, N, false);
    foreign_hold(member(HELD), 60000);
    actor *waiter = actor_start();
    actor_begin_try(waiter, multi, 60000, RLOCK_WATCHDOG);
    pass_ms(10);
    cr_assert(*holder_of(member(0)) && *holder_of(member(HELD - 1)));
    for (int i = HELD + 1; i < N; i++)
        cr_assert(!*holder_of(member(i)), "member %d is held", i);
    foreign_release(member(HELD));
    assert_ok(actor_finish(waiter, 1000));
    cr_assert(actor_took(waiter) < 25, "it gave back all and started over");
    assert_ok(actor_unlock(waiter, multi));
    assert_no_keys();
    actor_end(waiter);
}

/* Of those who try the same members at the same time one gets them, and the others ask for the first alone. */
Test(multi_batch, is_had_by_one_of_many_that_try_once)
{
    enum { THREADS = 6, N = 150 };
    actor *actors[THREADS];
    int had = 0;
    for (int i = 0; i < THREADS; i++)
        actors[i] = actor_start();
    warm_up();
    int64_t before = scripts_run();
    for (int i = 0; i < THREADS; i++)
        actor_begin_try(actors[i], multi_of(i % 2 ? stage.client : stage.other, N, false), 0, 60000);
    for (int i = 0; i < THREADS; i++)
        had += actor_finish(actors[i], 60000) == RLOCK_OK;
    cr_assert(had == 1, "%d threads have it", had);
    cr_assert(scripts_run() - before == N + THREADS - 1);
    for (int i = 0; i < THREADS; i++)
        actor_end(actors[i]);
}

/* Many contended members: what is asked for in vain stays in proportion. */
TimedTest(multi_batch, asks_a_few_together_after_a_refusal)
{
    enum { N = 640, STEP = 10 };
    rlock *multi = multi_of(stage.client, N, false);
    for (int i = 0; i < N; i += STEP)
        foreign_hold(member(i), 2);
    int64_t before = scripts_run();
    assert_ok(rlock_try_lock(multi, 60000, RLOCK_WATCHDOG));
    int64_t run = scripts_run() - before;
    cr_assert(run < 6 * N, "%lld requests for %d members", (long long)run, N);
    assert_ok(rlock_unlock(multi));
    assert_no_keys();
}

/* The lease of the first ones is as long as that of the last one, for which the acquire has waited. So it is after an attempt
 * that had made them longer already when one of them turned out to be gone. */
TimedTest(multi_batch, has_one_lease_for_all_members_in_a_later_attempt)
{
    enum { N = 20, LAST = N - 1, LEASE_MS = 10000, WAIT_MS = 4000 };
    rlock *multi = multi_of(stage.client, N, false), *last = lock_of(stage.other, member(LAST));
    actor *waiter = actor_start(), *rival = actor_start();
    foreign_hold(member(LAST), 60000);
    actor_begin_try(waiter, multi, 60000, LEASE_MS);
    for (int64_t left_ms = LEASE_MS; left_ms < 0 || left_ms > LEASE_MS - WAIT_MS; left_ms = pttl_of(member(0)))
        pass_ms(1); /* until an attempt has more patience than that */
    actor_begin_lock(rival, last);
    pass_ms(20);
    foreign_vanish(member(1));
    foreign_release(member(LAST));
    assert_ok(actor_finish(rival, 1000));
    cr_assert(!actor_ended(waiter, WAIT_MS));
    assert_ok(actor_unlock(rival, last));
    assert_ok(actor_finish(waiter, 5000));
    for (int i = 0; i < N; i++)
        assert_between(pttl_of(member(i)), LEASE_MS * 9 / 10 - 50, LEASE_MS);
    assert_ok(actor_unlock(waiter, multi));
    assert_no_keys();
    actor_end(waiter);
    actor_end(rival);
}

/* --- many owners --- */

enum { MEMBERS = 100, TURNS = 30 };

static atomic_int inside;

static rlock_status take_turns(void *multi)
{
    rlock_status status = RLOCK_OK;
    for (int i = 0; i < TURNS && status == RLOCK_OK; i++) {
        status = rlock_lock(multi);
        if (status != RLOCK_OK)
            break;
        cr_assert(atomic_fetch_add(&inside, 1) == 0, "two owners at a time");
        atomic_fetch_sub(&inside, 1);
        status = rlock_unlock(multi);
    }
    return status;
}

/* Threads of two clients want the same hundred members, some in the opposite order: all get their turns. */
Test(multi_batch, gives_turns_to_all_who_want_the_same_members)
{
    enum { THREADS = 4 };
    actor *actors[THREADS];
    for (int i = 0; i < THREADS; i++) {
        actors[i] = actor_start();
        actor_begin(actors[i], take_turns, multi_of(i % 2 ? stage.client : stage.other, MEMBERS, i == 3));
    }
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(actors[i], 120000));
        actor_end(actors[i]);
    }
    assert_no_keys();
}

/* Those who wait for the first of the members find the others free when they get it. */
TimedTest(multi_batch, is_given_back_from_the_last_member_to_the_first)
{
    enum { N = 40 };
    rlock *ours = multi_of(stage.client, N, false), *theirs = multi_of(stage.other, N, false);
    warm_up();
    assert_ok(rlock_lock(ours));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, theirs);
    cr_assert(wait_listened(member(0), 5000));
    pass_ms(100);
    int64_t before = scripts_run();
    assert_ok(rlock_unlock(ours));
    assert_ok(actor_finish(waiter, 1000));
    int64_t run = scripts_run() - before;
    cr_assert(run <= 2 * N + 2, "%lld requests to pass on %d members", (long long)run, N);
    assert_ok(actor_unlock(waiter, theirs));
    assert_no_keys();
    actor_end(waiter);
}

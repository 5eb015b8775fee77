/* Handing over: a fair lock goes from one thread to the next of the same client with the unlock itself. What
 * others see of it is an unlock, and then a lock by who came next. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(hand_over, .init = stage_open, .fini = stage_close, .timeout = 60);
TestSuite(hand_over_watchdog, .init = stage_quick, .fini = stage_close, .timeout = 60);

#define NAME "f"
#define WATCHDOG_MS 30000

static rlock *mine(void)
{
    return fair_of(stage.client, NAME);
}

/* How often a script was run since the monitor's last monitor_forget. */
static size_t runs_of(monitor *tap, const rli_script *script)
{
    return monitor_saw(tap, script->sha1[RLI_COUNTED]);
}

/* --- what it costs --- */

/* Four wait: each unlock is one request, nobody is told, and nobody asks. */
static void count_requests(int64_t lease_ms)
{
    rlock *lock = mine();
    actor *waiters[4];
    assert_ok(rlock_try_lock(lock, 0, lease_ms));
    for (int i = 0; i < 4; i++)
        waiters[i] = queue_up_for(lock, 60000, lease_ms);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        cr_assert(queue_length(NAME) == 3 - i && actor_valid_for(waiters[i], lock) > 0);
        assert_ok(actor_unlock(waiters[i], lock));
    }
    cr_assert(runs_of(tap, &rli_script_fair_release) == 5 && runs_of(tap, &rli_script_fair_acquire) == 0);
    cr_assert(monitor_saw(tap, "\"publish\"") == 0);
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    monitor_close(tap);
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
}

Test(hand_over, costs_one_request_a_turn)
{
    count_requests(RLOCK_WATCHDOG);
}

/* Who becomes first behind a hold that may end soon need not be told when it looks by then in any case. */
Test(hand_over, of_short_holds_costs_one_request_a_turn)
{
    count_requests(10000);
}

/* Nobody unlocks: each has it when the lease of the one before it is over, whether it was told of that lease or
 * knew of one as short. */
Test(hand_over, of_short_holds_goes_on_as_they_run_out)
{
    static const int64_t leases_ms[] = {600, 800, 300, 300};
    rlock *lock = mine();
    actor *waiters[4];
    assert_ok(rlock_try_lock(lock, 0, 1000));
    for (int i = 0; i < 4; i++)
        waiters[i] = queue_up_for(lock, 60000, leases_ms[i]);
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        int64_t after_ms = i ? actor_ended_at(waiters[i]) - actor_ended_at(waiters[i - 1]) : 0;
        assert_between(after_ms, i ? leases_ms[i - 1] - at_most_ms(50) : 0,
                       i ? leases_ms[i - 1] + at_most_ms(200) : 0);
    }
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
}

/* --- what others see --- */

/* What stands after one's unlock has passed the lock on to `next`, whose place was two seconds: those behind it,
 * who are others, and what they were told. */
static void assert_passed_on(rlock *lock, rlock *nexts, int64_t lease_ms, bool told)
{
    assert_ok(rlock_lock(lock));
    actor *next = queue_up_for(nexts, 2000, lease_ms);
    foreign_queue(NAME, 1, 100000);
    foreign_queue(NAME, 2, 200000);
    int64_t first = score_of(NAME, foreign_owner(1)), second = score_of(NAME, foreign_owner(2));
    redisContext *behind = foreign_listen(NAME, 1);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(next, 5000));
    const char *const telling[] = {"\"PUBLISH\"", foreign_owner(1), NULL};
    cr_assert(monitor_count(tap, telling) == told);
    cr_assert(queue_length(NAME) == 2 && strcmp(queued_at(NAME, 0), foreign_owner(1)) == 0);
    cr_assert(score_of(NAME, foreign_owner(1)) == first - 2000 && score_of(NAME, foreign_owner(2)) == second - 2000);
    cr_assert(score_count(NAME) == 2);
    assert_between(pttl_of(NAME), lease_ms - at_most_ms(2000), lease_ms);
    cr_assert(server_integer(stage.server, "HLEN " NAME) == 1 && actor_hold_count(next, nexts) == 1);
    assert_ok(actor_unlock(next, nexts));
    cr_assert(foreign_told(behind, 1000));
    monitor_close(tap);
    redisFree(behind);
    actor_end(next);
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
}

Test(hand_over, leaves_what_an_unlock_and_a_lock_leave)
{
    assert_passed_on(mine(), mine(), 40000, false);
    assert_passed_on(mine(), fair_of(stage.other, NAME), 40000, false);
}

/* The next one is told to look how long it lasts. */
Test(hand_over, of_a_short_hold_is_told_to_the_next)
{
    assert_passed_on(mine(), mine(), 3000, true);
    assert_passed_on(mine(), fair_of(stage.other, NAME), 3000, true);
}

/* Whoever is ahead, of another client or of Redisson's, is told, and has the lock first. */
Test(hand_over, passes_nobody)
{
    rlock *lock = mine(), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 100000);
    redisContext *ahead = foreign_listen(NAME, 1);
    actor *their = queue_up(others), *our = queue_up(lock);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    cr_assert(foreign_told(ahead, 1000));
    const char *const telling[] = {"\"PUBLISH\"", waiter_channel(NAME, foreign_owner(1)), "\"0\"", NULL};
    cr_assert(monitor_saw(tap, "\"PUBLISH\"") == 1 && monitor_count(tap, telling) == 1);
    monitor_close(tap);
    cr_assert(!actor_ended(their, 200) && !actor_ended(our, 0) && pttl_of(NAME) == -2 && queue_length(NAME) == 3);
    freeReplyObject(server_command(stage.server, "LPOP redisson_lock_queue:{" NAME "}"));
    foreign_hold(NAME, 30000);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(their, 5000));
    cr_assert(!actor_ended(our, 100));
    assert_ok(actor_unlock(their, others));
    assert_ok(actor_finish(our, 5000));
    assert_ok(actor_unlock(our, lock));
    redisFree(ahead);
    actor_end(their);
    actor_end(our);
}

/* One whose time is up is dropped, and told, as by any unlock; the lock goes to the one behind it. */
Test(hand_over, drops_who_is_late_first)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 60000);
    redisContext *late = foreign_listen(NAME, 1);
    actor *waiter = queue_up(lock);
    set_score(NAME, foreign_owner(1), server_time_ms() - 1);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(runs_of(tap, &rli_script_fair_acquire) == 0 && foreign_told(late, 1000));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    redisFree(late);
    monitor_close(tap);
    actor_end(waiter);
}

/* --- the hold that was handed over --- */

/* With a lease of its own it runs out; without, it is renewed, and told of when it is lost. */
Test(hand_over_watchdog, gives_the_hold_that_was_asked_for)
{
    losses lost;
    losses_init(&lost);
    rlock *lock = mine();
    rlock_on_lost(stage.client, losses_note, &lost);
    assert_ok(rlock_lock(lock));
    actor *brief = queue_up_for(lock, 30000, 300), *renewed = queue_up(lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(brief, 5000));
    assert_between(actor_valid_for(brief, lock), 1, 297);
    assert_ok(actor_finish(renewed, 5000));
    assert_between(actor_ended_at(renewed) - actor_ended_at(brief), 250, 300 + at_most_ms(500));
    assert_status(actor_unlock(brief, lock), RLOCK_LOST);
    actor *last = queue_up(lock);
    assert_ok(actor_unlock(renewed, lock));
    assert_ok(actor_finish(last, 5000));
    assert_kept(NAME, NULL, 2 * QUICK_MS);
    cr_assert(actor_holds(last, lock) && actor_valid_for(last, lock) > 0);
    int before = lost.count;
    foreign_vanish(NAME);
    cr_assert(event_wait_count(&lost.came, before + 1, 5000));
    assert_status(actor_unlock(last, lock), RLOCK_LOST);
    cr_assert(lost.all[before].reason == RLOCK_LOST_GONE && lost.all[before].hold_count == 1);
    assert_no_keys();
    actor_end(brief);
    actor_end(renewed);
    actor_end(last);
}

/* Two threads wait for one owner in one place: it is handed over to one, and the other enters it as well. */
Test(hand_over, lets_all_threads_of_the_owner_in)
{
    rlock *lock = mine(), *view = owned_by(lock, 7);
    assert_ok(rlock_lock(lock));
    actor *first = queue_up(view), *second = actor_start();
    actor_begin_lock(second, view);
    cr_assert(actor_asleep(second, 5000) && queue_length(NAME) == 1);
    actor *behind = queue_up(lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_finish(second, 5000));
    cr_assert(actor_hold_count(first, view) == 2);
    assert_ok(actor_unlock(second, view));
    cr_assert(!actor_ended(behind, 100));
    assert_ok(actor_unlock(first, view));
    assert_ok(actor_finish(behind, 5000));
    assert_ok(actor_unlock(behind, lock));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
    actor_end(behind);
}

/* The same of a non-reentrant lock: one has it, the other is told that its owner holds it. */
Test(hand_over, lets_one_thread_of_the_owner_in_where_it_is_non_reentrant)
{
    rlock *lock = kind_of(&kind_non_reentrant_fair, stage.client, NAME), *view = owned_by(lock, 7);
    assert_ok(rlock_lock(lock));
    actor *waiters[2] = {queue_up(view), actor_start()};
    actor_begin_lock(waiters[1], view);
    cr_assert(actor_asleep(waiters[1], 5000));
    assert_ok(rlock_unlock(lock));
    rlock_status statuses[2] = {actor_finish(waiters[0], 5000), actor_finish(waiters[1], 5000)};
    int holder = statuses[0] == RLOCK_OK ? 0 : 1;
    assert_ok(statuses[holder]);
    assert_status(statuses[!holder], RLOCK_ALREADY_HELD);
    cr_assert(actor_hold_count(waiters[holder], view) == 1);
    assert_ok(actor_unlock(waiters[holder], view));
    assert_no_keys();
    actor_end(waiters[0]);
    actor_end(waiters[1]);
}

/* Only the last unlock of a hold hands it over. */
Test(hand_over, does_not_happen_before_the_last_unlock)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    actor *waiter = queue_up(lock);
    assert_ok(rlock_unlock(lock));
    cr_assert(!actor_ended(waiter, 100) && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- a hold that was gone --- */

/* Free: the head is told, and takes the lock itself; the unlock says that it came too late. */
Test(hand_over, of_a_hold_that_is_gone_is_lost_and_wakes_the_head)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    actor *waiter = queue_up(lock);
    foreign_vanish(NAME);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_finish(waiter, at_most_ms(1000)));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

/* Another's by now: it stays that one's. */
Test(hand_over, of_a_hold_that_is_anothers_by_now_is_lost_and_gives_nothing)
{
    rlock *lock = mine();
    assert_ok(rlock_lock(lock));
    actor *waiter = queue_up(lock);
    foreign_vanish(NAME);
    foreign_hold(NAME, 30000);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(!actor_ended(waiter, 200) && strcmp(holder_of(NAME), FOREIGN_CLIENT) == 0 && queue_length(NAME) == 1);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

/* --- at the moment when a wait ends --- */

#define ROUNDS 150

/* A wait that ends as the lock is handed to it: it has the lock, or has left nothing. */
static void end_as_it_comes(rlock_cancel *(*begin)(actor *waiter, rlock *lock, int round), rlock_status otherwise)
{
    rlock *lock = mine();
    int had = 0, ended = 0;
    actor *waiter = actor_start();
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(rlock_lock(lock));
        rlock_cancel *cancel = begin(waiter, lock, round);
        assert_ok(rlock_unlock(lock));
        rlock_status status = actor_finish(waiter, 5000);
        had += status == RLOCK_OK;
        ended += status == otherwise;
        cr_assert(status == RLOCK_OK || status == otherwise, "%s", rlock_strstatus(status));
        if (status == RLOCK_OK) {
            cr_assert(actor_holds(waiter, lock));
            assert_ok(actor_unlock(waiter, lock));
        }
        cr_assert(server_wait_exists(stage.server, NAME, false, 2000), "somebody holds it who does not know");
        assert_no_keys();
        rlock_cancel_free(cancel);
    }
    cr_assert(had > 0 && ended > 0, "%d had it, %d had not: they never met", had, ended);
    actor_end(waiter);
}

static rlock_cancel *time_runs_out(actor *waiter, rlock *lock, int round)
{
    actor_begin_try(waiter, lock, 20, 10000);
    pass_ms(14 + round % 12);
    return NULL;
}

static rlock_cancel *token_fires(actor *waiter, rlock *lock, int round)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_queued(NAME, 1, 5000));
    pass_ms(round % 3);
    if (round % 2)
        rlock_cancel_fire(options.cancel);
    return options.cancel;
}

Test(hand_over, to_a_wait_whose_time_is_up_just_then_is_all_or_nothing)
{
    end_as_it_comes(time_runs_out, RLOCK_TIMEOUT);
}

Test(hand_over, to_a_wait_that_is_cancelled_just_then_is_all_or_nothing)
{
    end_as_it_comes(token_fires, RLOCK_CANCELLED);
}

/* --- many --- */

enum { CROWD = 12, TURNS = 60 };

typedef struct crowd_of {
    rlock *lock;
    int number;
    long *counter; /* of all, under the lock */
    atomic_long *turns;
} crowd_of;

/* Some wait for ever, some briefly, and some turns are entered twice. */
static rlock_status go_on(void *arg)
{
    crowd_of *self = arg;
    for (int i = 0; i < TURNS; i++) {
        int64_t wait_ms = self->number % 3 ? RLOCK_FOREVER : 3 + i % 20, lease_ms = i % 4 ? RLOCK_WATCHDOG : 20000;
        rlock_status status = rlock_try_lock(self->lock, wait_ms, lease_ms);
        if (status == RLOCK_TIMEOUT && wait_ms != RLOCK_FOREVER)
            continue;
        if (status != RLOCK_OK)
            return status;
        bool twice = i % 5 == 0;
        if (twice && (status = rlock_lock(self->lock)) != RLOCK_OK)
            return status;
        long seen = *self->counter;
        if (i % 7 == 0)
            pass_ms(1);
        *self->counter = seen + 1;
        atomic_fetch_add(self->turns, 1);
        if (twice && (status = rlock_unlock(self->lock)) != RLOCK_OK)
            return status;
        if ((status = rlock_unlock(self->lock)) != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

/* Of two clients, so that some turns are handed over and others told. */
Test(hand_over, among_many_keeps_the_lock_one_at_a_time)
{
    static crowd_of crowd[CROWD];
    static long counter;
    static atomic_long turns;
    actor *actors[CROWD];
    for (int i = 0; i < CROWD; i++) {
        rlock *lock = fair_of(i % 4 ? stage.client : stage.other, NAME);
        crowd[i] = (crowd_of){.lock = lock, .number = i, .counter = &counter, .turns = &turns};
        actors[i] = actor_start();
        actor_begin(actors[i], go_on, &crowd[i]);
    }
    for (int i = 0; i < CROWD; i++) {
        assert_ok(actor_finish(actors[i], 50000));
        actor_end(actors[i]);
    }
    cr_assert(counter == atomic_load(&turns), "%ld of %ld turns were counted", counter, atomic_load(&turns));
    cr_assert(counter >= (long)TURNS * CROWD / 3);
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
}

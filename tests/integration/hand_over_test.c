/* Handing over: a lock goes from one thread to the next of the same client with the unlock itself. Each claim is made
 * of a lock whose waiters queue in their process, and of one whose waiters queue on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/fair.h"
#include "tests/integration/support/heirs.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <string.h>

TestSuite(hand_over_of_reentrant, .init = stage_open, .fini = stage_close);
TestSuite(hand_over_of_fair, .init = stage_open, .fini = stage_close);
TestSuite(hand_over_watchdog, .init = stage_quick, .fini = stage_close);

#define HERE_SUITE hand_over_of_reentrant
#define FAIR_SUITE hand_over_of_fair

#define NAME "h"

static rlock *mine(const kind *of)
{
    return kind_of(of, stage.client, NAME);
}

static void end_turn(actor *heir, rlock *lock)
{
    assert_ok(actor_unlock(heir, lock));
    actor_end(heir);
}

/* Only the last unlock of a hold hands it over. */
HEIR_TEST(does_not_happen_before_the_last_unlock)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    actor *heir = heir_start(of, lock);
    assert_ok(rlock_unlock(lock));
    cr_assert(!actor_ended(heir, 100) && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(heir, 5000));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    end_turn(heir, lock);
}

/* --- the hold that was handed over --- */

/* With a lease of its own it runs out; without, it is renewed, and told of when it is lost. */
static void gives_the_hold_that_was_asked_for(const kind *of)
{
    losses lost;
    losses_init(&lost);
    rlock *lock = mine(of);
    rlock_on_lost(stage.client, losses_note, &lost);
    assert_ok(rlock_lock(lock));
    const int64_t brief_ms = 1700;
    actor *brief = heir_start_try(of, lock, 30000, brief_ms), *renewed = heir_start(of, lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(brief, 5000));
    assert_between(actor_valid_for(brief, lock), 1, brief_ms * 99 / 100);
    assert_ok(actor_finish(renewed, 5000));
    assert_between(actor_ended_at(renewed) - actor_ended_at(brief), brief_ms - 50,
                   brief_ms + at_most_ms(500));
    assert_status(actor_unlock(brief, lock), RLOCK_LOST);
    actor *last = heir_start(of, lock);
    assert_ok(actor_unlock(renewed, lock));
    assert_ok(actor_finish(last, 5000));
    assert_kept(NAME, NULL, KEPT_MS);
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

Test(hand_over_watchdog, of_reentrant_gives_the_hold_that_was_asked_for)
{
    gives_the_hold_that_was_asked_for(&kind_reentrant);
}

Test(hand_over_watchdog, of_fair_gives_the_hold_that_was_asked_for)
{
    gives_the_hold_that_was_asked_for(&kind_fair);
}

/* Two threads wait for one owner: it is handed over to one, and the other enters it as well. */
HEIR_TEST(lets_all_threads_of_the_owner_in)
{
    rlock *lock = mine(of), *view = owned_by(lock, 7);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start(of, view), *second = actor_start();
    actor_begin_lock(second, view);
    cr_assert(actor_asleep(second, 5000) && heirs_queue(of, lock, 1));
    actor *behind = heir_start(of, lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_finish(second, 5000));
    cr_assert(actor_hold_count(first, view) == 2);
    assert_ok(actor_unlock(second, view));
    cr_assert(!actor_ended(behind, 100));
    assert_ok(actor_unlock(first, view));
    assert_ok(actor_finish(behind, 5000));
    end_turn(behind, lock);
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* The same of a non-reentrant lock: one has it, the other is told that its owner holds it. */
HEIR_TEST(lets_one_thread_of_the_owner_in_where_it_is_non_reentrant)
{
    rlock *lock = mine(of->fair ? &kind_non_reentrant_fair : &kind_non_reentrant), *view = owned_by(lock, 7);
    assert_ok(rlock_lock(lock));
    actor *waiters[2] = {heir_start(of, view), actor_start()};
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

/* --- a hold that was gone --- */

/* Free, and nobody said so: the unlock says that it came too late, and the next one takes it. */
HEIR_TEST(of_a_hold_that_is_gone_is_lost_and_wakes_the_next)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *heir = heir_start(of, lock);
    foreign_vanish(NAME);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_finish_soon(heir, 1000));
    end_turn(heir, lock);
    assert_no_keys();
}

/* Another's by now: it stays that one's. */
HEIR_TEST(of_a_hold_that_is_anothers_by_now_is_lost_and_gives_nothing)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *heir = heir_start(of, lock);
    foreign_vanish(NAME);
    foreign_hold(NAME, 30000);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(!actor_ended(heir, 200) && strcmp(holder_of(NAME), FOREIGN_CLIENT) == 0 && heirs_queue(of, lock, 1));
    if (of->fair)
        foreign_fair_release(NAME);
    else
        foreign_release(NAME);
    assert_ok(actor_finish(heir, 5000));
    end_turn(heir, lock);
    assert_no_keys();
}

/* --- at the moment when a wait ends --- */

#define ROUNDS 150

typedef rlock_cancel *begin_wait(const kind *of, actor *waiter, rlock *lock, int round);

/* A wait that ends as the lock is handed to it: it has the lock, or has left nothing. */
static void end_as_it_comes(const kind *of, begin_wait *begin, rlock_status otherwise)
{
    rlock *lock = mine(of);
    int had = 0, ended = 0;
    actor *waiter = actor_start();
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(rlock_lock(lock));
        rlock_cancel *cancel = begin(of, waiter, lock, round);
        assert_ok(rlock_unlock(lock));
        rlock_status status = actor_finish(waiter, 5000);
        if (otherwise == RLOCK_TIMEOUT && status == RLOCK_TIMEOUT)
            status = otherwise;
        had += status == RLOCK_OK;
        ended += status == otherwise;
        cr_assert(status == RLOCK_OK || status == otherwise, "%s", rlock_strstatus(status));
        if (status == RLOCK_OK) {
            cr_assert(actor_holds(waiter, lock));
            assert_ok(actor_unlock(waiter, lock));
        }
        cr_assert(server_wait_exists(stage.server, NAME, false, 5000), "somebody holds it who does not know");
        assert_no_keys();
        rlock_cancel_free(cancel);
    }
    cr_assert(had > 0 && ended > 0, "%d had it, %d had not: they never met", had, ended);
    actor_end(waiter);
}

static rlock_cancel *time_runs_out(const kind *of, actor *waiter, rlock *lock, int round)
{
    (void)of;
    actor_begin_try(waiter, lock, 20, 10000);
    pass_ms(14 + round % 12);
    return NULL;
}

static rlock_cancel *token_fires(const kind *of, actor *waiter, rlock *lock, int round)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    actor_begin_with(waiter, lock, &options);
    cr_assert(of->fair ? wait_queued(NAME, 1, 5000) : actor_asleep(waiter, 5000));
    pass_ms(round % 3);
    if (round % 2)
        rlock_cancel_fire(options.cancel);
    return options.cancel;
}

HEIR_TEST(to_a_wait_whose_time_is_up_just_then_is_all_or_nothing)
{
    end_as_it_comes(of, time_runs_out, RLOCK_TIMEOUT);
}

HEIR_TEST(to_a_wait_that_is_cancelled_just_then_is_all_or_nothing)
{
    end_as_it_comes(of, token_fires, RLOCK_CANCELLED);
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

/* Of two clients, so that some turns are handed over and others told; and where they queue here, through two kinds. */
HEIR_TEST(among_many_keeps_the_lock_one_at_a_time)
{
    static crowd_of crowd[CROWD];
    static long counter;
    static atomic_long turns;
    actor *actors[CROWD];
    for (int i = 0; i < CROWD; i++) {
        rlock *lock = kind_of(of->fair || i % 2 ? of : &kind_fenced, i % 4 ? stage.client : stage.other, NAME);
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
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000) && wait_no_channels(5000));
    if (of->fair)
        assert_no_keys();
    else
        cr_assert(server_integer(stage.server, "DBSIZE") == 1); /* the counter of the fenced lock's tokens */
}

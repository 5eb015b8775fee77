/* The spin lock: its waiters ask by themselves, and pub/sub is left alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(spin, .init = stage_quick, .fini = stage_close);

#define NAME "order"

static rlock *spin_with(rlock_client *client, const rlock_back_off *back_off)
{
    rlock *lock = rlock_get_spin_lock_with(client, NAME, back_off), *view;
    cr_assert(lock != NULL, "%s", rlock_last_error());
    view = owned_by(lock, 1); /* the back-off goes with it; kept by the stage */
    rlock_free(lock);
    return view;
}

/* 39, and for longer than the watchdog timeout, which is QUICK_MS here. */
Test(spin, waits_until_it_is_unlocked)
{
    rlock *lock = kind_of(&kind_spin, stage.client, NAME), *theirs = kind_of(&kind_spin, stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, theirs);
    cr_assert(!actor_ended(waiter, KEPT_MS), "beside its holder");
    cr_assert(rlock_valid_for(lock) > 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(1000));
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
}

/* 39's tries, with half of its times. */
Test(spin, try_waits_for_its_time)
{
    rlock *lock = kind_of(&kind_spin, stage.client, NAME), *theirs = kind_of(&kind_spin, stage.other, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(theirs, 0, 30000), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 0, at_most_ms(1000));
    since_ms = now_ms();
    assert_status(rlock_try_lock(theirs, 500, 30000), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 498, at_most_ms(1500));
    actor_begin_try(waiter, theirs, 10000, 30000);
    cr_assert(!actor_ended(waiter, 250));
    since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(1000));
    assert_ok(actor_unlock(waiter, theirs));
    assert_no_keys();
    actor_end(waiter);
}

/* Locking, waiting, giving up, renewal, partial and last unlock, force, and one with nothing to free. */
Test(spin, says_nothing_and_hears_nothing)
{
    rlock *lock = kind_of(&kind_spin, stage.client, NAME), *theirs = kind_of(&kind_spin, stage.other, NAME);
    monitor *tap = monitor_open();
    actor *waiter = actor_start();
    server_listen(stage.server);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_status(rlock_try_lock(theirs, 50, 1000), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, theirs);
    pass_ms(ROUND_MS); /* and is renewed */
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_status(actor_unlock(waiter, theirs), RLOCK_LOST);
    cr_assert(monitor_saw(tap, "\"publish\"") == 0 && monitor_saw(tap, "\"spublish\"") == 0);
    cr_assert(monitor_saw(tap, "subscribe\"") == 1); /* the fixture's own */
    freeReplyObject(server_command(stage.server, "PUBLISH end end"));
    cr_assert(server_heard(stage.server, "end", "end", 5000));
    char *heard = server_heard_all(stage.server);
    cr_assert(strcmp(heard, "end end\n") == 0, "%s", heard);
    free(heard);
    monitor_close(tap);
    actor_end(waiter);
}

Test(spin, is_renewed_by_the_watchdog)
{
    rlock *lock = kind_of(&kind_spin, stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- back-off --- */

#define QUESTIONS 12

/* The pauses between questions of one waiter who waits for `ms`. */
static instants pauses_of(const rlock_back_off *back_off, int64_t ms)
{
    static const char name[] = "\"" NAME "\"";
    instants seen = {.count = 0};
    rlock *lock = spin_with(stage.client, back_off);
    foreign_hold(NAME, 60000);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT); /* the script is known, the connection made */
    monitor *tap = monitor_open();
    assert_status(rlock_try_lock(lock, ms, 1000), RLOCK_TIMEOUT);
    monitor_each(tap, name, instants_note, &seen);
    monitor_close(tap);
    foreign_vanish(NAME);
    return seen;
}

static int64_t pause_us(const instants *seen, size_t i)
{
    return (int64_t)((seen->at[i] - seen->at[i - 1]) * 1e6);
}

/* 38: a pause is never shorter than it says; on a busy machine some are longer, but not half of them. */
Test(spin, constant_back_off_is_kept)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(30);
    const int64_t wait_ms = 30 * QUESTIONS + 15;
    instants seen = pauses_of(&back_off, wait_ms);
    size_t close = 0;
    assert_between(seen.count, (wait_ms - at_most_ms(0)) / 90, QUESTIONS + 1);
    for (size_t i = 1; i < seen.count; i++) {
        assert_between(pause_us(&seen, i), 29000, INT64_MAX);
        close += pause_us(&seen, i) < at_most_ms(40) * 1000;
    }
    assert_between(close, seen.count / 2, seen.count);
}

Test(spin, back_off_grows_to_its_most)
{
    static const int64_t least_ms[] = {10, 30, 90, 100, 100};
    rlock_back_off back_off = RLOCK_BACK_OFF_INIT;
    size_t close = 0;
    back_off.initial_ms = 10;
    back_off.max_ms = 100;
    back_off.multiplier = 3;
    instants seen = pauses_of(&back_off, 400);
    assert_between(seen.count, (400 - at_most_ms(0)) / 100, 6);
    for (size_t i = 1; i < seen.count; i++) {
        assert_between(pause_us(&seen, i), least_ms[i - 1] * 1000 - 1000, INT64_MAX);
        close += pause_us(&seen, i) < (least_ms[i - 1] + at_most_ms(15)) * 1000;
    }
    assert_between(close, seen.count / 2, seen.count);
}

/* Its threads here do not all ask: one of them does for all. */
Test(spin, many_waiters_of_one_client_ask_as_one)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(50);
    rlock *lock = rlock_get_spin_lock_with(stage.client, NAME, &back_off);
    actor *waiters[8];
    foreign_hold(NAME, 60000);
    for (int i = 0; i < 8; i++) {
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], owned_by(lock, i));
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    rlock_free(lock);
    int64_t before = scripts_run(), since_ms = now_ms();
    pass_ms(500);
    int64_t asked = scripts_run() - before;
    assert_between(asked, (500 - at_most_ms(0)) / 100, (now_ms() - since_ms) / 50 + 1);
    foreign_vanish(NAME);
    /* One after the other, each with its own view. */
    for (int i = 0; i < 8; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(rlock_force_unlock(kind_of(&kind_spin, stage.other, NAME), NULL));
    }
    for (int i = 0; i < 8; i++)
        actor_end(waiters[i]);
}

/* --- within a process --- */

/* The one that unlocks gives it to the next one here, however long that one's pause. Nothing is published. */
Test(spin, is_handed_over_to_the_next_thread_here)
{
    enum { WAITERS = 3 };
    rlock_back_off minute = RLOCK_BACK_OFF_CONSTANT_INIT(60000);
    rlock *lock = rlock_get_spin_lock_with(stage.client, NAME, &minute);
    actor *first = actor_start(), *waiters[WAITERS];
    assert_ok(actor_lock(first, lock));
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], lock);
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    monitor *tap = monitor_open();
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(waiters[0], 5000));
    cr_assert(monitor_ran(tap, &rli_script_spin_handoff) == 1 && monitor_ran(tap, &rli_script_lock_acquire) == 0);
    cr_assert(actor_hold_count(waiters[0], lock) == 1 && actor_valid_for(waiters[0], lock) > 0);
    /* By handing over, or by freeing it for others for a moment. */
    for (int i = 0; i < WAITERS; i++) {
        if (i > 0)
            assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    cr_assert(monitor_saw(tap, "] \"publish\"") == 0 && monitor_saw(tap, "SUBSCRIBE") == 0);
    monitor_close(tap);
    assert_no_keys();
    actor_end(first);
    for (int i = 0; i < WAITERS; i++)
        actor_end(waiters[i]);
    rlock_free(lock);
}

static atomic_bool stop;

static rlock_status take_turns(void *lock)
{
    rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK && !atomic_load(&stop)) {
        status = rlock_lock(lock);
        if (status == RLOCK_OK)
            status = rlock_unlock(lock);
    }
    return status;
}

/* Threads that pass it on to each other free it now and then: another process that polls gets it. */
Test(spin, that_goes_round_here_is_free_for_others_now_and_then)
{
    enum { THREADS = 4, TURNS = 10 };
    rlock *theirs = kind_of(&kind_spin, stage.other, NAME);
    actor *here[THREADS];
    for (int i = 0; i < THREADS; i++) {
        here[i] = actor_start();
        actor_begin(here[i], take_turns, kind_of(&kind_spin, stage.client, NAME));
    }
    for (int i = 0; i < TURNS; i++) {
        assert_ok(rlock_try_lock(theirs, 60000, RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(theirs));
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(here[i], 60000));
        actor_end(here[i]);
    }
    assert_no_keys();
}

/* A successor with a shorter lease has that lease. */
Test(spin, is_handed_over_with_the_lease_of_the_successor)
{
    rlock *lock = kind_of(&kind_spin, stage.client, NAME);
    actor *first = actor_start(), *second = actor_start();
    assert_ok(actor_try(first, lock, 0, 60000));
    actor_begin_try(second, lock, 60000, 20000);
    cr_assert(actor_asleep(second, 5000));
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(second, 5000));
    assert_between(pttl_of(NAME), 1, 20000);
    assert_ok(actor_unlock(second, lock));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* A pause of a minute ends with the wait, a cancel, or the client. */
Test(spin, long_pause_is_cut_short)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(60000);
    rlock_client *client = stage_client(NULL);
    rlock *lock = spin_with(client, &back_off);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_cancel *token = options.cancel = rlock_cancel_new();
    actor *waiter = actor_start();
    foreign_hold(NAME, 60000);
    assert_status(actor_try(waiter, lock, 100, 1000), RLOCK_TIMEOUT);
    assert_between(actor_took(waiter), 99, at_most_ms(1000));
    actor_begin_with(waiter, lock, &options);
    cr_assert(actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(1000));
    actor_begin_lock(waiter, lock);
    cr_assert(actor_asleep(waiter, 5000));
    since_ms = now_ms();
    stage_close_client(client);
    assert_status(actor_finish(waiter, 5000), RLOCK_CLOSED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(1000));
    actor_end(waiter);
    rlock_cancel_free(token);
}

/* 38: refused when the handle is made, with the words of what is wrong. */
Test(spin, back_off_without_sense_makes_no_handle)
{
    rlock_back_off zero = RLOCK_BACK_OFF_CONSTANT_INIT(0), sized = RLOCK_BACK_OFF_CONSTANT_INIT(5);
    sized.size--;
    cr_assert(rlock_get_spin_lock_with(stage.client, NAME, &zero) == NULL);
    assert_error("back-off's");
    cr_assert(rlock_get_spin_lock_with(stage.client, NAME, &sized) == NULL);
    assert_error("size");
    rlock *lock = rlock_get_spin_lock_with(stage.client, NAME, NULL);
    cr_assert(lock != NULL);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
}

/* The back-off is copied. */
Test(spin, back_off_may_be_changed_after_the_handle_was_made)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(20);
    rlock *lock = rlock_get_spin_lock_with(stage.client, NAME, &back_off);
    memset(&back_off, 0x7f, sizeof back_off);
    foreign_hold(NAME, 100);
    assert_ok(rlock_try_lock(lock, 10000, 60000));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
}

/* A listener behind a spinning waiter of the same name is woken by the message. */
Test(spin, long_pause_delays_no_waiter_that_listens)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(60000);
    rlock *lazy = spin_with(stage.client, &back_off), *plain = kind_of(&kind_reentrant, stage.client, NAME);
    actor *spinner = actor_start(), *listener = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_try(spinner, lazy, 3000, 1000);
    cr_assert(actor_asleep(spinner, 5000));
    actor_begin_lock(listener, plain);
    cr_assert(actor_asleep(listener, 5000));
    pass_ms(50);
    int64_t since_ms = now_ms();
    foreign_release(NAME);
    assert_ok(actor_finish(listener, 10000));
    assert_between(actor_ended_at(listener) - since_ms, 0, at_most_ms(200));
    assert_ok(actor_unlock(listener, plain));
    actor_finish(spinner, 10000);
    actor_end(spinner);
    actor_end(listener);
}

/* Handing over here: a lock whose waiters queue in their process goes from one of its threads to the next with the
 * unlock itself, and now and then others come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/heirs.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

TestSuite(hand_over_here, .init = stage_open, .fini = stage_close);
TestSuite(hand_over_here_watchdog, .init = stage_quick, .fini = stage_close);

#define NAME "h"
#define COUNTER "redisson_lock_token:{" NAME "}"
#define MOST 16       /* so often it goes round here while others wait */

static actor *wait_here(rlock *lock)
{
    return heir_start(&kind_reentrant, lock);
}

static void end_turn(actor *waiter, rlock *lock)
{
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- what it costs --- */

/* Four wait: each unlock is one request, nobody is told, and nobody asks while the lock goes round quickly. */
static void costs_one_request_a_turn(const kind *of)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    actor *waiters[4];
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < 4; i++)
        waiters[i] = wait_here(lock);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        cr_assert(actor_valid_for(waiters[i], lock) > 0);
        assert_ok(actor_unlock(waiters[i], lock));
    }
    cr_assert(monitor_ran(tap, &rli_script_lock_handoff) == 4 && monitor_ran(tap, &rli_script_lock_release) == 1);
    cr_assert(monitor_ran(tap, of == &kind_fenced ? &rli_script_fenced_acquire : &rli_script_lock_acquire) == 0);
    cr_assert(monitor_saw(tap, "] \"publish\"") == 1);
    cr_assert(monitor_saw(tap, "] \"SUBSCRIBE\"") == 0);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
    cr_assert(wait_no_channels(5000));
    monitor_close(tap);
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
}

TimedTest(hand_over_here, reentrant_costs_one_request_a_turn)
{
    costs_one_request_a_turn(&kind_reentrant);
}

TimedTest(hand_over_here, fenced_costs_one_request_a_turn)
{
    costs_one_request_a_turn(&kind_fenced);
}

TimedTest(hand_over_here, non_reentrant_costs_one_request_a_turn)
{
    costs_one_request_a_turn(&kind_non_reentrant);
}

/* Threads that come back again and again: the same, for hundreds of turns. */
TimedTest(hand_over_here, goes_round_with_one_request_a_turn)
{
    enum { THREADS = 4, TURNS = 300 };
    static crowd busy = {.name = NAME, .turns = TURNS};
    for (int i = 0; i < THREADS; i++)
        crowd_add(&busy, stage.client);
    int64_t before = scripts_run();
    crowd_run(&busy, 30000);
    int64_t ran = scripts_run() - before;
    assert_between(ran, THREADS * TURNS, THREADS * TURNS * 3 / 2);
    cr_assert(busy.most_inside == 1 && busy.counter == THREADS * TURNS);
    assert_no_keys();
}

/* --- what others see --- */

/* What stands is what an unlock and a lock leave: one owner, with the lease that it asked for. */
Test(hand_over_here, leaves_what_an_unlock_and_a_lock_leave)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 10000));
    int64_t first = wire_number(NAME, stage.client);
    actor *waiter = heir_start_try(&kind_reentrant, lock, 60000, 40000);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(assert_held_alone(NAME, stage.client, 1, 40000, since_ms) != first);
    assert_between(actor_valid_for(waiter, lock), 30000, 39600);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    end_turn(waiter, lock);
    assert_no_keys();
}

/* The script by itself: hands a lock of so many ms on with a lease of so many. */
static void run_hand_over(int64_t pttl_ms, int64_t lease_ms)
{
    freeReplyObject(server_command(stage.server, "HSET " NAME " from 1"));
    freeReplyObject(server_command(stage.server, "PEXPIRE " NAME " %lld", (long long)pttl_ms));
    size_t length;
    char *text = rli_script_text(&rli_script_lock_handoff, RLI_COUNTED, &length);
    cr_assert(server_integer(stage.server, "EVAL %s 1 " NAME " %s from to %lld %s %s %s", text, channel_of(NAME),
                             (long long)lease_ms, "", "", "") == 2);
    free(text);
    cr_assert(server_integer(stage.server, "HGET " NAME " to") == 1 && server_integer(stage.server, "HLEN " NAME) == 1);
    assert_between(pttl_of(NAME), lease_ms - at_most_ms(1000), lease_ms);
    freeReplyObject(server_command(stage.server, "DEL " NAME));
}

/* Who was told to sleep until the hold before would end is told when this one may end sooner. */
Test(hand_over_here, of_a_shorter_hold_is_told)
{
    monitor *tap = monitor_open();
    run_hand_over(30000, 30000);
    run_hand_over(20000, 30000);
    cr_assert(monitor_saw(tap, "] \"publish\"") == 0);
    run_hand_over(30000, 20000);
    cr_assert(monitor_saw(tap, "] \"publish\"") == 1);
    monitor_close(tap);
}

/* --- the fenced lock --- */

/* Each has a token of its own, in the order of their turns, through whatever kind the lock was held before. On a
   slow machine the next one looks first, and a turn may then be told instead of handed over. */
TimedTest(hand_over_here, gives_a_fenced_heir_its_token)
{
    rlock *plain = lock_of(stage.client, NAME), *fenced = kind_of(&kind_fenced, stage.client, NAME);
    freeReplyObject(server_command(stage.server, "SET %s 9007199254740993", COUNTER));
    assert_ok(rlock_lock(plain));
    actor *first = wait_here(fenced), *second = wait_here(fenced), *third = wait_here(plain);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(plain));
    assert_ok(actor_finish(first, 5000));
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 9007199254740994);
    assert_ok(actor_unlock(first, fenced));
    assert_ok(actor_finish(second, 5000));
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 9007199254740995);
    assert_ok(actor_unlock(second, fenced));
    assert_ok(actor_finish(third, 5000));
    assert_ok(actor_unlock(third, plain));
    cr_assert(monitor_ran(tap, &rli_script_lock_handoff) == 3);
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 9007199254740995);
    monitor_close(tap);
    actor_end(first);
    actor_end(second);
    actor_end(third);
}

/* Beyond the integers that Lua tells apart, too. */
Test(hand_over_here, tells_the_token_that_was_drawn)
{
    rlock *fenced = kind_of(&kind_fenced, stage.client, NAME);
    freeReplyObject(server_command(stage.server, "SET %s 9007199254740993", COUNTER));
    uint64_t token = 0;
    assert_ok(rlock_lock(fenced));
    actor *waiter = actor_start();
    actor_begin_lock_and_get_token(waiter, fenced, &token);
    heir_await(&kind_fenced, fenced, waiter);
    assert_ok(rlock_unlock(fenced));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(token == 9007199254740995);
    end_turn(waiter, fenced);
}

/* The counter is a key of another type: the unlock is none the worse for it, and who asked for a token hears why. */
Test(hand_over_here, without_a_token_to_be_had_unlocks_all_the_same)
{
    rlock *plain = lock_of(stage.client, NAME), *fenced = kind_of(&kind_fenced, stage.client, NAME);
    assert_ok(rlock_lock(plain));
    actor *waiter = wait_here(fenced);
    freeReplyObject(server_command(stage.server, "HSET %s a b", COUNTER));
    assert_ok(rlock_unlock(plain));
    assert_status(actor_finish(waiter, 5000), RLOCK_SERVER);
    cr_assert(pttl_of(NAME) == -2);
    actor_end(waiter);
}

/* --- the hold that was handed over --- */

/* The thread that was handed it ends without unlocking: the next has it when its time is up. */
TimedTest(hand_over_here_watchdog, to_a_thread_that_ends_is_over_with_its_lease)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    actor *dying = wait_here(lock), *next = wait_here(lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(dying, 5000));
    int64_t since_ms = now_ms();
    actor_end(dying);
    assert_ok(actor_finish(next, 5000));
    assert_between(actor_ended_at(next) - since_ms, 0, QUICK_MS + at_most_ms(500));
    end_turn(next, lock);
    assert_no_keys();
}

/* Forced open by another right after it was handed over, when nobody asks: those who wait hear of it. */
Test(hand_over_here, that_is_forced_open_wakes_the_next)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    actor *first = wait_here(lock), *second = wait_here(lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    bool was_locked = false;
    int64_t since_ms = now_ms();
    assert_ok(rlock_force_unlock(lock_of(stage.other, NAME), &was_locked));
    cr_assert(was_locked);
    assert_ok(actor_finish(second, 5000));
    assert_between(actor_ended_at(second) - since_ms, 0, at_most_ms(200));
    assert_status(actor_unlock(first, lock), RLOCK_LOST);
    end_turn(second, lock);
    actor_end(first);
}

/* --- others --- */

/* Somebody listens elsewhere, but never takes it: so often it goes round, then it is free for a while. */
typedef struct rounds {
    size_t handed, most, frees;
} rounds;

static void note_round(const char *line, void *arg)
{
    rounds *self = arg;
    if (strcasestr(line, rli_script_lock_handoff.sha1[RLI_COUNTED]) && !strcasestr(line, "script")) {
        if (++self->handed > self->most)
            self->most = self->handed;
    } else if (strcasestr(line, "\"publish\"")) {
        self->handed = 0;
        self->frees++;
    }
}

Test(hand_over_here, is_freed_for_others_now_and_then)
{
    static crowd busy = {.name = NAME, .turns = 100};
    for (int i = 0; i < 4; i++)
        crowd_add(&busy, stage.client);
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    monitor *tap = monitor_open();
    int64_t since_ms = now_ms();
    crowd_run(&busy, 30000);
    rounds seen = {0};
    monitor_each(tap, "\"", note_round, &seen);
    assert_between((int64_t)seen.most, 1, MOST + 1);
    cr_assert(seen.frees >= 400 / (MOST + 1));
    /* and at first it is left alone for a while each time: nobody takes it here */
    cr_assert(now_ms() - since_ms >= 4 * 5);
    monitor_close(tap);
    redisFree(listening);
    assert_no_keys();
}

/* So that a connection for messages is there. */
static void wait_for_something(void)
{
    foreign_hold("other", 30000);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock_of(stage.client, "other"));
    cr_assert(wait_listened("other", 5000));
    foreign_release("other");
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock_of(stage.client, "other")));
    actor_end(waiter);
}

static void note_opened(const char *line, void *arg)
{
    size_t *opened = arg;
    *opened += strcasestr(line, rli_script_lock_handoff.sha1[RLI_COUNTED]) && strstr(line, " \"-1\" ");
}

/* Nobody listens elsewhere: however often it goes round, it is not freed for others. */
static void assert_not_freed_for_nobody(crowd *busy, int threads)
{
    for (int i = 0; i < threads; i++)
        crowd_add(busy, stage.client);
    wait_for_something();
    monitor *tap = monitor_open();
    crowd_run(busy, 30000);
    /* By plain releases alone, of those who met no waiter, or one who was asking just then; and for those that may poll,
     * once in each second that it goes round (yield.c). */
    size_t told = monitor_saw(tap, "] \"publish\""), released = monitor_ran(tap, &rli_script_lock_release), opened = 0;
    monitor_each(tap, "\"", note_opened, &opened);
    cr_assert(told == released + opened, "%zu published, %zu by a plain release, %zu for those that poll", told, released,
              opened);
    cr_assert((int)monitor_ran(tap, &rli_script_lock_handoff) == threads * busy->turns - (int)released);
    monitor_close(tap);
}

Test(hand_over_here, is_not_freed_for_nobody)
{
    static crowd busy = {.name = NAME, .turns = 250};
    assert_not_freed_for_nobody(&busy, 4);
}

TimedTest(hand_over_here, between_two_is_not_freed_for_nobody)
{
    static crowd busy = {.name = NAME, .turns = 1000};
    assert_not_freed_for_nobody(&busy, 2);
}

enum { TURNS = 400, OTHERS = 8 };

static rlock_status take_some_turns(void *lock)
{
    rlock_status status = RLOCK_OK;
    for (int i = 0; i < TURNS && status == RLOCK_OK; i++) {
        status = rlock_lock(lock);
        if (status == RLOCK_OK)
            status = rlock_unlock(lock);
    }
    return status;
}

/* Two threads of one owner: one may come to wait while the other's unlock is under way. Both have their turns in the
 * midst of a crowd. */
TimedTest(hand_over_here, passes_over_no_thread_of_an_owner_with_several)
{
    static crowd busy = {.name = NAME, .turns = 1000000};
    for (int i = 0; i < OTHERS; i++)
        crowd_add(&busy, stage.client);
    rlock *view = owned_by(lock_of(stage.client, NAME), 7);
    actor *threads[2] = {actor_start(), actor_start()};
    crowd_begin(&busy);
    for (int i = 0; i < 2; i++)
        actor_begin(threads[i], take_some_turns, view);
    for (int i = 0; i < 2; i++) {
        assert_ok(actor_finish(threads[i], 50000));
        actor_end(threads[i]);
    }
    crowd_end(&busy);
    crowd_finish(&busy, 20000);
    cr_assert(busy.counter < 5 * TURNS * OTHERS, "the others had %d turns each meanwhile", busy.counter / OTHERS);
    assert_no_keys();
}

/* Another process that waits has its turns in the midst of a crowd, soon, each time. */
TimedTest(hand_over_here, leaves_others_their_turns)
{
    static crowd busy = {.name = NAME, .turns = 4000};
    for (int i = 0; i < 8; i++)
        crowd_add(&busy, stage.client);
    rlock *lock = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    crowd_begin(&busy);
    int taken = 0;
    for (; taken < 40 && atomic_load(&busy.ended) < 8; taken++) {
        assert_ok(actor_lock(waiter, lock));
        assert_between(actor_took(waiter), 0, at_most_ms(500));
        assert_ok(actor_unlock(waiter, lock));
    }
    cr_assert(taken == 40, "it had %d turns before the others had all theirs", taken);
    crowd_finish(&busy, 60000);
    actor_end(waiter);
    assert_no_keys();
}

/* Nobody sees who only polls; it has its turns all the same, about one a second. */
TimedTest(hand_over_here, leaves_who_polls_a_turn_a_second)
{
    static crowd busy = {.name = NAME, .turns = 1000000};
    for (int i = 0; i < 8; i++)
        crowd_add(&busy, stage.client);
    rlock *lock = lock_of(stage.other, NAME);
    int had = 0;
    crowd_begin(&busy);
    int64_t end_ms = now_ms() + 5000;
    for (int64_t since_ms = now_ms(); now_ms() < end_ms; pass_ms(1)) {
        if (rlock_try_lock(lock, 0, RLOCK_WATCHDOG) != RLOCK_OK)
            continue;
        assert_between(now_ms() - since_ms, 0, 1100);
        assert_ok(rlock_unlock(lock));
        since_ms = now_ms();
        had++;
    }
    cr_assert(had >= 4, "it had %d turns", had);
    crowd_end(&busy);
    crowd_finish(&busy, 20000);
    assert_no_keys();
}

/* A try without wait that comes then asks all the same, and finds it free. */
TimedTest(hand_over_here, lets_a_try_without_wait_pass_those_who_stand_aside)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[MOST + 2], *trying = actor_start();
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < MOST + 2; i++)
        waiters[i] = wait_here(lock);
    redisContext *listening = foreign_subscribe(channel_of(NAME));
    assert_ok(rlock_unlock(lock));
    int done = 0, met = 0;
    for (; done < MOST + 2; done++) {
        while (!actor_ended(waiters[done], 0)) {
            if (pttl_of(NAME) != -2)
                continue;
            rlock_status status = actor_try(trying, lock, 0, 5000);
            if (status != RLOCK_OK) /* the time to stand aside was just over */
                continue;
            met++;
            assert_ok(actor_unlock(trying, lock));
        }
        assert_ok(actor_finish(waiters[done], 0));
        assert_ok(actor_unlock(waiters[done], lock));
        actor_end(waiters[done]);
    }
    cr_assert(met > 0);
    redisFree(listening);
    actor_end(trying);
    assert_no_keys();
}

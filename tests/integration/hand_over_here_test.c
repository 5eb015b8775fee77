/* Handing over here: a lock whose waiters queue in their process goes from one of its threads to the next with the
 * unlock itself, and now and then others come first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(hand_over_here, .init = stage_open, .fini = stage_close, .timeout = 60);
TestSuite(hand_over_here_watchdog, .init = stage_quick, .fini = stage_close, .timeout = 60);

#define NAME "h"
#define COUNTER "redisson_lock_token:{" NAME "}"
#define CALM_MS 10    /* so long nobody asks after a grant here */
#define MOST 16       /* so often it goes round here while others wait */

/* How often a script was run since the monitor's last monitor_forget. */
static size_t runs_of(monitor *tap, const rli_script *script)
{
    return monitor_saw(tap, script->sha1[RLI_COUNTED]);
}

static actor *wait_for(rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    actor *waiter = actor_start();
    if (wait_ms == RLOCK_FOREVER)
        actor_begin_lock(waiter, lock);
    else
        actor_begin_try(waiter, lock, wait_ms, lease_ms);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    return waiter;
}

static actor *wait_here(rlock *lock)
{
    return wait_for(lock, RLOCK_FOREVER, RLOCK_WATCHDOG);
}

/* Somebody of another process who hears that the lock is free, and never takes it. Ended by redisFree. */
static redisContext *listen_elsewhere(void)
{
    redisContext *connection = redisConnectUnix(server_socket(stage.server));
    cr_assert(connection && !connection->err, "no connection to listen on");
    freeReplyObject(redisCommand(connection, "SUBSCRIBE %s", channel_of(NAME)));
    return connection;
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
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        cr_assert(actor_valid_for(waiters[i], lock) > 0);
        assert_ok(actor_unlock(waiters[i], lock));
    }
    int64_t took_ms = now_ms() - since_ms;
    /* Where this machine was slow, the next one has looked; a turn may then be told instead of handed over. */
    int64_t slow = took_ms / CALM_MS;
    int64_t handed = (int64_t)runs_of(tap, &rli_script_lock_hand_over);
    assert_between(handed, 4 - slow, 4);
    cr_assert(handed + (int64_t)runs_of(tap, &rli_script_lock_release) == 5);
    const rli_script *asks = of == &kind_fenced ? &rli_script_fenced_acquire : &rli_script_lock_acquire;
    assert_between((int64_t)runs_of(tap, asks), 0, 2 * slow);
    assert_between((int64_t)monitor_saw(tap, "] \"publish\""), 1, 1 + slow);
    cr_assert(monitor_saw(tap, "] \"SUBSCRIBE\"") == 0);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
    cr_assert(wait_no_channels(5000));
    monitor_close(tap);
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
}

Test(hand_over_here, reentrant_costs_one_request_a_turn)
{
    costs_one_request_a_turn(&kind_reentrant);
}

Test(hand_over_here, fenced_costs_one_request_a_turn)
{
    costs_one_request_a_turn(&kind_fenced);
}

Test(hand_over_here, non_reentrant_costs_one_request_a_turn)
{
    costs_one_request_a_turn(&kind_non_reentrant);
}

/* Threads that come back again and again: the same, for hundreds of turns. */
Test(hand_over_here, goes_round_with_one_request_a_turn)
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
    actor *waiter = wait_for(lock, 60000, 40000);
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
    char *text = rli_script_text(&rli_script_lock_hand_over, RLI_COUNTED, &length);
    cr_assert(server_integer(stage.server, "EVAL %s 1 " NAME " %s from to %lld ", text, channel_of(NAME),
                             (long long)lease_ms) == 2);
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

/* Only the last unlock of a hold hands it over. */
Test(hand_over_here, does_not_happen_before_the_last_unlock)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_here(lock);
    assert_ok(rlock_unlock(lock));
    cr_assert(!actor_ended(waiter, 100) && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    end_turn(waiter, lock);
}

/* --- the fenced lock --- */

/* Each has a token of its own, in the order of their turns, through whatever kind the lock was held before. */
Test(hand_over_here, gives_a_fenced_heir_its_token)
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
    cr_assert(runs_of(tap, &rli_script_lock_hand_over) == 3);
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 9007199254740995);
    monitor_close(tap);
    actor_end(first);
    actor_end(second);
    actor_end(third);
}

typedef struct token_of {
    rlock *lock;
    uint64_t token;
} token_of;

static rlock_status lock_and_get_token(void *arg)
{
    token_of *self = arg;
    return rlock_lock_and_get_token(self->lock, &self->token);
}

/* Beyond the integers that Lua tells apart, too. */
Test(hand_over_here, tells_the_token_that_was_drawn)
{
    rlock *fenced = kind_of(&kind_fenced, stage.client, NAME);
    freeReplyObject(server_command(stage.server, "SET %s 9007199254740993", COUNTER));
    token_of heir = {.lock = fenced};
    assert_ok(rlock_lock(fenced));
    actor *waiter = actor_start();
    actor_begin(waiter, lock_and_get_token, &heir);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    assert_ok(rlock_unlock(fenced));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(heir.token == 9007199254740995);
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

/* With a lease of its own it runs out; without, it is renewed, and told of when it is lost. */
Test(hand_over_here_watchdog, gives_the_hold_that_was_asked_for)
{
    losses lost;
    losses_init(&lost);
    rlock *lock = lock_of(stage.client, NAME);
    rlock_on_lost(stage.client, losses_note, &lost);
    assert_ok(rlock_lock(lock));
    actor *brief = wait_for(lock, 30000, 300), *renewed = wait_here(lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(brief, 5000));
    assert_between(actor_valid_for(brief, lock), 1, 297);
    assert_ok(actor_finish(renewed, 5000));
    assert_between(actor_ended_at(renewed) - actor_ended_at(brief), 250, 300 + at_most_ms(500));
    assert_status(actor_unlock(brief, lock), RLOCK_LOST);
    actor *last = wait_here(lock);
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

/* The thread that was handed it ends without unlocking: the next has it when its time is up. */
Test(hand_over_here_watchdog, to_a_thread_that_ends_is_over_with_its_lease)
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

/* Two threads wait for one owner: it is handed over to one, and the other enters it as well. */
Test(hand_over_here, lets_all_threads_of_the_owner_in)
{
    rlock *lock = lock_of(stage.client, NAME), *view = owned_by(lock, 7);
    assert_ok(rlock_lock(lock));
    actor *first = wait_here(view), *second = wait_here(view), *behind = wait_here(lock);
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
Test(hand_over_here, lets_one_thread_of_the_owner_in_where_it_is_non_reentrant)
{
    rlock *lock = kind_of(&kind_non_reentrant, stage.client, NAME), *view = owned_by(lock, 7);
    assert_ok(rlock_lock(lock));
    actor *waiters[2] = {wait_here(view), wait_here(view)};
    assert_ok(rlock_unlock(lock));
    rlock_status statuses[2] = {actor_finish(waiters[0], 5000), actor_finish(waiters[1], 5000)};
    int holder = statuses[0] == RLOCK_OK ? 0 : 1;
    assert_ok(statuses[holder]);
    assert_status(statuses[!holder], RLOCK_ALREADY_HELD);
    assert_ok(actor_unlock(waiters[holder], view));
    assert_no_keys();
    actor_end(waiters[0]);
    actor_end(waiters[1]);
}

/* --- a hold that was gone --- */

/* Free, and nobody said so: the unlock says that it came too late, and the next one takes it. */
Test(hand_over_here, of_a_hold_that_is_gone_is_lost_and_wakes_the_next)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_here(lock);
    foreign_vanish(NAME);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_finish(waiter, at_most_ms(1000)));
    end_turn(waiter, lock);
    assert_no_keys();
}

/* Another's by now: it stays that one's. */
Test(hand_over_here, of_a_hold_that_is_anothers_by_now_is_lost_and_gives_nothing)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiter = wait_here(lock);
    foreign_vanish(NAME);
    foreign_hold(NAME, 30000);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(!actor_ended(waiter, 200) && strcmp(holder_of(NAME), FOREIGN_CLIENT) == 0);
    foreign_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    end_turn(waiter, lock);
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
    assert_ok(rlock_force_unlock(lock_of(stage.other, NAME), &was_locked));
    int64_t since_ms = now_ms();
    cr_assert(was_locked);
    assert_ok(actor_finish(second, 5000));
    assert_between(actor_ended_at(second) - since_ms, -1000, at_most_ms(200));
    assert_status(actor_unlock(first, lock), RLOCK_LOST);
    end_turn(second, lock);
    actor_end(first);
}

/* --- at the moment when a wait ends --- */

#define ROUNDS 150

/* A wait that ends as the lock is handed to it: it has the lock, or has left nothing. */
static void end_as_it_comes(rlock_cancel *(*begin)(actor *waiter, rlock *lock, int round), rlock_status otherwise)
{
    rlock *lock = lock_of(stage.client, NAME);
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
    cr_assert(actor_asleep(waiter, 5000));
    pass_ms(round % 3);
    if (round % 2)
        rlock_cancel_fire(options.cancel);
    return options.cancel;
}

Test(hand_over_here, to_a_wait_whose_time_is_up_just_then_is_all_or_nothing)
{
    end_as_it_comes(time_runs_out, RLOCK_TIMEOUT);
}

Test(hand_over_here, to_a_wait_that_is_cancelled_just_then_is_all_or_nothing)
{
    end_as_it_comes(token_fires, RLOCK_CANCELLED);
}

/* --- others --- */

/* Somebody listens elsewhere, but never takes it: so often it goes round, then it is free for a while. */
typedef struct rounds {
    size_t handed, most, frees;
} rounds;

static void note_round(const char *line, void *arg)
{
    rounds *self = arg;
    if (strcasestr(line, rli_script_lock_hand_over.sha1[RLI_COUNTED]) && !strcasestr(line, "script")) {
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
    redisContext *listening = listen_elsewhere();
    monitor *tap = monitor_open();
    int64_t since_ms = now_ms();
    crowd_run(&busy, 30000);
    rounds seen = {0};
    monitor_each(tap, "\"", note_round, &seen);
    assert_between((int64_t)seen.most, 1, MOST + 1);
    cr_assert(seen.frees >= 400 / (MOST + 1));
    /* and each time it is left alone for a while: nobody takes it here */
    cr_assert(now_ms() - since_ms >= (400 / (MOST + 1) - 1) * 5);
    monitor_close(tap);
    redisFree(listening);
    assert_no_keys();
}

/* Nobody listens elsewhere: however often it goes round, it is not freed for others. */
Test(hand_over_here, is_not_freed_for_nobody)
{
    enum { THREADS = 4, TURNS = 250 };
    static crowd busy = {.name = NAME, .turns = TURNS};
    for (int i = 0; i < THREADS; i++)
        crowd_add(&busy, stage.client);
    monitor *tap = monitor_open();
    crowd_run(&busy, 30000);
    /* By plain releases alone, of those who met no waiter, or one who was asking just then; and by a hand-over once a
     * subscription at most, before it is known here to be one's own. */
    size_t told = monitor_saw(tap, "] \"publish\""), released = runs_of(tap, &rli_script_lock_release);
    size_t subscribed = monitor_saw(tap, "\"SUBSCRIBE\"");
    cr_assert(told >= released && told <= released + subscribed, "%zu published, %zu by a plain release; subscribed %zu times",
              told, released, subscribed);
    cr_assert(runs_of(tap, &rli_script_lock_hand_over) == THREADS * TURNS - released);
    monitor_close(tap);
}

/* Another process that waits has its turns in the midst of a crowd, soon, each time. */
Test(hand_over_here, leaves_others_their_turns)
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

/* A try without wait that comes then asks all the same, and finds it free. */
Test(hand_over_here, lets_a_try_without_wait_pass_those_who_stand_aside)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *waiters[MOST + 2], *trying = actor_start();
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < MOST + 2; i++)
        waiters[i] = wait_here(lock);
    redisContext *listening = listen_elsewhere();
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

/* Of two clients, and through two kinds of lock. */
Test(hand_over_here, among_many_keeps_the_lock_one_at_a_time)
{
    static crowd_of all[CROWD];
    static long counter;
    static atomic_long turns;
    actor *actors[CROWD];
    for (int i = 0; i < CROWD; i++) {
        rlock *lock = kind_of(i % 2 ? &kind_reentrant : &kind_fenced, i % 4 ? stage.client : stage.other, NAME);
        all[i] = (crowd_of){.lock = lock, .number = i, .counter = &counter, .turns = &turns};
        actors[i] = actor_start();
        actor_begin(actors[i], go_on, &all[i]);
    }
    for (int i = 0; i < CROWD; i++) {
        assert_ok(actor_finish(actors[i], 50000));
        actor_end(actors[i]);
    }
    cr_assert(counter == atomic_load(&turns), "%ld of %ld turns were counted", counter, atomic_load(&turns));
    cr_assert(counter >= (long)TURNS * CROWD / 3);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000) && wait_no_channels(5000));
}

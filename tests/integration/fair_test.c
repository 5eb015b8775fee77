/* The fair lock: had in the order in which it was asked for, with the keys and messages of Redisson's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(fair, .init = stage_open, .fini = stage_close);
TestSuite(fair_watchdog, .init = stage_quick, .fini = stage_close);

#define NAME "f"
#define WATCHDOG_MS 30000
#define PLACE_MS 300000 /* how long a waiter without a wait of its own keeps its place */
#define MANY 128

/* --- the keyspace: the notes' sections "fair", "watchdog fair", "nonreentrantfair" --- */

/* The keyspace with owners as letters and scores as S, S+20000…: S is the first that the test saw. */
static char *look(void)
{
    static long long first;
    char *keys = with_letters(stage.client, server_keyspace(stage.server)), *shown = NULL;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    cr_assert(out != NULL);
    for (char *at = keys; *at;) {
        char *end = at;
        long long number = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : 0;
        if (number < 1000000000000) {
            fputc(*at++, out);
            continue;
        }
        first = first ? first : number;
        fprintf(out, number == first ? "S" : "S%+lld", number - first);
        at = end;
    }
    fclose(out);
    free(keys);
    return shown;
}

static void assert_shows(const char *expected)
{
    char *shown = look();
    cr_assert(strcmp(shown, expected) == 0, "the keyspace is:\n%s\nexpected:\n%s", shown, expected);
    free(shown);
}

static void assert_said(monitor *tap, const char *expected)
{
    char *said = with_letters(stage.client, monitor_messaging(tap));
    cr_assert(strcmp(said, expected) == 0, "said:\n%s\nexpected:\n%s", said, expected);
    free(said);
}

#define QUEUE "redisson_lock_queue:{f} list "
#define TIMEOUTS "redisson_lock_timeout:{f} zset "
#define CHANNEL "redisson_lock__channel:{f}:"

/* Redisson's steps "fair", with what it subscribes to; A holds, B, C, D wait. It tells B and C of the unlocks
 * before theirs; threads of one client are handed the lock instead (hand_over_test.c). */
TimedTest(fair, leaves_the_keys_and_messages_of_redissons)
{
    rlock *lock = fair_of(stage.client, NAME);
    monitor *tap = monitor_open();
    assert_ok(rlock_lock(lock));
    assert_shows("f hash [A, 1] \n");
    actor *first = queue_up(lock);
    assert_shows("f hash [A, 1] \n" QUEUE "[B] \n" TIMEOUTS "[B, S] \n");
    assert_between(score_of(NAME, queued_at(NAME, 0)) - server_time_ms(), PLACE_MS + WATCHDOG_MS - at_most_ms(2000),
                   PLACE_MS + WATCHDOG_MS);
    actor *second = queue_up_for(lock, 20000, 10000);
    assert_shows("f hash [A, 1] \n" QUEUE "[B, C] \n" TIMEOUTS "[B, S, C, S+20000] \n");
    actor *third = queue_up_for(lock, 2000, RLOCK_WATCHDOG);
    assert_shows("f hash [A, 1] \n" QUEUE "[B, C, D] \n" TIMEOUTS "[B, S, C, S+20000, D, S+22000] \n");
    assert_status(actor_finish(third, 5000), RLOCK_TIMEOUT);
    assert_shows("f hash [A, 1] \n" QUEUE "[B, C] \n" TIMEOUTS "[B, S, C, S+20000] \n");
    assert_ok(rlock_lock(lock));
    assert_shows("f hash [A, 2] \n" QUEUE "[B, C] \n" TIMEOUTS "[B, S, C, S+20000] \n");
    assert_ok(rlock_unlock(lock));
    assert_shows("f hash [A, 1] \n" QUEUE "[B, C] \n" TIMEOUTS "[B, S, C, S+20000] \n");
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    assert_shows("f hash [B, 1] \n" QUEUE "[C] \n" TIMEOUTS "[C, S-280000] \n");
    assert_between(pttl_of(NAME), WATCHDOG_MS - at_most_ms(2000), WATCHDOG_MS);
    cr_assert(server_wait_subscribers(stage.server, waiter_channel(NAME, queued_at(NAME, 0)), 1, 5000));
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(second, 5000));
    assert_shows("f hash [C, 1] \n");
    assert_between(pttl_of(NAME), 10000 - at_most_ms(2000), 10000);
    assert_ok(actor_unlock(second, lock));
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
    assert_shows("f hash [E, 1] \n");
    assert_ok(rlock_unlock(lock));
    assert_said(tap, "SUBSCRIBE " CHANNEL "B\nSUBSCRIBE " CHANNEL "C\nSUBSCRIBE " CHANNEL "D\n"
                     "UNSUBSCRIBE " CHANNEL "D\nUNSUBSCRIBE " CHANNEL "B\nUNSUBSCRIBE " CHANNEL "C\n");
    monitor_close(tap);
    actor_end(first);
    actor_end(second);
    actor_end(third);
}

/* Redisson's step "watchdog fair": more than a watchdog timeout on, it stands with a fresh TTL. */
TimedTest(fair_watchdog, keeps_the_lock_as_it_is)
{
    rlock *lock = fair_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    assert_shows("f hash [A, 1] \n");
    assert_between(pttl_of(NAME), 1, QUICK_MS);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Redisson's steps "nonreentrantfair": refused at once, by any handle and however it asks; count 1. */
TimedTest(fair, that_is_non_reentrant_is_not_had_twice)
{
    rlock *lock = kind_of(&kind_non_reentrant_fair, stage.client, NAME);
    rlock *again = kind_of(&kind_non_reentrant_fair, stage.client, NAME);
    monitor *tap = monitor_open();
    assert_ok(rlock_lock_lease(lock, 3000));
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_ALREADY_HELD);
    cr_assert(strstr(rlock_last_error(), "\"" NAME "\" is non-reentrant and is already held by thread"), "%s",
              rlock_last_error());
    assert_status(rlock_try_lock(again, 0, 3000), RLOCK_ALREADY_HELD);
    assert_status(rlock_try_lock(again, 100, 3000), RLOCK_ALREADY_HELD);
    assert_between(now_ms() - since_ms, 0, at_most_ms(90));
    assert_shows("f hash [A, 1] \n");
    assert_between(pttl_of(NAME), 1, 3000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    assert_said(tap, "");
    monitor_close(tap);
}

/* 41, fair: B waits in the queue and has it when A unlocks. */
Test(fair, that_is_non_reentrant_goes_to_the_next_in_the_queue)
{
    rlock *lock = kind_of(&kind_non_reentrant_fair, stage.client, NAME);
    assert_ok(rlock_lock(lock));
    actor *first = queue_up(lock), *second = queue_up(lock);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    assert_status(actor_lock(first, lock), RLOCK_ALREADY_HELD);
    cr_assert(!actor_ended(second, 0) && queue_length(NAME) == 1);
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(second, 5000));
    assert_ok(actor_unlock(second, lock));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* 37. */
Test(fair, has_the_name_prefix_on_all_its_keys)
{
    rlock *lock = fair_of(stage_client("namePrefix=test::"), NAME);
    actor *waiter = actor_start();
    foreign_hold("test::" NAME, 30000);
    actor_begin_lock(waiter, lock);
    cr_assert(wait_queued("test::" NAME, 1, 5000));
    cr_assert(wait_all_listen("test::" NAME, 5000));
    cr_assert(server_integer(stage.server, "EXISTS redisson_lock_queue:{test::f}") == 1);
    cr_assert(server_integer(stage.server, "EXISTS redisson_lock_timeout:{test::f}") == 1);
    cr_assert(server_integer(stage.server, "EXISTS rlock_waiters:{test::f}:fair") == 1);
    cr_assert(server_integer(stage.server, "DBSIZE") == 4);
    foreign_fair_release("test::" NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

/* --- order --- */

/* Waiters of two clients, by turns. */
Test(fair, is_had_in_order_across_clients)
{
    enum { WAITERS = 8 };
    rlock *locks[2] = {fair_of(stage.client, NAME), fair_of(stage.other, NAME)};
    actor *waiters[WAITERS];
    assert_ok(rlock_lock(locks[0]));
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = queue_up(locks[i % 2]);
    assert_ok(rlock_unlock(locks[0]));
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        cr_assert(queue_length(NAME) == WAITERS - 1 - i);
        for (int behind = i + 1; behind < WAITERS; behind++)
            cr_assert(!actor_ended(waiters[behind], 0));
        assert_ok(actor_unlock(waiters[i], locks[i % 2]));
    }
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    for (int i = 0; i < WAITERS; i++)
        actor_end(waiters[i]);
}

/* 26, a fifth as slow: nobody unlocks, each has it when the one before it has run out. No message says
 * so, and what they knew of the TTL when they came is no help. */
TimedTest(fair, is_had_in_order_as_leases_run_out)
{
    enum { WAITERS = 8, LEASE_MS = 200 };
    rlock *lock = fair_of(stage.client, NAME);
    actor *waiters[WAITERS];
    foreign_hold(NAME, 60000);
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = queue_up_for(lock, 10000, LEASE_MS);
    int64_t since_ms = now_ms();
    foreign_fair_release(NAME);
    for (int i = 0; i < WAITERS; i++) {
        assert_ok(actor_finish(waiters[i], 10000));
        int64_t in_ms = actor_ended_at(waiters[i]) - since_ms;
        assert_between(in_ms, i * LEASE_MS - 10, i * (LEASE_MS + at_most_ms(20)) + at_most_ms(200));
    }
    for (int i = 0; i < WAITERS; i++)
        actor_end(waiters[i]);
}

struct turns {
    int order[MANY];
    atomic_int count, inside;
    int64_t wait_ms, lease_ms, hold_ms;
};

struct turn {
    struct turns *all;
    rlock *lock;
    int number;
};

/* Takes the lock, notes its turn, and stays for a while. */
static rlock_status take_turn(void *arg)
{
    struct turn *turn = arg;
    struct turns *all = turn->all;
    rlock_status status = rlock_try_lock(turn->lock, all->wait_ms, all->lease_ms);
    if (status != RLOCK_OK)
        return status;
    if (atomic_fetch_add(&all->inside, 1) != 0)
        return RLOCK_SERVER; /* not alone */
    all->order[atomic_fetch_add(&all->count, 1)] = turn->number;
    pass_ms(all->hold_ms);
    atomic_fetch_sub(&all->inside, 1);
    return rlock_unlock(turn->lock);
}

static void take_turns(struct turns *all, int count, bool one_by_one)
{
    static struct turn turns[MANY];
    actor *waiters[MANY];
    rlock *locks[2] = {fair_of(stage.client, NAME), fair_of(stage.other, NAME)};
    foreign_hold(NAME, 60000);
    for (int i = 0; i < count; i++) {
        turns[i] = (struct turn){all, locks[i % 2], i};
        waiters[i] = actor_start();
        actor_begin(waiters[i], take_turn, &turns[i]);
        cr_assert(!one_by_one || wait_queued(NAME, i + 1, 5000));
    }
    cr_assert(wait_queued(NAME, count, 20000));
    foreign_fair_release(NAME);
    for (int i = 0; i < count; i++)
        assert_ok(actor_finish(waiters[i], 60000));
    for (int i = 0; one_by_one && i < count; i++)
        cr_assert(all->order[i] == i, "turn %d was that of %d", i, all->order[i]);
    assert_no_keys();
    for (int i = 0; i < count; i++)
        actor_end(waiters[i]);
}

/* 27, a tenth as slow: 2 × CPUs threads. */
TimedTest(fair, is_had_in_the_order_in_which_threads_began)
{
    static struct turns all = {.wait_ms = RLOCK_FOREVER, .lease_ms = RLOCK_WATCHDOG, .hold_ms = 100};
    int count = 2 * (int)sysconf(_SC_NPROCESSORS_ONLN);
    take_turns(&all, count < 4 ? 4 : count > 16 ? 16 : count, true);
}

/* 28, with 100 threads, which hold for a shorter time. */
TimedTest(fair, is_had_by_each_of_many)
{
    static struct turns all = {.wait_ms = 60000, .lease_ms = 5000, .hold_ms = 5};
    take_turns(&all, 100, false);
    cr_assert(atomic_load(&all.count) == 100);
}

/* --- a hold that ran out --- */

/* 35: nothing was published when the key went; the late unlock tells the head. */
Test(fair, late_unlock_is_lost_and_wakes_the_head)
{
    rlock *lock = fair_of(stage.client, NAME);
    actor *holder = actor_start();
    assert_ok(actor_try(holder, lock, 0, 20000));
    actor *waiter = queue_up(fair_of(stage.other, NAME));
    foreign_vanish(NAME);
    assert_status(actor_unlock(holder, lock), RLOCK_LOST);
    assert_ok(actor_finish_soon(waiter, 1000));
    assert_ok(actor_unlock(waiter, fair_of(stage.other, NAME)));
    assert_no_keys();
    actor_end(holder);
    actor_end(waiter);
}

/* The same when the holder knows by its own clock; the unlock goes to no server, and the head, as if it
 * had slept past its time, is told from the background. */
TimedTest(fair, unlock_of_a_hold_known_as_lost_wakes_the_head)
{
    rlock *lock = fair_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 100));
    foreign_queue(NAME, 1, 60000);
    redisContext *listening = foreign_listen(NAME, 1);
    pass_ms(120);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(foreign_told(listening, 10000));
    redisFree(listening);
}

/* A re-entry into a hold that is gone is lost, and leaves the turn to the head. */
Test(fair, re_entry_of_a_hold_that_is_gone_is_lost)
{
    rlock *lock = fair_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 60000);
    foreign_vanish(NAME);
    assert_status(rlock_try_lock(lock, 1000, RLOCK_WATCHDOG), RLOCK_LOST);
    cr_assert(queue_length(NAME) == 1 && pttl_of(NAME) == -2);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* 7: B has it when A's lease ends, however long it may wait. */
TimedTest(fair, goes_to_the_waiter_when_the_lease_ends)
{
    rlock *lock = fair_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 2500));
    actor *waiter = queue_up(fair_of(stage.other, NAME));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 2490, 2520 + at_most_ms(200));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    actor_end(waiter);
}

Test(fair, forced_open_goes_to_the_head)
{
    rlock *lock = fair_of(stage.client, NAME);
    bool was_locked = false;
    foreign_hold(NAME, RLOCK_WATCHDOG);
    actor *first = queue_up(lock), *second = queue_up(lock);
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(was_locked);
    assert_ok(actor_finish(first, 5000));
    cr_assert(!actor_ended(second, 0));
    assert_ok(rlock_force_unlock(fair_of(stage.other, NAME), &was_locked));
    assert_ok(actor_finish(second, 5000));
    assert_status(actor_unlock(first, lock), RLOCK_LOST);
    assert_ok(actor_unlock(second, lock));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* Other keys under its names are an error, and stay as they are. */
TimedTest(fair, refuses_keys_of_another_type)
{
    rlock *lock = fair_of(stage.client, NAME);
    freeReplyObject(server_command(stage.server, "SET f text"));
    assert_status(rlock_try_lock(lock, 200, 1000), RLOCK_SERVER);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_SERVER);
    assert_status(rlock_force_unlock(lock, NULL), RLOCK_SERVER);
    assert_shows("f string text \n");
    freeReplyObject(server_command(stage.server, "DEL f"));
    freeReplyObject(server_command(stage.server, "SET redisson_lock_queue:{f} text"));
    assert_status(rlock_try_lock(lock, 200, 1000), RLOCK_SERVER);
    assert_shows("redisson_lock_queue:{f} string text \n");
}

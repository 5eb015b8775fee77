/* The queue of a fair lock: who has a place in it, for how long, and what becomes of those behind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void with_short_places(void)
{
    stage_open_with("fairLockWaitTimeout=400");
}

TestSuite(fair_queue, .init = stage_open, .fini = stage_close);
TestSuite(fair_short_places, .init = with_short_places, .fini = stage_close);

#define NAME "f"

/* --- leaving it --- */

static void end_all(actor **waiters, int count)
{
    for (int i = 0; i < count; i++)
        actor_end(waiters[i]);
}

/* Its wait is over: out at once, and those behind it have its time less to wait. */
TimedTest(fair_queue, is_left_at_once_by_a_wait_that_is_over)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 30000);
    actor *waiters[3] = {queue_up(lock), queue_up_for(lock, 2000, 1000), queue_up(lock)};
    int64_t first = score_of(NAME, queued_at(NAME, 0)), last = score_of(NAME, queued_at(NAME, 2));
    assert_status(actor_finish(waiters[1], 5000), RLOCK_TIMEOUT);
    assert_between(actor_took(waiters[1]), 2000, 2000 + at_most_ms(250));
    cr_assert(queue_length(NAME) == 2 && score_count(NAME) == 2);
    cr_assert(score_of(NAME, queued_at(NAME, 0)) == first && score_of(NAME, queued_at(NAME, 1)) == last - 2000);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiters[0], 5000));
    assert_ok(actor_unlock(waiters[0], lock));
    assert_ok(actor_finish(waiters[2], 5000));
    assert_ok(actor_unlock(waiters[2], lock));
    assert_no_keys();
    end_all(waiters, 3);
}

/* One behind it has no score, as an older client may have left it: it gets none that is long past. */
TimedTest(fair_queue, is_left_without_harm_to_one_that_has_no_score)
{
    rlock *lock = fair_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    foreign_hold(NAME, 30000);
    actor *waiter = actor_start();
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_queued(NAME, 1, 5000));
    foreign_queue(NAME, 2, 60000);
    foreign_queue(NAME, 3, 900000);
    int64_t score = score_of(NAME, foreign_owner(3));
    freeReplyObject(server_command(stage.server, "ZREM redisson_lock_timeout:{" NAME "} %s", foreign_owner(2)));
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiter, 10000), RLOCK_CANCELLED);
    cr_assert(score_of(NAME, foreign_owner(2)) == 0, "it got %lld", (long long)score_of(NAME, foreign_owner(2)));
    cr_assert(score_of(NAME, foreign_owner(3)) == score - 300000);
    assert_status(rlock_try_lock(fair_of(stage.other, NAME), 0, 1000), RLOCK_TIMEOUT);
    cr_assert(queue_length(NAME) == 2 && strcmp(queued_at(NAME, 0), foreign_owner(2)) == 0, "it lost its place");
    actor_end(waiter);
    rlock_cancel_free(options.cancel);
}

Test(fair_queue, is_left_at_once_by_a_cancelled_wait)
{
    rlock *lock = fair_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    foreign_hold(NAME, 30000);
    actor *waiter = actor_start();
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_queued(NAME, 1, 5000) && wait_all_listen(NAME, 5000));
    actor *behind = queue_up(lock);
    int64_t score = score_of(NAME, queued_at(NAME, 1));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(500));
    cr_assert(strstr(actor_error(waiter), "cancel") != NULL, "%s", actor_error(waiter));
    cr_assert(queue_length(NAME) == 1 && score_of(NAME, queued_at(NAME, 0)) == score - 300000);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(behind, 5000));
    assert_ok(actor_unlock(behind, lock));
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    rlock_cancel_free(options.cancel);
    actor_end(waiter);
    actor_end(behind);
}

/* Free, and nobody was told: the head, whose wait is over, tells the next as it leaves. */
TimedTest(fair_queue, head_that_leaves_a_free_lock_tells_the_next)
{
    foreign_hold(NAME, 30000);
    actor *waiter = queue_up_for(fair_of(stage.client, NAME), 700, 1000);
    foreign_queue(NAME, 1, 120000);
    redisContext *behind = foreign_listen(NAME, 1);
    foreign_vanish(NAME);
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    cr_assert(foreign_told(behind, 10000));
    cr_assert(strcmp(queued_at(NAME, 0), foreign_owner(1)) == 0 && queue_length(NAME) == 1);
    redisFree(behind);
    actor_end(waiter);
}

/* Held by one that came later than the next in the queue knows of: that one is told to look. */
TimedTest(fair_queue, head_that_leaves_makes_the_next_look_at_the_time)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 60000);
    actor *leaving = queue_up_for(lock, 1700, 1000), *waiter = queue_up(lock);
    foreign_vanish(NAME);
    int64_t since_ms = now_ms();
    foreign_hold(NAME, 2500);
    assert_status(actor_finish(leaving, 5000), RLOCK_TIMEOUT);
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 2498, 2500 + at_most_ms(200));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(leaving);
    actor_end(waiter);
}

/* 34. */
Test(fair_queue, is_left_by_a_try_that_failed)
{
    rlock *lock = fair_of(stage.client, NAME), *others = fair_of(stage.other, NAME);
    actor *failing = actor_start(), *third = actor_start();
    assert_ok(rlock_lock(lock));
    assert_status(actor_try(failing, others, 200, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(queue_length(NAME) == 0 && score_count(NAME) == 0);
    assert_status(actor_unlock(failing, others), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_try(third, others, 0, RLOCK_WATCHDOG));
    assert_ok(actor_unlock(third, others));
    actor_end(failing);
    actor_end(third);
}

/* The client goes: its waits end at once, as those of a plain lock. */
Test(fair_queue, wait_ends_when_the_client_is_closed)
{
    foreign_hold(NAME, 30000);
    rlock_client *client = stage_client(NULL);
    actor *waiter = queue_up(fair_of(client, NAME));
    stage_close_client(client);
    assert_status(actor_finish_soon(waiter, 1000), RLOCK_CLOSED);
    actor_end(waiter);
}

/* --- staying out of it --- */

/* 32. No place, no subscription, no message; while others have a place it is refused. */
TimedTest(fair_queue, is_not_entered_by_a_try_without_wait)
{
    rlock *lock = fair_of(stage.client, NAME);
    assert_ok(actor_try(actor_start(), fair_of(stage.other, NAME), 0, 1700));
    monitor *tap = monitor_open();
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    cr_assert(queue_length(NAME) == 0);
    pass_ms(1710);
    foreign_queue(NAME, 1, 60000);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    assert_error("other waiters come first"); /* nobody holds it */
    cr_assert(queue_length(NAME) == 1 && pttl_of(NAME) == -2);
    freeReplyObject(server_command(stage.server, "LPOP redisson_lock_queue:{f}"));
    assert_ok(rlock_try_lock(lock, 0, 1000));
    char *said = monitor_messaging(tap);
    cr_assert(!*said, "%s", said);
    free(said);
    monitor_close(tap);
}

/* Free, but another's turn: who comes takes its place behind it, and tells it. */
Test(fair_queue, is_entered_at_the_end_though_the_lock_is_free)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_queue(NAME, 1, 60000);
    redisContext *listening = foreign_listen(NAME, 1);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(foreign_told(listening, 5000));
    cr_assert(wait_queued(NAME, 2, 5000));
    cr_assert(strcmp(queued_at(NAME, 0), foreign_owner(1)) == 0 && !actor_ended(waiter, 0));
    cr_assert(wait_all_listen(NAME, 5000));
    freeReplyObject(server_command(stage.server, "LPOP redisson_lock_queue:{f}"));
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    redisFree(listening);
    actor_end(waiter);
}

/* Those ahead live: each asks after a second, and a tenth more for each that stands before it. */
TimedTest(fair_queue, costs_few_requests_while_it_waits)
{
    rlock *lock = fair_of(stage.client, NAME), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiters[4] = {queue_up(others), queue_up(lock), queue_up_for(others, 30000, 1000), queue_up(lock)};
    cr_assert(commands_within(900) == 0);
    monitor *tap = monitor_open();
    pass_ms(1000);
    cr_assert(monitor_ran(tap, &rli_script_fair_acquire) == 4);
    monitor_close(tap);
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], i % 2 ? lock : others));
    }
    end_all(waiters, 4);
}

static void look_for_time(const char *line, void *arg)
{
    char now[16];
    snprintf(now, sizeof now, "\"%.6s", (const char *)arg);
    cr_assert(strstr(line, now) == NULL, "a time was sent: %s", line);
}

/* The server's clock counts, whatever the client's says: no request has a time in it. */
TimedTest(fair_queue, is_kept_by_the_servers_clock)
{
    char now[32];
    rlock *lock = fair_of(stage.client, NAME);
    snprintf(now, sizeof now, "%lld", (long long)server_time_ms());
    foreign_hold(NAME, 30000);
    monitor *tap = monitor_open();
    assert_status(rlock_try_lock(lock, 100, 1000), RLOCK_TIMEOUT);
    actor *waiter = queue_up(lock);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    cr_assert(monitor_saw(tap, "evalsha") >= 4);
    monitor_each(tap, "evalsha", look_for_time, now);
    monitor_close(tap);
    actor_end(waiter);
}

/* --- scores --- */

/* What the place of each says of the time until its turn: its score, less its wait and the time now; within
 * at_most_ms(tolerance_ms). */
static void assert_until_turn(int place, int64_t wait_ms, int64_t expected_ms, int64_t tolerance_ms)
{
    int64_t until_ms = score_of(NAME, queued_at(NAME, place)) - wait_ms - server_time_ms();
    assert_between(until_ms, expected_ms - at_most_ms(tolerance_ms), expected_ms + at_most_ms(tolerance_ms));
}

/* 29. */
Test(fair_queue, counts_the_time_until_each_ones_turn)
{
    enum { WAIT_MS = 45000 };
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 30000);
    int64_t since_ms = now_ms();
    actor *waiters[4] = {queue_up_for(lock, 50000, 60000), NULL, NULL, NULL};
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    options.wait_ms = WAIT_MS;
    waiters[1] = actor_start();
    actor_begin_with(waiters[1], lock, &options);
    cr_assert(wait_queued(NAME, 2, 5000));
    waiters[2] = queue_up_for(lock, WAIT_MS, 60000);
    waiters[3] = queue_up_for(lock, WAIT_MS, 30000);
    int64_t passed_ms = now_ms() - since_ms;
    assert_until_turn(0, 50000, 30000 - passed_ms, 300);
    assert_until_turn(1, WAIT_MS, 80000 - passed_ms, 300);
    assert_until_turn(2, WAIT_MS, 80000 + WAIT_MS - passed_ms, 300);
    assert_until_turn(3, WAIT_MS, 80000 + 2 * WAIT_MS - passed_ms, 300);
    int64_t scores[4];
    for (int i = 0; i < 4; i++)
        scores[i] = score_of(NAME, queued_at(NAME, i));
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiters[1], 5000), RLOCK_CANCELLED);
    cr_assert(score_of(NAME, queued_at(NAME, 0)) == scores[0]);
    cr_assert(score_of(NAME, queued_at(NAME, 1)) == scores[2] - WAIT_MS);
    cr_assert(score_of(NAME, queued_at(NAME, 2)) == scores[3] - WAIT_MS);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiters[0], 5000));
    cr_assert(score_of(NAME, queued_at(NAME, 0)) == scores[2] - WAIT_MS - 50000);
    cr_assert(score_of(NAME, queued_at(NAME, 1)) == scores[3] - WAIT_MS - 50000);
    assert_ok(actor_unlock(waiters[0], lock));
    assert_ok(actor_finish(waiters[2], 5000));
    assert_ok(actor_unlock(waiters[2], lock));
    assert_ok(actor_finish(waiters[3], 5000));
    assert_ok(actor_unlock(waiters[3], lock));
    assert_no_keys();
    rlock_cancel_free(options.cancel);
    end_all(waiters, 4);
}

/* 30. With a long lease: who was behind the one that has it now moved up by its wait, and a new one
 * comes behind the last by its own. */
Test(fair_queue, moves_up_when_the_first_has_the_lock)
{
    enum { WAIT_MS = 60000 };
    rlock *lock = fair_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 300000));
    actor *waiters[3] = {queue_up_for(lock, WAIT_MS, 300000), queue_up_for(lock, WAIT_MS, 300000), NULL};
    int64_t second = score_of(NAME, queued_at(NAME, 1));
    assert_until_turn(1, WAIT_MS, 300000 + WAIT_MS, 500);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiters[0], 5000));
    cr_assert(score_of(NAME, queued_at(NAME, 0)) == second - WAIT_MS);
    waiters[2] = queue_up_for(lock, WAIT_MS, 300000);
    cr_assert(score_of(NAME, queued_at(NAME, 0)) == second - WAIT_MS);
    cr_assert(score_of(NAME, queued_at(NAME, 1)) == second);
    assert_ok(actor_unlock(waiters[0], lock));
    for (int i = 1; i < 3; i++) {
        assert_ok(actor_finish(waiters[i], 10000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    assert_no_keys();
    end_all(waiters, 3);
}

/* Unsubscribing may go with what is subscribed to next; where there is no next, it does not wait for one. */
Test(fair_queue, channel_is_left_though_nobody_waits_next)
{
    rlock *lock = fair_of(stage.client, NAME);
    for (int round = 0; round < 3; round++) {
        foreign_hold(NAME, 30000);
        actor *waiter = queue_up(lock);
        foreign_fair_release(NAME);
        assert_ok(actor_finish(waiter, 5000));
        int64_t since_ms = now_ms();
        cr_assert(wait_no_channels(5000), "round %d", round);
        assert_between(now_ms() - since_ms, 0, at_most_ms(500));
        assert_ok(actor_unlock(waiter, lock));
        actor_end(waiter);
    }
}

/* --- long queues --- */

/* Adds `count` others behind, whose scores are whole, of quarters of a ms, large, and such as 4e+12. */
static void foreign_crowd(int count)
{
    freeReplyObject(server_command(stage.server, "EVAL %s 2 redisson_lock_queue:{f} redisson_lock_timeout:{f} %d",
                                   "for i = 1, tonumber(ARGV[1]) do "
                                   "local owner = '11111111-2222-3333-4444-555555555555:' .. i "
                                   "redis.call('rpush', KEYS[1], owner) "
                                   "redis.call('zadd', KEYS[2], i == 2 and 9007199254740991 or 4e12 + (i - 1) * 250.25, owner) "
                                   "end", count));
}

static redisReply *scores_and_owners(void)
{
    return server_command(stage.server, "ZRANGE redisson_lock_timeout:{f} 0 -1 WITHSCORES");
}

/* Whether those of `before` but the first stand now, each earlier by place_ms exactly, and nothing else was left on
 * the server. Frees `before`. */
static void assert_moved_up(redisReply *before, int64_t place_ms)
{
    redisReply *after = scores_and_owners();
    cr_assert(after->elements == before->elements - 2);
    for (size_t i = 0; i < after->elements; i += 2) {
        const redisReply *const *was = (const redisReply *const *)&before->element[i + 2];
        double score = strtod(after->element[i + 1]->str, NULL), expected = strtod(was[1]->str, NULL) - (double)place_ms;
        cr_assert(strcmp(after->element[i]->str, was[0]->str) == 0 && score >= expected && score <= expected,
                  "%s: %s, which was %s", after->element[i]->str, after->element[i + 1]->str, was[1]->str);
    }
    cr_assert(queue_length(NAME) == (int)after->elements / 2);
    cr_assert(server_integer(stage.server, "EVAL %s 1 rlock_waiters:{f}:fair",
                             "return redis.call('dbsize') - redis.call('exists', KEYS[1])") == 3);
    freeReplyObject(before);
    freeReplyObject(after);
}

static void assert_crowd_moves_up(rlock *lock, rlock *nexts, int count)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    options.wait_ms = 5000;
    assert_ok(rlock_lock(lock));
    actor *leaving = actor_start();
    actor_begin_with(leaving, nexts, &options);
    cr_assert(wait_queued(NAME, 1, 5000));
    actor *next = queue_up_for(nexts, 20000, 60000);
    foreign_crowd(count);
    redisReply *before = scores_and_owners();
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(leaving, 5000), RLOCK_CANCELLED);
    assert_moved_up(before, 5000);
    before = scores_and_owners();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(next, 5000));
    assert_moved_up(before, 20000);
    assert_ok(actor_unlock(next, nexts));
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    rlock_cancel_free(options.cancel);
    actor_end(leaving);
    actor_end(next);
}

/* Few and many, behind one that leaves and behind one that has it next, of this client or of another. */
Test(fair_queue, moves_up_by_exactly_the_place_that_was_left)
{
    static const int counts[] = {1, 3, 127, 129, 2500};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_crowd_moves_up(fair_of(stage.client, NAME), fair_of(stage.client, NAME), counts[i]);
        assert_crowd_moves_up(fair_of(stage.client, NAME), fair_of(stage.other, NAME), counts[i]);
    }
}

/* A wait that is over takes along what is left of its own place, and nothing of the place behind it. */
TimedTest(fair_queue, late_place_is_kept_when_the_wait_before_it_is_over)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 1000);
    actor *first = queue_up_for(lock, 2000, 1000);
    freeReplyObject(server_command(stage.server, "PEXPIRE f 60000"));
    pass_ms(1900);
    actor *late = queue_up_for(fair_of(stage.other, NAME), 500, 1000);
    char *own = strdup(queued_at(NAME, 1));
    assert_status(actor_finish(first, 5000), RLOCK_TIMEOUT);
    cr_assert(score_of(NAME, own) > server_time_ms() + 300, "it is to be gone within %lld ms",
              (long long)(score_of(NAME, own) - server_time_ms()));
    foreign_fair_release(NAME);
    assert_ok(actor_finish(late, 5000));
    free(own);
    actor_end(first);
    actor_end(late);
}

/* The same when a wait has the lock that had kept its place for longer than it once asked to. The late one counts its
 * time from a place between them, which is as old as the first. */
TimedTest(fair_short_places, late_place_is_kept_when_the_first_has_the_lock)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 500);
    actor *first = queue_up(lock), *middle = queue_up_for(fair_of(stage.other, NAME), 3200, 1000);
    for (int64_t until_ms = now_ms() + 3000; now_ms() < until_ms; pass_ms(20)) /* a holder that renews */
        freeReplyObject(server_command(stage.server, "PEXPIRE f 500"));
    actor *late = queue_up_for(fair_of(stage.other, NAME), 300, 1000);
    char *own = strdup(queued_at(NAME, 2));
    freeReplyObject(server_command(stage.server, "PEXPIRE f 10000"));
    assert_status(actor_finish(middle, 5000), RLOCK_TIMEOUT);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(first, 5000));
    cr_assert(score_of(NAME, own) > server_time_ms() + 50, "it is to be gone within %lld ms",
              (long long)(score_of(NAME, own) - server_time_ms()));
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(late, 5000));
    free(own);
    actor_end(first);
    actor_end(middle);
    actor_end(late);
}

/* 31. Two that never come back are passed over when their time is up, and not before. */
TimedTest(fair_short_places, are_passed_over_when_their_time_is_up)
{
    rlock *lock = fair_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    foreign_hold(NAME, 2000);
    foreign_queue(NAME, 1, 2400);
    foreign_queue(NAME, 2, 2800);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(wait_queued(NAME, 3, 5000));
    cr_assert(score_of(NAME, queued_at(NAME, 2)) - score_of(NAME, foreign_owner(2)) == 400);
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 2790, 2800 + at_most_ms(150));
    cr_assert(queue_length(NAME) == 0 && score_count(NAME) == 0);
    actor_end(waiter);
}

struct rounds {
    rlock *lock;
    int count;
};

static rlock_status try_in_rounds(void *arg)
{
    struct rounds *rounds = arg;
    for (int i = 0; i < rounds->count; i++) {
        rlock_status status = rlock_try_lock(rounds->lock, 50, 30000);
        if (status == RLOCK_OK) {
            pass_ms(30);
            status = rlock_unlock(rounds->lock);
        }
        if (status != RLOCK_OK && status != RLOCK_TIMEOUT)
            return status;
    }
    return RLOCK_OK;
}

/* 33, a tenth as slow. Places given up and taken again and again do not drift into the future. */
TimedTest(fair_queue, scores_do_not_drift)
{
    struct rounds rounds = {fair_of(stage.client, NAME), 30};
    actor *waiters[3];
    for (int i = 0; i < 3; i++) {
        waiters[i] = actor_start();
        actor_begin(waiters[i], try_in_rounds, &rounds);
    }
    for (int i = 0; i < 3; i++)
        assert_ok(actor_finish(waiters[i], 20000));
    cr_assert(queue_length(NAME) == 0 && score_count(NAME) == 0);
    foreign_hold(NAME, 30000);
    for (int i = 0; i < 3; i++)
        actor_begin(waiters[i], try_in_rounds, &rounds);
    while (!actor_ended(waiters[0], 1)) {
        for (int i = 0; i < 3; i++)
            cr_assert(score_of(NAME, queued_at(NAME, i)) <= server_time_ms() + 330000);
    }
    bool was_locked = false;
    for (int i = 0; i < 3; i++)
        assert_ok(actor_finish(waiters[i], 20000));
    assert_ok(rlock_force_unlock(rounds.lock, &was_locked));
    assert_ok(rlock_try_lock(rounds.lock, 0, 1000));
    cr_assert(was_locked && queue_length(NAME) == 0 && score_count(NAME) == 0);
    end_all(waiters, 3);
}

/* --- a queue that is not as it should be --- */

/* Its score is missing: it is first all the same, and gets one. */
TimedTest(fair_queue, head_without_a_score_keeps_its_turn)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 30000);
    actor *waiters[2] = {queue_up(lock), queue_up(lock)};
    freeReplyObject(server_command(stage.server, "DEL redisson_lock_timeout:{f}"));
    foreign_fair_release(NAME);
    for (int i = 0; i < 2; i++) {
        assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_unlock(waiters[i], lock));
    }
    assert_no_keys();
    foreign_queue(NAME, 1, 1000);
    freeReplyObject(server_command(stage.server, "DEL redisson_lock_timeout:{f}"));
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    assert_between(score_of(NAME, foreign_owner(1)) - server_time_ms(), 300000 - at_most_ms(1000), 300000);
    end_all(waiters, 2);
}

/* The last one has no score: who comes behind it counts from the lock's TTL. */
TimedTest(fair_queue, last_without_a_score_is_no_hindrance)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 20000);
    foreign_queue(NAME, 1, 50000);
    foreign_queue(NAME, 2, 90000);
    freeReplyObject(server_command(stage.server, "ZREM redisson_lock_timeout:{f} %s", foreign_owner(2)));
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, 5000, 1000);
    cr_assert(wait_queued(NAME, 3, 5000));
    assert_until_turn(2, 5000, 20000, 500);
    freeReplyObject(server_command(stage.server, "LTRIM redisson_lock_queue:{f} 2 2"));
    cr_assert(wait_all_listen(NAME, 5000));
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    actor_end(waiter);
}

/* A score, but no place: its next question gets it one. */
TimedTest(fair_queue, score_without_a_place_is_no_place)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 2300);
    actor *waiter = queue_up(lock);
    char *own = strdup(queued_at(NAME, 0));
    freeReplyObject(server_command(stage.server, "DEL redisson_lock_queue:{f}"));
    foreign_queue(NAME, 1, 60000);
    redisContext *listening = foreign_listen(NAME, 1);
    cr_assert(wait_queued(NAME, 2, 10000), "it has no place");
    cr_assert(strcmp(queued_at(NAME, 1), own) == 0 && score_count(NAME) == 2);
    freeReplyObject(server_command(stage.server, "LPOP redisson_lock_queue:{f}"));
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    free(own);
    redisFree(listening);
    actor_end(waiter);
}

/* Its time is up though it lives: it is told that it was dropped, and has a place again at once. */
TimedTest(fair_queue, is_entered_again_by_one_that_was_dropped)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 30000);
    actor *waiter = queue_up(lock);
    char *own = strdup(queued_at(NAME, 0));
    foreign_queue(NAME, 1, 60000);
    redisContext *listening = foreign_listen(NAME, 1);
    set_score(NAME, own, server_time_ms() - 1);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT); /* drops it */
    cr_assert(wait_queued(NAME, 2, 5000));
    cr_assert(foreign_told(listening, 10000)); /* first now */
    cr_assert(strcmp(queued_at(NAME, 0), foreign_owner(1)) == 0 && strcmp(queued_at(NAME, 1), own) == 0);
    freeReplyObject(server_command(stage.server, "LPOP redisson_lock_queue:{f}"));
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiter, 5000));
    free(own);
    redisFree(listening);
    actor_end(waiter);
}

/* The head's time is up while the lock is free, and a try that is refused is who finds out: it tells
 * the next one. */
TimedTest(fair_queue, new_head_of_a_free_lock_is_told_by_a_try)
{
    foreign_queue(NAME, 1, -10);
    foreign_queue(NAME, 2, 60000);
    redisContext *listening = foreign_listen(NAME, 2);
    assert_status(rlock_try_lock(fair_of(stage.client, NAME), 0, 1000), RLOCK_TIMEOUT);
    cr_assert(foreign_told(listening, 10000));
    cr_assert(queue_length(NAME) == 1 && score_count(NAME) == 1);
    redisFree(listening);
}

/* Scores in the past are dropped at the release, too: the first living one is told. */
Test(fair_queue, release_passes_over_scores_in_the_past)
{
    rlock *lock = fair_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, -10000);
    foreign_queue(NAME, 2, -1);
    foreign_queue(NAME, 3, 60000);
    redisContext *listening = foreign_listen(NAME, 3);
    assert_ok(rlock_unlock(lock));
    cr_assert(foreign_told(listening, 10000));
    cr_assert(queue_length(NAME) == 1 && score_count(NAME) == 1);
    redisFree(listening);
}

/* Who asks again lives: a wait that lasts longer than the place of one that waits for ever does not
 * cost it its turn. */
TimedTest(fair_short_places, are_kept_by_who_asks_again)
{
    rlock *lock = fair_of(stage.client, NAME);
    foreign_hold(NAME, 2000);
    actor *first = queue_up(lock);
    char *own = strdup(queued_at(NAME, 0));
    foreign_queue(NAME, 1, 60000);
    int64_t score = score_of(NAME, own);
    for (int64_t until_ms = now_ms() + 3000; now_ms() < until_ms; pass_ms(20)) /* a holder that renews */
        freeReplyObject(server_command(stage.server, "PEXPIRE f 2000"));
    cr_assert(score_of(NAME, own) > score && server_time_ms() > score);
    cr_assert(strcmp(queued_at(NAME, 0), own) == 0, "it lost its place");
    foreign_fair_release(NAME);
    assert_ok(actor_finish(first, 5000));
    free(own);
    actor_end(first);
}

/* --- what the script answers: how long a waiter sleeps --- */

#define OTHERS "aaaaaaaa-2222-3333-4444-555555555555" /* a second foreign client */

/* fair/acquire for an owner that waits 5000 ms: the number that it answers. */
static int64_t answer_to(const char *owner)
{
    server_load(stage.server, &rli_script_fair_acquire, RLI_COUNTED);
    redisReply *reply = server_command(stage.server,
        "EVALSHA %s 4 f redisson_lock_queue:{f} redisson_lock_timeout:{f} redisson_lock__channel:{f} %s 30000 1 %s 5000 %s 5000",
        rli_script_fair_acquire.sha1[RLI_COUNTED], owner, "", "");
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s", reply->str);
    int64_t ms = reply->type == REDIS_REPLY_ARRAY ? reply->element[0]->integer : reply->integer;
    freeReplyObject(reply);
    return ms;
}

/* Till the key's TTL, but never for so long that a lost wake-up, a stopped owner, a lost key or a key without an end
 * could keep it; and never a negative time. */
TimedTest(fair_queue, sleep_is_bounded)
{
    redisContext *listening[2];
    for (int i = 0; i < 2; i++)
        listening[i] = foreign_listen(NAME, i + 1);
    foreign_hold(NAME, 20000);
    freeReplyObject(server_command(stage.server, "HDEL f nobody"));
    freeReplyObject(server_command(stage.server, "RENAME f g"));
    freeReplyObject(server_command(stage.server, "HSET f other:1 1"));
    assert_between(answer_to(foreign_owner(1)), 1000, 1000); /* no TTL */
    freeReplyObject(server_command(stage.server, "PEXPIRE f 3600000"));
    assert_between(answer_to(foreign_owner(1)), 1000, 1000);
    assert_between(answer_to(foreign_owner(2)), 1100, 1100);
    assert_between(answer_to(OTHERS ":3"), 1200, 1200);
    freeReplyObject(server_command(stage.server, "PEXPIRE f 700"));
    assert_between(answer_to(foreign_owner(2)), 700 - at_most_ms(500), 700);
    assert_between(answer_to(OTHERS ":3"), 700 - at_most_ms(500), 700);
    freeReplyObject(server_command(stage.server, "DEL f"));
    assert_between(answer_to(OTHERS ":3"), 2000, 2000); /* free, and the head lives */
    redisFree(listening[0]);
    cr_assert(server_wait_subscribers(stage.server, waiter_channel(NAME, foreign_owner(1)), 0, 5000));
    assert_between(answer_to(OTHERS ":3"), 2000, 2000); /* free, and the head may be dead */
    set_score(NAME, foreign_owner(1), server_time_ms() + 1000);
    assert_between(answer_to(OTHERS ":3"), 1000 - at_most_ms(500), 1000); /* free, and the head's time is up by then */
    redisFree(listening[1]);
}

/* --- one owner, two threads --- */

/* Both wait in one place; the first in has it, and the other re-enters. */
Test(fair_queue, place_of_a_named_owner_serves_both_its_threads)
{
    rlock *lock = owned_by(fair_of(stage.client, NAME), 7);
    foreign_hold(NAME, 30000);
    actor *waiters[2] = {queue_up(lock), actor_start()};
    actor_begin_lock(waiters[1], lock);
    cr_assert(actor_asleep(waiters[1], 5000));
    cr_assert(queue_length(NAME) == 1);
    foreign_fair_release(NAME);
    for (int i = 0; i < 2; i++)
        assert_ok(actor_finish(waiters[i], 5000));
    cr_assert(actor_hold_count(waiters[0], lock) == 2 && queue_length(NAME) == 0);
    assert_ok(actor_unlock(waiters[0], lock));
    assert_ok(actor_unlock(waiters[1], lock));
    assert_no_keys();
    end_all(waiters, 2);
}

/* One gives up: the place stays for the other, which is served. */
TimedTest(fair_queue, place_of_a_named_owner_outlasts_one_of_its_threads)
{
    rlock *lock = owned_by(fair_of(stage.client, NAME), 7);
    foreign_hold(NAME, 30000);
    actor *waiters[2] = {queue_up_for(lock, 1700, 1000), actor_start()};
    actor_begin_lock(waiters[1], lock);
    cr_assert(actor_asleep(waiters[1], 5000));
    assert_status(actor_finish(waiters[0], 5000), RLOCK_TIMEOUT);
    cr_assert(queue_length(NAME) == 1);
    foreign_fair_release(NAME);
    assert_ok(actor_finish(waiters[1], 5000));
    assert_ok(actor_unlock(waiters[1], lock));
    assert_no_keys();
    end_all(waiters, 2);
}

/* The second waits for longer: the first place in the queue lasts for that wait, whoever stands behind it. */
Test(fair_queue, first_place_of_a_named_owner_lasts_for_the_longer_wait_alone)
{
    rlock *lock = owned_by(fair_of(stage.client, NAME), 7);
    foreign_hold(NAME, 60000);
    actor *waiters[2] = {queue_up_for(lock, 60000, 1000), actor_start()};
    char *own = strdup(queued_at(NAME, 0));
    foreign_queue(NAME, 1, 900000);
    int64_t before = score_of(NAME, own), behind = score_of(NAME, foreign_owner(1)), since = server_time_ms();
    actor_begin_try(waiters[1], lock, 300000, 1000);
    for (int64_t end_ms = limit_end_ms(5000); score_of(NAME, own) == before; pass_ms(1))
        cr_assert(now_ms() < end_ms, "its place is not lengthened");
    assert_between(score_of(NAME, own) - 300000, since, server_time_ms());
    cr_assert(score_of(NAME, foreign_owner(1)) - behind == score_of(NAME, own) - before);
    freeReplyObject(server_command(stage.server, "LREM redisson_lock_queue:{f} 0 %s", foreign_owner(1)));
    freeReplyObject(server_command(stage.server, "ZREM redisson_lock_timeout:{f} %s", foreign_owner(1)));
    foreign_fair_release(NAME);
    for (int i = 0; i < 2; i++)
        assert_ok(actor_finish(waiters[i], 5000));
    free(own);
    end_all(waiters, 2);
}

/* The place of the first was for 5 s, and is over; it asks again, to wait for 60 s, and takes the lock. Those behind it have
 * as long to wait as before. */
Test(fair_queue, longer_wait_that_takes_the_lock_leaves_the_times_of_those_behind)
{
    foreign_queue(NAME, 1, -10);
    foreign_queue(NAME, 2, 200000);
    int64_t behind = score_of(NAME, foreign_owner(2)), over = score_of(NAME, foreign_owner(1));
    server_load(stage.server, &rli_script_fair_acquire, RLI_COUNTED);
    freeReplyObject(server_command(stage.server,
        "EVALSHA %s 4 f redisson_lock_queue:{f} redisson_lock_timeout:{f} redisson_lock__channel:{f} %s 30000 1 %s 60000 %s 5000",
        rli_script_fair_acquire.sha1[RLI_COUNTED], foreign_owner(1), "", ""));
    cr_assert(queue_length(NAME) == 1 && server_integer(stage.server, "HEXISTS f %s", foreign_owner(1)) == 1);
    assert_between(score_of(NAME, foreign_owner(2)) - behind, 0, server_time_ms() - over);
}

static rlock_status lock_and_unlock(void *lock)
{
    rlock_status status = rlock_lock(lock);
    return status == RLOCK_OK ? rlock_unlock(lock) : status;
}

/* One of them takes it and lets go before the other has asked: the other goes on with another place,
 * and hears of it on another channel. */
Test(fair_queue, place_that_was_used_up_is_taken_anew)
{
    enum { THREADS = 6, ROUNDS = 20 };
    rlock *lock = owned_by(fair_of(stage.client, NAME), 7), *others = fair_of(stage.other, NAME);
    actor *waiters[THREADS], *rival = actor_start();
    for (int i = 0; i < THREADS; i++)
        waiters[i] = actor_start();
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(rlock_lock(others));
        for (int i = 0; i < THREADS; i++)
            actor_begin(waiters[i], lock_and_unlock, lock);
        cr_assert(wait_queued(NAME, 1, 5000) && wait_all_listen(NAME, 5000));
        actor_begin(rival, lock_and_unlock, others);
        assert_ok(rlock_unlock(others));
        for (int i = 0; i < THREADS; i++)
            assert_ok(actor_finish(waiters[i], 5000));
        assert_ok(actor_finish(rival, 5000));
        assert_no_keys();
    }
    cr_assert(wait_no_channels(5000));
    end_all(waiters, THREADS);
    actor_end(rival);
}

static rlock_status try_for_a_moment(void *lock)
{
    rlock_status status = rlock_try_lock(lock, 5, 1000);
    return status == RLOCK_OK ? rlock_unlock(lock) : status == RLOCK_TIMEOUT ? RLOCK_OK : status;
}

/* Waits of one owner that end as others of it begin leave no place behind, and take none away. */
TimedTest(fair_queue, place_of_a_named_owner_goes_with_its_last_wait)
{
    enum { THREADS = 4, ROUNDS = 100 };
    rlock *lock = owned_by(fair_of(stage.client, NAME), 7);
    actor *waiters[THREADS];
    foreign_hold(NAME, 60000);
    for (int i = 0; i < THREADS; i++)
        waiters[i] = actor_start();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++)
            actor_begin(waiters[i], try_for_a_moment, lock);
        for (int i = 0; i < 20; i++)
            assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
        for (int i = 0; i < THREADS; i++)
            assert_ok(actor_finish(waiters[i], 5000));
    }
    cr_assert(wait_queued(NAME, 0, 10000), "a place was left behind");
    cr_assert(score_count(NAME) == 0);
    end_all(waiters, THREADS);
}

/* Handing over a fair lock: it costs one request, and what others see of it is an unlock, and then a lock by who came
 * next. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <string.h>

TestSuite(hand_over_fair, .init = stage_open, .fini = stage_close);

#define NAME "f"

static rlock *mine(void)
{
    return fair_of(stage.client, NAME);
}

/* --- what it costs --- */

/* Four wait: each unlock is one request, nobody is told, and nobody asks, since it takes less than a second. */
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
    cr_assert(monitor_ran(tap, &rli_script_fair_release) == 5 && monitor_ran(tap, &rli_script_fair_acquire) == 0);
    cr_assert(monitor_saw(tap, "\"publish\"") == 0);
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    monitor_close(tap);
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
}

TimedTest(hand_over_fair, costs_one_request_a_turn)
{
    count_requests(RLOCK_WATCHDOG);
}

/* Who becomes first behind a hold that may end soon need not be told when it looks by then in any case. */
TimedTest(hand_over_fair, of_short_holds_costs_one_request_a_turn)
{
    count_requests(10000);
}

/* Nobody unlocks: each has it when the lease of the one before it is over, whether it was told of that lease or
 * knew of one as short. */
TimedTest(hand_over_fair, of_short_holds_goes_on_as_they_run_out)
{
    static const int64_t leases_ms[] = {600, 800, 300, 300};
    rlock *lock = mine();
    actor *waiters[4];
    assert_ok(rlock_try_lock(lock, 0, 2500));
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

/* What stands after one's unlock has passed the lock on to `next`, whose place was ten seconds: those behind it,
 * who are others, and what they were told. */
static void assert_passed_on(rlock *lock, rlock *nexts, int64_t lease_ms, bool told)
{
    assert_ok(rlock_lock(lock));
    actor *next = queue_up_for(nexts, 10000, lease_ms);
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
    cr_assert(score_of(NAME, foreign_owner(1)) == first - 10000 && score_of(NAME, foreign_owner(2)) == second - 10000);
    cr_assert(score_count(NAME) == 2);
    assert_between(pttl_of(NAME), lease_ms - at_most_ms(2000), lease_ms);
    cr_assert(server_integer(stage.server, "HLEN " NAME) == 1 && actor_hold_count(next, nexts) == 1);
    assert_ok(actor_unlock(next, nexts));
    cr_assert(foreign_told(behind, 10000));
    monitor_close(tap);
    redisFree(behind);
    actor_end(next);
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
}

Test(hand_over_fair, leaves_what_an_unlock_and_a_lock_leave)
{
    assert_passed_on(mine(), mine(), 40000, false);
    assert_passed_on(mine(), fair_of(stage.other, NAME), 40000, false);
}

/* The next one is told to look how long it lasts. */
Test(hand_over_fair, of_a_short_hold_is_told_to_the_next)
{
    assert_passed_on(mine(), mine(), 3000, true);
    assert_passed_on(mine(), fair_of(stage.other, NAME), 3000, true);
}

/* Whoever is ahead, of another client or of Redisson's, is told, and has the lock first. */
Test(hand_over_fair, passes_nobody)
{
    rlock *lock = mine(), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 100000);
    redisContext *ahead = foreign_listen(NAME, 1);
    actor *their = queue_up(others), *our = queue_up(lock);
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(lock));
    cr_assert(foreign_told(ahead, 10000));
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
TimedTest(hand_over_fair, drops_who_is_late_first)
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
    cr_assert(monitor_ran(tap, &rli_script_fair_acquire) == 0 && foreign_told(late, 10000));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    redisFree(late);
    monitor_close(tap);
    actor_end(waiter);
}

/* --- between clients: the head of the queue is offered the lock --- */

/* Clients whose waiters had to queue lately take turns: each is one acquire, which queues, and one release. */
TimedTest(hand_over_fair, between_clients_costs_two_requests_a_turn)
{
    rlock *of[2] = {mine(), fair_of(stage.other, NAME)};
    assert_ok(rlock_lock(of[0]));
    actor *before = NULL;
    monitor *tap = NULL;
    for (int turn = 1; turn <= 12; turn++) {
        if (turn == 3) /* both have had to queue by now */
            tap = monitor_open();
        actor *next = queue_up(of[turn % 2]);
        assert_ok(before ? actor_unlock(before, of[(turn - 1) % 2]) : rlock_unlock(of[0]));
        assert_ok(actor_finish(next, 5000));
        if (before)
            actor_end(before);
        before = next;
    }
    cr_assert(monitor_ran(tap, &rli_script_fair_acquire) == 10 && monitor_ran(tap, &rli_script_fair_release) == 10);
    assert_ok(actor_unlock(before, of[0]));
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    monitor_close(tap);
    actor_end(before);
}

/* An offer is short, but what comes of it is not: the watchdog's lease soon after, and a lease of the waiter's own at
 * once, since that would begin with the offer otherwise. */
Test(hand_over_fair, between_clients_gives_the_whole_lease)
{
    static const int64_t leases_ms[] = {RLOCK_WATCHDOG, 20000, 45000};
    for (int i = 0; i < 3; i++) {
        rlock *lock = mine(), *others = fair_of(stage.other, NAME);
        assert_ok(rlock_lock(lock));
        actor *next = queue_up_for(others, 60000, leases_ms[i]);
        assert_ok(rlock_unlock(lock));
        assert_ok(actor_finish(next, 5000));
        int64_t whole_ms = leases_ms[i] == RLOCK_WATCHDOG ? 30000 : leases_ms[i];
        while (leases_ms[i] == RLOCK_WATCHDOG && pttl_of(NAME) <= 5000)
            pass_ms(1);
        assert_between(pttl_of(NAME), whole_ms - at_most_ms(2000), whole_ms);
        assert_ok(actor_unlock(next, others));
        actor_end(next);
    }
    assert_no_keys();
}

/* The first waiter has the lock once `held` is unlocked, and has asked so often for it. Then it is gone. */
static void assert_hand_over_takes(size_t asks, rlock *held, actor *next, rlock *nexts)
{
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(next, 5000));
    cr_assert(monitor_ran(tap, &rli_script_fair_acquire) == asks);
    assert_ok(actor_unlock(next, nexts));
    assert_no_keys();
    monitor_close(tap);
    actor_end(next);
}

/* An owner whose unlock told somebody who may be dead, and who is told again later, has left nothing behind: an offer is all
 * that it needs. */
TimedTest(hand_over_fair, between_clients_of_who_told_a_dead_head_takes_no_request)
{
    rlock *lock = owned_by(mine(), 5), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(others));
    actor *next = queue_up(lock); /* from now on this client subscribes before it asks */
    assert_ok(rlock_unlock(others));
    assert_ok(actor_finish(next, 5000));
    foreign_queue(NAME, 1, 60000);
    assert_ok(actor_unlock(next, lock));
    actor_end(next);
    freeReplyObject(server_command(stage.server, "DEL redisson_lock_queue:{" NAME "} redisson_lock_timeout:{" NAME "}"));
    assert_ok(rlock_lock(others));
    next = queue_up(lock);
    assert_hand_over_takes(0, others, next, lock);
}

/* A lost key of the library costs a request, no more: the head is told, and asks. */
TimedTest(hand_over_fair, between_clients_survives_the_loss_of_its_key)
{
    rlock *lock = mine(), *others = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    actor *next = queue_up(others);
    cr_assert(server_integer(stage.server, "DEL rlock_waiters:{" NAME "}:fair") == 1);
    assert_hand_over_takes(1, lock, next, others);
}

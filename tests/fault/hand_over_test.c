/* Handing over under faults: the unlock that passes a lock on to the next thread is answered late, twice, or never,
 * and who was to have the lock may not want it any more. Each claim is made of a lock whose waiters queue in their
 * process, and of one whose waiters queue on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/heirs.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <stdatomic.h>

TestSuite(hand_over_in_faults, .init = scene_open, .fini = scene_close);
TestSuite(hand_over_here_in_faults, .init = scene_open, .fini = scene_close);
TestSuite(spin_hand_over_in_faults, .init = scene_open, .fini = scene_close);

#define HERE_SUITE hand_over_here_in_faults
#define FAIR_SUITE hand_over_in_faults
#define SPIN_SUITE spin_hand_over_in_faults

#define NAME "h"
#define COUNTER "redisson_lock_token:{" NAME "}"
#define SOON_MS 5000 /* background releases begin at once, and have pauses of up to two seconds */

static rlock *mine(const kind *of)
{
    return kind_of(of, scene.client, NAME);
}

/* Where a wait is to end while an unlock is stalled, and not before it has begun, however slow the machine. */
enum { LEAVING_MS = 1000 };
#define STALLED "timeout=2500&connectTimeout=500&retryAttempts=2&retryBaseDelay=50&retryMaxDelay=100"

static rlock *mine_stalled(const kind *of)
{
    return kind_of(of, scene_client(STALLED), NAME);
}

static const rli_script *acquiring(const kind *of)
{
    return of->fair ? &rli_script_fair_acquire : &rli_script_lock_acquire;
}

static const rli_script *releasing(const kind *of)
{
    return of->fair ? &rli_script_fair_release : of->channel ? &rli_script_lock_handoff : &rli_script_spin_handoff;
}

static int on_release(const kind *of, proxy_act act, int times)
{
    return on_script(releasing(of), act, times);
}

static actor *wait_with(const kind *of, rlock *lock, rlock_cancel *cancel)
{
    actor *waiter = actor_start();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    actor_begin_with(waiter, lock, &options);
    heir_await(of, lock, waiter);
    return waiter;
}

/* A thread of its own, which unlocks what it holds while the test goes on. */
static actor *holder_of_it(rlock *lock)
{
    actor *holder = actor_start();
    assert_ok(actor_lock(holder, lock));
    return holder;
}

/* Has it unlock; returns once the server has, and `times` answers (0: all) are kept by the rule. */
static int begin_unlock(const kind *of, actor *holder, rlock *lock, int times)
{
    int rule = on_release(of, PROXY_HOLD_REPLY, times);
    actor_begin_unlock(holder, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, times ? times : 1, 5000));
    return rule;
}

/* The next one has it, and goes on. */
static void take_turn(actor *waiter, rlock *lock)
{
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_assert(actor_hold_count(waiter, lock) == 1 && actor_valid_for(waiter, lock) > 0);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Somebody else has the lock at once, and leaves it free. */
static void assert_had_by_others(const kind *of)
{
    rlock *others = kind_of(of, stage.other, NAME);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS), "it is held by nobody who knows");
    assert_ok(rlock_try_lock(others, at_most_ms(2000), 1000));
    assert_ok(rlock_unlock(others));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
}

/* The same, and nothing is left. */
static void assert_free_soon(const kind *of)
{
    assert_had_by_others(of);
    cr_assert(!of->fair || wait_queued(NAME, 0, SOON_MS));
    assert_no_keys();
}

/* --- answered in the end --- */

/* It ran, and was asked again: it went to one, once. */
HEIR_TEST_SPIN(lost_answer_hands_it_over_once)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start(of, lock), *second = heir_start(of, lock);
    int rule = on_release(of, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1 && seen_by(rule) == 2);
    cr_assert(!actor_ended(second, 100) && heirs_queue(of, lock, 1));
    cr_assert(actor_hold_count(first, lock) == 1);
    assert_ok(actor_unlock(first, lock));
    take_turn(second, lock);
    assert_no_keys();
    actor_end(first);
}

/* It did not run before it was asked again. */
HEIR_TEST_SPIN(lost_request_hands_it_over_once)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start(of, lock), *second = heir_start(of, lock);
    on_release(of, PROXY_CUT_BEFORE, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    cr_assert(!actor_ended(second, 100) && heirs_queue(of, lock, 1));
    assert_ok(actor_unlock(first, lock));
    take_turn(second, lock);
    assert_no_keys();
    actor_end(first);
}

/* Stalled, asked again, and run after all: whoever has it by then, who had it from it, and nobody. */
HEIR_TEST_SPIN(late_copy_gives_nobody_anything)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start_try(of, lock, 30000, 20000), *second = heir_start(of, lock);
    int rule = on_release(of, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_unlock(first, lock));
    assert_ok(actor_finish(second, 5000));
    actor *third = heir_start(of, lock);
    int64_t number = wire_number(NAME, scene.client);
    let_through(rule);
    cr_assert(wire_number(NAME, scene.client) == number && heirs_queue(of, lock, 1) && !actor_ended(third, 100));
    assert_ok(actor_unlock(second, lock));
    take_turn(third, lock);
    assert_free_soon(of);
    actor_end(first);
    actor_end(second);
}

HEIR_TEST_SPIN(late_copy_leaves_a_free_lock_free)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start(of, lock);
    int rule = on_release(of, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    take_turn(first, lock);
    assert_no_keys();
    let_through(rule);
    assert_no_keys();
}

/* Its copy finds the one who had it from it inside twice: that one's hold stands. */
HEIR_TEST_SPIN(late_copy_leaves_a_re_entry_alone)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start(of, lock);
    int rule = on_release(of, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_lock(first, lock));
    let_through(rule);
    cr_assert(actor_hold_count(first, lock) == 2);
    assert_ok(actor_unlock(first, lock));
    cr_assert(pttl_of(NAME) > 0);
    assert_ok(actor_unlock(first, lock));
    assert_no_keys();
    actor_end(first);
}

/* --- never answered --- */

/* It ran all the same: who has it finds out by asking. */
HEIR_TEST_SPIN(unheard_answer_is_found_out_by_the_next)
{
    rlock *lock = mine(of);
    actor *holder = holder_of_it(lock), *first = heir_start(of, lock);
    int rule = on_release(of, PROXY_HOLD_REPLY, 0);
    actor_begin_unlock(holder, lock);
    assert_ok(actor_finish(first, PATIENCE_MS + SOON_MS));
    assert_status(actor_finish(holder, 5000), RLOCK_UNAVAILABLE);
    cr_assert(actor_hold_count(first, lock) == 1 && actor_valid_for(first, lock) > 0);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_unlock(first, lock));
    assert_free_soon(of);
    actor_end(holder);
    actor_end(first);
}

/* It never ran: the unlock is made in the background, and tells the next one. */
HEIR_TEST_SPIN(lost_requests_are_made_up_for)
{
    rlock *lock = mine(of);
    actor *holder = holder_of_it(lock), *first = heir_start(of, lock), *second = heir_start(of, lock);
    int rule = on_release(of, PROXY_CUT_BEFORE, 3);
    actor_begin_unlock(holder, lock);
    assert_status(actor_finish(holder, 5000), RLOCK_UNAVAILABLE);
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 3);
    assert_ok(actor_finish(first, SOON_MS));
    cr_assert(!actor_ended(second, 100));
    assert_ok(actor_unlock(first, lock));
    take_turn(second, lock);
    assert_free_soon(of);
    actor_end(holder);
    actor_end(first);
}

/* All its copies run when nobody knows of it any more: the one it was for has given up. */
HEIR_TEST_SPIN(late_copies_give_nothing_to_a_wait_that_is_over)
{
    rlock *lock = mine_stalled(of);
    actor *holder = holder_of_it(lock), *first = heir_start_try(of, lock, LEAVING_MS, 20000);
    int rule = on_release(of, PROXY_HOLD_REQUEST, 0);
    actor_begin_unlock(holder, lock);
    rlock_status status = actor_finish(first, 5000);
    cr_assert(status == RLOCK_TIMEOUT || status == RLOCK_UNAVAILABLE);
    assert_status(actor_finish(holder, 20000), RLOCK_UNAVAILABLE);
    let_through(rule);
    assert_free_soon(of);
    cr_assert(actor_valid_for(first, lock) == 0);
    assert_status(actor_unlock(first, lock), RLOCK_NOT_OWNER);
    actor_end(holder);
    actor_end(first);
}

/* --- the wait ends meanwhile --- */

/* Its time is up while the unlock is stalled: it returns in its time, and what is given to it then is given
 * back in the background. */
HEIR_TEST_SPIN(to_a_wait_that_is_over_by_then_is_given_back)
{
    rlock *lock = mine_stalled(of);
    actor *holder = holder_of_it(lock);
    actor *first = heir_start_try(of, lock, LEAVING_MS, 20000), *second = heir_start(of, lock);
    int rule = begin_unlock(of, holder, lock, 1);
    assert_status(actor_finish(first, 5000), RLOCK_TIMEOUT);
    assert_between(actor_took(first), LEAVING_MS, LEAVING_MS + 250 + at_most_ms(250));
    assert_ok(actor_finish(holder, 5000));
    take_turn(second, lock);
    assert_free_soon(of);
    assert_status(actor_unlock(first, lock), RLOCK_NOT_OWNER);
    proxy_release(scene.proxy, rule);
    actor_end(holder);
    actor_end(first);
}

/* Cancelled while the unlock is under way, which is answered soon: it has the lock, and says so. */
HEIR_TEST_SPIN(to_a_wait_that_is_cancelled_just_then_stands)
{
    rlock *lock = mine(of);
    rlock_cancel *cancel = rlock_cancel_new();
    actor *holder = holder_of_it(lock), *waiter = wait_with(of, lock, cancel);
    int rule = begin_unlock(of, holder, lock, 1);
    rlock_cancel_fire(cancel);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(holder, 5000));
    rlock_status status = actor_finish(waiter, 5000);
    cr_assert(status == RLOCK_OK || at_most_ms(250) > 250, "%s", rlock_strstatus(status));
    if (status == RLOCK_OK)
        assert_ok(actor_unlock(waiter, lock));
    assert_free_soon(of);
    rlock_cancel_free(cancel);
    actor_end(holder);
    actor_end(waiter);
}

/* The same when the answer does not come soon: it is cancelled, and holds nothing. */
HEIR_TEST_SPIN(to_a_wait_that_was_cancelled_is_given_back)
{
    rlock *lock = mine(of);
    rlock_cancel *cancel = rlock_cancel_new();
    actor *holder = holder_of_it(lock), *waiter = wait_with(of, lock, cancel);
    int rule = begin_unlock(of, holder, lock, 0);
    int64_t since_ms = now_ms();
    rlock_cancel_fire(cancel);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, 250 + at_most_ms(300));
    cr_assert(actor_valid_for(waiter, lock) == 0);
    proxy_release(scene.proxy, rule);
    actor_finish(holder, 5000);
    assert_free_soon(of);
    rlock_cancel_free(cancel);
    actor_end(holder);
    actor_end(waiter);
}

/* One of two threads of an owner gives up meanwhile: the other has the lock. */
HEIR_TEST_SPIN(to_a_wait_that_is_over_by_then_goes_to_its_owners_other_thread)
{
    rlock *lock = mine_stalled(of), *view = owned_by(lock, 7);
    actor *holder = holder_of_it(lock), *other = actor_start();
    actor *leaving = heir_start_try(of, view, LEAVING_MS, 20000);
    actor_begin_lock(other, view);
    cr_assert(actor_asleep(other, 5000) && heirs_queue(of, lock, 1));
    int rule = begin_unlock(of, holder, lock, 1);
    assert_status(actor_finish(leaving, 5000), RLOCK_TIMEOUT);
    assert_ok(actor_finish(holder, 5000));
    take_turn(other, view);
    proxy_release(scene.proxy, rule);
    assert_free_soon(of);
    actor_end(holder);
    actor_end(leaving);
}

/* A thread of the owner begins to wait while that of another, whose time is up, is handed the lock in vain. */
HEIR_TEST_SPIN(to_a_wait_that_is_over_by_then_is_not_in_its_owners_way)
{
    rlock *lock = mine_stalled(of), *view = owned_by(lock, 7);
    actor *holder = holder_of_it(lock), *next = actor_start();
    actor *leaving = heir_start_try(of, view, LEAVING_MS, 20000);
    int rule = begin_unlock(of, holder, lock, 1);
    assert_status(actor_finish(leaving, 5000), RLOCK_TIMEOUT);
    actor_begin_lock(next, view);
    assert_ok(actor_finish(holder, 5000));
    take_turn(next, view);
    proxy_release(scene.proxy, rule);
    assert_free_soon(of);
    actor_end(holder);
    actor_end(leaving);
}

/* --- leases --- */

/* The lease is over before the answer comes. It was granted as asked for. */
HEIR_TEST_SPIN(of_a_lease_shorter_than_the_round_trip_is_over_at_once)
{
    rlock *lock = mine(of);
    actor *holder = holder_of_it(lock), *waiter = heir_start_try(of, lock, 30000, 30);
    int rule = begin_unlock(of, holder, lock, 1);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000));
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(holder, 5000));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(actor_valid_for(waiter, lock) == 0);
    assert_status(actor_unlock(waiter, lock), RLOCK_LOST);
    assert_no_keys();
    actor_end(holder);
    actor_end(waiter);
}

/* It ran, and ran out, before it was asked again: the wait goes on, and gets a whole one. */
HEIR_TEST_SPIN(that_ran_out_before_it_was_answered_is_asked_for_again)
{
    enum { LEASE_MS = ATTEMPT_MS / 2 };
    rlock *lock = mine(of);
    actor *holder = holder_of_it(lock), *waiter = heir_start_try(of, lock, 30000, LEASE_MS);
    int rule = begin_unlock(of, holder, lock, 1);
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1 && actor_valid_for(waiter, lock) > LEASE_MS / 2);
    assert_ok(actor_finish(holder, 5000));
    assert_ok(actor_unlock(waiter, lock));
    assert_free_soon(of);
    actor_end(holder);
    actor_end(waiter);
}

/* The answer comes when the lease, counted from the first request, is over: the same. */
HEIR_TEST_SPIN(that_took_longer_than_the_lease_is_asked_for_again)
{
    enum { LEASE_MS = ATTEMPT_MS + 300 };
    rlock *lock = mine(of);
    actor *holder = holder_of_it(lock), *waiter = heir_start_try(of, lock, 30000, LEASE_MS);
    int asked = on_script(acquiring(of), PROXY_NOTE, 0), rule = begin_unlock(of, holder, lock, 2);
    int64_t until_ms = now_ms() + 300;
    cr_assert(!actor_ended(waiter, 300) && now_ms() >= until_ms);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(proxy_count(scene.proxy, asked, PROXY_ANSWERED) >= 1);
    cr_assert(actor_valid_for(waiter, lock) > LEASE_MS / 2);
    assert_ok(actor_finish(holder, 5000));
    assert_ok(actor_unlock(waiter, lock));
    assert_free_soon(of);
    actor_end(holder);
    actor_end(waiter);
}

/* --- the server, the client --- */

/* A server at its maxmemory: who is next takes no more of it than who goes. */
HEIR_TEST_SPIN(needs_no_memory)
{
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    actor *first = heir_start(of, lock), *second = heir_start(of, lock);
    freeReplyObject(server_command(stage.server, "CONFIG SET maxmemory 1"));
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(first, 5000));
    freeReplyObject(server_command(stage.server, "CONFIG SET maxmemory 0"));
    assert_ok(actor_unlock(first, lock));
    take_turn(second, lock);
    assert_no_keys();
    actor_end(first);
}

/* Nor does an unlock, though it gives a time to one at the head that has none. */
Test(hand_over_in_faults, needs_no_memory_for_a_head_without_a_time)
{
    rlock *lock = mine(&kind_fair);
    assert_ok(rlock_lock(lock));
    foreign_queue(NAME, 1, 60000);
    freeReplyObject(server_command(stage.server, "DEL redisson_lock_timeout:{" NAME "}"));
    freeReplyObject(server_command(stage.server, "CONFIG SET maxmemory 1"));
    rlock_status status = rlock_unlock(lock);
    freeReplyObject(server_command(stage.server, "CONFIG SET maxmemory 0"));
    assert_status(status, RLOCK_OK);
}

/* The server begins anew between the unlock and its retry: nobody holds the lock, and all go on. */
HEIR_TEST_SPIN(is_made_up_for_when_the_server_begins_anew)
{
    rlock *lock = mine(of);
    actor *holder = holder_of_it(lock);
    actor *first = heir_start_try(of, lock, 30000, 5000), *second = heir_start_try(of, lock, 30000, 5000);
    begin_unlock(of, holder, lock, 1);
    server_kill(stage.server);
    server_restart(stage.server);
    rlock_status status = actor_finish(holder, 5000);
    cr_assert(status == RLOCK_LOST || status == RLOCK_OK, "%s", rlock_strstatus(status));
    actor *waiters[2] = {first, second};
    int left = 2;
    for (int64_t until_ms = limit_end_ms(20000); left && now_ms() < until_ms;) {
        for (int i = 0; i < 2; i++) {
            if (waiters[i] && actor_ended(waiters[i], 1)) {
                assert_ok(actor_finish(waiters[i], 0));
                assert_ok(actor_unlock(waiters[i], lock));
                waiters[i] = NULL;
                left--;
            }
        }
    }
    cr_assert(left == 0, "%d still wait", left);
    assert_free_soon(of);
    actor_end(holder);
    actor_end(first);
    actor_end(second);
}

/* The client is closed meanwhile: all calls end. What was handed over stands until its time is up. */
HEIR_TEST_SPIN(ends_with_the_client)
{
    rlock_client *client = scene_client(QUICK);
    rlock *lock = kind_of(of, client, NAME);
    actor *holder = holder_of_it(lock), *waiter = heir_start_try(of, lock, 30000, 1000);
    int rule = begin_unlock(of, holder, lock, 1);
    scene_close_client(client);
    assert_status(actor_finish(holder, at_most_ms(1000)), RLOCK_CLOSED);
    assert_status(actor_finish(waiter, at_most_ms(1000)), RLOCK_CLOSED);
    cr_assert(server_wait_exists(stage.server, NAME, false, 5000));
    proxy_release(scene.proxy, rule);
    actor_end(holder);
    actor_end(waiter);
}

/* --- of one kind alone --- */

/* Of a fenced lock the token of the hold is the latest, whichever run drew it. */
Test(hand_over_here_in_faults, lost_answer_still_gives_a_fenced_heir_a_token)
{
    const kind *of = &kind_fenced;
    rlock *lock = mine(of);
    uint64_t own = 0, heirs = 0;
    assert_ok(rlock_lock_and_get_token(lock, &own));
    actor *waiter = actor_start();
    actor_begin_lock_and_get_token(waiter, lock, &heirs);
    heir_await(of, lock, waiter);
    int rule = on_release(of, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(seen_by(rule) == 2 && heirs > own);
    cr_assert((int64_t)heirs == server_integer(stage.server, "GET " COUNTER));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* The wait for a fenced lock is over before the unlock is asked for again, and its handle is gone, too. */
Test(hand_over_here_in_faults, to_a_wait_whose_handle_is_gone_is_given_back)
{
    const kind *of = &kind_reentrant;
    rlock_client *client = scene_client(STALLED);
    rlock *lock = kind_of(of, client, NAME), *fenced = rlock_get_fenced_lock(client, NAME);
    actor *holder = holder_of_it(lock), *waiter = heir_start_try(of, fenced, LEAVING_MS, 20000);
    int rule = on_release(of, PROXY_HOLD_REQUEST, 1);
    actor_begin_unlock(holder, lock);
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    rlock_free(fenced);
    assert_ok(actor_finish(holder, 5000));
    let_through(rule);
    assert_had_by_others(of);
    cr_assert(server_integer(stage.server, "EXISTS " COUNTER) == 1);
    cr_assert(server_integer(stage.server, "DBSIZE") == 1);
    actor_end(holder);
    actor_end(waiter);
}

/* The next one's own question, which was denied when it was asked again, runs late, and the hold of the one that
 * unlocks was gone by then: what the heir is told to have, the server keeps for it. */
Test(hand_over_here_in_faults, to_one_that_has_it_by_a_late_question_lasts_as_long_as_it_is_told)
{
    const kind *of = &kind_reentrant;
    rlock *lock = mine(of);
    assert_ok(rlock_lock(lock));
    int question = on_script(acquiring(of), PROXY_HOLD_REQUEST, 1);
    actor *heir = heir_start_try(of, lock, 60000, 4000);
    cr_assert(seen_by(question) >= 2);
    foreign_vanish(NAME);
    let_through(question);
    cr_assert(server_wait_exists(stage.server, NAME, true, SOON_MS));
    pass_ms(1000);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(actor_finish(heir, SOON_MS));
    int64_t valid_ms = actor_valid_for(heir, lock);
    cr_assert(valid_ms > 0 && valid_ms <= pttl_of(NAME));
    assert_ok(actor_unlock(heir, lock));
    assert_free_soon(of);
    actor_end(heir);
}

/* --- many faults --- */

enum { CROWD = 8, FAULTS = 24, FAULT_MS = 60 };

static struct {
    rlock *lock;
    atomic_int inside, together;
    atomic_long turns;
    atomic_bool over;
} crowd;

/* Returns how long a turn may be waited for. The first of the crowd never waits, so it always asks the server: the
 * others may hand the lock on for ever without a question. */
static int64_t patience(int number, int turn)
{
    if (number == 0)
        return 0;
    return (number + turn) % 3 ? RLOCK_FOREVER : 5 + turn % 90;
}

/* Takes turns until it is over; some waits are short. Nothing else than a fault may end one. */
static rlock_status take_turns(void *arg)
{
    int number = *(const int *)arg;
    for (int i = 0; !atomic_load(&crowd.over); i++) {
        int64_t wait_ms = patience(number, i);
        rlock_status status = rlock_try_lock(crowd.lock, wait_ms, i % 2 ? RLOCK_WATCHDOG : 25000);
        if (status == RLOCK_OK) {
            if (atomic_fetch_add(&crowd.inside, 1) != 0)
                atomic_fetch_add(&crowd.together, 1);
            if (i % 4 == 0)
                pass_ms(1);
            atomic_fetch_sub(&crowd.inside, 1);
            atomic_fetch_add(&crowd.turns, 1);
            status = rlock_unlock(crowd.lock);
        } else if (status == RLOCK_TIMEOUT && wait_ms != RLOCK_FOREVER) {
            status = RLOCK_OK;
        }
        if (status != RLOCK_OK && status != RLOCK_UNAVAILABLE)
            return status;
    }
    return RLOCK_OK;
}

/* One fault after the other in the midst of a crowd: never are two inside, all go on, and nothing is left. */
HEIR_TEST_SPIN(of_a_crowd_lets_one_in_at_a_time)
{
    static const proxy_act acts[] = {PROXY_CUT_AFTER, PROXY_HOLD_REQUEST, PROXY_CUT_BEFORE, PROXY_HOLD_REPLY};
    static int numbers[CROWD];
    actor *actors[CROWD];
    int rules[FAULTS];
    crowd.lock = mine(of);
    for (int i = 0; i < CROWD; i++) {
        numbers[i] = i;
        actors[i] = actor_start();
        actor_begin(actors[i], take_turns, &numbers[i]);
    }
    for (int i = 0; i < FAULTS; i++) {
        rules[i] = on_script(i % 3 ? releasing(of) : acquiring(of), acts[i % 4], 1);
        cr_assert(proxy_await(scene.proxy, rules[i], PROXY_ACTED, 1, 2 * SOON_MS), "nobody goes on");
        if (i % 8 == 7)
            proxy_cut_subscribers(scene.proxy);
        pass_ms(FAULT_MS);
        if (i >= 6) /* what was kept comes late */
            proxy_release(scene.proxy, rules[i - 6]);
    }
    for (int i = FAULTS - 6; i < FAULTS; i++)
        proxy_release(scene.proxy, rules[i]);
    long turns = atomic_load(&crowd.turns);
    for (int64_t until_ms = limit_end_ms(SOON_MS); atomic_load(&crowd.turns) < turns + 100; pass_ms(1))
        cr_assert(now_ms() < until_ms, "they do not go on as before");
    atomic_store(&crowd.over, true);
    for (int i = 0; i < CROWD; i++) {
        assert_ok(actor_finish(actors[i], 2 * SOON_MS));
        actor_end(actors[i]);
    }
    cr_assert(atomic_load(&crowd.together) == 0, "two were inside at once");
    assert_free_soon(of);
}

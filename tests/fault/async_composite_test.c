/* Async calls on multi and red locks while one member's server, connection or client fails. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/members.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>

TestSuite(async_composite, .init = members_open, .fini = members_close);

/* --- lost replies --- */

/* The reply of a member's server to the acquire is lost: the call asks again, finds its hold, and takes it once. */
RealTest(async_composite, multi_lock_takes_a_member_once_whose_reply_is_lost)
{
    ending end = {0};
    rlock *multi = made_of_members(rlock_get_multi_lock);
    int rule = member_rule(1, &rli_script_lock_acquire, PROXY_HOLD_REPLY, 1);
    member_begin_lock(multi, RLOCK_FOREVER, LONG_LEASE_MS, NULL, &end);
    assert_ends(end, RLOCK_OK);
    assert_between(proxy_count(members[1].proxy, rule, PROXY_ACTED), 1, 1);
    for (size_t i = 0; i < MEMBERS; i++)
        cr_assert(member_held(i), "member %zu", i);
    member_unlock(multi);
    assert_members_free();
}

/* A red lock has its majority without that member, whose hold is given back in the background. */
RealTest(async_composite, red_lock_gives_back_a_member_whose_reply_is_lost)
{
    ending end = {0};
    rlock *red = made_of_members(rlock_get_red_lock);
    int rule = member_rule(1, &rli_script_lock_acquire, PROXY_HOLD_REPLY, 0);
    member_begin_lock(red, RLOCK_FOREVER, LONG_LEASE_MS, NULL, &end);
    assert_ends(end, RLOCK_OK);
    cr_assert(proxy_count(members[1].proxy, rule, PROXY_ACTED) >= 1, "the reply was not lost");
    cr_assert(member_held(0) && member_held(2));
    assert_member_free(1);
    member_unlock(red);
    assert_members_free();
}

static void lose_reply_of_unlock(lock_maker *make, rlock_status expected)
{
    ending locked = {0}, unlocked = {0}, again = {0};
    rlock *lock = made_of_members(make);
    member_begin_lock(lock, RLOCK_FOREVER, LONG_LEASE_MS, NULL, &locked);
    assert_ends(locked, RLOCK_OK);
    int rule = member_rule(1, &rli_script_lock_release, PROXY_HOLD_REPLY, 1);
    member_begin_unlock(lock, &unlocked);
    assert_ends(unlocked, expected);
    assert_between(proxy_count(members[1].proxy, rule, PROXY_ACTED), 1, 1);
    assert_members_free();
    member_begin_unlock(lock, &again);
    assert_ends(again, RLOCK_NOT_OWNER);
}

/* The reply to the release of one member is lost: the call says so, and all members are free. */
RealTest(async_composite, multi_unlock_reports_a_lost_reply_and_frees_all_members)
{
    lose_reply_of_unlock(rlock_get_multi_lock, RLOCK_UNAVAILABLE);
}

/* The majority was released. */
RealTest(async_composite, red_unlock_succeeds_without_one_reply_and_frees_all_members)
{
    lose_reply_of_unlock(rlock_get_red_lock, RLOCK_OK);
}

/* --- a server that stops --- */

/* The last member's server stops while the call holds the first and waits for the second: what it took is given back. */
RealTest(async_composite, multi_lock_leaves_nothing_held_when_a_server_stops)
{
    ending end = {0};
    rlock *multi = made_of_members(rlock_get_multi_lock);
    member_foreign_hold(1);
    member_begin_lock(multi, 4000, LONG_LEASE_MS, NULL, &end);
    member_serve_until_held(0);
    server_freeze(members[2].server);
    member_foreign_release(1);
    cr_assert(poll_loop_wait(&end, MEMBER_LIMIT_MS));
    server_thaw(members[2].server);
    cr_assert(end.status == RLOCK_UNAVAILABLE || end.status == RLOCK_TIMEOUT, "%s: %s", rlock_strstatus(end.status),
              end.error);
    assert_members_free();
}

/* The first member's server stops after it has granted its member. The majority is made of the others, or of one of them and
 * the first, if that grant was read before. */
RealTest(async_composite, red_lock_stands_when_a_server_stops)
{
    ending end = {0};
    rlock *red = made_of_members(rlock_get_red_lock);
    member_foreign_hold(1);
    member_foreign_hold(2);
    member_begin_lock(red, RLOCK_FOREVER, LONG_LEASE_MS, NULL, &end);
    member_serve_until_held(0);
    server_freeze(members[0].server);
    member_foreign_release(1);
    member_foreign_release(2);
    cr_assert(poll_loop_wait(&end, MEMBER_LIMIT_MS));
    cr_assert(end.status == RLOCK_OK, "%s: %s", rlock_strstatus(end.status), end.error);
    cr_assert(rlock_valid_for(red) > 0);
    server_thaw(members[0].server);
    cr_assert(member_held(0) + member_held(1) + member_held(2) >= 2);
    member_unlock(red);
    assert_members_free();
}

/* --- cancelled --- */

static void *fire(void *cancel)
{
    rlock_cancel_fire(cancel);
    return NULL;
}

/* Another thread cancels the call while it holds the first member, and the second has granted its hold in a reply that is
 * lost. */
static void cancel_with_one_held(lock_maker *make)
{
    pthread_t firing;
    ending end = {0};
    rlock_cancel *cancel = rlock_cancel_new();
    int rule = member_rule(1, &rli_script_lock_acquire, PROXY_HOLD_REPLY, 0);
    if (make == rlock_get_red_lock)
        member_foreign_hold(2);
    member_begin_lock(made_of_members(make), RLOCK_FOREVER, LONG_LEASE_MS, cancel, &end);
    member_serve_until_counted(1, rule, PROXY_ANSWERED, 1);
    cr_assert(pthread_create(&firing, NULL, fire, cancel) == 0);
    pthread_join(firing, NULL);
    assert_ends(end, RLOCK_CANCELLED);
    rlock_cancel_free(cancel);
    proxy_release(members[1].proxy, rule);
    if (make == rlock_get_red_lock)
        member_foreign_release(2);
    assert_members_free();
}

RealTest(async_composite, cancelled_multi_lock_leaves_nothing_held)
{
    cancel_with_one_held(rlock_get_multi_lock);
}

RealTest(async_composite, cancelled_red_lock_leaves_nothing_held)
{
    cancel_with_one_held(rlock_get_red_lock);
}

typedef struct late_fire {
    rlock_cancel *cancel;
    atomic_bool begun;
    int turns; /* how long it waits once the call has begun, so that it meets each stage in some round */
} late_fire;

static void *fire_late(void *arg)
{
    late_fire *self = arg;
    while (!atomic_load(&self->begun))
        sched_yield();
    for (int i = 0; i < self->turns; i++)
        sched_yield();
    rlock_cancel_fire(self->cancel);
    return NULL;
}

/* The token fires at any moment of a call that nothing delays, also while the last member is granted: the lock is then held
 * as a whole, or not at all. */
static void cancel_at_any_moment(lock_maker *make)
{
    rlock *lock = made_of_members(make);
    for (int i = 0; i < 60; i++) {
        pthread_t firing;
        ending end = {0};
        late_fire late = {.cancel = rlock_cancel_new(), .turns = i * 20};
        cr_assert(pthread_create(&firing, NULL, fire_late, &late) == 0);
        member_begin_lock(lock, RLOCK_FOREVER, LONG_LEASE_MS, late.cancel, &end);
        atomic_store(&late.begun, true);
        cr_assert(poll_loop_wait(&end, MEMBER_LIMIT_MS));
        pthread_join(firing, NULL);
        rlock_cancel_free(late.cancel);
        cr_assert(end.status == RLOCK_OK || end.status == RLOCK_CANCELLED, "%s: %s", rlock_strstatus(end.status),
                  end.error);
        if (end.status == RLOCK_OK) {
            cr_assert(rlock_valid_for(lock) > 0);
            member_unlock(lock);
        }
        cr_assert(rlock_valid_for(lock) == 0);
        assert_members_free();
    }
}

RealTest(async_composite, multi_lock_is_whole_or_free_when_cancelled_at_any_moment)
{
    cancel_at_any_moment(rlock_get_multi_lock);
}

RealTest(async_composite, red_lock_is_whole_or_free_when_cancelled_at_any_moment)
{
    cancel_at_any_moment(rlock_get_red_lock);
}

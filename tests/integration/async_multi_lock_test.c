/* Async calls on multi locks: as the blocking calls, over clients and servers that a poll loop serves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/poll_loop.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#define NAME  "order"
#define OWNER 7

static void serve_all(void)
{
    for (size_t i = 0; i < PLACES; i++)
        poll_loop_add(places[i].ours);
}

static void open_served(void)
{
    places_open();
    serve_all();
}

static void open_served_brief(void)
{
    places_brief();
    serve_all();
}

TestSuite(async_multi_lock, .init = open_served, .fini = places_close);
/* With clients that soon give up on a server. */
TestSuite(async_multi_lock_outage, .init = open_served_brief, .fini = places_close);

static rlock *ours(void)
{
    return owned_by(made_on_places(rlock_get_multi_lock, true, NAME), OWNER);
}

static rlock_lock_options try_options(int64_t wait_ms, int64_t lease_ms)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = lease_ms;
    return options;
}

static void begin_try(rlock *lock, int64_t wait_ms, ending *end)
{
    rlock_lock_options options = try_options(wait_ms, 30000);
    assert_ok(rlock_lock_async(lock, &options, poll_loop_end, end));
}

static void assert_all(bool held)
{
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(held ? held_at(i, NAME) : wait_free_at(i, NAME, 20000), "place %zu", i);
}

static bool is_first_held(void *arg)
{
    (void)arg;
    return held_at(0, NAME);
}

/* --- acquiring and releasing --- */

RealTest(async_multi_lock, takes_all_members_and_releases_them)
{
    ending locked = {0}, held = {0}, unlocked = {0}, held_after = {0}, again = {0};
    rlock *multi = ours();
    assert_ok(rlock_lock_async(multi, NULL, poll_loop_end, &locked));
    assert_ends(locked, RLOCK_OK);
    assert_all(true);
    cr_assert(rlock_valid_for(multi) > 0);
    assert_ok(rlock_is_held_async(multi, NULL, poll_loop_end, &held));
    assert_ends(held, RLOCK_OK);
    cr_assert(held.answer == 1);
    assert_ok(rlock_unlock_async(multi, NULL, poll_loop_end, &unlocked));
    assert_ends(unlocked, RLOCK_OK);
    assert_all(false);
    assert_ok(rlock_is_held_async(multi, NULL, poll_loop_end, &held_after));
    assert_ends(held_after, RLOCK_OK);
    cr_assert(held_after.answer == 0);
    assert_ok(rlock_unlock_async(multi, NULL, poll_loop_end, &again));
    assert_ends(again, RLOCK_NOT_OWNER);
    assert_words(again.error, "not locked by current owner");
}

/* The handle may be freed at once, and the owner of the options acts on each member. */
RealTest(async_multi_lock, acts_for_the_owner_of_the_call)
{
    ending locked = {0}, other = {0}, held = {0}, unlocked = {0};
    const rlock_owner owner = {OWNER}, another = {OWNER + 1};
    rlock *locks[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        locks[i] = lock_of(places[i].ours, NAME);
    rlock *multi = rlock_get_multi_lock(locks, PLACES);
    rlock_lock_options options = try_options(10000, 30000);
    options.named_owner = true;
    options.owner = OWNER;
    assert_ok(rlock_lock_async(multi, &options, poll_loop_end, &locked));
    rlock_free(multi);
    assert_ends(locked, RLOCK_OK);
    cr_assert(is_held(ours()));
    multi = rlock_get_multi_lock(locks, PLACES);
    assert_ok(rlock_is_held_async(multi, &owner, poll_loop_end, &held));
    assert_ok(rlock_unlock_async(multi, &another, poll_loop_end, &other));
    assert_ends(held, RLOCK_OK);
    cr_assert(held.answer == 1);
    assert_ends(other, RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock_async(multi, &owner, poll_loop_end, &unlocked));
    rlock_free(multi);
    assert_ends(unlocked, RLOCK_OK);
    assert_all(false);
}

RealTest(async_multi_lock, names_its_owner_and_has_no_state)
{
    ending end = {0};
    rlock *multi = made_on_places(rlock_get_multi_lock, true, NAME);
    assert_status(rlock_lock_async(multi, NULL, poll_loop_end, &end), RLOCK_INVALID);
    assert_error("names no owner", NAME);
    assert_status(rlock_unlock_async(multi, NULL, poll_loop_end, &end), RLOCK_INVALID);
    assert_status(rlock_is_held_async(multi, NULL, poll_loop_end, &end), RLOCK_INVALID);
    assert_status(rlock_get_hold_count_async(ours(), NULL, poll_loop_end, &end), RLOCK_UNSUPPORTED);
    assert_status(rlock_force_unlock_async(ours(), poll_loop_end, &end), RLOCK_UNSUPPORTED);
    cr_assert(!end.known);
}

RealTest(async_multi_lock, tries_once_and_leaves_nothing)
{
    ending denied = {0};
    foreign_hold_at(2, NAME);
    begin_try(ours(), 0, &denied);
    assert_ends(denied, RLOCK_TIMEOUT);
    assert_words(denied.error, "held by another owner");
    cr_assert(wait_free_at(0, NAME, 20000) && wait_free_at(1, NAME, 20000));
}

RealTest(async_multi_lock, gives_up_when_its_time_ends)
{
    ending end = {0};
    foreign_hold_at(1, NAME);
    begin_try(ours(), 400, &end);
    assert_ends(end, RLOCK_TIMEOUT);
    assert_words(end.error, "within 400 ms");
    cr_assert(wait_free_at(0, NAME, 20000) && wait_free_at(2, NAME, 20000));
}

/* The last member is held elsewhere, by a blocking call; its release lets the async call finish. */
RealTest(async_multi_lock, is_granted_when_the_last_member_is_released)
{
    ending end = {0};
    rlock *theirs = lock_of(places[2].theirs, NAME), *multi = ours();
    assert_ok(rlock_lock(theirs));
    begin_try(multi, RLOCK_FOREVER, &end);
    cr_assert(poll_loop_until(is_first_held, NULL, 20000));
    cr_assert(!end.known);
    assert_ok(rlock_unlock(theirs));
    assert_ends(end, RLOCK_OK);
    assert_all(true);
    assert_ok(rlock_unlock(multi)); /* by a blocking call */
    assert_all(false);
}

/* A blocking call in a thread and an async call want the same members. */
RealTest(async_multi_lock, alternates_with_a_blocking_call)
{
    actor *thread = actor_start();
    rlock *multi = ours(), *theirs = made_on_places(rlock_get_multi_lock, false, NAME);
    for (int i = 0; i < 5; i++) {
        ending locked = {0}, unlocked = {0};
        assert_ok(rlock_lock_async(multi, NULL, poll_loop_end, &locked));
        assert_ends(locked, RLOCK_OK);
        actor_begin_try(thread, theirs, RLOCK_FOREVER, 30000);
        assert_ok(rlock_unlock_async(multi, NULL, poll_loop_end, &unlocked));
        assert_ends(unlocked, RLOCK_OK);
        assert_ok(actor_finish(thread, 20000));
        assert_ok(actor_unlock(thread, theirs));
    }
    actor_end(thread);
}

RealTest(async_multi_lock, is_cancelled_by_its_token)
{
    ending end = {0};
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = try_options(RLOCK_FOREVER, RLOCK_WATCHDOG);
    options.cancel = cancel;
    foreign_hold_at(2, NAME);
    assert_ok(rlock_lock_async(ours(), &options, poll_loop_end, &end));
    cr_assert(poll_loop_until(is_first_held, NULL, 20000));
    rlock_cancel_fire(cancel);
    assert_ends(end, RLOCK_CANCELLED);
    rlock_cancel_free(cancel);
    cr_assert(wait_free_at(0, NAME, 20000) && wait_free_at(1, NAME, 20000));
}

/* A red lock and a multi lock are members, of other clients than the first; fair locks queue on the server. */
RealTest(async_multi_lock, takes_members_that_are_made_of_locks)
{
    ending locked = {0}, held = {0}, unlocked = {0};
    rlock *fair[] = {stage_keep(rlock_get_fair_lock(places[1].ours, "fair-1")),
                     stage_keep(rlock_get_fair_lock(places[2].ours, "fair-2"))};
    rlock *members[] = {made_on_places(rlock_get_red_lock, true, NAME), made_of(rlock_get_multi_lock, fair, 2),
                        stage_keep(rlock_get_spin_lock(places[2].ours, "spin"))};
    rlock *multi = owned_by(made_of(rlock_get_multi_lock, members, 3), OWNER);
    begin_try(multi, 10000, &locked);
    assert_ends(locked, RLOCK_OK);
    assert_all(true);
    cr_assert(held_at(1, "fair-1") && held_at(2, "fair-2") && held_at(2, "spin"));
    assert_ok(rlock_is_held_async(multi, NULL, poll_loop_end, &held));
    assert_ends(held, RLOCK_OK);
    cr_assert(held.answer == 1);
    assert_ok(rlock_unlock_async(multi, NULL, poll_loop_end, &unlocked));
    assert_ends(unlocked, RLOCK_OK);
    assert_all(false);
    cr_assert(!held_at(1, "fair-1") && !held_at(2, "fair-2") && !held_at(2, "spin"));
}

/* The loop serves the first member's client alone: the others' watchdogs go on with the rest. */
RealTest(async_multi_lock, needs_no_more_than_its_first_client_processed)
{
    ending locked = {0}, unlocked = {0};
    rlock *multi = ours();
    poll_loop_remove(places[1].ours);
    poll_loop_remove(places[2].ours);
    begin_try(multi, RLOCK_FOREVER, &locked);
    assert_ends(locked, RLOCK_OK);
    assert_ok(rlock_unlock_async(multi, NULL, poll_loop_end, &unlocked));
    assert_ends(unlocked, RLOCK_OK);
    assert_all(false);
}

/* --- clients that close --- */

/* The function of another call closes a member's client, not the first, while the call waits for it. */
RealTest(async_multi_lock, ends_when_a_member_s_client_is_closed_in_a_function)
{
    rlock_client *closed = stage_client_at(server_url(places[1].server));
    rlock *pair[] = {lock_of(places[0].ours, NAME), lock_of(closed, NAME)};
    rlock *multi = owned_by(made_of(rlock_get_multi_lock, pair, 2), OWNER);
    ending end = {0}, closing = {.closes = closed};
    poll_loop_add(closed);
    foreign_hold_at(1, NAME);
    begin_try(multi, RLOCK_FOREVER, &end);
    cr_assert(poll_loop_until(is_first_held, NULL, 20000));
    assert_ok(rlock_is_locked_async(lock_of(places[2].ours, NAME), poll_loop_end, &closing));
    assert_ends(closing, RLOCK_OK);
    assert_ends(end, RLOCK_CLOSED);
    cr_assert(wait_free_at(0, NAME, 20000));
}

/* The first member's client is closed while the call holds a member of the second client, and waits for another: the
 * call ends within rlock_client_close, and gives back what it has. */
RealTest(async_multi_lock, ends_when_its_first_client_is_closed_in_a_function)
{
    rlock_client *closed = stage_client_at(server_url(places[0].server));
    rlock *row[] = {lock_of(closed, NAME), lock_of(places[1].ours, NAME), lock_of(places[2].ours, NAME)};
    rlock *multi = owned_by(made_of(rlock_get_multi_lock, row, 3), OWNER);
    ending end = {0}, closing = {.closes = closed};
    poll_loop_add(closed);
    foreign_hold_at(2, NAME);
    begin_try(multi, RLOCK_FOREVER, &end);
    cr_assert(poll_loop_until(is_first_held, NULL, 20000));
    assert_ok(rlock_is_locked_async(lock_of(closed, "another"), poll_loop_end, &closing));
    cr_assert(poll_loop_wait(&closing, 20000));
    cr_assert(end.known, "rlock_client_close has not ended it");
    cr_assert(end.status == RLOCK_CLOSED, "%s: %s", rlock_strstatus(end.status), end.error);
    cr_assert(wait_free_at(1, NAME, 20000));
}

/* --- servers that are gone --- */

RealTest(async_multi_lock_outage, releases_all_when_a_server_is_killed_meanwhile)
{
    ending end = {0};
    foreign_hold_at(2, NAME);
    begin_try(ours(), 4000, &end);
    cr_assert(poll_loop_until(is_first_held, NULL, 20000));
    server_kill(places[2].server);
    cr_assert(poll_loop_wait(&end, 30000));
    cr_assert(end.status == RLOCK_UNAVAILABLE || end.status == RLOCK_TIMEOUT, "%s", rlock_strstatus(end.status));
    cr_assert(wait_free_at(0, NAME, 20000) && wait_free_at(1, NAME, 20000));
}

RealTest(async_multi_lock_outage, releases_all_when_a_server_is_silent)
{
    ending end = {0};
    server_freeze(places[1].server);
    begin_try(ours(), 2000, &end);
    cr_assert(poll_loop_wait(&end, 30000));
    server_thaw(places[1].server);
    cr_assert(end.status == RLOCK_UNAVAILABLE || end.status == RLOCK_TIMEOUT, "%s", rlock_strstatus(end.status));
    assert_all(false);
}

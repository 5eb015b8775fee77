/* Async calls on red locks: a majority of servers, over clients that a poll loop serves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
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

TestSuite(async_red_lock, .init = open_served, .fini = places_close);
/* With clients that soon give up on a server. */
TestSuite(async_red_lock_outage, .init = open_served_brief, .fini = places_close);

static rlock *ours(void)
{
    return owned_by(made_on_places(rlock_get_red_lock, true, NAME), OWNER);
}

static void begin_try(rlock *lock, int64_t wait_ms, ending *end)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.wait_ms = wait_ms;
    options.lease_ms = 30000;
    assert_ok(rlock_lock_async(lock, &options, poll_loop_end, end));
}

static void release(rlock *lock)
{
    ending end = {0};
    assert_ok(rlock_unlock_async(lock, NULL, poll_loop_end, &end));
    assert_ends(end, RLOCK_OK);
}

/* The client may give up before a late answer comes; the lock is released all the same. */
static void release_impatiently(rlock *lock)
{
    ending end = {0};
    assert_ok(rlock_unlock_async(lock, NULL, poll_loop_end, &end));
    cr_assert(poll_loop_wait(&end, 20000) && (end.status == RLOCK_OK || end.status == RLOCK_UNAVAILABLE), "%s: %s",
              rlock_strstatus(end.status), end.error);
}

static bool is_asked_held(rlock *lock)
{
    ending end = {0};
    assert_ok(rlock_is_held_async(lock, NULL, poll_loop_end, &end));
    assert_ends(end, RLOCK_OK);
    return end.answer;
}

static void assert_free(void)
{
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(wait_free_at(i, NAME, 20000), "place %zu is left locked", i);
}

/* Takes it and leaves it taken, or gives it back when a member is left out. */
static bool takes_every_member(rlock *red)
{
    ending locked = {0};
    bool every = true;
    assert_ok(rlock_lock_async(red, NULL, poll_loop_end, &locked));
    assert_ends(locked, RLOCK_OK);
    for (size_t i = 0; i < PLACES; i++)
        every &= held_at(i, NAME);
    if (!every)
        release(red);
    return every;
}

/* Of one that does not answer within 250 ms, as a server of a real machine may, it is not known whether it is free. */
EITHER(RealTest, async_red_lock, holds_every_member_that_is_free)
{
    rlock *red = ours();
    for (int64_t end_ms = limit_end_ms(20000); !takes_every_member(red);)
        cr_assert(now_ms() < end_ms, "a member is left out");
    cr_assert(is_asked_held(red) && is_held(red));
    release(red);
    cr_assert(!is_asked_held(red));
    assert_free();
}

/* One of three is another's; with two, the lock is denied, and the third is given back. */
EITHER(RealTest, async_red_lock, needs_a_majority)
{
    ending locked = {0}, denied = {0}, late = {0};
    rlock *red = ours();
    foreign_hold_at(0, NAME);
    begin_try(red, 5000, &locked);
    assert_ends(locked, RLOCK_OK);
    cr_assert(held_at(1, NAME) && held_at(2, NAME));
    release(red);
    foreign_hold_at(1, NAME);
    begin_try(red, 0, &denied);
    assert_ends(denied, RLOCK_TIMEOUT);
    assert_words(denied.error, "2 are held by other owners");
    begin_try(red, 300, &late);
    cr_assert(poll_loop_wait(&late, 20000));
    /* its last pass may not have been answered by one of a real machine */
    cr_assert(late.status == RLOCK_TIMEOUT || late.status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(late.status));
    cr_assert(wait_free_at(2, NAME, 20000));
}

/* An inner hold that was acquired without a member is released without it, by blocking and async calls alike. */
EITHER(RealTest, async_red_lock, counts_holds_that_lack_a_member)
{
    ending outer = {0}, inner = {0};
    rlock *red = ours();
    foreign_hold_at(0, NAME);
    begin_try(red, 5000, &outer);
    assert_ends(outer, RLOCK_OK);
    foreign_release_at(0, NAME);
    begin_try(red, 5000, &inner);
    assert_ends(inner, RLOCK_OK);
    cr_assert(!held_at(0, NAME));
    assert_ok(rlock_unlock(red));
    cr_assert(is_asked_held(red));
    release(red);
    assert_free();
}

static bool is_anywhere(void *arg)
{
    (void)arg;
    return held_at(2, NAME);
}

EITHER(RealTest, async_red_lock, is_cancelled_by_its_token)
{
    ending end = {0};
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    foreign_hold_at(0, NAME);
    foreign_hold_at(1, NAME);
    assert_ok(rlock_lock_async(ours(), &options, poll_loop_end, &end));
    poll_loop_until(is_anywhere, NULL, 100);
    rlock_cancel_fire(cancel);
    assert_ends(end, RLOCK_CANCELLED);
    rlock_cancel_free(cancel);
    cr_assert(wait_free_at(2, NAME, 20000));
}

/* A closed client counts as a server that is down, the first one, too. */
EITHER(RealTest, async_red_lock, stands_without_its_first_client)
{
    ending locked = {0};
    rlock_client *closed = stage_client_at(server_url(places[0].server));
    rlock *row[] = {lock_by(closed, NAME), lock_at(1, true, NAME), lock_at(2, true, NAME)};
    rlock *red = owned_by(made_of(rlock_get_red_lock, row, PLACES), OWNER);
    stage_close_client(closed);
    begin_try(red, 5000, &locked);
    assert_ends(locked, RLOCK_OK);
    cr_assert(held_at(1, NAME) && held_at(2, NAME) && is_asked_held(red));
    release(red);
    assert_free();
}

/* The function of another call closes the client of the member in the middle, while the call waits for the rest. */
static rlock *waits_with_a_closed_member(ending *end)
{
    rlock_client *closed = stage_client_at(server_url(places[0].server));
    rlock *row[] = {lock_at(1, true, NAME), lock_by(closed, NAME), lock_at(2, true, NAME)};
    rlock *red = owned_by(made_of(rlock_get_red_lock, row, PLACES), OWNER);
    ending closing = {.closes = closed};
    poll_loop_add(closed);
    foreign_hold_at(0, NAME);
    foreign_hold_at(2, NAME);
    begin_try(red, RLOCK_FOREVER, end);
    assert_ok(rlock_is_locked_async(lock_of(closed, "another"), poll_loop_end, &closing));
    assert_ends(closing, RLOCK_OK);
    cr_assert(!end->known);
    return red;
}

RealTest(async_red_lock, stands_when_a_member_s_client_is_closed_in_a_function)
{
    ending end = {0};
    rlock *red = waits_with_a_closed_member(&end);
    foreign_release_at(2, NAME);
    assert_ends(end, RLOCK_OK);
    cr_assert(held_at(1, NAME) && held_at(2, NAME));
    release(red);
}

/* Nobody holds a token lock between two passes, so the closed member may be lost to the call. */
RealTest(async_red_lock, tokens_stands_when_a_member_s_client_is_closed_in_a_function)
{
    ending end = {0};
    places_of(&kind_token);
    rlock *red = waits_with_a_closed_member(&end);
    foreign_release_at(0, NAME);
    foreign_release_at(2, NAME);
    assert_ends(end, RLOCK_OK);
    cr_assert(held_at(0, NAME) + held_at(1, NAME) + held_at(2, NAME) >= 2);
    release(red);
}

/* --- servers that are gone --- */

EITHER(RealTest, async_red_lock_outage, stands_on_the_majority_that_is_left)
{
    ending locked = {0};
    rlock *red = ours();
    server_kill(places[0].server);
    server_freeze(places[1].server);
    server_thaw(places[1].server);
    begin_try(red, 10000, &locked);
    assert_ends(locked, RLOCK_OK);
    cr_assert(held_at(1, NAME) && held_at(2, NAME));
    release_impatiently(red);
    cr_assert(wait_free_at(1, NAME, 20000) && wait_free_at(2, NAME, 20000));
}

/* A server stops in the middle of the acquire, which has a majority without it. */
EITHER(RealTest, async_red_lock_outage, outlives_a_server_that_stops_meanwhile)
{
    ending end = {0};
    rlock *red = ours();
    foreign_hold_at(1, NAME);
    foreign_hold_at(2, NAME);
    begin_try(red, RLOCK_FOREVER, &end);
    server_freeze(places[0].server);
    foreign_release_at(1, NAME);
    foreign_release_at(2, NAME);
    assert_ends(end, RLOCK_OK);
    cr_assert(held_at(1, NAME) && held_at(2, NAME));
    release_impatiently(red);
    server_thaw(places[0].server);
    assert_free();
}

EITHER(RealTest, async_red_lock_outage, releases_all_when_the_majority_is_gone)
{
    ending end = {0};
    server_kill(places[0].server);
    server_freeze(places[1].server);
    begin_try(ours(), 3000, &end);
    cr_assert(poll_loop_wait(&end, 30000));
    cr_assert(end.status == RLOCK_UNAVAILABLE || end.status == RLOCK_TIMEOUT, "%s", rlock_strstatus(end.status));
    server_thaw(places[1].server);
    cr_assert(wait_free_at(1, NAME, 20000) && wait_free_at(2, NAME, 20000));
}

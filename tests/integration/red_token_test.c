/* The red lock over token locks: what it does beyond other red locks (red_lock_test.c holds it to what they promise). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static void open_quick(void)
{
    places_quick();
    places_of(&kind_token);
}

static void open_brief(void)
{
    places_brief();
    places_of(&kind_token);
}

TestSuite(red_token, .init = open_quick, .fini = places_close);
/* With clients that soon give up on a server. */
TestSuite(red_token_outage, .init = open_brief, .fini = places_close);

#define NAME "order"
#define LONG_MS 60000

static rlock *ours_red(void)
{
    return made_on_places(rlock_get_red_lock, true, NAME);
}

static rlock *theirs_red(void)
{
    return made_on_places(rlock_get_red_lock, false, NAME);
}

static rlock *ours_with(int64_t min_valid_percent)
{
    rlock *members[PLACES];
    rlock_red_options options = RLOCK_RED_OPTIONS_INIT;
    options.min_valid_percent = min_valid_percent;
    for (size_t i = 0; i < PLACES; i++)
        members[i] = lock_at(i, true, NAME);
    return keep_lock(rlock_get_red_lock_with(members, PLACES, &options));
}

static void come_back_empty(size_t place)
{
    server_kill(places[place].server);
    server_restart(places[place].server);
}

/* The keeper comes by each third of the watchdog timeout. Waits until this process knows, too. */
static bool is_taken_by(rlock *member, size_t place)
{
    int64_t end_ms = limit_end_ms(LONG_MS);
    while ((!held_at(place, NAME) || rlock_valid_for(member) == 0) && now_ms() < end_ms)
        pass_ms(5);
    return held_at(place, NAME) && rlock_valid_for(member) > 0;
}

static bool is_taken_at(size_t place)
{
    return is_taken_by(lock_at(place, true, NAME), place);
}

/* A request without a wait is short, so on a busy machine no server may answer it: then nobody has said anything yet. */
static void assert_kept_out(rlock *theirs)
{
    rlock_status said;
    while ((said = rlock_try_lock(theirs, 0, LONG_MS)) == RLOCK_UNAVAILABLE)
        pass_ms(1);
    assert_status(said, RLOCK_TIMEOUT);
}

static void assert_all_free(void)
{
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(wait_free_at(i, NAME, LONG_MS), "place %zu is left locked", i);
}

/* --- at the same time --- */

/* Each silent server is waited for as long as one member is, all of them together. */
TimedTest(red_token_outage, asks_all_members_at_the_same_time)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    server_freeze(places[0].server);
    server_freeze(places[1].server);
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(red, 0, LONG_MS), RLOCK_UNAVAILABLE);
    assert_error("1 of 3 taken, 2 needed");
    assert_between(now_ms() - since_ms, 200, 260);
    server_thaw(places[0].server);
    server_thaw(places[1].server);
    assert_all_free();
}

TimedTest(red_token_outage, gives_back_all_members_at_the_same_time)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 0, LONG_MS));
    server_freeze(places[0].server);
    server_freeze(places[1].server);
    int64_t since_ms = now_ms();
    assert_status(rlock_unlock(red), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 200, 260);
    server_thaw(places[0].server);
    server_thaw(places[1].server);
    assert_all_free();
}

/* Its keeper hears of the call, too, which changes no message. */
TimedTest(red_token_outage, says_why_it_is_not_taken_again)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    server_freeze(places[0].server);
    server_freeze(places[1].server);
    assert_status(rlock_try_lock(red, 0, LONG_MS), RLOCK_UNAVAILABLE);
    assert_error("1 of 3 taken, 2 needed");
    server_thaw(places[0].server);
    server_thaw(places[1].server);
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

/* What is beyond the majority counts, too: a server that is silent at one time is often the only one. */
TimedTest(red_token_outage, is_had_with_the_others_while_one_is_silent)
{
    rlock *red = ours_red();
    server_freeze(places[2].server);
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_try_lock(red, 0, LONG_MS));
        assert_ok(rlock_unlock(red));
    }
    server_thaw(places[2].server);
    assert_all_free();
}

/* --- how much is left --- */

TimedTest(red_token_outage, is_refused_with_less_than_the_share_of_its_lease)
{
    server_freeze(places[0].server);
    rlock *demanding = ours_with(90), *modest = ours_with(60);
    assert_status(rlock_try_lock(demanding, 0, 1000), RLOCK_TIMEOUT);
    assert_error("too little of it was left");
    cr_assert(!held_at(1, NAME) && !held_at(2, NAME));
    assert_ok(rlock_try_lock(modest, 0, 1000));
    cr_assert(rlock_valid_for(modest) >= 600);
    assert_ok(rlock_unlock(modest));
    server_thaw(places[0].server);
    assert_ok(rlock_try_lock(demanding, 2000, 1000));
    assert_ok(rlock_unlock(demanding));
    assert_all_free();
}

/* Of members that are taken one after the other, too. */
TimedTest(red_token_outage, shares_are_for_other_members_too)
{
    places_of(&kind_reentrant);
    server_freeze(places[0].server);
    rlock *demanding = ours_with(100), *modest = ours_with(60);
    assert_status(rlock_try_lock(demanding, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(modest, 0, 1000));
    assert_ok(rlock_unlock(modest));
}

TimedTest(red_token, has_a_share_from_0_to_100)
{
    rlock *members[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        members[i] = lock_at(i, true, NAME);
    for (int i = 0; i < 2; i++) {
        rlock_red_options options = RLOCK_RED_OPTIONS_INIT;
        options.min_valid_percent = i ? 101 : -1;
        cr_assert(rlock_get_red_lock_with(members, PLACES, &options) == NULL);
        assert_error("must be from 0 to 100");
    }
    rlock *copy = owned_by(ours_with(100), 1);
    cr_assert(copy != NULL);
    static const int64_t leases_ms[] = {1000, 99, RLOCK_WATCHDOG};
    for (int i = 0; i < 3; i++)
        assert_status(rlock_try_lock(copy, 0, leases_ms[i]), RLOCK_TIMEOUT); /* 1 % and 2 ms of drift are never left */
    cr_assert(!strstr(rlock_last_error(), "of -1 ms"), "%s", rlock_last_error());
    assert_all_free();
}

/* --- members that come back --- */

/* Both servers that granted the lock first are lost, one after the other, and the first one twice. */
TimedTest(red_token, takes_a_member_anew_that_came_back_empty, .lasts = 11)
{
    rlock *red = ours_red(), *theirs = theirs_red();
    assert_ok(rlock_lock(red));
    static const size_t order[] = {0, 0, 1, 2};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        come_back_empty(order[i]);
        cr_assert(is_taken_at(order[i]), "place %zu is not taken anew", order[i]);
        cr_assert(rlock_valid_for(red) > 0 && is_held(red));
        assert_kept_out(theirs);
    }
    assert_ok(rlock_unlock(red));
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_all_free();
    assert_ok(rlock_try_lock(theirs, 0, LONG_MS));
    assert_ok(rlock_unlock(theirs));
}

TimedTest(red_token, takes_a_member_that_was_down_at_first)
{
    rlock *red = ours_red();
    server_kill(places[2].server);
    assert_ok(rlock_lock(red));
    server_restart(places[2].server);
    cr_assert(is_taken_at(2));
    server_kill(places[0].server);
    cr_assert(rlock_valid_for(red) > 0);
    assert_ok(rlock_unlock(red));
    server_restart(places[0].server);
    assert_all_free();
}

/* As long as the owner lives, whoever it is. */
TimedTest(red_token, takes_members_anew_for_each_owner)
{
    rlock *one = owned_by(ours_red(), 1), *members[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        members[i] = lock_at(i, true, "another");
    rlock *other = keep_lock(rlock_get_red_lock(members, PLACES));
    assert_ok(rlock_lock(one));
    assert_ok(rlock_lock(other));
    come_back_empty(1);
    cr_assert(is_taken_by(owned_by(lock_at(1, true, NAME), 1), 1) && server_wait_exists(places[1].server, "another", true, LONG_MS));
    assert_ok(rlock_unlock(other));
    assert_ok(rlock_unlock(one));
    assert_all_free();
    cr_assert(wait_free_at(1, "another", LONG_MS));
}

TimedTest(red_token, of_several_holds_is_held_until_the_last_is_given_back)
{
    rlock *red = ours_red();
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(red));
    come_back_empty(1);
    cr_assert(is_taken_at(1));
    for (int i = 0; i < 3; i++) {
        cr_assert(is_held(red));
        assert_ok(rlock_unlock(red));
    }
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_all_free();
}

/* A majority of its members was taken anew: they are held as often as those that were never lost. */
TimedTest(red_token, of_several_holds_is_held_until_the_last_by_members_taken_anew)
{
    rlock *red = ours_red(), *theirs = theirs_red();
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(red));
    for (size_t i = 0; i < 2; i++) {
        come_back_empty(i);
        cr_assert(is_taken_at(i));
    }
    for (int i = 0; i < 3; i++) {
        cr_assert(rlock_valid_for(red) > 0 && is_held(red), "after %d unlocks", i);
        assert_kept_out(theirs);
        assert_ok(rlock_unlock(red));
    }
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_all_free();
}

/* One within the renewed hold has a lease: the members are taken anew for the outer hold alone, and stay when the inner one
 * is given back. */
TimedTest(red_token, within_which_a_lease_ends_is_held_by_members_taken_anew)
{
    rlock *red = ours_red(), *theirs = theirs_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_try_lock(red, 0, LONG_MS));
    for (size_t i = 0; i < 2; i++) {
        come_back_empty(i);
        cr_assert(is_taken_at(i));
    }
    for (int i = 0; i < 2; i++) {
        cr_assert(rlock_valid_for(red) > 0 && is_held(red), "after %d unlocks", i);
        assert_kept_out(theirs);
        assert_ok(rlock_unlock(red));
    }
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_all_free();
}

/* By whatever handles its owner takes it and gives it back, a member that came back is taken once. */
TimedTest(red_token, of_two_handles_is_held_until_both_holds_are_given_back)
{
    rlock *one = ours_red(), *other = ours_red(), *third = ours_red();
    assert_ok(rlock_lock(one));
    assert_ok(rlock_lock(other));
    come_back_empty(1);
    cr_assert(is_taken_at(1));
    assert_ok(rlock_unlock(third));
    cr_assert(is_held(one));
    assert_ok(rlock_unlock(third));
    assert_status(rlock_unlock(one), RLOCK_NOT_OWNER);
    assert_all_free();
}

/* --- beside other holds of its members --- */

/* Those by the members' names keep nobody waiting for the rest of them. */
TimedTest(red_token, given_back_takes_nothing_for_holds_by_name)
{
    rlock *red = ours_red(), *first = lock_at(0, true, NAME), *second = lock_at(1, true, NAME);
    assert_ok(rlock_lock(first));
    assert_ok(rlock_lock(second));
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    cr_assert(wait_free_at(2, NAME, LONG_MS));
    cr_assert(!server_wait_exists(places[2].server, NAME, true, 10 * QUICK_MS));
    assert_ok(rlock_unlock(first));
    assert_ok(rlock_unlock(second));
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_all_free();
}

/* Nor does another red lock, with which it has a majority in common. */
TimedTest(red_token, given_back_takes_nothing_for_another_red_lock)
{
    rlock *others[] = {lock_at(0, true, NAME), lock_at(1, true, NAME), lock_at(2, true, NAME "2")};
    rlock *red = ours_red(), *other = keep_lock(rlock_get_red_lock(others, 3));
    assert_ok(rlock_lock(red));
    assert_ok(rlock_lock(other));
    assert_ok(rlock_unlock(other));
    cr_assert(wait_free_at(2, NAME "2", LONG_MS));
    cr_assert(!server_wait_exists(places[2].server, NAME "2", true, 10 * QUICK_MS));
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

/* A member that is taken anew has the holds of the red lock, and not those that another member has by its name. */
TimedTest(red_token, takes_a_member_anew_for_its_own_holds_alone)
{
    rlock *red = ours_red(), *first = lock_at(0, true, NAME), *third = lock_at(2, true, NAME);
    int holds = 0;
    assert_ok(rlock_lock(red));
    assert_ok(rlock_lock(first));
    come_back_empty(2);
    cr_assert(is_taken_at(2));
    assert_ok(rlock_get_hold_count(third, &holds));
    cr_assert(holds == 1, "%d holds", holds);
    assert_ok(rlock_unlock(first));
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

/* A hold by the member's name was lost, too. Until its unlock has said so, the keeper leaves the member alone. */
TimedTest(red_token, leaves_a_member_that_was_lost_by_its_name)
{
    rlock *red = ours_red(), *first = lock_at(0, true, NAME);
    assert_ok(rlock_lock(first));
    assert_ok(rlock_lock(red));
    come_back_empty(0);
    cr_assert(!server_wait_exists(places[0].server, NAME, true, 2 * QUICK_MS) && is_held(red));
    assert_status(rlock_unlock(first), RLOCK_LOST);
    cr_assert(is_taken_at(0));
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

/* --- leases --- */

/* One that has its lease ends with it. */
TimedTest(red_token, with_a_lease_takes_no_member_anew)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 0, LONG_MS));
    come_back_empty(1);
    cr_assert(!server_wait_exists(places[1].server, NAME, true, 10 * QUICK_MS));
    assert_ok(rlock_unlock(red));
}

/* It would be no lock any more: others may have had it meanwhile. */
TimedTest(red_token, without_a_majority_takes_nothing_anew)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    come_back_empty(0);
    come_back_empty(1);
    cr_assert(!server_wait_exists(places[0].server, NAME, true, 10 * QUICK_MS));
    cr_assert(rlock_valid_for(red) == 0);
    assert_status(rlock_unlock(red), RLOCK_LOST);
    assert_all_free();
}

/* A lease of its own is left, when the hold inside it that was renewed has been given back. */
TimedTest(red_token, left_with_a_lease_takes_no_member_anew)
{
    rlock *red = ours_red();
    server_kill(places[1].server);
    assert_ok(rlock_try_lock(red, 0, LONG_MS));
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    server_restart(places[1].server);
    cr_assert(!server_wait_exists(places[1].server, NAME, true, 10 * QUICK_MS));
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

/* Within a lease, a member is taken anew for the hold that is renewed, and given back with it. */
TimedTest(red_token, within_a_lease_takes_members_anew_for_the_renewed_hold)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 0, LONG_MS));
    assert_ok(rlock_lock(red));
    come_back_empty(1);
    cr_assert(is_taken_at(1));
    assert_ok(rlock_unlock(red));
    cr_assert(wait_free_at(1, NAME, LONG_MS));
    cr_assert(held_at(0, NAME) && held_at(2, NAME) && rlock_valid_for(red) > 0);
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

TimedTest(red_token, does_not_take_what_another_holds)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    come_back_empty(1);
    foreign_hold_at(1, NAME);
    pass_ms(10 * QUICK_MS);
    cr_assert(rlock_valid_for(red) > 0);
    foreign_release_at(1, NAME);
    assert_ok(rlock_unlock(red));
    assert_all_free();
}

/* Released while its keeper asks a server that does not answer yet: what that grants late is given back. */
TimedTest(red_token_outage, leaves_nothing_that_was_taken_anew_too_late)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    come_back_empty(1);
    server_freeze(places[1].server);
    pass_ms(10050); /* a third of the watchdog timeout, and a moment: the keeper waits for the answer */
    assert_ok(rlock_unlock(red));
    server_thaw(places[1].server);
    pass_ms(500);
    assert_all_free();
}

/* Its keeper has taken one member anew, and another does not answer yet, when the owner unlocks and locks again: what it
 * gives back then must not be of the new hold. */
TimedTest(red_token, taken_again_is_not_given_back_by_its_keeper)
{
    rlock *members[] = {lock_at(0, true, NAME), lock_at(0, true, NAME "2"), lock_at(0, true, NAME "3"),
                        lock_at(1, true, NAME), lock_at(2, true, NAME)};
    rlock *red = keep_lock(rlock_get_red_lock(members, 5));
    assert_ok(rlock_lock(red));
    come_back_empty(1);
    come_back_empty(2);
    for (size_t i = 3; i < 5; i++) {
        bool locked = true;
        while (rlock_valid_for(members[i]) > 0)
            pass_ms(1); /* until a renewal finds out; the keeper comes a moment later */
        assert_ok(rlock_is_locked(members[i], &locked));
        cr_assert(!locked);
    }
    server_freeze(places[2].server);
    cr_assert(is_taken_by(members[3], 1));
    rlock_client_close(places[2].ours);
    places[2].ours = NULL;
    assert_ok(rlock_unlock(red));
    assert_ok(rlock_try_lock(red, 0, LONG_MS));
    cr_assert(held_at(1, NAME) && rlock_valid_for(members[3]) > 0);
    pass_ms(500);
    cr_assert(held_at(1, NAME) && rlock_valid_for(members[3]) > 0, "the keeper has given it back");
    assert_ok(rlock_unlock(red));
    cr_assert(wait_free_at(0, NAME, LONG_MS) && wait_free_at(1, NAME, LONG_MS));
}

static void *lock_and_end(void *lock)
{
    assert_ok(rlock_lock(lock));
    return NULL;
}

Test(red_token, of_a_thread_that_has_ended_is_given_back)
{
    pthread_t thread;
    rlock *red = ours_red();
    cr_assert(pthread_create(&thread, NULL, lock_and_end, red) == 0);
    pthread_join(thread, NULL);
    assert_all_free();
}

static atomic_int stay_ms;

static void *lock_and_stay(void *lock)
{
    assert_ok(rlock_lock(lock));
    server_kill(places[2].server);
    server_restart(places[2].server);
    foreign_hold_at(2, NAME);
    pass_ms(atomic_load(&stay_ms));
    foreign_release_at(2, NAME);
    return NULL;
}

/* Its keeper does not take for it what it has lost. */
TimedTest(red_token, of_a_thread_that_has_ended_takes_nothing_anew)
{
    rlock *red = ours_red();
    for (int ms = 0; ms < 3 * QUICK_MS; ms += QUICK_MS / 25) {
        pthread_t thread;
        atomic_store(&stay_ms, ms);
        cr_assert(pthread_create(&thread, NULL, lock_and_stay, red) == 0);
        pthread_join(thread, NULL);
        int64_t since_ms = now_ms();
        assert_all_free();
        cr_assert(now_ms() - since_ms <= QUICK_MS + 100, "after %d ms: free after %d ms", ms, (int)(now_ms() - since_ms));
    }
}

TimedTest(red_token, is_kept_when_its_handle_is_freed)
{
    rlock *members[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        members[i] = lock_at(i, true, NAME);
    rlock *red = rlock_get_red_lock(members, PLACES);
    assert_ok(rlock_lock(red));
    rlock_free(red);
    come_back_empty(2);
    cr_assert(is_taken_at(2));
    assert_ok(rlock_unlock(ours_red()));
    assert_all_free();
}

/* Closing releases what the client holds, as for all locks, and does not wait for the keeper. */
Test(red_token, ends_with_its_clients, .lasts = 10)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    for (size_t i = 0; i < PLACES; i++) {
        if (i > 0)
            rlock_client_close(places[i].ours);
        else
            stage_close_client(places[i].ours);
        places[i].ours = NULL;
    }
    assert_status(rlock_unlock(red), RLOCK_CLOSED);
    assert_all_free();
}

/* --- forks --- */

#define OWNED 1000

/* Red locks that have their first member in common. */
static rlock *one_of_many(rlock_client *client, int number)
{
    char names[2][16];
    rlock *members[3] = {rlock_get_token_lock(client, "a")};
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%c%d", 'b' + i, number);
        members[i + 1] = rlock_get_token_lock(client, names[i]);
    }
    rlock *red = rlock_get_red_lock(members, 3);
    for (int i = 0; i < 3; i++)
        rlock_free(members[i]);
    return red;
}

static atomic_bool over;

static void *lock_again_and_again(void *lock)
{
    while (!atomic_load(&over)) {
        if (rlock_try_lock(lock, 0, LONG_MS) == RLOCK_OK)
            assert_ok(rlock_unlock(lock));
    }
    return NULL;
}

static const char *lock_once(child *self)
{
    (void)self;
    rlock_client *own = NULL;
    child_check(rlock_client_open(&own, server_url(stage.server)) == RLOCK_OK);
    rlock *members[] = {rlock_get_token_lock(own, "x"), rlock_get_token_lock(own, "y"), rlock_get_token_lock(own, "z")};
    rlock *red = rlock_get_red_lock(members, 3);
    child_check(rlock_try_lock(red, 10000, RLOCK_WATCHDOG) == RLOCK_OK);
    child_check(rlock_unlock(red) == RLOCK_OK);
    return NULL;
}

/* What its threads were at when it forked is nothing to the child's own clients. */
RealTest(red_token, child_of_a_busy_process_takes_its_own)
{
    if (!CHILD_MAY_START_THREADS || !CHILD_MAY_ALLOCATE)
        cr_skip_test("no sanitizer follows the child of a process whose threads are busy");
    pthread_t threads[2];
    for (int i = 0; i < OWNED; i++)
        assert_ok(rlock_lock(keep_lock(one_of_many(stage.client, i))));
    for (int i = 0; i < 2; i++)
        cr_assert(pthread_create(&threads[i], NULL, lock_again_and_again,
                                 keep_lock(one_of_many(stage.client, OWNED + i))) == 0);
    for (int i = 0; i < 60; i++)
        in_child(lock_once);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* Its last unlock gets no answer from a member, and the others are held by their names: so they are a majority, but of nobody
 * who wants the lock. A member that was lost must not be taken again for that. */
static void assert_takes_nothing_for_holds_by_name(bool names_first)
{
    rlock *red = ours_red(), *by_name[] = {lock_at(0, true, NAME), lock_at(1, true, NAME)};
    if (!names_first)
        assert_ok(rlock_lock(red));
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(by_name[i]));
    if (names_first)
        assert_ok(rlock_lock(red));
    assert_ok(rlock_force_unlock(lock_at(2, false, NAME), NULL));
    server_freeze(places[0].server);
    assert_status(rlock_unlock(red), RLOCK_UNAVAILABLE);
    server_thaw(places[0].server);
    cr_assert(!server_wait_exists(places[2].server, NAME, true, 40000), "a member was taken for nobody");
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_unlock(by_name[i]));
}

TimedTest(red_token_outage, given_back_without_an_answer_takes_nothing_for_holds_by_name)
{
    assert_takes_nothing_for_holds_by_name(true);
}

TimedTest(red_token_outage, given_back_before_holds_by_name_takes_nothing_for_them)
{
    assert_takes_nothing_for_holds_by_name(false);
}

/* The last member is taken from its owner, which finds out. */
static void lose_last(void)
{
    assert_ok(rlock_force_unlock(lock_at(2, false, NAME), NULL));
    assert_status(rlock_extend(lock_at(2, true, NAME), 60000), RLOCK_LOST);
}

static void take_last_by_name(void)
{
    assert_ok(rlock_try_lock(lock_at(2, true, NAME), 0, 600000));
}

static void lock_without_the_last(rlock *red)
{
    foreign_hold_at(2, NAME);
    assert_ok(rlock_lock(red));
    foreign_release_at(2, NAME);
}

/* A member is taken anew for the lock only when a hold by its name that was lost is told of. */
static void assert_told_before_it_is_taken(void)
{
    cr_assert(!server_wait_exists(places[2].server, NAME, true, 40000), "taken anew before the loss was told");
    assert_status(rlock_unlock(lock_at(2, true, NAME)), RLOCK_LOST);
    cr_assert(server_wait_exists(places[2].server, NAME, true, 40000), "not taken anew");
}

TimedTest(red_token_outage, tells_the_loss_by_name_of_a_member_that_it_never_had)
{
    rlock *red = ours_red();
    lock_without_the_last(red);
    take_last_by_name();
    lose_last();
    assert_told_before_it_is_taken();
    assert_ok(rlock_unlock(red));
}

TimedTest(red_token_outage, tells_the_loss_by_name_of_a_member_that_it_had_long_ago)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_force_unlock(lock_at(2, false, NAME), NULL));
    foreign_hold_at(2, NAME);
    pass_ms(60000); /* it has tried to take it anew */
    foreign_release_at(2, NAME);
    take_last_by_name();
    lose_last();
    assert_told_before_it_is_taken();
    assert_ok(rlock_unlock(red));
}

TimedTest(red_token_outage, tells_the_loss_by_name_of_a_member_that_only_its_inner_hold_had)
{
    rlock *red = ours_red();
    lock_without_the_last(red);
    take_last_by_name();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    lose_last();
    assert_told_before_it_is_taken();
    assert_ok(rlock_unlock(red));
}

TimedTest(red_token_outage, tells_the_loss_by_name_beside_that_of_its_inner_hold)
{
    rlock *red = ours_red();
    lock_without_the_last(red);
    take_last_by_name();
    assert_ok(rlock_lock(red));
    lose_last();
    cr_assert(!server_wait_exists(places[2].server, NAME, true, 40000), "taken anew before the loss was told");
    assert_ok(rlock_unlock(red));
    assert_told_before_it_is_taken();
    assert_ok(rlock_unlock(red));
}

TimedTest(red_token_outage, tells_the_loss_by_name_after_an_inner_unlock_has_told_its_own)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    lose_last();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    take_last_by_name();
    lose_last();
    assert_told_before_it_is_taken();
    assert_ok(rlock_unlock(red));
}

/* Held with a lease first, and then under the watchdog, too: nothing has kept it before that. */
static void assert_takes_anew_what_was_lost_before(void (*lose)(void))
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 0, 600000));
    lose();
    assert_ok(rlock_lock(red));
    cr_assert(server_wait_exists(places[2].server, NAME, true, 40000), "not taken anew");
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_unlock(red));
    assert_all_free();
}

static void come_back_empty_at_last(void)
{
    come_back_empty(2);
}

TimedTest(red_token_outage, takes_a_member_anew_that_was_lost_before_it_was_kept)
{
    assert_takes_anew_what_was_lost_before(lose_last);
}

TimedTest(red_token_outage, takes_a_member_anew_whose_server_came_back_before_it_was_kept)
{
    assert_takes_anew_what_was_lost_before(come_back_empty_at_last);
}

/* The unlock of a former hold waits for a silent server when another thread of the owner takes the lock. */
TimedTest(red_token, is_kept_though_an_unlock_ends_that_began_before)
{
    rlock *members[] = {lock_at(0, true, NAME), lock_at(1, true, NAME), lock_at(2, true, NAME), lock_at(1, true, NAME "b"),
                        lock_at(1, true, NAME "c")};
    for (size_t i = 0; i < 5; i++)
        members[i] = keep_lock(rlock_for_owner(members[i], 7));
    rlock *red = made_of(rlock_get_red_lock, members, 5);
    actor *beside = actor_start();
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_try_lock(red, 0, 2000));
    for (size_t i = 1; i < 5; i++)
        assert_ok(rlock_extend(members[i], 600000));
    server_freeze(places[0].server);
    actor_begin_unlock(beside, red);
    pass_ms(2100);
    assert_ok(rlock_lock(red));
    cr_assert(!actor_ended(beside, 0), "the unlock has ended too early for this test");
    server_thaw(places[0].server);
    (void)!actor_finish(beside, 20000);
    come_back_empty(2);
    cr_assert(is_taken_by(members[2], 2), "the last is not taken anew");
    cr_assert(rlock_valid_for(red) > 0);
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_unlock(red));
    actor_end(beside);
    assert_all_free();
}

/* The lock is held twice. One member is taken anew, and before the server of another one has answered, the owner takes it by
 * its name, too: then it is held three times. */
TimedTest(red_token_outage, takes_a_member_anew_around_a_hold_by_its_name)
{
    rlock *by_name = lock_at(1, true, NAME);
    rlock *members[] = {lock_at(0, true, NAME), lock_at(0, true, NAME "b"), lock_at(0, true, NAME "c"), by_name,
                        lock_at(2, true, NAME)};
    rlock *red = keep_lock(rlock_get_red_lock(members, 5));
    for (size_t i = 1; i <= 2; i++)
        foreign_hold_at(i, NAME);
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(red));
    foreign_release_at(1, NAME);
    server_freeze(places[2].server);
    cr_assert(server_wait_exists(places[1].server, NAME, true, LONG_MS));
    assert_ok(rlock_try_lock(by_name, 0, 600000));
    server_thaw(places[2].server);
    foreign_release_at(2, NAME);
    cr_assert(server_wait_exists(places[2].server, NAME, true, 40000));
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_unlock(red));
    cr_assert(held_at(1, NAME) && rlock_valid_for(by_name) > 0);
    assert_ok(rlock_unlock(by_name));
    cr_assert(!held_at(1, NAME));
}

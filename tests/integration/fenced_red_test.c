/* Fencing tokens of red locks: one for the whole, greater than that of every earlier grant, whichever servers made the
 * majorities. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/answers.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/poll_loop.h"
#include "tests/integration/support/stage.h"

static void open_fenced(void)
{
    places_open();
    places_of(&kind_fenced);
}

/* Members that answer later than a red lock waits are left out, so what needs all of them is tested in virtual time. */
TestSuite(fenced_red, .init = open_fenced, .fini = places_close);

#define NAME    "order"
#define LONG_MS 60000

static rlock *red_of(bool ours)
{
    return made_on_places(rlock_get_red_lock, ours, NAME);
}

static void set_counter(size_t place, const char *to)
{
    freeReplyObject(server_command(places[place].server, "SET redisson_lock_token:{" NAME "} %s", to));
}

static int64_t counter(size_t place)
{
    return server_integer(places[place].server, "GET redisson_lock_token:{" NAME "}");
}

static uint64_t taken(rlock *red)
{
    uint64_t token = 0, again = 0;
    assert_ok(rlock_try_lock_and_get_token(red, RLOCK_FOREVER, LONG_MS, &token));
    assert_ok(rlock_get_token(red, &again));
    cr_assert(token == again && token > 0);
    return token;
}

/* The counters of servers that have never met differ. */
TimedTest(fenced_red, has_the_greatest_token_of_its_members_which_all_then_have)
{
    rlock *red = red_of(true);
    set_counter(1, "100");
    set_counter(2, "7");
    cr_assert(taken(red) == 101);
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(counter(i) == 101, "place %zu is at %lld", i, (long long)counter(i));
    assert_ok(rlock_unlock(red));
    uint64_t token;
    assert_status(rlock_get_token(red, &token), RLOCK_NOT_OWNER);
    cr_assert(taken(red) == 102);
    assert_ok(rlock_unlock(red));
}

/* Any two of three, one after the other: any two majorities have a server in common. */
Test(fenced_red, grows_with_each_grant_whichever_servers_make_the_majority)
{
    rlock *locks[] = {red_of(true), red_of(false)};
    uint64_t last = 0;
    set_counter(0, "1000");
    for (int i = 0; i < 9; i++) {
        size_t absent = (size_t)i % PLACES;
        foreign_hold_at(absent, NAME);
        uint64_t token = taken(locks[i % 2]);
        cr_assert(token > last, "%llu after %llu, without place %zu", (unsigned long long)token, (unsigned long long)last,
                  absent);
        last = token;
        assert_ok(rlock_unlock(locks[i % 2]));
        foreign_release_at(absent, NAME);
    }
}

TimedTest(fenced_red, grows_beyond_what_doubles_hold)
{
    rlock *red = red_of(true);
    set_counter(2, "9007199254740993");
    cr_assert(taken(red) == 9007199254740994);
    assert_ok(rlock_unlock(red));
    foreign_hold_at(2, NAME);
    cr_assert(taken(red) == 9007199254740995);
    assert_ok(rlock_unlock(red));
}

/* Taken again, it has another token; the outer hold's is not asked for any more. */
TimedTest(fenced_red, taken_again_has_the_next_token)
{
    rlock *red = red_of(true);
    uint64_t outer = taken(red);
    cr_assert(taken(red) > outer);
    assert_ok(rlock_unlock(red));
    assert_ok(rlock_unlock(red));
}

/* A member's own token says nothing of the others, and so nothing of what the next holder gets. */
TimedTest(fenced_red, keeps_its_token_while_its_owner_takes_one_member_by_its_name)
{
    rlock *red = red_of(true), *after = red_of(false);
    for (size_t i = 0; i < PLACES; i++) {
        rlock *member = lock_at(i, true, NAME);
        uint64_t token = taken(red), told = 0;
        for (int turn = 0; turn < 5; turn++) {
            assert_ok(rlock_lock(member));
            assert_ok(rlock_unlock(member));
        }
        assert_ok(rlock_get_token(red, &told));
        cr_assert(told == token, "%llu, and %llu when it was taken", (unsigned long long)told, (unsigned long long)token);
        assert_ok(rlock_fenced_set(places[0].ours, "report", "old", 3, told));
        assert_ok(rlock_unlock(red));
        foreign_hold_at(i, NAME);
        assert_ok(rlock_fenced_set(places[0].theirs, "report", "new", 3, taken(after)));
        assert_ok(rlock_unlock(after));
        foreign_release_at(i, NAME);
    }
}

/* A majority of them has gone on: the next holder gets more than they have. */
TimedTest(fenced_red, has_a_token_before_the_next_holders_when_its_members_are_taken_by_their_names)
{
    rlock *red = red_of(true), *after = red_of(false);
    uint64_t token = taken(red), told = 0;
    for (size_t i = 0; i < PLACES; i++) {
        for (size_t turn = 0; turn <= i; turn++) {
            assert_ok(rlock_lock(lock_at(i, true, NAME)));
            assert_ok(rlock_unlock(lock_at(i, true, NAME)));
        }
    }
    assert_ok(rlock_get_token(red, &told));
    cr_assert(told >= token);
    assert_ok(rlock_unlock(red));
    foreign_hold_at(PLACES - 1, NAME);
    cr_assert(taken(after) > told);
    assert_ok(rlock_unlock(after));
}

/* With members of other kinds there is none. */
Test(fenced_red, of_plain_locks_has_no_token)
{
    places_of(&kind_reentrant);
    rlock *red = red_of(true);
    uint64_t token;
    assert_ok(rlock_lock(red));
    assert_status(rlock_get_token(red, &token), RLOCK_UNSUPPORTED);
    assert_ok(rlock_unlock(red));
}

/* A counter that cannot be raised, on two servers of three: then nobody knows that the next token is greater. */
RealTest(fenced_red, is_not_had_where_too_few_counters_can_be_raised)
{
    rlock *red = red_of(true);
    set_counter(0, "1000");
    for (size_t i = 1; i < PLACES; i++)
        freeReplyObject(server_command(places[i].server, "ACL SETUSER default -set"));
    assert_status(rlock_try_lock(red, 0, LONG_MS), RLOCK_SERVER);
    assert_error("3 of 3 taken, 2 needed");
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(wait_free_at(i, NAME, LONG_MS));
    for (size_t i = 1; i < PLACES; i++)
        freeReplyObject(server_command(places[i].server, "ACL SETUSER default +set"));
    cr_assert(taken(red) > 1000);
    assert_ok(rlock_unlock(red));
}

RealTest(fenced_red, is_told_to_async_calls)
{
    for (size_t i = 0; i < PLACES; i++)
        poll_loop_add(places[i].ours);
    set_counter(1, "41");
    rlock *red = owned_by(red_of(true), 1);
    ending locked = {0}, unlocked = {0};
    assert_ok(rlock_lock_async(red, NULL, poll_loop_end, &locked));
    assert_ends(locked, RLOCK_OK);
    uint64_t token = 0;
    assert_ok(rlock_get_token(red, &token));
    cr_assert(token == 42);
    assert_ok(rlock_unlock_async(red, NULL, poll_loop_end, &unlocked));
    assert_ends(unlocked, RLOCK_OK);
}

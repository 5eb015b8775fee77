/* The red lock: more than half of its members, whichever servers are gone or held by others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

TestSuite(red_lock, .init = places_open, .fini = places_close);
/* With clients that soon give up on a server. */
TestSuite(red_lock_outage, .init = places_brief, .fini = places_close);

#define NAME "order"

static rlock *ours_red(void)
{
    return made_on_places(rlock_get_red_lock, true, NAME);
}

static rlock *theirs_red(void)
{
    return made_on_places(rlock_get_red_lock, false, NAME);
}

static int count_at(size_t place)
{
    return hold_count(lock_at(place, true, NAME));
}

/* Nothing stands on the servers, now or when one that was frozen runs what it was sent. */
static void assert_nothing_comes(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        cr_assert(wait_free_at(i, NAME, 5000), "place %zu is left locked", i);
        cr_assert(!server_wait_exists(places[i].server, NAME, true, 300), "place %zu was locked late", i);
    }
}

/* --- holding --- */

EITHER(TimedTest, red_lock, holds_every_member_that_is_free)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 10000, 10000));
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(held_at(i, NAME));
    cr_assert(is_held(red));
    assert_between(rlock_valid_for(red), 9898 - at_most_ms(1898), 9898);
    assert_ok(rlock_unlock(red));
    cr_assert(!is_held(red) && rlock_valid_for(red) == 0);
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(!held_at(i, NAME));
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
}

/* The lease, less 1 % and 2 ms, however long the members' own holds are. */
EITHER(Test, red_lock, is_valid_as_long_as_more_than_half_are)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(lock_at(0, true, NAME), 0, 60000));
    assert_ok(rlock_try_lock(lock_at(1, true, NAME), 0, 30000));
    cr_assert(is_held(red));
    assert_between(rlock_valid_for(red), 30000 - at_most_ms(2000), 30000 - 300 - 2);
    assert_ok(rlock_try_lock(lock_at(2, true, NAME), 0, 50000));
    assert_between(rlock_valid_for(red), 50000 - at_most_ms(2000), 50000 - 500 - 2);
    assert_ok(rlock_unlock(lock_at(2, true, NAME)));
    assert_ok(rlock_unlock(lock_at(1, true, NAME)));
    cr_assert(rlock_valid_for(red) == 0 && !is_held(red));
}

/* Redisson's line: any one of three is another's; and two of them are. */
EITHER(TimedTest, red_lock, is_had_while_fewer_than_half_are_held_elsewhere)
{
    rlock *red = ours_red();
    for (size_t i = 0; i < PLACES; i++) {
        foreign_hold_at(i, NAME);
        assert_ok(rlock_try_lock(red, 3000, 20000));
        cr_assert(is_held(red) && rlock_valid_for(red) > 10000);
        assert_ok(rlock_unlock(red));
        size_t next = (i + 1) % PLACES;
        foreign_hold_at(next, NAME);
        assert_status(rlock_try_lock(red, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        assert_error("2 are held by other owners");
        int64_t since_ms = now_ms();
        assert_status(rlock_try_lock(red, 300, 5000), RLOCK_TIMEOUT);
        assert_between(now_ms() - since_ms, 299, at_most_ms(700));
        cr_assert(!held_at(3 - i - next, NAME), "a member is left locked");
        foreign_release_at(i, NAME);
        foreign_release_at(next, NAME);
    }
    assert_nothing_comes();
}

/* Wait / n for each: the member that is held does not eat the others' time. */
TimedTest(red_lock, waits_a_part_of_its_time_for_each_member)
{
    rlock *red = ours_red();
    foreign_hold_at(0, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_try_lock(red, 4500, 10000));
    assert_between(now_ms() - since_ms, 1490, at_most_ms(2000));
    assert_ok(rlock_unlock(red));
}

/* What is beyond the majority is taken if it is free, and not waited for. */
TimedTest(red_lock, does_not_wait_for_more_than_the_majority)
{
    rlock *red = ours_red();
    foreign_hold_at(2, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(red));
    assert_between(now_ms() - since_ms, 0, at_most_ms(300));
    cr_assert(held_at(0, NAME) && held_at(1, NAME));
    assert_ok(rlock_unlock(red));
}

EITHER(TimedTest, red_lock, waits_until_more_than_half_are_given_back)
{
    rlock *red = ours_red(), *theirs = theirs_red();
    actor *waiter = actor_start();
    assert_ok(rlock_lock(red));
    assert_status(actor_try(waiter, theirs, 0, 5000), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, theirs);
    cr_assert(!actor_ended(waiter, 500));
    assert_ok(rlock_unlock(red));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(actor_holds(waiter, theirs));
    assert_ok(actor_unlock(waiter, theirs));
    assert_nothing_comes();
    actor_end(waiter);
}

/* Members of a read lock: readers together, a writer alone. */
TimedTest(red_lock, is_made_of_read_locks_that_many_hold)
{
    rlock *readers[2], *writer, *locks[PLACES];
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < PLACES; j++) {
            rlock_read_write_lock *pair = rlock_get_read_write_lock(i == 0 ? places[j].ours : places[j].theirs, NAME);
            locks[j] = keep_lock(i < 2 ? rlock_read_lock(pair) : rlock_write_lock(pair));
            rlock_read_write_lock_free(pair);
        }
        *(i < 2 ? &readers[i] : &writer) = made_of(rlock_get_red_lock, locks, PLACES);
    }
    assert_ok(rlock_lock(readers[0]));
    assert_ok(rlock_lock(readers[1]));
    assert_status(rlock_try_lock(writer, 0, 5000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(readers[0]));
    assert_ok(rlock_unlock(readers[1]));
    assert_ok(rlock_try_lock(writer, 0, 5000));
    assert_status(rlock_try_lock(readers[0], 0, 5000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(writer));
    assert_nothing_comes();
}

/* --- taking it again --- */

EITHER(TimedTest, red_lock, is_reentrant)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_try_lock(red, 0, 60000));
    cr_assert(count_at(0) == 2 && count_at(1) == 2 && count_at(2) == 2);
    assert_ok(rlock_unlock(red));
    cr_assert(is_held(red));
    assert_ok(rlock_unlock(red));
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_nothing_comes();
}

/* Else the inner unlock could leave the outer hold without its majority. */
EITHER(TimedTest, red_lock, is_taken_again_only_where_it_is_held)
{
    rlock *red = ours_red();
    foreign_hold_at(1, NAME);
    assert_ok(rlock_try_lock(red, 3000, RLOCK_WATCHDOG));
    foreign_release_at(1, NAME);
    assert_ok(rlock_try_lock(red, 3000, RLOCK_WATCHDOG));
    cr_assert(count_at(0) == 2 && count_at(1) == 0 && count_at(2) == 2);
    assert_ok(rlock_unlock(red));
    cr_assert(is_held(red) && rlock_valid_for(red) > 0);
    assert_ok(rlock_unlock(red));
    assert_nothing_comes();
}

/* Each inner hold is taken while another server does not answer: giving those holds back leaves the outer one. */
EITHER(TimedTest, red_lock_outage, is_still_held_when_inner_holds_that_missed_members_are_given_back)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 10000, 600000));
    for (size_t i = 1; i < PLACES; i++) {
        server_freeze(places[i].server);
        assert_ok(rlock_try_lock(red, 10000, 600000));
        server_thaw(places[i].server);
    }
    for (size_t i = 1; i < PLACES; i++)
        assert_ok(rlock_unlock(red));
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(count_at(i) == 1, "place %zu has %d holds", i, count_at(i));
    cr_assert(is_held(red) && rlock_valid_for(red) > 0);
    assert_status(rlock_try_lock(theirs_red(), 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(red));
    assert_nothing_comes();
}

/* More than half of four is three. */
TimedTest(red_lock, of_four_needs_three)
{
    rlock *members[4];
    for (size_t i = 0; i < 4; i++)
        members[i] = lock_of(places[i % PLACES].ours, i < PLACES ? NAME : "fourth");
    rlock *red = rlock_get_red_lock(members, 4);
    foreign_hold_at(0, NAME);
    assert_ok(rlock_try_lock(red, 0, 20000));
    assert_ok(rlock_unlock(red));
    foreign_hold_at(1, NAME);
    assert_status(rlock_try_lock(red, 0, 20000), RLOCK_TIMEOUT);
    cr_assert(rlock_valid_for(red) == 0 && !is_held(red));
    rlock_free(red);
}

EITHER(TimedTest, red_lock, is_held_by_its_named_owner)
{
    rlock *red = ours_red(), *first = owned_by(red, 1), *second = owned_by(red, 2);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = 1;
    assert_ok(rlock_lock_with(red, &options));
    cr_assert(is_held(first) && !is_held(second) && !is_held(red));
    options.owner = 2;
    options.wait_ms = 0;
    assert_status(rlock_lock_with(red, &options), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(first));
    assert_ok(rlock_lock_with(red, &options));
    assert_ok(rlock_unlock(second));
    assert_nothing_comes();
}

/* --- servers in trouble --- */

/* Frozen before the lock, and between lock and unlock: neither waits long, and nothing is left. */
EITHER(TimedTest, red_lock_outage, is_had_and_given_back_with_one_server_frozen)
{
    rlock *red = ours_red();
    for (size_t i = 0; i < PLACES; i++) {
        server_freeze(places[i].server);
        static const int64_t waits_ms[] = {0, 900, RLOCK_FOREVER};
        for (int j = 0; j < 3; j++) {
            int64_t since_ms = now_ms();
            assert_ok(rlock_try_lock(red, waits_ms[j], j ? 10000 : RLOCK_WATCHDOG));
            cr_assert(is_held(red) && rlock_valid_for(red) > 5000);
            assert_ok(rlock_unlock(red));
            assert_between(now_ms() - since_ms, 0, at_most_ms(1500));
        }
        server_thaw(places[i].server);
        assert_nothing_comes();
        assert_ok(rlock_try_lock(red, 10000, 60000));
        server_freeze(places[i].server);
        int64_t since_ms = now_ms();
        assert_ok(rlock_unlock(red));
        assert_between(now_ms() - since_ms, 0, at_most_ms(1000));
        server_thaw(places[i].server);
        assert_nothing_comes();
    }
}

/* With the clients' usual patience of some 20 s. */
EITHER(TimedTest, red_lock, needs_little_time_with_one_server_down)
{
    rlock *red = ours_red();
    server_kill(places[1].server);
    int64_t since_ms = now_ms();
    assert_ok(rlock_try_lock(red, 0, 10000));
    assert_ok(rlock_unlock(red));
    assert_between(now_ms() - since_ms, 0, 100);
    assert_ok(rlock_try_lock(red, 1000, RLOCK_WATCHDOG));
    cr_assert(is_held(red));
    assert_ok(rlock_unlock(red));
    assert_between(now_ms() - since_ms, 0, 200);
    cr_assert(!held_at(0, NAME) && !held_at(2, NAME));
    server_restart(places[1].server);
    assert_ok(rlock_try_lock(red, 10000, 10000));
    assert_ok(rlock_unlock(red));
}

EITHER(TimedTest, red_lock_outage, survives_the_loss_of_one_server_while_it_is_held)
{
    rlock *red = ours_red(), *theirs = theirs_red();
    actor *other = actor_start();
    for (size_t i = 0; i < PLACES; i++) {
        assert_ok(rlock_try_lock(red, 10000, RLOCK_WATCHDOG));
        server_kill(places[i].server);
        cr_assert(is_held(red) && rlock_valid_for(red) > 0);
        /* It comes back empty, so another may have a vote of it, but no majority. */
        server_restart(places[i].server);
        assert_status(actor_try(other, theirs, 600, 5000), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(red));
        assert_nothing_comes();
    }
    actor_end(other);
}

/* A majority of grants that nobody heard of: too few votes, and all are taken back. */
EITHER(TimedTest, red_lock_outage, is_unavailable_with_more_than_half_frozen_and_leaves_nothing)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    server_freeze(places[1].server);
    server_freeze(places[2].server);
    static const int64_t waits_ms[] = {0, 900, RLOCK_FOREVER};
    for (int i = 0; i < 3; i++) {
        int64_t since_ms = now_ms();
        assert_status(rlock_try_lock(red, waits_ms[i], 30000), RLOCK_UNAVAILABLE);
        assert_error("of 3 taken, 2 needed");
        assert_between(now_ms() - since_ms, 0, at_most_ms(6000));
        cr_assert(!held_at(0, NAME));
    }
    server_thaw(places[1].server);
    server_thaw(places[2].server);
    assert_nothing_comes();
    assert_ok(rlock_try_lock(red, 10000, 60000));
    assert_ok(rlock_unlock(red));
}

/* A red lock that is held: one member was lost, and the other two do not answer until they are thawed. */
static rlock *red_with_one_lost_and_two_frozen(void)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 10000, 60000));
    assert_ok(rlock_force_unlock(lock_at(0, false, NAME), NULL));
    server_freeze(places[1].server);
    server_freeze(places[2].server);
    return red;
}

/* They might answer that they were not. */
EITHER(TimedTest, red_lock_outage, is_not_called_lost_while_those_that_do_not_answer_may_be_held)
{
    rlock *red = red_with_one_lost_and_two_frozen();
    assert_status(rlock_extend(red, 90000), RLOCK_UNAVAILABLE);
    assert_error("0 of 3 extended, 2 needed, 1 lost before");
    cr_assert(rlock_valid_for(red) > 0);
    assert_status(rlock_unlock(red), RLOCK_UNAVAILABLE);
    assert_error("0 of 3 released, 2 needed, 1 lost before");
    server_thaw(places[1].server);
    server_thaw(places[2].server);
    assert_nothing_comes();
}

EITHER(Test, red_lock, works_without_a_closed_client)
{
    rlock *red = ours_red();
    stage_close_client(places[0].ours);
    places[0].ours = NULL;
    assert_ok(rlock_try_lock(red, 10000, 10000));
    cr_assert(!held_at(0, NAME) && held_at(1, NAME) && held_at(2, NAME));
    assert_ok(rlock_unlock(red));
    rlock_client_close(places[1].ours);
    assert_status(rlock_lock(red), RLOCK_CLOSED);
    assert_status(rlock_unlock(red), RLOCK_CLOSED);
    cr_assert(rlock_valid_for(red) == 0);
    places[1].ours = NULL;
}

TimedTest(red_lock, refused_by_one_server_is_had_and_by_two_is_not)
{
    rlock *red = ours_red();
    freeReplyObject(server_command(places[0].server, "SET %s text", NAME));
    assert_ok(rlock_try_lock(red, 10000, 10000));
    assert_ok(rlock_unlock(red));
    freeReplyObject(server_command(places[1].server, "SET %s text", NAME));
    assert_status(rlock_lock(red), RLOCK_SERVER);
    assert_error("WRONGTYPE");
    cr_assert(!held_at(2, NAME));
}

/* One that fails leaves the others to be waited for. */
EITHER(TimedTest, red_lock, waits_for_the_others_beside_a_member_that_is_refused)
{
    rlock *red = ours_red();
    actor *waiter = actor_start();
    freeReplyObject(server_command(places[0].server, "SADD %s member", NAME));
    foreign_hold_at(1, NAME);
    assert_status(rlock_try_lock(red, 0, 10000), RLOCK_TIMEOUT);
    assert_error("of 3 taken, 2 needed; 1 are held by other owners; ", "WRONGTYPE");
    actor_begin_try(waiter, red, RLOCK_FOREVER, 10000);
    cr_assert(!actor_ended(waiter, 1000));
    foreign_release_at(1, NAME);
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, red));
    actor_end(waiter);
}

EITHER(TimedTest, red_lock_outage, waits_for_a_server_beside_a_member_that_is_refused)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
    freeReplyObject(server_command(places[0].server, "SADD %s member", NAME));
    server_freeze(places[1].server);
    assert_status(rlock_try_lock(red, 0, 10000), RLOCK_UNAVAILABLE);
    server_thaw(places[1].server);
    assert_ok(rlock_lock(red));
    assert_ok(rlock_unlock(red));
}

/* A re-entry asks only the members that are held, so no other stands in for one that refuses: that is told at once. */
TimedTest(red_lock, is_not_taken_again_without_a_member_that_refuses)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_force_unlock(lock_at(0, true, NAME), NULL));
    freeReplyObject(server_command(places[1].server, "CONFIG SET maxmemory 1"));
    assert_status(rlock_lock(red), RLOCK_SERVER);
    assert_error("2 needed", "OOM");
    freeReplyObject(server_command(places[1].server, "CONFIG SET maxmemory 0"));
    assert_ok(rlock_unlock(red));
}

/* --- losing --- */

EITHER(TimedTest, red_lock, is_lost_with_its_majority)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    assert_ok(rlock_force_unlock(lock_at(0, true, NAME), NULL));
    cr_assert(is_held(red) && rlock_valid_for(red) > 0);
    assert_ok(rlock_unlock(red));
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(red));
    assert_ok(rlock_force_unlock(lock_at(0, true, NAME), NULL));
    assert_ok(rlock_force_unlock(lock_at(2, true, NAME), NULL));
    cr_assert(!is_held(red) && rlock_valid_for(red) == 0);
    assert_status(rlock_unlock(red), RLOCK_LOST);
    assert_nothing_comes();
    assert_ok(rlock_try_lock(red, 0, 60000));
    assert_ok(rlock_unlock(red));
}

/* A member that was still held says that the red lock was, until then: "not owner" would leave the other holds of the
 * member to nobody. */
EITHER(TimedTest, red_lock, unlock_that_releases_one_member_is_told_of_a_loss)
{
    rlock *red = ours_red();
    assert_ok(rlock_try_lock(red, 10000, RLOCK_WATCHDOG));
    for (size_t i = 1; i < PLACES; i++)
        assert_ok(rlock_unlock(lock_at(i, true, NAME)));
    assert_status(rlock_unlock(red), RLOCK_LOST);
    assert_status(rlock_unlock(red), RLOCK_NOT_OWNER);
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(!held_at(i, NAME));
}

EITHER(TimedTest, red_lock, losing_a_member_is_told_by_its_client)
{
    losses heard;
    losses_init(&heard);
    rlock *red = ours_red();
    rlock_on_lost(places[2].ours, losses_note, &heard);
    assert_ok(rlock_try_lock(red, 10000, 2000));
    cr_assert(event_wait_ms(&heard.came, 10000));
    cr_assert(strcmp(heard.all[0].name, NAME) == 0 && heard.all[0].reason == RLOCK_LOST_EXPIRED);
    assert_status(rlock_unlock(red), RLOCK_LOST);
    rlock_on_lost(places[2].ours, NULL, NULL);
    event_destroy(&heard.came);
}

/* --- cancelling --- */

EITHER(TimedTest, red_lock, cancelled_in_the_middle_leaves_no_member_held)
{
    rlock *red = ours_red();
    foreign_hold_at(1, NAME);
    foreign_hold_at(2, NAME);
    for (int i = 0; i < 20; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.cancel = token;
        actor *waiter = actor_start();
        actor_begin_with(waiter, red, &options);
        cr_assert(!actor_ended(waiter, 10 * i));
        int64_t since_ms = now_ms();
        rlock_cancel_fire(token);
        assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
        cr_assert(wait_free_at(0, NAME, 10000));
        actor_end(waiter);
        rlock_cancel_free(token);
    }
}

/* --- many at once --- */

typedef struct party {
    rlock *lock;
    int turns;
    int64_t wait_ms, lease_ms, hold_ms;
    pthread_t thread;
    rlock_status status;
    char error[256];
} party;

/* A plain counter in effect: each turn reads it, and later writes what it read plus one. */
static atomic_int counter, inside;
static atomic_bool collided;

static void turn(const party *self)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_store(&collided, true);
    int seen = atomic_load(&counter);
    pass_ms(self->hold_ms);
    atomic_store(&counter, seen + 1);
    atomic_fetch_sub(&inside, 1);
}

static void *take_turns(void *arg)
{
    party *self = arg;
    for (int i = 0; i < self->turns && self->status == RLOCK_OK; i++) {
        do
            self->status = rlock_try_lock(self->lock, self->wait_ms, self->lease_ms);
        while (self->status == RLOCK_TIMEOUT && self->wait_ms != RLOCK_FOREVER);
        if (self->status != RLOCK_OK)
            break;
        turn(self);
        self->status = rlock_unlock(self->lock);
    }
    strncpy(self->error, rlock_last_error(), sizeof self->error - 1);
    return NULL;
}

static void run_parties(party *parties, int count)
{
    int turns = 0;
    for (int i = 0; i < count; i++) {
        turns += parties[i].turns;
        cr_assert(pthread_create(&parties[i].thread, NULL, take_turns, &parties[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(parties[i].thread, NULL);
    for (int i = 0; i < count; i++)
        cr_assert(parties[i].status == RLOCK_OK, "%d: %s, %s", i, rlock_strstatus(parties[i].status), parties[i].error);
    cr_assert(!atomic_load(&collided), "two held it at once");
    cr_assert(atomic_load(&counter) == turns, "%d turns were counted of %d", atomic_load(&counter), turns);
}

/* Seven locks on two servers. */
static rlock *of_seven(bool ours)
{
    static const char *const seven[] = {"a", "b", "c", "d", "e", "f", "g"};
    rlock *locks[7];
    for (size_t i = 0; i < 7; i++) {
        const struct place *place = &places[i % 2];
        locks[i] = lock_of(ours ? place->ours : place->theirs, seven[i]);
    }
    return made_of(rlock_get_red_lock, locks, 7);
}

TimedTest(red_lock, of_seven_on_two_servers_counts_exactly)
{
    const int64_t leases_ms[] = {at_most_ms(3000), 60000};
    for (int i = 0; i < 2; i++) {
        party parties[10];
        for (int j = 0; j < 10; j++)
            parties[j] = (party){.lock = of_seven(j % 2), .turns = 5, .wait_ms = RLOCK_FOREVER,
                                 .lease_ms = leases_ms[i], .hold_ms = 20};
        atomic_store(&counter, 0);
        run_parties(parties, 10);
    }
}

EITHER(TimedTest, red_lock, of_three_tried_again_and_again_counts_exactly)
{
    party parties[8];
    for (int i = 0; i < 8; i++)
        parties[i] = (party){.lock = i % 2 ? ours_red() : theirs_red(), .turns = 5, .wait_ms = 4000, .lease_ms = 10000,
                             .hold_ms = 10};
    run_parties(parties, 8);
    assert_nothing_comes();
}

EITHER(TimedTest, red_lock, in_all_orders_counts_exactly)
{
    party parties[6];
    for (int i = 0; i < 6; i++) {
        rlock *locks[PLACES];
        for (size_t j = 0; j < PLACES; j++) {
            size_t at = ((size_t)i + (i % 2 ? j : PLACES - j)) % PLACES;
            locks[j] = lock_of(i % 3 ? places[at].ours : places[at].theirs, NAME);
        }
        parties[i] = (party){.lock = made_of(rlock_get_red_lock, locks, PLACES), .turns = 10,
                             .wait_ms = RLOCK_FOREVER, .lease_ms = RLOCK_WATCHDOG};
    }
    run_parties(parties, 6);
    assert_nothing_comes();
}

/* --- bad input --- */

EITHER(TimedTest, red_lock, of_none_or_null_or_the_same_twice_is_invalid)
{
    rlock *one = lock_at(0, true, NAME), *another = lock_at(1, true, NAME);
    rlock *holed[] = {one, NULL, another};
    cr_assert(rlock_get_red_lock(NULL, 0) == NULL);
    assert_error("at least one lock");
    cr_assert(rlock_get_red_lock(holed, 3) == NULL);
    assert_error("locks[1]");
    rlock *twice[] = {one, another, one};
    cr_assert(rlock_get_red_lock(twice, 3) == NULL);
    assert_error("\"" NAME "\" occurs twice");
    rlock *by_two_clients[] = {one, another, lock_of(places[0].theirs, NAME)};
    cr_assert(rlock_get_red_lock(by_two_clients, 3) == NULL);
    assert_error("occurs twice");
    rlock *for_two_owners[] = {owned_by(one, 1), owned_by(one, 2)};
    cr_assert(rlock_get_red_lock(for_two_owners, 2) == NULL);
    rlock *nested[] = {one, made_of(rlock_get_multi_lock, twice, 3)};
    cr_assert(rlock_get_red_lock(nested, 2) == NULL);
    assert_error("made of several");
    rlock *two_names[] = {one, lock_of(places[0].ours, "stock"), another};
    assert_ok(rlock_try_lock(made_of(rlock_get_red_lock, two_names, 3), 0, 1000));
}

/* The same name in another database is another lock. */
EITHER(TimedTest, red_lock, may_have_a_name_in_two_databases)
{
    rlock *locks[] = {lock_at(0, true, NAME), lock_of(stage_client("database=1"), NAME)};
    rlock *red = made_of(rlock_get_red_lock, locks, 2);
    assert_ok(rlock_try_lock(red, 0, 60000));
    assert_ok(rlock_unlock(red));
}

EITHER(Test, red_lock, has_no_count_no_state_no_force_and_no_name)
{
    rlock *red = ours_red();
    int count = 77;
    bool flag = true;
    int64_t ms = 77;
    assert_status(rlock_get_hold_count(red, &count), RLOCK_UNSUPPORTED);
    assert_status(rlock_is_locked(red, &flag), RLOCK_UNSUPPORTED);
    assert_status(rlock_remain_time_to_live(red, &ms), RLOCK_UNSUPPORTED);
    assert_status(rlock_force_unlock(red, &flag), RLOCK_UNSUPPORTED);
    cr_assert(flag && count == 77 && ms == 77, "an answer was set");
    cr_assert(rlock_name(red) == NULL);
}

/* Shorter than it takes to ask: not tried for ever, and nothing stays. */
EITHER(TimedTest, red_lock, with_a_lease_that_ends_at_once_is_not_had)
{
    rlock *red = ours_red();
    assert_status(rlock_try_lock(red, 300, 1), RLOCK_TIMEOUT);
    assert_status(rlock_lock_lease(red, 1), RLOCK_TIMEOUT);
    assert_error("ended");
    assert_nothing_comes();
}

/* Nobody renews what the closed client had: with the member that was forced open, no majority is left. */
EITHER(Test, red_lock, that_was_lost_beside_a_closed_client_is_told_lost)
{
    rlock *red = ours_red();
    assert_ok(rlock_lock(red));
    stage_close_client(places[0].ours);
    places[0].ours = NULL;
    assert_ok(rlock_force_unlock(lock_at(1, false, NAME), NULL));
    assert_status(rlock_unlock(red), RLOCK_LOST);
}

/* The two that do not answer may make the lock one hold deeper. */
EITHER(TimedTest, red_lock_outage, is_not_refused_again_while_those_that_do_not_answer_may_grant_it)
{
    rlock *red = red_with_one_lost_and_two_frozen();
    assert_status(rlock_try_lock(red, 0, 60000), RLOCK_UNAVAILABLE);
    server_thaw(places[1].server);
    server_thaw(places[2].server);
}

/* Handles on the first places, which threads may share. */
static void members_of_an_owner(rlock **members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        members[i] = keep_lock(rlock_for_owner(lock_at(i, true, NAME), 7));
}

/* A try of several locks has one of them when another one does not answer. Its short lease ends, and another thread of the
 * owner takes that one by its name. */
static void assert_gives_back_its_own_hold_alone(lock_maker *make)
{
    rlock *members[PLACES];
    members_of_an_owner(members, PLACES);
    rlock *several = made_of(make, members, PLACES);
    actor *beside = actor_start();
    foreign_hold_at(2, NAME);
    server_freeze(places[1].server);
    actor_begin_try(beside, several, 0, 100);
    cr_assert(server_wait_exists(places[0].server, NAME, true, 5000) && wait_free_at(0, NAME, 5000));
    assert_ok(rlock_try_lock(members[0], 0, 60000));
    cr_assert(actor_finish(beside, 10000) != RLOCK_OK);
    server_thaw(places[1].server);
    cr_assert(rlock_valid_for(members[0]) > 0);
    assert_status(rlock_try_lock(lock_at(0, false, NAME), 0, 60000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(members[0]));
    foreign_release_at(2, NAME);
    actor_end(beside);
}

EITHER(TimedTest, red_lock_outage, that_fails_gives_back_its_own_holds_alone)
{
    assert_gives_back_its_own_hold_alone(rlock_get_red_lock);
}

TimedTest(red_lock_outage, multi_lock_that_fails_gives_back_its_own_holds_alone)
{
    assert_gives_back_its_own_hold_alone(rlock_get_multi_lock);
}

/* Of that one, and a multi lock of the others. */
static rlock *multi_of_one_and_a_multi(rlock *const *members, size_t count)
{
    rlock *outer[] = {members[0], made_of(rlock_get_multi_lock, members + 1, count - 1)};
    return rlock_get_multi_lock(outer, 2);
}

TimedTest(red_lock_outage, multi_lock_of_another_one_gives_back_its_own_holds_alone)
{
    assert_gives_back_its_own_hold_alone(multi_of_one_and_a_multi);
}

/* Of a multi lock of that one alone, and the others. */
static rlock *multi_of_a_multi_and_others(rlock *const *members, size_t count)
{
    rlock *outer[PLACES] = {made_of(rlock_get_multi_lock, members, 1)};
    for (size_t i = 1; i < count; i++)
        outer[i] = members[i];
    return rlock_get_multi_lock(outer, count);
}

TimedTest(red_lock_outage, multi_lock_in_another_one_gives_back_its_own_holds_alone)
{
    assert_gives_back_its_own_hold_alone(multi_of_a_multi_and_others);
}

/* A try of several locks has one of them when another one does not answer. It loses that one, which another thread of the
 * owner takes by its name: that hold is none of the try's. */
static void assert_is_not_had_with_the_hold_of_another_call(lock_maker *make)
{
    rlock *members[2];
    members_of_an_owner(members, 2);
    rlock *several = made_of(make, members, 2);
    actor *beside = actor_start();
    server_freeze(places[1].server);
    actor_begin_try(beside, several, 0, 60000);
    cr_assert(server_wait_exists(places[0].server, NAME, true, 5000));
    assert_ok(rlock_force_unlock(members[0], NULL));
    assert_ok(rlock_try_lock(members[0], 0, 5000));
    server_thaw(places[1].server);
    assert_status(actor_finish(beside, 10000), RLOCK_TIMEOUT);
    int64_t left_ms = rlock_valid_for(members[0]);
    cr_assert(left_ms > 0 && left_ms <= 5000, "the try left it for %d ms", (int)left_ms);
    cr_assert(rlock_valid_for(members[1]) == 0);
    assert_ok(rlock_unlock(members[0]));
    actor_end(beside);
}

EITHER(TimedTest, red_lock_outage, is_not_had_with_the_hold_of_another_call)
{
    assert_is_not_had_with_the_hold_of_another_call(rlock_get_red_lock);
}

TimedTest(red_lock_outage, multi_lock_is_not_had_with_the_hold_of_another_call)
{
    assert_is_not_had_with_the_hold_of_another_call(rlock_get_multi_lock);
}

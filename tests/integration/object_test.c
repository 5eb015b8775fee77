/* Semaphores and latches as keys of the server: whether they exist, their time to live, and their name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

TestSuite(object, .init = stage_open, .fini = stage_close);

#define NAME "ob"
#define LAST_MS INT64_C(253402300799999) /* the end of the year 9999 */

/* One object of each sort, which exists. */
static int made(rlock_object *objects[3])
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "se");
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    rlock_count_down_latch *latch = latch_of(stage.client, "la");
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 5, NULL));
    assert_ok(rlock_permit_semaphore_try_set_permits(permits, 5, NULL));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 5, NULL));
    objects[0] = rlock_semaphore_object(semaphore);
    objects[1] = rlock_permit_semaphore_object(permits);
    objects[2] = rlock_count_down_latch_object(latch);
    return 3;
}

static bool exists(rlock_object *object)
{
    bool is = false;
    assert_ok(rlock_object_exists(object, &is));
    return is;
}

static int64_t left(rlock_object *object)
{
    int64_t ms = -99;
    assert_ok(rlock_object_remain_time_to_live(object, &ms));
    return ms;
}

static int64_t end_of(rlock_object *object)
{
    int64_t ms = -99;
    assert_ok(rlock_object_get_expire_time(object, &ms));
    return ms;
}

static bool expire(rlock_object *object, int64_t ttl_ms, rlock_expire_when when)
{
    bool set = false;
    assert_ok(rlock_object_expire(object, ttl_ms, when, &set));
    return set;
}

Test(object, exists_between_its_making_and_its_deletion)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    rlock_object *object = rlock_semaphore_object(semaphore);
    cr_assert(!exists(object) && left(object) == -2 && end_of(object) == -2);
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 0, NULL));
    cr_assert(exists(object) && left(object) == -1 && end_of(object) == -1);
    assert_ok(rlock_semaphore_delete(semaphore, NULL));
    cr_assert(!exists(object) && left(object) == -2);
}

Test(object, has_an_expiry_as_it_is_set_and_cleared)
{
    rlock_object *objects[3];
    for (int i = made(objects) - 1; i >= 0; i--) {
        bool cleared = true;
        assert_ok(rlock_object_clear_expire(objects[i], &cleared));
        cr_assert(!cleared);
        cr_assert(expire(objects[i], 60000, RLOCK_EXPIRE_ALWAYS));
        assert_between(left(objects[i]), 60000 - at_most_ms(1000), 60000);
        assert_between(end_of(objects[i]) - server_now_ms(), 60000 - at_most_ms(1000), 60000);
        assert_ok(rlock_object_clear_expire(objects[i], &cleared));
        cr_assert(cleared && left(objects[i]) == -1);
        bool set = false;
        assert_ok(rlock_object_expire_at(objects[i], server_now_ms() + 60000, RLOCK_EXPIRE_ALWAYS, &set));
        cr_assert(set);
        assert_between(left(objects[i]), 60000 - at_most_ms(1000), 60000);
        assert_ok(rlock_object_expire_at(objects[i], 1, RLOCK_EXPIRE_ALWAYS, &set));
        cr_assert(set && !exists(objects[i]));
        cr_assert(!expire(objects[i], 60000, RLOCK_EXPIRE_ALWAYS));
    }
    assert_no_keys();
}

Test(object, expires_only_if_the_condition_holds)
{
    rlock_object *objects[3];
    for (int i = made(objects) - 1; i >= 0; i--) {
        rlock_object *object = objects[i];
        cr_assert(!expire(object, 60000, RLOCK_EXPIRE_IF_SET) && left(object) == -1);
        cr_assert(!expire(object, 60000, RLOCK_EXPIRE_IF_GREATER) && left(object) == -1);
        cr_assert(expire(object, 60000, RLOCK_EXPIRE_IF_NOT_SET));
        cr_assert(!expire(object, 90000, RLOCK_EXPIRE_IF_NOT_SET));
        cr_assert(!expire(object, 30000, RLOCK_EXPIRE_IF_GREATER));
        assert_between(left(object), 60000 - at_most_ms(1000), 60000);
        cr_assert(expire(object, 90000, RLOCK_EXPIRE_IF_GREATER));
        cr_assert(!expire(object, 120000, RLOCK_EXPIRE_IF_LESS));
        assert_between(left(object), 90000 - at_most_ms(1000), 90000);
        cr_assert(expire(object, 30000, RLOCK_EXPIRE_IF_LESS));
        cr_assert(expire(object, 45000, RLOCK_EXPIRE_IF_SET));
        assert_between(left(object), 45000 - at_most_ms(1000), 45000);
        assert_ok(rlock_object_clear_expire(object, NULL));
        cr_assert(expire(object, 30000, RLOCK_EXPIRE_IF_LESS));
    }
}

/* An instant, too, is compared with the end that is set. */
Test(object, expires_at_an_instant_only_if_the_condition_holds)
{
    rlock_object *objects[3];
    for (int i = made(objects) - 1; i >= 0; i--) {
        const int64_t end_ms = server_now_ms() + 60000;
        bool set = true;
        assert_ok(rlock_object_expire_at(objects[i], end_ms, RLOCK_EXPIRE_ALWAYS, &set));
        cr_assert(set);
        assert_ok(rlock_object_expire_at(objects[i], end_ms - 30000, RLOCK_EXPIRE_IF_GREATER, &set));
        cr_assert(!set);
        assert_ok(rlock_object_expire_at(objects[i], end_ms + 30000, RLOCK_EXPIRE_IF_LESS, &set));
        cr_assert(!set);
        assert_between(left(objects[i]), 60000 - at_most_ms(1000), 60000);
        assert_ok(rlock_object_expire_at(objects[i], end_ms + 30000, RLOCK_EXPIRE_IF_GREATER, &set));
        cr_assert(set);
        assert_ok(rlock_object_expire_at(objects[i], end_ms - 30000, RLOCK_EXPIRE_IF_LESS, &set));
        cr_assert(set);
        assert_between(left(objects[i]), 30000 - at_most_ms(1000), 30000);
    }
}

/* To the millisecond: it is what a program may have set. */
Test(object, tells_the_instant_at_which_it_expires)
{
    rlock_object *objects[3];
    made(objects);
    for (int64_t i = 0; i < 5; i++) {
        const int64_t set_ms = server_now_ms() + 60000 + 137 * i;
        assert_ok(rlock_object_expire_at(objects[i % 3], set_ms, RLOCK_EXPIRE_ALWAYS, NULL));
        assert_between(end_of(objects[i % 3]) - set_ms, 0, at_most_ms(1));
    }
}

/* The permits end with the counter. */
Test(object, of_permits_expires_and_lasts_as_a_whole)
{
    rlock_permit permit;
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_object *object = rlock_permit_semaphore_object(semaphore);
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 2, NULL));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit));
    cr_assert(expire(object, 60000, RLOCK_EXPIRE_ALWAYS));
    assert_between(pttl_of(NAME), 60000 - at_most_ms(1000), 60000);
    assert_between(pttl_of("{" NAME "}:timeout"), 60000 - at_most_ms(1000), 60000);
    assert_ok(rlock_object_clear_expire(object, NULL));
    cr_assert(pttl_of(NAME) == -1 && pttl_of("{" NAME "}:timeout") == -1);
}

/* A latch that expires is open. Its waiters were told that there is no expiry: they hear of the new one. */
/* Adding ends the time to live, and that of the taken permits with it: they come back when they are released. */
TimedTest(object, of_permits_keeps_those_that_are_taken_when_its_expiry_goes)
{
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    rlock_object *object = rlock_permit_semaphore_object(permits);
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_set_permits(permits, 3, NULL));
    assert_ok(rlock_permit_semaphore_acquire(permits, RLOCK_PERMIT_FOREVER, &permit));
    cr_assert(expire(object, 5000, RLOCK_EXPIRE_ALWAYS));
    assert_ok(rlock_permit_semaphore_add_permits(permits, 1));
    cr_assert(left(object) == -1 && pttl_of("{pe}:timeout") == -1);
    pass_ms(6000);
    cr_assert(permits_available(permits) == 3 && permits_taken(permits) == 1);
    assert_ok(rlock_permit_semaphore_release(permits, permit.id));
    cr_assert(permits_available(permits) == 4);
}

TimedTest(object, wakes_waiters_of_a_latch_that_expires)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    actor *waiter = actor_start();
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, NULL));
    actor_begin(waiter, await_open, &(awaiting){latch_of(stage.other, NAME), RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1));
    pass_ms(100);
    int64_t since_ms = now_ms();
    cr_assert(expire(rlock_count_down_latch_object(latch), 700, RLOCK_EXPIRE_ALWAYS));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(now_ms() - since_ms, 700, 720);
    actor_end(waiter);
}

/* --- names --- */

Test(object, moves_to_another_name_with_all_that_it_has)
{
    rlock_permit permit;
    rlock_object *objects[3];
    made(objects);
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    assert_ok(rlock_permit_semaphore_acquire(permits, RLOCK_PERMIT_FOREVER, &permit));
    cr_assert(expire(objects[1], 60000, RLOCK_EXPIRE_ALWAYS));
    assert_ok(rlock_object_rename(objects[0], "se2"));
    assert_ok(rlock_object_rename(objects[1], "pe2"));
    assert_ok(rlock_object_rename(objects[2], "la2"));
    cr_assert(!exists(objects[0]) && !exists(objects[1]) && !exists(objects[2]));
    cr_assert(available(semaphore_of(stage.client, "se2")) == 5);
    rlock_permit_semaphore *moved = permits_of(stage.client, "pe2");
    cr_assert(permits_available(moved) == 4 && permits_taken(moved) == 1);
    assert_between(pttl_of("{pe2}:timeout"), 60000 - at_most_ms(1000), 60000);
    assert_ok(rlock_permit_semaphore_release(moved, permit.id));
    cr_assert(count_of(latch_of(stage.client, "la2")) == 5);
    assert_status(rlock_object_rename(objects[0], "se3"), RLOCK_INVALID);
    assert_error("does not exist");
}

/* What had the name is gone, with its permits. */
Test(object, takes_the_place_of_what_had_the_name_if_it_may)
{
    rlock_permit permit;
    bool renamed = true;
    rlock_permit_semaphore *one = permits_of(stage.client, "one"), *two = permits_of(stage.client, "two");
    assert_ok(rlock_permit_semaphore_try_set_permits(one, 1, NULL));
    assert_ok(rlock_permit_semaphore_try_set_permits(two, 2, NULL));
    assert_ok(rlock_permit_semaphore_acquire(two, RLOCK_PERMIT_FOREVER, &permit));
    rlock_object *object = rlock_permit_semaphore_object(one);
    assert_ok(rlock_object_rename_if_absent(object, "two", &renamed));
    cr_assert(!renamed && permits_total(one) == 1 && permits_total(two) == 2);
    assert_ok(rlock_object_rename(object, "two"));
    cr_assert(permits_total(two) == 1 && permits_taken(two) == 0);
    assert_keys("two string 1 \n");
    assert_ok(rlock_object_rename_if_absent(rlock_permit_semaphore_object(two), "one", &renamed));
    cr_assert(renamed);
    assert_keys("one string 1 \n");
    assert_ok(rlock_object_rename(object, "one"));
    assert_ok(rlock_object_rename_if_absent(object, "one", &renamed));
    cr_assert(!renamed);
    assert_keys("one string 1 \n");
    freeReplyObject(server_command(stage.server, "RPUSH list x"));
    assert_ok(rlock_object_rename_if_absent(object, "list", &renamed));
    cr_assert(!renamed && server_integer(stage.server, "LLEN list") == 1);
}

/* Nothing is taken out of its own way. */
Test(object, that_gets_the_name_it_has_keeps_all_that_it_has)
{
    rlock_permit permit;
    rlock_permit_semaphore *semaphore = permits_of(stage.client, NAME);
    rlock_object *object = rlock_permit_semaphore_object(semaphore);
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, 3, NULL));
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit));
    assert_ok(rlock_object_rename(object, NAME));
    cr_assert(permits_available(semaphore) == 2 && permits_taken(semaphore) == 1);
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
}

/* Whoever waits under the new name finds what came; a latch whose name was taken away is open. */
Test(object, wakes_waiters_of_both_names)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "old");
    rlock_count_down_latch *latch = latch_of(stage.client, "shut");
    actor *taker = actor_start(), *waiter = actor_start();
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 1, NULL));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, NULL));
    actor_begin(taker, take, &(taking){semaphore_of(stage.other, "new"), 1, RLOCK_FOREVER, NULL});
    actor_begin(waiter, await_open, &(awaiting){latch_of(stage.other, "shut"), RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard("new", 1) && wait_latch_heard("shut", 1));
    assert_ok(rlock_object_rename(rlock_semaphore_object(semaphore), "new"));
    assert_ok(actor_finish(taker, 5000));
    assert_ok(rlock_object_rename(rlock_count_down_latch_object(latch), "away"));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(count_of(latch_of(stage.client, "away")) == 1);
    actor_end(taker);
    actor_end(waiter);
}

/* What Redisson's waiters hear: how many permits there are, that a latch of the new name is shut, and that the one of the
 * old name is open. Nothing has come where an object gets the name that it has. */
Test(object, says_what_came_under_the_new_name)
{
    rlock_object *objects[3];
    made(objects);
    monitor *tap = monitor_open();
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_object_rename(objects[i], i ? "pe" : "se"));
        assert_said(tap, "");
        assert_ok(rlock_object_rename(objects[i], i ? "pe2" : "se2"));
        assert_said(tap, i ? "PUBLISH redisson_sc:{pe2} 5\n" : "PUBLISH redisson_sc:{se2} 5\n");
    }
    assert_ok(rlock_object_rename(objects[2], "la2"));
    assert_said(tap, "PUBLISH redisson_countdownlatch__channel__{la2} 1\n"
                     "PUBLISH redisson_countdownlatch__channel__{la} 0\n");
    monitor_close(tap);
}

/* --- arguments --- */

Test(object, refuses_wrong_arguments_and_what_it_is_not)
{
    rlock_object *objects[3];
    bool flag;
    int64_t ms;
    made(objects);
    static const int64_t wrong[] = {0, -1, INT64_MIN, INT64_MAX};
    for (int i = 0; i < 4; i++) {
        assert_status(rlock_object_expire(objects[0], wrong[i], RLOCK_EXPIRE_ALWAYS, &flag), RLOCK_INVALID);
        assert_status(rlock_object_expire_at(objects[0], wrong[i], RLOCK_EXPIRE_ALWAYS, &flag), RLOCK_INVALID);
    }
    assert_ok(rlock_object_expire(objects[0], RLOCK_LEASE_MAX_MS, RLOCK_EXPIRE_ALWAYS, &flag));
    assert_status(rlock_object_expire(objects[0], RLOCK_LEASE_MAX_MS + 1, RLOCK_EXPIRE_ALWAYS, &flag), RLOCK_INVALID);
    assert_ok(rlock_object_expire_at(objects[0], LAST_MS, RLOCK_EXPIRE_ALWAYS, &flag));
    cr_assert(end_of(objects[0]) >= LAST_MS);
    assert_status(rlock_object_expire_at(objects[0], LAST_MS + 1, RLOCK_EXPIRE_ALWAYS, &flag), RLOCK_INVALID);
    assert_status(rlock_object_expire(objects[0], 1, (rlock_expire_when)5, &flag), RLOCK_INVALID);
    assert_status(rlock_object_exists(NULL, &flag), RLOCK_INVALID);
    assert_status(rlock_object_exists(objects[0], NULL), RLOCK_INVALID);
    assert_status(rlock_object_remain_time_to_live(objects[0], NULL), RLOCK_INVALID);
    assert_status(rlock_object_rename(objects[0], ""), RLOCK_INVALID);
    assert_status(rlock_object_rename(objects[0], NULL), RLOCK_INVALID);
    assert_status(rlock_object_rename(NULL, "a"), RLOCK_INVALID);
    cr_assert(!rlock_semaphore_object(NULL) && !rlock_permit_semaphore_object(NULL) && !rlock_count_down_latch_object(NULL));
    freeReplyObject(server_command(stage.server, "RPUSH list x"));
    rlock_object *list = rlock_semaphore_object(semaphore_of(stage.client, "list"));
    assert_status(rlock_object_exists(list, &flag), RLOCK_SERVER);
    assert_status(rlock_object_expire(list, 1000, RLOCK_EXPIRE_ALWAYS, &flag), RLOCK_SERVER);
    assert_status(rlock_object_clear_expire(list, &flag), RLOCK_SERVER);
    assert_status(rlock_object_rename(list, "other"), RLOCK_SERVER);
    assert_status(rlock_object_get_expire_time(list, &ms), RLOCK_SERVER);
    cr_assert(pttl_of("list") == -1);
}

/* --- without a thread --- */

static int64_t answer_of(rlock_status begun, called *done)
{
    assert_ok(begun);
    assert_ok(called_await(stage.client, done));
    return done->answer;
}

RealTest(object, works_without_a_thread)
{
    rlock_object *objects[3];
    int count = made(objects);
    for (int i = 0; i < count; i++) {
        rlock_object *object = objects[i];
        called done[8] = {{0}};
        cr_assert(answer_of(rlock_object_exists_async(object, called_note, done), done) == 1);
        cr_assert(answer_of(rlock_object_expire_async(object, 60000, RLOCK_EXPIRE_IF_NOT_SET, called_note, done + 1),
                            done + 1) == 1);
        assert_between(answer_of(rlock_object_remain_time_to_live_async(object, called_note, done + 2), done + 2), 1, 60000);
        cr_assert(answer_of(rlock_object_clear_expire_async(object, called_note, done + 3), done + 3) == 1);
        cr_assert(answer_of(rlock_object_get_expire_time_async(object, called_note, done + 4), done + 4) == -1);
        cr_assert(answer_of(rlock_object_expire_at_async(object, server_now_ms() + 60000, RLOCK_EXPIRE_ALWAYS,
                                                         called_note, done + 5), done + 5) == 1);
        answer_of(rlock_object_rename_async(object, NAME, called_note, done + 6), done + 6);
        cr_assert(!exists(object) && server_integer(stage.server, "EXISTS " NAME) == 1);
        assert_ok(rlock_object_rename_if_absent_async(object, "else", called_note, done + 7));
        assert_status(called_await(stage.client, done + 7), RLOCK_INVALID);
    }
}

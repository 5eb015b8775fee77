/* The semaphore: permits taken, waited for, given back and counted as Redisson's are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

TestSuite(semaphore, .init = stage_open, .fini = stage_close);

#define NAME "se"

static rlock_semaphore *semaphore_with(int permits)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    bool set = false;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, permits, &set));
    cr_assert(set);
    return semaphore;
}

/* --- what it leaves on the server --- */

/* Redisson's steps "semaphore". */
Test(semaphore, leaves_redissons_keys_and_messages)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME), *other = semaphore_of(stage.other, NAME);
    monitor *tap = monitor_open();
    actor *waiter = actor_start();
    bool answer = false;
    int permits = 0;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 5, &answer));
    cr_assert(answer);
    assert_keys("se string 5 \n");
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 15, &answer));
    cr_assert(!answer);
    assert_ok(rlock_semaphore_acquire(semaphore, 3));
    assert_keys("se string 2 \n");
    actor_begin(waiter, take, &(taking){other, 4, RLOCK_FOREVER, NULL});
    cr_assert(wait_semaphore_heard(NAME, 1));
    assert_ok(rlock_semaphore_release(semaphore, 2));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(wait_no_channels(5000));
    assert_keys("se string 0 \n");
    assert_ok(rlock_semaphore_add_permits(semaphore, 10));
    assert_keys("se string 10 \n");
    assert_ok(rlock_semaphore_drain_permits(semaphore, &permits));
    cr_assert(permits == 10);
    assert_keys("se string 0 \n");
    assert_ok(rlock_semaphore_add_permits(semaphore, -3));
    assert_keys("se string -3 \n");
    cr_assert(available(semaphore) == -3);
    assert_ok(rlock_semaphore_delete(semaphore, &answer));
    cr_assert(answer);
    assert_status(rlock_semaphore_try_acquire(semaphore, 1, 0), RLOCK_TIMEOUT);
    assert_keys("");
    assert_ok(rlock_semaphore_release(semaphore, 1));
    assert_keys("se string 1 \n");
    assert_ok(rlock_semaphore_delete(semaphore, &answer));
    assert_ok(rlock_semaphore_release_if_exists(semaphore, 1, &answer));
    cr_assert(!answer);
    assert_ok(rlock_semaphore_try_set_permits_ttl(semaphore, 5, 9000, &answer));
    cr_assert(answer);
    assert_keys("se string 5 \n");
    assert_between(pttl_of(NAME), 9000 - at_most_ms(1000), 9000);
    assert_said(tap, "PUBLISH redisson_sc:{se} 5\n"
                     "SUBSCRIBE redisson_sc:{se}\n"
                     "PUBLISH redisson_sc:{se} 4\n"
                     "UNSUBSCRIBE redisson_sc:{se}\n"
                     "PUBLISH redisson_sc:{se} 10\n"
                     "PUBLISH redisson_sc:{se} -3\n"
                     "PUBLISH redisson_sc:{se} 1\n"
                     "PUBLISH redisson_sc:{se} 5\n");
    actor_end(waiter);
    monitor_close(tap);
}

Test(semaphore, says_nothing_where_nothing_changed)
{
    rlock_semaphore *semaphore = semaphore_with(1);
    monitor *tap = monitor_open();
    int permits = 77;
    bool answer = true;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 3, &answer));
    assert_ok(rlock_semaphore_try_set_permits_ttl(semaphore, 3, 1000, &answer));
    assert_status(rlock_semaphore_try_acquire(semaphore, 2, 0), RLOCK_TIMEOUT);
    assert_ok(rlock_semaphore_acquire(semaphore, 0));
    assert_ok(rlock_semaphore_release(semaphore, 0));
    assert_ok(rlock_semaphore_drain_permits(semaphore, &permits));
    assert_ok(rlock_semaphore_drain_permits(semaphore, &permits));
    assert_ok(rlock_semaphore_delete(semaphore, &answer));
    assert_ok(rlock_semaphore_release_if_exists(semaphore, 1, &answer));
    assert_said(tap, "");
    monitor_close(tap);
}

Test(semaphore, add_and_drain_end_the_ttl_that_acquire_and_release_keep)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    assert_ok(rlock_semaphore_try_set_permits_ttl(semaphore, 5, 60000, NULL));
    assert_ok(rlock_semaphore_acquire(semaphore, 2));
    assert_ok(rlock_semaphore_release(semaphore, 1));
    assert_between(pttl_of(NAME), 50000, 60000);
    assert_ok(rlock_semaphore_add_permits(semaphore, 1));
    cr_assert(pttl_of(NAME) == -1);
    freeReplyObject(server_command(stage.server, "PEXPIRE se 60000"));
    assert_ok(rlock_semaphore_drain_permits(semaphore, NULL));
    cr_assert(pttl_of(NAME) == -1);
}

Test(semaphore, has_redissons_channel_for_names_with_braces_and_prefixes)
{
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    static const char *const names[] = {"a{x}b", "{x}", "two words", "a}b"};
    monitor *tap = monitor_open();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_ok(rlock_semaphore_release(semaphore_of(stage.client, names[i]), 1));
    rlock_semaphore *semaphore = semaphore_of(prefixed, NAME);
    assert_ok(rlock_semaphore_release(semaphore, 2));
    cr_assert(strcmp(rlock_semaphore_name(semaphore), NAME) == 0);
    assert_said(tap, "PUBLISH redisson_sc:a{x}b 1\nPUBLISH redisson_sc:{x} 1\nPUBLISH redisson_sc:{two words} 1\n"
                     "PUBLISH redisson_sc:{a}b} 1\nPUBLISH redisson_sc:{shop:se} 2\n");
    cr_assert(server_integer(stage.server, "GET shop:se") == 2);
    cr_assert(available(semaphore_of(stage.client, "shop:se")) == 2);
    monitor_close(tap);
}

/* --- counting --- */

Test(semaphore, is_set_only_where_there_is_none)
{
    rlock_semaphore *semaphore = semaphore_with(10);
    bool answer = true;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 15, &answer));
    cr_assert(!answer && available(semaphore) == 10);
    assert_ok(rlock_semaphore_drain_permits(semaphore, NULL));
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 15, &answer)); /* 0 permits are a number, too */
    cr_assert(!answer && available(semaphore) == 0);
}

TimedTest(semaphore, with_a_ttl_ends_with_it)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    bool set = false;
    assert_ok(rlock_semaphore_try_set_permits_ttl(semaphore, 1, 1900, &set));
    cr_assert(set && available(semaphore) == 1);
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    cr_assert(available(semaphore) == 0);
}

Test(semaphore, release_makes_one)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    assert_ok(rlock_semaphore_release(semaphore, 1));
    cr_assert(available(semaphore) == 1);
    assert_ok(rlock_semaphore_release(semaphore, 1));
    assert_ok(rlock_semaphore_acquire(semaphore, 2));
    cr_assert(available(semaphore) == 0);
}

Test(semaphore, zero_permits_are_had_at_once_asking_nobody)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    int64_t before = scripts_run();
    bool released = true;
    assert_ok(rlock_semaphore_try_acquire(semaphore, 0, 600000));
    assert_ok(rlock_semaphore_acquire(semaphore, 0));
    assert_ok(rlock_semaphore_release(semaphore, 0));
    assert_ok(rlock_semaphore_release_if_exists(semaphore, 0, &released));
    cr_assert(!released && scripts_run() == before);
    assert_no_keys();
}

Test(semaphore, has_no_ceiling)
{
    rlock_semaphore *semaphore = semaphore_with(10);
    assert_ok(rlock_semaphore_acquire(semaphore, 10));
    assert_ok(rlock_semaphore_add_permits(semaphore, 4));
    cr_assert(available(semaphore) == 4);
    assert_ok(rlock_semaphore_release(semaphore, 10));
    cr_assert(available(semaphore) == 14);
    assert_ok(rlock_semaphore_acquire(semaphore, 5));
    cr_assert(available(semaphore) == 9);
}

Test(semaphore, add_below_zero_takes_permits_away)
{
    rlock_semaphore *semaphore = semaphore_with(10);
    assert_ok(rlock_semaphore_acquire(semaphore, 10));
    assert_ok(rlock_semaphore_add_permits(semaphore, -5));
    cr_assert(available(semaphore) == -5);
    assert_ok(rlock_semaphore_release(semaphore, 10));
    cr_assert(available(semaphore) == 5);
    assert_ok(rlock_semaphore_acquire(semaphore, 5));
    cr_assert(available(semaphore) == 0);
}

Test(semaphore, drain_takes_all)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    int permits = 77;
    assert_ok(rlock_semaphore_drain_permits(semaphore, &permits));
    cr_assert(permits == 0);
    assert_no_keys();
    assert_ok(rlock_semaphore_release(semaphore, 7));
    assert_ok(rlock_semaphore_drain_permits(semaphore, &permits));
    cr_assert(permits == 7 && available(semaphore) == 0);
    assert_ok(rlock_semaphore_drain_permits(semaphore, &permits));
    cr_assert(permits == 0);
}

Test(semaphore, release_if_exists_makes_none)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    bool released = true;
    assert_ok(rlock_semaphore_release_if_exists(semaphore, 1, &released));
    cr_assert(!released);
    assert_no_keys();
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 9, NULL));
    assert_ok(rlock_semaphore_release_if_exists(semaphore, 1, &released));
    cr_assert(released && available(semaphore) == 10);
}

Test(semaphore, delete_says_whether_there_was_one)
{
    rlock_semaphore *semaphore = semaphore_with(3);
    bool deleted = false;
    assert_ok(rlock_semaphore_delete(semaphore, &deleted));
    cr_assert(deleted);
    assert_no_keys();
    assert_ok(rlock_semaphore_delete(semaphore, &deleted));
    cr_assert(!deleted && available(semaphore) == 0);
}

/* --- exclusion --- */

/* One permit guards a counter: tasks of one client, then clients with one task each, then many turns. */
TimedTest(semaphore, one_permit_excludes)
{
    static void *objects[32];
    rlock_semaphore *semaphore = semaphore_with(1);
    for (int i = 0; i < 15; i++)
        objects[i] = semaphore;
    guard_counter(&by_semaphore, objects, 15, 1, 20000);
    for (int i = 0; i < 30; i++)
        objects[i] = semaphore_of(stage_client(NULL), NAME);
    guard_counter(&by_semaphore, objects, 30, 1, 20000);
    guard_counter(&by_semaphore, objects, 16, 100, 60000);
    cr_assert(available(semaphore) == 1);
    cr_assert(wait_no_channels(5000));
}

typedef struct mixed {
    rlock_semaphore *semaphore;
    int seed;
} mixed;

static rlock_status take_one_or_all(void *arg)
{
    const mixed *self = arg;
    for (int i = 0; i < 10; i++) {
        int permits = (i * 7 + self->seed) % 3 ? 1 : INT_MAX;
        rlock_status status = rlock_semaphore_acquire(self->semaphore, permits);
        if (status == RLOCK_OK)
            status = rlock_semaphore_release(self->semaphore, permits);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

Test(semaphore, counts_as_far_as_an_int)
{
    rlock_semaphore *semaphore = semaphore_with(INT_MAX);
    mixed takers[4];
    actor *actors[4];
    for (int i = 0; i < 4; i++) {
        takers[i] = (mixed){semaphore_of(stage_client(NULL), NAME), i};
        actors[i] = actor_start();
        actor_begin(actors[i], take_one_or_all, &takers[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(actors[i], 30000));
        actor_end(actors[i]);
    }
    cr_assert(available(semaphore) == INT_MAX);
}

/* --- bad input --- */

#define assert_invalid(call, words)                                                                \
    do {                                                                                           \
        assert_status(call, RLOCK_INVALID);                                                        \
        assert_error(words);                                                                       \
    } while (0)

TimedTest(semaphore, refuses_bad_arguments)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    bool flag = true;
    int64_t before = scripts_run();
    assert_invalid(rlock_semaphore_acquire(semaphore, -1), "permits is -1");
    assert_invalid(rlock_semaphore_try_acquire(semaphore, INT_MIN, 1000), "must not be negative");
    assert_invalid(rlock_semaphore_release(semaphore, -2), "permits is -2");
    assert_invalid(rlock_semaphore_release_if_exists(semaphore, -2, &flag), "permits is -2");
    assert_invalid(rlock_semaphore_try_set_permits(semaphore, -3, &flag), "permits is -3");
    assert_invalid(rlock_semaphore_try_set_permits_ttl(semaphore, 3, 0, &flag), "the time to live is 0 ms");
    assert_invalid(rlock_semaphore_try_set_permits_ttl(semaphore, 3, RLOCK_LEASE_MAX_MS + 1, &flag), "100 years");
    assert_invalid(rlock_semaphore_available_permits(semaphore, NULL), "NULL");
    assert_invalid(rlock_semaphore_acquire_with(semaphore, 1, NULL), "RLOCK_SEMAPHORE_OPTIONS_INIT");
    options.size--;
    assert_invalid(rlock_semaphore_acquire_with(semaphore, 1, &options), "RLOCK_SEMAPHORE_OPTIONS_INIT");
    assert_invalid(rlock_semaphore_acquire(NULL, 1), "the semaphore is NULL");
    assert_invalid(rlock_semaphore_release(NULL, 1), "the semaphore is NULL");
    assert_invalid(rlock_semaphore_delete(NULL, NULL), "the semaphore is NULL");
    assert_invalid(rlock_semaphore_drain_permits(NULL, NULL), "the semaphore is NULL");
    assert_invalid(rlock_semaphore_add_permits(NULL, 1), "the semaphore is NULL");
    cr_assert(flag && scripts_run() == before);
    cr_assert(rlock_get_semaphore(stage.client, "") == NULL && strstr(rlock_last_error(), "the semaphore's name"));
    cr_assert(rlock_get_semaphore(stage.client, NULL) == NULL && rlock_get_semaphore(NULL, NAME) == NULL);
    cr_assert(rlock_semaphore_name(NULL) == NULL);
    rlock_semaphore_free(NULL);
    assert_no_keys();
}

Test(semaphore, says_when_there_are_more_permits_than_an_int_holds)
{
    rlock_semaphore *semaphore = semaphore_with(INT_MAX);
    int permits = 77;
    assert_ok(rlock_semaphore_release(semaphore, 1));
    assert_status(rlock_semaphore_available_permits(semaphore, &permits), RLOCK_SERVER);
    assert_error("2147483648", NAME);
    assert_status(rlock_semaphore_drain_permits(semaphore, &permits), RLOCK_SERVER);
    assert_keys("se string 2147483648 \n");
    cr_assert(permits == 77);
    assert_ok(rlock_semaphore_acquire(semaphore, 1));
    cr_assert(available(semaphore) == INT_MAX);
}

static void refuse_all(rlock_semaphore *semaphore)
{
    bool flag = true;
    int permits = 77;
    char *before = server_keyspace(stage.server);
    assert_status(rlock_semaphore_acquire(semaphore, 1), RLOCK_SERVER);
    assert_status(rlock_semaphore_try_acquire(semaphore, 1, 1000), RLOCK_SERVER);
    assert_status(rlock_semaphore_release(semaphore, 1), RLOCK_SERVER);
    assert_status(rlock_semaphore_release_if_exists(semaphore, 1, &flag), RLOCK_SERVER);
    assert_status(rlock_semaphore_try_set_permits(semaphore, 1, &flag), RLOCK_SERVER);
    assert_status(rlock_semaphore_add_permits(semaphore, 1), RLOCK_SERVER);
    assert_status(rlock_semaphore_drain_permits(semaphore, &permits), RLOCK_SERVER);
    assert_status(rlock_semaphore_available_permits(semaphore, &permits), RLOCK_SERVER);
    assert_status(rlock_semaphore_delete(semaphore, &flag), RLOCK_SERVER);
    assert_error("WRONGTYPE", NAME);
    cr_assert(flag && permits == 77);
    assert_keys(before);
    free(before);
}

TimedTest(semaphore, leaves_a_key_of_another_type_alone)
{
    static const char *const commands[] = {"HSET se a 1", "RPUSH se 5", "ZADD se 5 5", "SET se five", "SET se 5.5",
                                           "SET se 0x10"};
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        freeReplyObject(server_command(stage.server, commands[i]));
        refuse_all(semaphore);
        freeReplyObject(server_command(stage.server, "DEL se"));
    }
    assert_ok(rlock_semaphore_release(semaphore, 1));
    assert_ok(rlock_semaphore_acquire(semaphore, 1));
}

Test(semaphore, of_a_closed_client_says_so)
{
    rlock_semaphore *semaphore = semaphore_with(1), *empty = semaphore_of(stage.client, "empty");
    actor *waiter = actor_start();
    monitor *tap = monitor_open();
    actor_begin(waiter, take, &(taking){empty, 1, RLOCK_FOREVER, NULL});
    /* It asks, subscribes and asks again. */
    while (monitor_ran(tap, &rli_script_semaphore_acquire) < 2)
        pass_ms(1);
    monitor_close(tap);
    cr_assert(wait_semaphore_heard("empty", 1) && actor_asleep(waiter, 5000));
    stage_close_client(stage.client);
    assert_status(actor_finish(waiter, 5000), RLOCK_CLOSED);
    assert_status(rlock_semaphore_acquire(semaphore, 0), RLOCK_CLOSED);
    assert_status(rlock_semaphore_acquire(semaphore, 1), RLOCK_CLOSED);
    assert_status(rlock_semaphore_release(semaphore, 1), RLOCK_CLOSED);
    assert_status(rlock_semaphore_delete(semaphore, NULL), RLOCK_CLOSED);
    cr_assert(server_integer(stage.server, "GET se") == 1);
    actor_end(waiter);
}

static rlock_semaphore *inherited;
static rlock_permit_semaphore *inherited_permits;
static rlock_count_down_latch *inherited_latch;

static const char *use_inherited(child *self)
{
    (void)self;
    rlock_permit permit;
    int64_t count;
    child_check(rlock_semaphore_acquire(inherited, 1) == RLOCK_FORKED);
    child_check(rlock_semaphore_release(inherited, 1) == RLOCK_FORKED);
    child_check(rlock_permit_semaphore_acquire(inherited_permits, 1000, &permit) == RLOCK_FORKED);
    child_check(rlock_permit_semaphore_delete(inherited_permits, NULL) == RLOCK_FORKED);
    child_check(rlock_count_down_latch_await(inherited_latch) == RLOCK_FORKED);
    child_check(rlock_count_down_latch_get_count(inherited_latch, &count) == RLOCK_FORKED);
    child_check(rlock_get_semaphore(stage.client, NAME) == NULL);
    return NULL;
}

/* The latch's and the other semaphore's handles, too. */
Test(semaphore, of_a_forked_child_says_so)
{
    inherited = semaphore_with(1);
    inherited_permits = permits_of(stage.client, "pe");
    inherited_latch = latch_of(stage.client, "la");
    assert_ok(rlock_permit_semaphore_try_set_permits(inherited_permits, 1, NULL));
    assert_ok(rlock_count_down_latch_try_set_count(inherited_latch, 1, NULL));
    in_child(use_inherited);
    assert_keys("la string 1 \npe string 1 \nse string 1 \n");
    assert_ok(rlock_semaphore_acquire(inherited, 1));
}

/* --- missing and empty --- */

Test(semaphore, tells_a_missing_one_from_an_empty_one)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, NAME);
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    rlock_permit_options permit_options = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_permit permit;
    options.wait_ms = permit_options.wait_ms = 0;
    assert_status(rlock_semaphore_acquire_with(semaphore, 1, &options), RLOCK_TIMEOUT);
    assert_error(NAME, "does not exist", "rlock_semaphore_try_set_permits()");
    assert_status(rlock_permit_semaphore_acquire_with(permits, 1, &permit_options, &permit), RLOCK_TIMEOUT);
    assert_error("pe", "does not exist", "rlock_permit_semaphore_try_set_permits()");
    options.must_exist = permit_options.must_exist = 1;
    options.wait_ms = permit_options.wait_ms = RLOCK_FOREVER;
    assert_status(rlock_semaphore_acquire_with(semaphore, 1, &options), RLOCK_INVALID);
    assert_error("does not exist");
    assert_status(rlock_permit_semaphore_acquire_with(permits, 1, &permit_options, &permit), RLOCK_INVALID);
    assert_error("does not exist");
    options.wait_ms = permit_options.wait_ms = 0;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 0, NULL));
    assert_ok(rlock_permit_semaphore_try_set_permits(permits, 0, NULL));
    assert_status(rlock_semaphore_acquire_with(semaphore, 1, &options), RLOCK_TIMEOUT);
    assert_error("does not have 1 permit available");
    assert_status(rlock_permit_semaphore_acquire_with(permits, 1, &permit_options, &permit), RLOCK_TIMEOUT);
    assert_error("does not have 1 permit available");
}

Test(semaphore, that_must_exist_is_missed_when_it_was_deleted)
{
    rlock_semaphore *semaphore = semaphore_with(0);
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.must_exist = 1;
    options.wait_ms = 0;
    assert_status(rlock_semaphore_acquire_with(semaphore, 1, &options), RLOCK_TIMEOUT);
    assert_ok(rlock_semaphore_delete(semaphore, NULL));
    assert_status(rlock_semaphore_acquire_with(semaphore, 1, &options), RLOCK_INVALID);
}

static rlock_status take_what_must_exist(void *arg)
{
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.must_exist = 1;
    return rlock_semaphore_acquire_with(arg, 1, &options);
}

static rlock_status take_permit_that_must_exist(void *arg)
{
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    rlock_permit permit;
    options.must_exist = 1;
    return rlock_permit_semaphore_acquire_with(arg, 1, &options, &permit);
}

/* Deletes the semaphore while one waits; a message has the waiter ask at once. */
static void delete_in_a_wait(actor_call *call, void *semaphore, const char *name)
{
    actor *waiter = actor_start();
    actor_begin(waiter, call, semaphore);
    cr_assert(wait_semaphore_heard(name, 1) && actor_asleep(waiter, 5000));
    foreign_vanish(name);
    freeReplyObject(server_command(stage.server, "PUBLISH redisson_sc:{%s} 1", name));
    assert_status(actor_finish(waiter, 5000), RLOCK_INVALID);
    const char *error = actor_error(waiter);
    cr_assert(strstr(error, "was deleted during the wait") && strstr(error, "makes it anew"), "%s", error);
    actor_end(waiter);
}

/* Its user is told something else than of one that nobody made. */
Test(semaphore, that_must_exist_is_deleted_during_the_wait)
{
    delete_in_a_wait(take_what_must_exist, semaphore_with(0), NAME);
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    assert_ok(rlock_permit_semaphore_try_set_permits(permits, 0, NULL));
    delete_in_a_wait(take_permit_that_must_exist, permits, "pe");
}

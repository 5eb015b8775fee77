/* Messages of failed calls name the object, and say how to go on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void open_stage(void)
{
    stage_open_with("retryAttempts=0&timeout=1000&connectTimeout=1000");
}

TestSuite(message, .init = open_stage, .fini = stage_close);

#define NAME "order:42"

static void assert_names_it(rlock_status status)
{
    cr_assert(status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
    assert_error("\"" NAME "\"", "Redis at");
}

/* Where nobody answers, each call on a lock says for which lock it was made. */
TimedTest(message, of_a_lock_without_a_server_names_the_lock)
{
    rlock *lock = lock_of(stage.client, NAME), *held = lock_of(stage.other, NAME);
    bool flag;
    int count;
    int64_t ms;
    assert_ok(rlock_lock_lease(held, 60000));
    server_kill(stage.server);
    assert_names_it(rlock_lock(lock));
    assert_names_it(rlock_try_lock(lock, 0, 1000));
    assert_names_it(rlock_unlock(held));
    assert_names_it(rlock_force_unlock(lock, NULL));
    assert_names_it(rlock_is_locked(lock, &flag));
    assert_names_it(rlock_is_held(lock, &flag));
    assert_names_it(rlock_get_hold_count(lock, &count));
    assert_names_it(rlock_remain_time_to_live(lock, &ms));
}

Test(message, of_other_objects_without_a_server_names_them)
{
    rlock_semaphore *semaphore = rlock_get_semaphore(stage.client, NAME);
    rlock_permit_semaphore *leased = rlock_get_permit_expirable_semaphore(stage.client, NAME);
    rlock_count_down_latch *latch = rlock_get_count_down_latch(stage.client, NAME);
    rlock_inspection *found;
    rlock_permit permit;
    int64_t number;
    int permits;
    server_kill(stage.server);
    assert_names_it(rlock_semaphore_acquire(semaphore, 1));
    assert_names_it(rlock_semaphore_available_permits(semaphore, &permits));
    assert_names_it(rlock_permit_semaphore_acquire(leased, 1000, &permit));
    assert_names_it(rlock_permit_semaphore_available_permits(leased, &permits));
    assert_names_it(rlock_count_down_latch_await(latch));
    assert_names_it(rlock_count_down_latch_get_count(latch, &number));
    assert_names_it(rlock_inspect(stage.client, NAME, &found));
    rlock_semaphore_free(semaphore);
    rlock_permit_semaphore_free(leased);
    rlock_count_down_latch_free(latch);
}

/* Words of the message that are the same are not the name. */
TimedTest(message, names_a_lock_whose_name_is_a_word_of_the_message)
{
    server_kill(stage.server);
    assert_status(rlock_try_lock(lock_of(stage.client, "Redis"), 0, 1000), RLOCK_UNAVAILABLE);
    assert_error("lock \"Redis\": ", "Redis at");
    assert_status(rlock_try_lock(lock_of(stage.client, "a"), 0, 1000), RLOCK_UNAVAILABLE);
    assert_error("lock \"a\": ", "Redis at");
}

/* A name that is longer than a message has room for is cut, and stands there once. */
TimedTest(message, names_a_lock_once)
{
    char name[301];
    snprintf(name, sizeof name, "%0300d", 0);
    rlock *lock = lock_of(stage.client, name);
    assert_ok(rlock_lock_lease(lock_of(stage.other, name), 60000));
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    const char *first = strstr(rlock_last_error(), "0…\"");
    cr_assert(first && !strstr(first + 1, "0…\""), "%s", rlock_last_error());
}

/* The message of a member is that of the lock alone, whatever its length. */
Test(message, of_a_multi_lock_is_not_cut)
{
    char name[199] = "", alone[512];
    for (int i = 0; i < 99; i++)
        strcat(name, "ü");
    rlock *lock = lock_of(stage.client, name), *multi = stage_keep(rlock_get_multi_lock(&lock, 1));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(lock_of(stage.other, name), NULL));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    snprintf(alone, sizeof alone, "%s", rlock_last_error());
    assert_ok(rlock_lock(multi));
    assert_ok(rlock_force_unlock(lock_of(stage.other, name), NULL));
    assert_status(rlock_unlock(multi), RLOCK_LOST);
    cr_assert_str_eq(rlock_last_error(), alone);
    cr_assert(strlen(alone) > 199, "%s", alone);
}

/* The words of Redisson's IllegalMonitorStateException, then which lock it is and what to do. */
Test(message, of_an_unlock_by_another_thread_names_the_lock_and_the_way_out)
{
    assert_status(rlock_unlock(lock_of(stage.client, NAME)), RLOCK_NOT_OWNER);
    assert_error("attempt to unlock lock, not locked by current thread by node id: ", "lock \"" NAME "\"", "this thread",
                 "unlocked already", "rlock_for_owner");
    assert_status(rlock_unlock(owned_by(lock_of(stage.client, NAME), 7)), RLOCK_NOT_OWNER);
    assert_error("lock \"" NAME "\"", "owner 7");
}

/* A semaphore begins with rlock_semaphore_try_set_permits: without it nobody is ever served. */
Test(message, of_a_semaphore_that_nobody_made_says_how_one_is_made)
{
    rlock_semaphore *semaphore = rlock_get_semaphore(stage.client, NAME);
    rlock_permit_semaphore *leased = rlock_get_permit_expirable_semaphore(stage.client, NAME "-p");
    rlock_permit permit;
    assert_status(rlock_semaphore_try_acquire(semaphore, 1, 0), RLOCK_TIMEOUT);
    assert_error("\"" NAME "\"", "does not exist", "rlock_semaphore_try_set_permits");
    assert_status(rlock_permit_semaphore_try_acquire(leased, 0, 1000, &permit), RLOCK_TIMEOUT);
    assert_error("\"" NAME "-p\"", "does not exist", "rlock_permit_semaphore_try_set_permits");
    rlock_semaphore_free(semaphore);
    rlock_permit_semaphore_free(leased);
}

/* Its own words, "AUTH <password> called without any password configured", leave open which side is to change. */
Test(message, of_a_password_that_the_server_does_not_want_says_so)
{
    char url[200];
    rlock_client *client;
    snprintf(url, sizeof url, "redis://:secret@127.0.0.1:%d", server_port(stage.server));
    assert_status(rlock_client_open(&client, url), RLOCK_SERVER);
    assert_error("requires no password", "leave the password out", "user");
    cr_assert(!strstr(rlock_last_error(), "secret"), "%s", rlock_last_error());
}

Test(message, of_a_wrong_password_says_where_it_is_given)
{
    char url[200];
    rlock_client *client;
    snprintf(url, sizeof url, "redis://nobody:secret@127.0.0.1:%d", server_port(stage.server));
    assert_status(rlock_client_open(&client, url), RLOCK_SERVER);
    assert_error("refused the user or password", "; write them as redis://user:password@host");
    cr_assert(!strstr(rlock_last_error(), ".;"), "%s", rlock_last_error());
    cr_assert(!strstr(rlock_last_error(), "secret"), "%s", rlock_last_error());
}

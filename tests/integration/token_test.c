/* The token lock: a string that other programs write, too, and that they release without a word. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(token, .init = stage_quick, .fini = stage_close);

#define NAME "order"
#define THEIRS "0f3b1c2e8d9a11ee9f6e0242ac120002" /* as redis-py writes it */
#define SOON_MS 10000

static rlock *token_of(rlock_client *client)
{
    return kind_of(&kind_token, client, NAME);
}

/* ms 0: without expiry. */
static void take_theirs(int64_t ms)
{
    freeReplyObject(ms ? server_command(stage.server, "SET " NAME " " THEIRS " NX PX %lld", (long long)ms)
                       : server_command(stage.server, "SET " NAME " " THEIRS " NX"));
}

static void release_theirs(void)
{
    cr_assert(server_integer(stage.server, "DEL " NAME) == 1);
}

static void assert_value(const char *expected)
{
    char *value = server_text(stage.server, "GET " NAME);
    cr_assert(value && strcmp(value, expected) == 0, "the token is %s, not %s", value, expected);
    free(value);
}

/* --- what stands on the server --- */

Test(token, is_a_string_of_its_owner_with_the_lease_as_its_time)
{
    rlock *lock = token_of(stage.client);
    assert_ok(rlock_lock_lease(lock, 20000));
    char *value = server_text(stage.server, "GET " NAME);
    size_t id = strlen(rlock_client_id(stage.client));
    cr_assert(value && strncmp(value, rlock_client_id(stage.client), id) == 0 && value[id] == ':', "%s", value);
    free(value);
    assert_between(pttl_of(NAME), 1, 20000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* The server does not count: this process does, and the longest lease stands. */
Test(token, is_held_as_often_as_its_owner_took_it)
{
    rlock *lock = token_of(stage.client);
    int count = 0;
    assert_ok(rlock_lock_lease(lock, 50000));
    assert_ok(rlock_lock_lease(lock, 1000));
    assert_between(pttl_of(NAME), 40000, 50000);
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 2);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 1);
    assert_status(rlock_try_lock(token_of(stage.other), 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Of the holds that remain, the longest lease stands. */
Test(token, inner_unlock_renews_the_lease_of_what_remains)
{
    rlock *lock = token_of(stage.client);
    assert_ok(rlock_lock_lease(lock, 50000));
    assert_ok(rlock_lock_lease(lock, 50000));
    cr_assert(server_integer(stage.server, "PEXPIRE " NAME " 20000") == 1);
    assert_ok(rlock_unlock(lock));
    assert_between(pttl_of(NAME), 40000, 50000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* --- beside other programs --- */

/* Nobody says a word when they release; the next question finds it. */
Test(token, of_another_program_is_waited_for_until_it_is_released)
{
    actor *waiter = actor_start();
    take_theirs(0);
    actor_begin_lock(waiter, token_of(stage.client));
    cr_assert(!actor_ended(waiter, 100));
    assert_value(THEIRS);
    release_theirs();
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, token_of(stage.client)));
    actor_end(waiter);
}

/* Its time is over before the next question would come. */
TimedTest(token, that_expires_is_taken_at_that_moment)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(60000);
    rlock *lock = stage_keep(rlock_get_token_lock_with(stage.client, NAME, &back_off));
    int64_t since_ms = now_ms();
    take_theirs(700);
    assert_ok(rlock_try_lock(lock, 50000, 1000));
    assert_between(now_ms() - since_ms, 700, 750);
}

Test(token, of_another_program_is_neither_released_nor_extended)
{
    rlock *lock = token_of(stage.client);
    bool is = true;
    int64_t left_ms = 0;
    take_theirs(60000);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_is_locked(lock, &is));
    cr_assert(is);
    assert_ok(rlock_is_held(lock, &is));
    assert_ok(rlock_remain_time_to_live(lock, &left_ms));
    cr_assert(!is && left_ms > 0 && left_ms <= 60000);
    assert_value(THEIRS);
}

/* Whoever took it after this one's time was over keeps it. */
Test(token, that_another_program_took_over_is_lost)
{
    rlock *lock = token_of(stage.client);
    assert_ok(rlock_lock(lock));
    release_theirs();
    take_theirs(60000);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_value(THEIRS);
}

Test(token, of_another_program_can_be_forced_open)
{
    bool was_locked = false;
    take_theirs(0);
    assert_ok(rlock_force_unlock(token_of(stage.client), &was_locked));
    cr_assert(was_locked);
    assert_no_keys();
}

/* --- waiting --- */

/* A pause of a minute ends with the message of the release, which leaves in one write with it. */
Test(token, waiter_is_woken_by_a_release_of_this_library)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(60000);
    rlock *lock = stage_keep(rlock_get_token_lock_with(stage.other, NAME, &back_off));
    actor *waiter = actor_start();
    assert_ok(rlock_lock(token_of(stage.client)));
    actor_begin_lock(waiter, lock);
    cr_assert(server_wait_subscribers(stage.server, "rlock_token_channel:{" NAME "}", 1, SOON_MS) &&
              actor_asleep(waiter, SOON_MS));
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(token_of(stage.client)));
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_assert(monitor_saw(tap, "lua] \"publish\" \"rlock_token_channel:{" NAME "}\" \"0\"") == 1);
    monitor_close(tap);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

Test(token, waiter_is_woken_when_the_lock_is_forced_open)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(60000);
    rlock *lock = stage_keep(rlock_get_token_lock_with(stage.other, NAME, &back_off));
    actor *waiter = actor_start();
    take_theirs(0);
    actor_begin_lock(waiter, lock);
    cr_assert(server_wait_subscribers(stage.server, "rlock_token_channel:{" NAME "}", 1, SOON_MS) &&
              actor_asleep(waiter, SOON_MS));
    assert_ok(rlock_force_unlock(token_of(stage.client), NULL));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* 50, 100, 200 … 1000 ms, of each the second half by chance. */
TimedTest(token, waiter_asks_with_pauses_that_double_and_differ)
{
    instants seen = {.count = 0};
    rlock *lock = token_of(stage.client);
    take_theirs(0);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    actor *waiter = actor_start();
    monitor *tap = monitor_open();
    assert_status(actor_try(waiter, lock, 2000, 1000), RLOCK_TIMEOUT);
    monitor_each(tap, "\"" NAME "\"", instants_note, &seen);
    monitor_close(tap);
    size_t confirmed = 1; /* it asks again when it listens */
    bool differs = false;
    int64_t most_ms = 50;
    assert_between(seen.count, 10, 25);
    for (size_t i = confirmed + 1; i + 1 < seen.count; i++) {
        int64_t pause_ms = (int64_t)((seen.at[i] - seen.at[i - 1]) * 1000 + 0.5);
        assert_between(pause_ms, most_ms / 2, 2 * most_ms + 1);
        differs |= pause_ms != most_ms && pause_ms != 2 * most_ms;
        most_ms = most_ms < 100 ? 2 * most_ms : 200;
    }
    cr_assert(differs);
    actor_end(waiter);
}

/* --- the back-off --- */

Test(token, back_off_out_of_range_makes_no_handle)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_TOKEN_INIT;
    back_off.jitter_percent = 101;
    cr_assert(rlock_get_token_lock_with(stage.client, NAME, &back_off) == NULL);
    assert_error("jitter_percent", "0 to 100");
    back_off.jitter_percent = -1;
    cr_assert(rlock_get_token_lock_with(stage.client, NAME, &back_off) == NULL);
    assert_error("jitter_percent");
}

/* A program that was built before there was jitter_percent. */
Test(token, back_off_of_an_older_program_is_taken)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_CONSTANT_INIT(20);
    back_off.size = offsetof(rlock_back_off, jitter_percent);
    rlock *lock = stage_keep(rlock_get_token_lock_with(stage.client, NAME, &back_off));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* --- who looks --- */

Test(token, of_another_program_is_shown_by_inspect)
{
    rlock_inspection *seen = NULL;
    take_theirs(60000);
    assert_ok(rlock_inspect(stage.client, NAME, &seen));
    cr_assert(strcmp(seen->kind, "token") == 0 && seen->holder_count == 1);
    cr_assert(strcmp(seen->holders[0].owner, THEIRS) == 0 && seen->holders[0].hold_count == 1);
    cr_assert(seen->holders[0].left_ms > 0 && seen->holders[0].left_ms <= 60000 && !seen->holders[0].side);
    rlock_inspection_free(seen);
}

/* A value of another program, and not what anybody would take for a token. */
Test(token, long_text_is_no_lock_to_inspect)
{
    rlock_inspection *seen = NULL;
    char *text = calloc(1, 1026);
    memset(text, 'x', 1025);
    freeReplyObject(server_command(stage.server, "SET " NAME " %s", text));
    assert_status(rlock_inspect(stage.client, NAME, &seen), RLOCK_SERVER);
    assert_error("long string", NAME);
    free(text);
}

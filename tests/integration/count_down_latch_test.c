/* The count-down latch: closed with a count, counted down, and open for all who wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(count_down_latch, .init = stage_open, .fini = stage_close);

#define NAME "la"
#define MANY 64

static rlock_count_down_latch *latch_with(int64_t count)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    bool set = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch, count, &set));
    cr_assert(set);
    return latch;
}

/* --- what it leaves on the server --- */

/* Redisson's steps "latch". */
Test(count_down_latch, leaves_redissons_keys_and_messages)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME), *other = latch_of(stage.other, NAME);
    monitor *tap = monitor_open();
    actor *waiter = actor_start();
    bool answer = false;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 2, &answer));
    cr_assert(answer);
    assert_keys("la string 2 \n");
    cr_assert(pttl_of(NAME) == -1);
    actor_begin(waiter, await_open, &(awaiting){other, RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_keys("la string 1 \n");
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_keys("");
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(wait_no_channels(5000));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_keys("");
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &answer));
    cr_assert(answer);
    assert_ok(rlock_count_down_latch_delete(latch, &answer));
    cr_assert(answer);
    assert_keys("");
    assert_said(tap, "PUBLISH redisson_countdownlatch__channel__{la} 1\n"
                     "SUBSCRIBE redisson_countdownlatch__channel__{la}\n"
                     "PUBLISH redisson_countdownlatch__channel__{la} 0\n"
                     "UNSUBSCRIBE redisson_countdownlatch__channel__{la}\n"
                     "PUBLISH redisson_countdownlatch__channel__{la} 1\n"
                     "PUBLISH redisson_countdownlatch__channel__{la} 1\n");
    actor_end(waiter);
    monitor_close(tap);
}

/* Braces around the name, whatever is in it; the client's prefix before it. */
Test(count_down_latch, has_redissons_channel_for_names_with_braces_and_prefixes)
{
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    monitor *tap = monitor_open();
    assert_ok(rlock_count_down_latch_try_set_count(latch_of(stage.client, "a{x}b"), 1, NULL));
    assert_ok(rlock_count_down_latch_try_set_count(latch_of(prefixed, NAME), 1, NULL));
    assert_keys("a{x}b string 1 \nshop:la string 1 \n");
    assert_said(tap, "PUBLISH redisson_countdownlatch__channel__{a{x}b} 1\n"
                     "PUBLISH redisson_countdownlatch__channel__{shop:la} 1\n");
    cr_assert(strcmp(rlock_count_down_latch_name(latch_of(prefixed, NAME)), NAME) == 0);
    monitor_close(tap);
}

Test(count_down_latch, says_nothing_where_nothing_changed)
{
    rlock_count_down_latch *latch = latch_with(3);
    monitor *tap = monitor_open();
    bool answer = true;
    assert_ok(rlock_count_down_latch_try_set_count(latch, 5, &answer));
    cr_assert(!answer);
    assert_ok(rlock_count_down_latch_count_down(latch));
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_ok(rlock_count_down_latch_delete(latch, &answer));
    cr_assert(!answer);
    assert_said(tap, "");
    monitor_close(tap);
}

/* --- counting --- */

Test(count_down_latch, is_set_only_where_there_is_none)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    bool answer = false;
    cr_assert(count_of(latch) == 0);
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &answer));
    cr_assert(answer);
    assert_ok(rlock_count_down_latch_try_set_count(latch, 2, &answer));
    cr_assert(!answer && count_of(latch) == 1);
    assert_ok(rlock_count_down_latch_delete(latch, &answer));
    cr_assert(answer && count_of(latch) == 0);
    assert_ok(rlock_count_down_latch_delete(latch, &answer));
    cr_assert(!answer);
}

Test(count_down_latch, counts_down_to_zero_and_stays_there)
{
    rlock_count_down_latch *latch = latch_with(2);
    static const int64_t counts[] = {1, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        assert_ok(rlock_count_down_latch_count_down(latch));
        cr_assert(count_of(latch) == counts[i]);
    }
    assert_no_keys();
    int64_t before = scripts_run();
    assert_ok(rlock_count_down_latch_await(latch));
    assert_ok(rlock_count_down_latch_try_await(latch, 60000));
    cr_assert(scripts_run() - before == 2);
}

Test(count_down_latch, without_a_count_is_open)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    assert_ok(rlock_count_down_latch_await(latch));
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_ok(rlock_count_down_latch_try_await(latch, 0));
    assert_no_keys();
}

Test(count_down_latch, takes_counts_that_no_int_holds)
{
    rlock_count_down_latch *latch = latch_with(INT64_MAX);
    cr_assert(count_of(latch) == INT64_MAX);
    assert_ok(rlock_count_down_latch_count_down(latch));
    cr_assert(count_of(latch) == INT64_MAX - 1);
    assert_status(rlock_count_down_latch_try_await(latch, 0), RLOCK_TIMEOUT);
}

Test(count_down_latch, with_a_count_of_zero_is_open)
{
    rlock_count_down_latch *latch = latch_with(0);
    bool set = true;
    assert_ok(rlock_count_down_latch_await(latch));
    assert_ok(rlock_count_down_latch_try_set_count(latch, 1, &set));
    cr_assert(!set);
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_no_keys();
}

/* --- waiting --- */

Test(count_down_latch, wait_ends_with_the_last_count)
{
    rlock_count_down_latch *latch = latch_with(1), *other = latch_of(stage.other, NAME);
    actor *waiter = actor_start();
    actor_begin(waiter, await_open, &(awaiting){latch, 5000, NULL});
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_count_down_latch_count_down(other));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(100));
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

TimedTest(count_down_latch, wait_ends_in_time_without_a_trace)
{
    rlock_count_down_latch *latch = latch_with(1);
    int64_t since_ms = now_ms();
    assert_status(rlock_count_down_latch_try_await(latch, 300), RLOCK_TIMEOUT);
    assert_between(now_ms() - since_ms, 299, at_most_ms(450));
    cr_assert(wait_no_channels(5000));
    cr_assert(count_of(latch) == 1);
}

Test(count_down_latch, wait_of_nothing_or_less_asks_once)
{
    static const int64_t waits_ms[] = {0, -1, INT64_MIN};
    rlock_count_down_latch *latch = latch_with(1);
    assert_status(rlock_count_down_latch_try_await(latch, 0), RLOCK_TIMEOUT);
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        int64_t before = scripts_run();
        assert_status(rlock_count_down_latch_try_await(latch, waits_ms[i]), RLOCK_TIMEOUT);
        cr_assert(scripts_run() - before == 1);
    }
}

static rlock_status count_down(void *latch)
{
    return rlock_count_down_latch_count_down(latch);
}

/* As many waiters as count-downs, of several clients, all at about the same time; all wake together. */
static void open_for(int waiters)
{
    static actor *waiting[MANY], *counting[MANY];
    static awaiting asked[MANY];
    rlock_client *clients[] = {stage.client, stage.other, stage_client(NULL)};
    cr_assert(waiters <= MANY);
    assert_ok(rlock_count_down_latch_try_set_count(latch_of(stage.client, NAME), waiters, NULL));
    for (int i = 0; i < waiters; i++) {
        asked[i] = (awaiting){latch_of(clients[i % 3], NAME), 10000, NULL};
        waiting[i] = actor_start();
        counting[i] = actor_start();
        actor_begin(waiting[i], await_open, &asked[i]);
    }
    cr_assert(wait_latch_heard(NAME, waiters < 3 ? waiters : 3));
    for (int i = 0; i < waiters; i++)
        actor_begin(counting[i], count_down, asked[(i + 1) % waiters].latch);
    for (int i = 0; i < waiters; i++) {
        assert_ok(actor_finish(counting[i], 10000));
        assert_ok(actor_finish(waiting[i], 10000));
        actor_end(counting[i]);
        actor_end(waiting[i]);
    }
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
}

Test(count_down_latch, wait_ends_for_all)
{
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    open_for(5);
    open_for(processors * 3 < MANY ? processors * 3 : MANY);
}

/* One message wakes every listener of a process, not one after the other. */
Test(count_down_latch, wait_ends_for_all_with_one_message)
{
    rlock_count_down_latch *latch = latch_with(1);
    actor *waiters[10];
    awaiting asked = {latch, RLOCK_FOREVER, NULL};
    for (int i = 0; i < 10; i++) {
        waiters[i] = actor_start();
        actor_begin(waiters[i], await_open, &asked);
        cr_assert(actor_asleep(waiters[i], 5000));
    }
    monitor *tap = monitor_open();
    assert_ok(rlock_count_down_latch_count_down(latch_of(stage.other, NAME)));
    for (int i = 0; i < 10; i++) {
        assert_ok(actor_finish(waiters[i], 10000));
        actor_end(waiters[i]);
    }
    cr_assert(wait_no_channels(5000));
    assert_said(tap, "PUBLISH redisson_countdownlatch__channel__{la} 0\n"
                     "UNSUBSCRIBE redisson_countdownlatch__channel__{la}\n");
    monitor_close(tap);
}

/* Redisson's delete says `1`, which is not what its waiters wait for; ours look at the count again. */
Test(count_down_latch, wait_ends_with_a_delete)
{
    rlock_count_down_latch *latch = latch_with(3);
    actor *waiter = actor_start();
    actor_begin(waiter, await_open, &(awaiting){latch, RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    assert_ok(rlock_count_down_latch_delete(latch_of(stage.other, NAME), NULL));
    assert_ok(actor_finish(waiter, 10000));
    actor_end(waiter);
}

/* Nobody says so when a counter's time to live ends. */
TimedTest(count_down_latch, wait_ends_with_the_counters_ttl)
{
    rlock_count_down_latch *latch = latch_with(3);
    freeReplyObject(server_command(stage.server, "PEXPIRE " NAME " 400"));
    int64_t since_ms = now_ms();
    assert_ok(rlock_count_down_latch_await(latch));
    assert_between(now_ms() - since_ms, 390, at_most_ms(550));
}

/* Nor when an operator deletes the key, or a server that was started anew has it no more. */
TimedTest(count_down_latch, wait_ends_although_nobody_tells_of_the_end)
{
    rlock_count_down_latch *latch = latch_with(3);
    actor *waiter = actor_start();
    actor_begin(waiter, await_open, &(awaiting){latch, RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    actor *timed = actor_start();
    actor_begin(timed, await_open, &(awaiting){latch, 600000, NULL});
    cr_assert(actor_asleep(timed, 5000));
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    assert_ok(actor_finish(waiter, 65000));
    assert_ok(actor_finish(timed, 65000));
    actor_end(waiter);
    actor_end(timed);
}

/* A message that opens nothing: counted on, closed anew. */
Test(count_down_latch, wait_goes_on_while_the_count_stands)
{
    rlock_count_down_latch *latch = latch_with(1);
    actor *waiter = actor_start();
    actor_begin(waiter, await_open, &(awaiting){latch, RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    freeReplyObject(server_command(stage.server, "PUBLISH redisson_countdownlatch__channel__{la} 0"));
    cr_assert(!actor_ended(waiter, 100));
    assert_ok(rlock_count_down_latch_count_down(latch_of(stage.other, NAME)));
    assert_ok(actor_finish(waiter, 10000));
    actor_end(waiter);
}

TimedTest(count_down_latch, wait_sends_nothing_while_it_sleeps)
{
    rlock_count_down_latch *latch = latch_with(1);
    actor *waiter = actor_start();
    assert_status(rlock_count_down_latch_try_await(latch, 0), RLOCK_TIMEOUT);
    int64_t before = scripts_run();
    actor_begin(waiter, await_open, &(awaiting){latch, RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    cr_assert(scripts_run() - before == 2);
    cr_assert(commands_within(400) == 0);
    assert_ok(rlock_count_down_latch_count_down(latch));
    assert_ok(actor_finish(waiter, 5000));
    actor_end(waiter);
}

Test(count_down_latch, wait_is_cancelled_at_once_without_a_trace)
{
    rlock_count_down_latch *latch = latch_with(1);
    rlock_cancel *token = rlock_cancel_new();
    actor *waiter = actor_start();
    awaiting asked = {latch, RLOCK_FOREVER, token};
    actor_begin(waiter, await_open, &asked);
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(token);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    cr_assert(wait_no_channels(5000));
    cr_assert(count_of(latch) == 1);
    server_freeze(stage.server); /* also while a request is under way: it changes nothing */
    rlock_cancel *another = rlock_cancel_new();
    asked.cancel = another;
    actor_begin(waiter, await_open, &asked);
    cr_assert(actor_asleep(waiter, 5000));
    rlock_cancel_fire(another);
    assert_status(actor_finish(waiter, 10000), RLOCK_CANCELLED);
    server_thaw(stage.server);
    actor_end(waiter);
    rlock_cancel_free(token);
    rlock_cancel_free(another);
}

/* A subscription that the server refuses ends the wait with the reason, not with a crash or a hang. */
Test(count_down_latch, wait_says_when_it_may_not_listen)
{
    rlock_count_down_latch *latch = latch_with(1);
    freeReplyObject(server_command(stage.server, "ACL SETUSER default resetchannels"));
    assert_status(rlock_count_down_latch_try_await(latch, 60000), RLOCK_SERVER);
    assert_error("subscribe");
    freeReplyObject(server_command(stage.server, "ACL SETUSER default allchannels"));
    assert_status(rlock_count_down_latch_try_await(latch, 100), RLOCK_TIMEOUT);
    cr_assert(wait_no_channels(5000));
}

Test(count_down_latch, of_a_closed_client_says_so)
{
    rlock_count_down_latch *latch = latch_with(1);
    actor *waiter = actor_start();
    actor_begin(waiter, await_open, &(awaiting){latch, RLOCK_FOREVER, NULL});
    cr_assert(wait_latch_heard(NAME, 1) && actor_asleep(waiter, 5000));
    stage_close_client(stage.client);
    assert_status(actor_finish(waiter, 5000), RLOCK_CLOSED);
    assert_status(rlock_count_down_latch_await(latch), RLOCK_CLOSED);
    assert_status(rlock_count_down_latch_count_down(latch), RLOCK_CLOSED);
    assert_keys("la string 1 \n");
    actor_end(waiter);
}

/* --- bad input --- */

#define assert_invalid(call, words)                                                                \
    do {                                                                                           \
        assert_status(call, RLOCK_INVALID);                                                        \
        assert_error(words);                                                                       \
    } while (0)

Test(count_down_latch, refuses_bad_arguments)
{
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    rlock_await_options options = RLOCK_AWAIT_OPTIONS_INIT;
    int64_t before = scripts_run();
    bool flag = true;
    assert_invalid(rlock_count_down_latch_try_set_count(latch, -1, &flag), "the count is -1");
    assert_invalid(rlock_count_down_latch_get_count(latch, NULL), "NULL");
    assert_invalid(rlock_count_down_latch_await_with(latch, NULL), "RLOCK_AWAIT_OPTIONS_INIT");
    options.size = 0;
    assert_invalid(rlock_count_down_latch_await_with(latch, &options), "RLOCK_AWAIT_OPTIONS_INIT");
    assert_invalid(rlock_count_down_latch_await(NULL), "the latch is NULL");
    assert_invalid(rlock_count_down_latch_count_down(NULL), "the latch is NULL");
    assert_invalid(rlock_count_down_latch_try_set_count(NULL, 1, &flag), "the latch is NULL");
    assert_invalid(rlock_count_down_latch_delete(NULL, &flag), "the latch is NULL");
    cr_assert(flag && scripts_run() == before);
    cr_assert(rlock_get_count_down_latch(stage.client, "") == NULL);
    cr_assert(rlock_get_count_down_latch(NULL, NAME) == NULL);
    cr_assert(rlock_count_down_latch_name(NULL) == NULL);
    rlock_count_down_latch_free(NULL);
}

Test(count_down_latch, leaves_a_key_of_another_type_alone)
{
    static const char *const commands[] = {"HSET la a 1", "RPUSH la 5", "SET la five", "SET la 5.5"};
    rlock_count_down_latch *latch = latch_of(stage.client, NAME);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        bool flag = true;
        int64_t count = 77;
        freeReplyObject(server_command(stage.server, commands[i]));
        char *before = server_keyspace(stage.server);
        assert_status(rlock_count_down_latch_try_set_count(latch, 1, &flag), RLOCK_SERVER);
        assert_status(rlock_count_down_latch_count_down(latch), RLOCK_SERVER);
        assert_status(rlock_count_down_latch_get_count(latch, &count), RLOCK_SERVER);
        assert_status(rlock_count_down_latch_await(latch), RLOCK_SERVER);
        assert_status(rlock_count_down_latch_delete(latch, &flag), RLOCK_SERVER);
        assert_error("WRONGTYPE", NAME);
        cr_assert(flag && count == 77);
        assert_keys(before);
        free(before);
        freeReplyObject(server_command(stage.server, "DEL " NAME));
    }
}

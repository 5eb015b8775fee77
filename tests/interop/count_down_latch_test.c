/* Count-down latches of C and of Java are one count, which lets the waiters of both through. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/parity.h"
#include "tests/interop/support/process.h"
#include "tests/interop/support/times.h"
#include "tests/interop/support/waiter.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "la"
#define CHANNEL "redisson_countdownlatch__channel__{la}"

static rlock_count_down_latch *ours;

static void start(void)
{
    java_stage();
    ours = rlock_get_count_down_latch(stage.client, NAME);
}

static void stop(void)
{
    waiter_stage_close();
    rlock_count_down_latch_free(ours);
}

TestSuite(count_down_latch, .init = start, .fini = stop);

/* --- the calls, in either language --- */

static const answer *ask(const char *operation, const char *argument)
{
    const answer *got = ASK(java, "t1", "latch", NAME, operation, argument);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

static bool set(bool in_java, int count)
{
    bool done = false;
    char text[16];
    snprintf(text, sizeof text, "%d", count);
    if (in_java)
        return strcmp(ask("trySet", text)->text, "true") == 0;
    assert_ok(rlock_count_down_latch_try_set_count(ours, count, &done));
    return done;
}

static void count_down(bool in_java)
{
    if (in_java)
        ask("countDown", NULL);
    else
        assert_ok(rlock_count_down_latch_count_down(ours));
}

static bool delete_it(bool in_java)
{
    bool done = false;
    if (in_java)
        return strcmp(ask("delete", NULL)->text, "true") == 0;
    assert_ok(rlock_count_down_latch_delete(ours, &done));
    return done;
}

/* The same, whoever is asked. */
static int64_t counted(void)
{
    int64_t count = -1, theirs = atoll(ask("count", NULL)->text);
    assert_ok(rlock_count_down_latch_get_count(ours, &count));
    cr_assert(count == theirs, "C counts %lld, Java %lld", (long long)count, (long long)theirs);
    return count;
}

static rlock_status pass_through(void *arg)
{
    int64_t wait_ms = *(const int64_t *)arg;
    return wait_ms ? rlock_count_down_latch_try_await(ours, wait_ms) : rlock_count_down_latch_await(ours);
}

static waiter *awaiting(bool in_java, int64_t wait_ms)
{
    static int64_t waits_ms[2]; /* none that ends, or one that does */
    char wait[24];
    waits_ms[wait_ms != 0] = wait_ms;
    snprintf(wait, sizeof wait, "%lld", (long long)wait_ms);
    if (in_java)
        return wait_ms ? WAIT_IN_JAVA("latch", NAME, "awaitFor", wait) : WAIT_IN_JAVA("latch", NAME, "await");
    return wait_in_c(pass_through, &waits_ms[wait_ms != 0]);
}

static waiter *asleep(bool in_java)
{
    waiter *self = awaiting(in_java, 0);
    waiter_await_asleep(self);
    return self;
}

/* --- the claims --- */

static void count_together(bool in_java)
{
    cr_assert(set(in_java, 3) && !set(!in_java, 5) && counted() == 3);
    count_down(in_java);
    count_down(!in_java);
    cr_assert(counted() == 1);
    count_down(!in_java);
    cr_assert(counted() == 0);
    count_down(in_java);
    cr_assert(counted() == 0 && set(!in_java, 2));
    cr_assert(delete_it(in_java) && !delete_it(!in_java) && counted() == 0);
    cr_assert(waiter_served(awaiting(!in_java, 0), BY_MESSAGE_MS), "an open latch");
}

Test(count_down_latch, has_one_count_for_c_and_java)
{
    count_together(false);
    count_together(true);
    assert_no_keys();
}

/* Two of each side wait; the last count-down lets all four through. */
static void let_all_through(bool in_java)
{
    enum { WAITERS = 4 };
    waiter *waiting[WAITERS];
    cr_assert(set(in_java, 2));
    for (int i = 0; i < WAITERS; i++)
        waiting[i] = asleep(i % 2);
    count_down(!in_java);
    for (int i = 0; i < WAITERS; i++)
        cr_assert(!waiter_ended(waiting[i], 20), "it came through with a count of 1");
    count_down(in_java);
    for (int i = 0; i < WAITERS; i++)
        cr_assert(waiter_served(waiting[i], BY_MESSAGE_MS));
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

Test(count_down_latch, lets_the_waiters_of_both_sides_through)
{
    let_all_through(false);
    let_all_through(true);
}

/* Redisson's own waiters take the message of a delete for a new count, whoever sends it, and go on
 * waiting for the 0 of a later one. C's look. */
Test(count_down_latch, that_was_deleted_by_either_side_lets_the_waiters_of_c_through)
{
    for (int in_java = 0; in_java < 2; in_java++) {
        cr_assert(set(false, 2));
        waiter *ours_waits = asleep(false), *theirs_waits = asleep(true);
        cr_assert(delete_it(in_java));
        cr_assert(waiter_served(ours_waits, BY_MESSAGE_MS));
        cr_assert(!waiter_ended(theirs_waits, 100), "Redisson's waiter came through: say so in the docs");
        cr_assert(set(in_java, 1));
        count_down(!in_java);
        cr_assert(waiter_served(theirs_waits, BY_MESSAGE_MS));
    }
}

Test(count_down_latch, wait_that_times_out_changes_nothing_on_either_side)
{
    cr_assert(set(true, 1));
    for (int in_java = 0; in_java < 2; in_java++) {
        int64_t wait_ms = vain_wait_ms(in_java);
        assert_timed_out(awaiting(in_java, wait_ms), wait_ms);
        cr_assert(wait_no_channels(5000) && counted() == 1);
    }
}

#define VICTIM "victim" /* client name of the C process that is killed */

static int wait_for_ever(void *arg)
{
    rlock_client *client = NULL;
    rlock_count_down_latch *latch = NULL;
    if (rlock_client_open(&client, arg) != RLOCK_OK || !(latch = rlock_get_count_down_latch(client, NAME)))
        return 1;
    return rlock_count_down_latch_await(latch) != RLOCK_OK;
}

/* The others of either side come through as if it had never been there. */
Test(count_down_latch, lets_the_others_through_when_a_waiter_was_killed)
{
    char url[512];
    snprintf(url, sizeof url, "%s?clientName=" VICTIM, server_url(stage.server));
    cr_assert(set(false, 1));
    pid_t child = process_start(wait_for_ever, url);
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 1, 5000));
    waiter *theirs = asleep(true);
    process_kill(child);
    wait_disconnected(VICTIM);
    count_down(false);
    cr_assert(waiter_served(theirs, BY_MESSAGE_MS));

    cr_assert(set(false, 1));
    asleep(true);
    waiter *waiting = asleep(false);
    java_kill();
    count_down(false);
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS) && wait_no_channels(5000));
    assert_no_keys();
}

/* --- parity --- */

static waiter *through[2];

static void set_2(bool in_java)
{
    cr_assert(set(in_java, 2));
}

static void down_to_1(bool in_java)
{
    through[in_java] = asleep(in_java);
    count_down(in_java);
}

static void down_to_0(bool in_java)
{
    count_down(in_java);
    cr_assert(waiter_served(through[in_java], BY_MESSAGE_MS) && wait_no_channels(5000));
}

static void set_and_delete(bool in_java)
{
    count_down(in_java);
    cr_assert(set(in_java, 5) && delete_it(in_java));
}

Test(count_down_latch, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"2", set_2, SAME_TTL},
        {"1", down_to_1, SAME_TTL},
        {"0", down_to_0, SAME_TTL},
        {NULL, set_and_delete, SAME_TTL},
    };
    ASSERT_PARITY("latch", steps, NULL);
}

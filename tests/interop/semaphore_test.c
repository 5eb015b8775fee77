/* Semaphores of C and of Java are one number of permits: taken by the one, given back by the other. */
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

#define NAME "se"

static rlock_semaphore *ours;

static void start(void)
{
    java_stage();
    ours = rlock_get_semaphore(stage.client, NAME);
}

static void stop(void)
{
    waiter_stage_close();
    rlock_semaphore_free(ours);
}

TestSuite(semaphore, .init = start, .fini = stop);

/* --- the calls, in either language --- */

static const answer *ask(const char *operation, int permits)
{
    char text[16];
    snprintf(text, sizeof text, "%d", permits);
    const answer *got = ASK(java, "t1", "semaphore", NAME, operation, text);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

static bool asked(const char *operation, int permits)
{
    return strcmp(ask(operation, permits)->text, "true") == 0;
}

static bool set(bool in_java, int permits)
{
    bool done = false;
    if (in_java)
        return asked("trySet", permits);
    assert_ok(rlock_semaphore_try_set_permits(ours, permits, &done));
    return done;
}

static bool take(bool in_java, int permits)
{
    if (in_java)
        return asked("tryNow", permits);
    rlock_status status = rlock_semaphore_try_acquire(ours, permits, 0);
    assert_status(status, status == RLOCK_TIMEOUT ? RLOCK_TIMEOUT : RLOCK_OK);
    return status == RLOCK_OK;
}

static void give(bool in_java, int permits)
{
    if (in_java)
        ask("release", permits);
    else
        assert_ok(rlock_semaphore_release(ours, permits));
}

static void add(bool in_java, int permits)
{
    if (in_java)
        ask("add", permits);
    else
        assert_ok(rlock_semaphore_add_permits(ours, permits));
}

static bool give_if_there(bool in_java, int permits)
{
    bool done = false;
    if (in_java)
        return asked("releaseIfExists", permits);
    assert_ok(rlock_semaphore_release_if_exists(ours, permits, &done));
    return done;
}

static int drain(bool in_java)
{
    int permits = -1;
    if (in_java)
        return atoi(ask("drain", 0)->text);
    assert_ok(rlock_semaphore_drain_permits(ours, &permits));
    return permits;
}

static bool delete_it(bool in_java)
{
    bool done = false;
    if (in_java)
        return asked("delete", 0);
    assert_ok(rlock_semaphore_delete(ours, &done));
    return done;
}

/* The same number, whoever is asked. */
static int available(void)
{
    int permits = -1;
    assert_ok(rlock_semaphore_available_permits(ours, &permits));
    int theirs = atoi(ask("available", 0)->text);
    cr_assert(permits == theirs, "%d are available to C, %d to Java", permits, theirs);
    return permits;
}

struct demand {
    int permits;
    int64_t wait_ms;
};

static rlock_status meet(void *arg)
{
    const struct demand *demand = arg;
    return rlock_semaphore_try_acquire(ours, demand->permits, demand->wait_ms);
}

static waiter *begin_demand(bool in_java, int permits, int64_t wait_ms)
{
    static struct demand demands[16];
    static int next;
    char count[16], wait[24];
    snprintf(count, sizeof count, "%d", permits);
    snprintf(wait, sizeof wait, "%lld", (long long)wait_ms);
    demands[next % 16] = (struct demand){permits, wait_ms};
    return in_java ? WAIT_IN_JAVA("semaphore", NAME, "try", count, wait) : wait_in_c(meet, &demands[next++ % 16]);
}

/* Asleep when it comes back. */
static waiter *demanding(bool in_java, int permits, int64_t wait_ms)
{
    waiter *self = begin_demand(in_java, permits, wait_ms);
    waiter_await_asleep(self);
    return self;
}

/* --- the claims --- */

static void count_together(bool in_java)
{
    bool other = !in_java;
    cr_assert(set(in_java, 10) && !set(other, 15));
    cr_assert(take(in_java, 3) && take(other, 4) && available() == 3);
    cr_assert(!take(other, 4) && !take(in_java, 4) && available() == 3);
    give(other, 3);
    give(in_java, 4);
    cr_assert(available() == 10);
    add(other, 5);
    cr_assert(available() == 15);
    cr_assert(drain(in_java) == 15 && drain(other) == 0);
    add(in_java, -3);
    cr_assert(available() == -3 && !take(other, 1));
    give(other, 4);
    cr_assert(take(in_java, 1) && available() == 0);
    cr_assert(give_if_there(other, 2) && available() == 2);
    cr_assert(delete_it(in_java) && !delete_it(other) && available() == 0);
    cr_assert(!take(other, 1) && !give_if_there(in_java, 1));
    give(other, 1);
    cr_assert(take(in_java, 1) && delete_it(other));
}

Test(semaphore, has_one_number_of_permits_for_c_and_java)
{
    count_together(false);
    count_together(true);
    assert_no_keys();
}

/* With a time to live, given by either side, it is gone for both. */
Test(semaphore, that_ran_out_is_gone_for_both_sides)
{
    bool done = false;
    assert_ok(rlock_semaphore_try_set_permits_ttl(ours, 1, 3000, &done));
    cr_assert(done && take(true, 1));
    cr_assert(server_wait_exists(stage.server, NAME, false, 3000 + BY_MESSAGE_MS));
    assert_result(ASK(java, "t1", "semaphore", NAME, "trySetFor", "2", "3000"), "true");
    cr_assert(take(false, 1) && available() == 1);
    cr_assert(server_wait_exists(stage.server, NAME, false, 3000 + BY_MESSAGE_MS));
    cr_assert(available() == 0);
}

/* Waits for two, and is not content with one. */
static void wake_waiter(bool in_java)
{
    waiter *waiting = demanding(in_java, 2, 30000);
    give(!in_java, 1);
    cr_assert(!waiter_ended(waiting, 100), "it came in with one permit of two");
    give(!in_java, 1);
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS) && available() == 0);
    waiting = demanding(in_java, 3, 30000);
    add(!in_java, 3);
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS) && available() == 0);
    cr_assert(delete_it(in_java));
    waiting = demanding(in_java, 1, 30000);
    cr_assert(set(!in_java, 1));
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS) && available() == 0);
    cr_assert(wait_no_channels(5000));
}

Test(semaphore, wakes_who_waits_on_the_other_side)
{
    set(false, 0);
    wake_waiter(true);
    wake_waiter(false);
}

/* As many as there are permits for, whichever side they are on; the others go on waiting. */
Test(semaphore, serves_as_many_of_both_sides_as_it_has_permits)
{
    enum { WAITERS = 6 };
    waiter *waiting[WAITERS];
    set(false, 0);
    for (int i = 0; i < WAITERS; i++)
        waiting[i] = demanding(i % 2, 1, 30000);
    give(true, 4);
    int64_t end_ms = limit_end_ms(BY_MESSAGE_MS);
    for (int served = 0; served < 4; pass_ms(1)) {
        served = 0;
        for (int i = 0; i < WAITERS; i++)
            served += waiter_ended(waiting[i], 0);
        cr_assert(now_ms() < end_ms, "%d of 4 are served", served);
    }
    cr_assert(available() == 0);
    give(false, 2);
    for (int i = 0; i < WAITERS; i++)
        cr_assert(waiter_served(waiting[i], BY_MESSAGE_MS));
    cr_assert(available() == 0 && wait_no_channels(5000));
}

Test(semaphore, wait_that_times_out_takes_nothing_on_either_side)
{
    set(true, 1);
    for (int in_java = 0; in_java < 2; in_java++) {
        int64_t wait_ms = vain_wait_ms(in_java);
        assert_timed_out(begin_demand(in_java, 2, wait_ms), wait_ms);
        cr_assert(wait_no_channels(5000) && available() == 1);
    }
}

#define VICTIM "victim" /* client name of the C process that is killed */

static int take_for_ever(void *arg)
{
    rlock_client *client = NULL;
    rlock_semaphore *semaphore = NULL;
    if (rlock_client_open(&client, arg) != RLOCK_OK || !(semaphore = rlock_get_semaphore(client, NAME)))
        return 1;
    return rlock_semaphore_acquire(semaphore, 1) != RLOCK_OK;
}

/* A permit that a dead waiter of the one side will never take goes to the other side. */
Test(semaphore, gives_nothing_to_a_waiter_that_was_killed)
{
    char url[512];
    snprintf(url, sizeof url, "%s?clientName=" VICTIM, server_url(stage.server));
    set(false, 0);
    pid_t child = process_start(take_for_ever, url);
    cr_assert(server_wait_subscribers(stage.server, "redisson_sc:{" NAME "}", 1, 5000));
    waiter *theirs = demanding(true, 1, 30000);
    process_kill(child);
    wait_disconnected(VICTIM);
    give(false, 1);
    cr_assert(waiter_served(theirs, BY_MESSAGE_MS) && available() == 0);

    demanding(true, 1, 30000);
    waiter *waiting = demanding(false, 1, 30000);
    java_kill();
    give(false, 1);
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS));
    cr_assert(!take(false, 1) && wait_no_channels(5000));
}

/* --- parity --- */

static void set_5(bool in_java)
{
    cr_assert(set(in_java, 5) && !set(in_java, 7));
}

static void acquire_3(bool in_java)
{
    cr_assert(take(in_java, 3));
}

static void wait_for_4_and_release_2(bool in_java)
{
    waiter *waiting = demanding(in_java, 4, 30000);
    give(in_java, 2);
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS) && wait_no_channels(5000));
}

static void add_10(bool in_java)
{
    add(in_java, 10);
}

static void drain_10(bool in_java)
{
    cr_assert(drain(in_java) == 10);
}

static void add_minus_3(bool in_java)
{
    add(in_java, -3);
}

static void release_absent(bool in_java)
{
    delete_it(in_java);
    cr_assert(!take(in_java, 1));
    give(in_java, 1);
}

static void set_5_for_9_s(bool in_java)
{
    bool done = false;
    delete_it(in_java);
    cr_assert(!give_if_there(in_java, 1));
    if (in_java)
        assert_result(ASK(java, "t1", "semaphore", NAME, "trySetFor", "5", "9000"), "true");
    else
        assert_ok(rlock_semaphore_try_set_permits_ttl(ours, 5, 9000, &done));
}

Test(semaphore, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"set 5", set_5, SAME_TTL},
        {"acquire 3", acquire_3, SAME_TTL},
        {"release 2, waiter took 4", wait_for_4_and_release_2, SAME_TTL},
        {"add 10", add_10, SAME_TTL},
        {"drain", drain_10, SAME_TTL},
        {"add -3", add_minus_3, SAME_TTL},
        {"release absent", release_absent, SAME_TTL},
        {"set ttl", set_5_for_9_s, SAME_TTL},
    };
    ASSERT_PARITY("semaphore", steps, NULL);
}

/* Permit-expirable semaphores of C and of Java are one: a permit's id is good in either language. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/parity.h"
#include "tests/interop/support/process.h"
#include "tests/interop/support/times.h"
#include "tests/interop/support/waiter.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "pe"
#define AT_ONCE 8

static rlock_permit_semaphore *ours;

static void start(void)
{
    java_stage();
    ours = rlock_get_permit_expirable_semaphore(stage.client, NAME);
}

static void stop(void)
{
    waiter_stage_close();
    rlock_permit_semaphore_free(ours);
}

TestSuite(permit_semaphore, .init = start, .fini = stop);

/* --- the calls, in either language --- */

#define ASK_PERMITS(...) said(ASK(java, "t1", "permits", NAME, __VA_ARGS__))

static const answer *said(const answer *got)
{
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

static bool is_true(const answer *got)
{
    return strcmp(got->text, "true") == 0;
}

static const char *number(int64_t value)
{
    static char texts[4][24];
    static int next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%lld", (long long)value);
    return text;
}

static bool set_first(bool in_java, int count)
{
    bool done = false;
    if (in_java)
        return is_true(ASK_PERMITS("trySet", number(count)));
    assert_ok(rlock_permit_semaphore_try_set_permits(ours, count, &done));
    return done;
}

static void set(bool in_java, int count)
{
    if (in_java)
        ASK_PERMITS("set", number(count));
    else
        assert_ok(rlock_permit_semaphore_set_permits(ours, count));
}

static void add(bool in_java, int count)
{
    if (in_java)
        ASK_PERMITS("add", number(count));
    else
        assert_ok(rlock_permit_semaphore_add_permits(ours, count));
}

/* Ids as Java writes several: between commas. */
static int read_ids(const char *text, rlock_permit permits[AT_ONCE])
{
    int count = 0;
    for (; *text && count < AT_ONCE; count++) {
        size_t length = strcspn(text, ",");
        cr_assert(length == 32 && strspn(text, "0123456789abcdef") == 32, "no permit ids: %s", text);
        snprintf(permits[count].id, sizeof permits[count].id, "%.32s", text);
        text += length + (text[length] == ',');
    }
    return count;
}

static const char *write_ids(const rlock_permit *permits, int count)
{
    static char text[AT_ONCE * 33];
    *text = 0;
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "", permits[i].id);
    return text;
}

/* Without waiting; whether it got them. */
static bool take(bool in_java, int count, int64_t lease_ms, rlock_permit *permits)
{
    if (in_java)
        return read_ids(ASK_PERMITS("try", number(count), "0", number(lease_ms))->text, permits) == count;
    rlock_status status = rlock_permit_semaphore_try_acquire_many(ours, count, 0, lease_ms, permits);
    assert_status(status, status == RLOCK_TIMEOUT ? RLOCK_TIMEOUT : RLOCK_OK);
    return status == RLOCK_OK;
}

/* Fails the test when they were not there. */
static void give(bool in_java, const rlock_permit *permits, int count)
{
    if (in_java)
        ASK_PERMITS("release", write_ids(permits, count));
    else
        assert_ok(rlock_permit_semaphore_release_many(ours, count, permits));
}

static bool try_give(bool in_java, const rlock_permit *permit)
{
    bool done = false;
    if (in_java)
        return is_true(ASK_PERMITS("tryReleaseOne", permit->id));
    assert_ok(rlock_permit_semaphore_try_release(ours, permit->id, &done));
    return done;
}

/* How many of them: all or none. */
static int try_give_many(bool in_java, const rlock_permit *permits, int count)
{
    int given = -1;
    if (in_java)
        return atoi(ASK_PERMITS("tryRelease", write_ids(permits, count))->text);
    assert_ok(rlock_permit_semaphore_try_release_many(ours, count, permits, &given));
    return given;
}

static bool update(bool in_java, const rlock_permit *permit, int64_t lease_ms)
{
    bool done = false;
    if (in_java)
        return is_true(ASK_PERMITS("updateLease", permit->id, number(lease_ms)));
    assert_ok(rlock_permit_semaphore_update_lease_time(ours, permit->id, lease_ms, &done));
    return done;
}

static int64_t lease_left(bool in_java, const rlock_permit *permit)
{
    int64_t ms = 0;
    if (in_java)
        return atoll(ASK_PERMITS("leaseLeft", permit->id)->text);
    assert_ok(rlock_permit_semaphore_get_lease_time(ours, permit->id, &ms));
    return ms;
}

/* Both sides are asked for each number. */
static void assert_counts(int available, int acquired, int total)
{
    int counts[3] = {-99, -99, -99};
    assert_ok(rlock_permit_semaphore_available_permits(ours, &counts[0]));
    assert_ok(rlock_permit_semaphore_acquired_permits(ours, &counts[1]));
    assert_ok(rlock_permit_semaphore_get_permits(ours, &counts[2]));
    int theirs[3] = {atoi(ASK_PERMITS("available")->text), atoi(ASK_PERMITS("acquired")->text),
                     atoi(ASK_PERMITS("permits")->text)};
    cr_assert(memcmp(counts, theirs, sizeof counts) == 0, "to C %d, %d, %d; to Java %d, %d, %d", counts[0], counts[1],
              counts[2], theirs[0], theirs[1], theirs[2]);
    cr_assert(counts[0] == available && counts[1] == acquired && counts[2] == total,
              "%d available, %d acquired, %d in all", counts[0], counts[1], counts[2]);
}

struct demand {
    int count;
    int64_t wait_ms, lease_ms;
    rlock_permit permits[AT_ONCE];
};

static rlock_status meet(void *arg)
{
    struct demand *self = arg;
    return rlock_permit_semaphore_try_acquire_many(ours, self->count, self->wait_ms, self->lease_ms, self->permits);
}

static struct demand demands[16];

static waiter *begin_demand(bool in_java, int which, int count, int64_t wait_ms, int64_t lease_ms)
{
    struct demand *demand = &demands[which];
    *demand = (struct demand){.count = count, .wait_ms = wait_ms, .lease_ms = lease_ms};
    return in_java ? WAIT_IN_JAVA("permits", NAME, "try", number(count), number(wait_ms), number(lease_ms))
                   : wait_in_c(meet, demand);
}

/* Asleep when it comes back. */
static waiter *demanding(bool in_java, int which, int count, int64_t wait_ms, int64_t lease_ms)
{
    waiter *self = begin_demand(in_java, which, count, wait_ms, lease_ms);
    waiter_await_asleep(self);
    return self;
}

/* What it got, once it has been served. */
static const rlock_permit *got(waiter *self, int which)
{
    cr_assert(waiter_served(self, BY_MESSAGE_MS));
    if (*waiter_text(self))
        read_ids(waiter_text(self), demands[which].permits);
    return demands[which].permits;
}

/* --- the claims --- */

static void exchange(bool in_java)
{
    rlock_permit taken[AT_ONCE], more[AT_ONCE];
    cr_assert(set_first(in_java, 10) && !set_first(!in_java, 15));
    cr_assert(take(in_java, 6, -1, taken) && !take(!in_java, 5, -1, more));
    assert_counts(4, 6, 10);
    give(!in_java, taken, 4);
    assert_counts(8, 2, 10);
    cr_assert(try_give(!in_java, &taken[4]) && !try_give(in_java, &taken[4]) && !try_give(!in_java, &taken[0]));
    cr_assert(try_give_many(!in_java, &taken[4], 2) == 0, "one of them was given back already");
    assert_counts(9, 1, 10);
    cr_assert(try_give_many(!in_java, &taken[5], 1) == 1);
    assert_counts(10, 0, 10);
    cr_assert(take(!in_java, 3, -1, more));
    set(in_java, 3);
    assert_counts(0, 3, 3);
    set(!in_java, 2);
    assert_counts(-1, 3, 2);
    add(!in_java, 5);
    assert_counts(4, 3, 7);
    add(in_java, -5);
    assert_counts(-1, 3, 2);
    give(in_java, more, 3);
    assert_counts(2, 0, 2);
}

Test(permit_semaphore, gives_back_in_one_language_what_was_taken_in_the_other)
{
    exchange(false);
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    exchange(true);
}

/* Twice the same, or none of ours: nothing changes, and both say so in their way. */
Test(permit_semaphore, refuses_ids_that_are_gone_on_both_sides)
{
    rlock_permit taken[2], unknown = {"00112233445566778899aabbccddeeff"};
    set_first(false, 3);
    cr_assert(take(false, 2, -1, taken));
    ASK_PERMITS("releaseOne", taken[0].id);
    assert_status(rlock_permit_semaphore_release(ours, taken[0].id), RLOCK_INVALID);
    cr_assert(ASK(java, "t1", "permits", NAME, "releaseOne", taken[0].id)->threw);
    assert_status(rlock_permit_semaphore_release(ours, unknown.id), RLOCK_INVALID);
    cr_assert(ASK(java, "t1", "permits", NAME, "releaseOne", unknown.id)->threw);
    for (int in_java = 0; in_java < 2; in_java++)
        cr_assert(!try_give(in_java, &unknown) && !update(in_java, &unknown, 1000) && !update(in_java, &taken[0], 1000));
    assert_counts(2, 1, 3);
}

/* Given a lease by one side, seen, lengthened and waited for by the other. */
static void lease(bool in_java)
{
    rlock_permit permit, more;
    cr_assert(take(in_java, 1, LASTING_MS, &permit));
    assert_between(lease_left(!in_java, &permit), LASTING_MS / 2, LASTING_MS);
    cr_assert(update(!in_java, &permit, 2 * LASTING_MS));
    assert_between(lease_left(in_java, &permit), LASTING_MS + 1, 2 * LASTING_MS);
    cr_assert(update(in_java, &permit, -1) && lease_left(!in_java, &permit) == -1);
    int64_t asked_ms = now_ms();
    cr_assert(update(!in_java, &permit, 500));
    int64_t updated_ms = now_ms();
    waiter *waiting = begin_demand(!in_java, 0, 1, 30000, -1);
    more = *got(waiting, 0);
    assert_between(now_ms(), asked_ms + 500 - 2, updated_ms + 500 + at_most_ms(LATE_MS));
    cr_assert(!try_give(in_java, &permit) && !update(in_java, &permit, 1000));
    cr_assert(try_give_many(!in_java, &permit, 1) == 0);
    assert_counts(0, 1, 1);
    cr_assert(try_give(in_java, &more));
    assert_counts(1, 0, 1);
}

Test(permit_semaphore, has_permits_that_run_out_for_the_other_side)
{
    set_first(true, 1);
    lease(false);
    lease(true);
}

/* Waits for two, and is not content with one. */
static void wake_waiter(bool in_java)
{
    rlock_permit taken[3];
    cr_assert(take(!in_java, 3, -1, taken));
    waiter *waiting = demanding(in_java, 0, 2, 30000, -1);
    give(!in_java, taken, 1);
    cr_assert(!waiter_ended(waiting, 100), "it came in with one permit of two");
    give(in_java, &taken[1], 1);
    give(!in_java, got(waiting, 0), 2);
    give(!in_java, &taken[2], 1);
    cr_assert(take(!in_java, 3, -1, taken));
    waiting = demanding(in_java, 0, 1, 30000, -1);
    add(!in_java, 1);
    give(in_java, got(waiting, 0), 1);
    give(in_java, taken, 3);
    set(in_java, 3);
    assert_counts(3, 0, 3);
    cr_assert(wait_no_channels(5000));
}

Test(permit_semaphore, wakes_who_waits_on_the_other_side)
{
    set_first(false, 3);
    wake_waiter(true);
    wake_waiter(false);
}

Test(permit_semaphore, wait_that_times_out_takes_nothing_on_either_side)
{
    rlock_permit taken;
    set_first(true, 2);
    cr_assert(take(true, 1, -1, &taken));
    for (int in_java = 0; in_java < 2; in_java++) {
        int64_t wait_ms = vain_wait_ms(in_java);
        assert_timed_out(begin_demand(in_java, 0, 2, wait_ms, -1), wait_ms);
        cr_assert(wait_no_channels(5000));
        assert_counts(1, 1, 2);
    }
}

/* --- killed --- */

#define VICTIM "victim" /* client name of the C process that is killed */
#define LEASE_MS 1500

struct holder {
    char url[256];
    atomic_int holds; /* 1: it has a permit; -1: it could not */
};

static int hold_for_a_lease(void *arg)
{
    struct holder *self = arg;
    rlock_permit permit;
    rlock_client *client = NULL;
    rlock_permit_semaphore *semaphore = NULL;
    bool held = rlock_client_open(&client, self->url) == RLOCK_OK &&
                (semaphore = rlock_get_permit_expirable_semaphore(client, NAME)) != NULL &&
                rlock_permit_semaphore_acquire(semaphore, LEASE_MS, &permit) == RLOCK_OK;
    self->holds = held ? 1 : -1;
    pause();
    return 0;
}

/* Its lease ends without it, and the waiter of the other side has it then. */
Test(permit_semaphore, of_a_killed_holder_goes_to_the_other_side)
{
    struct holder *holder = shared_memory(sizeof *holder);
    snprintf(holder->url, sizeof holder->url, "%s?clientName=" VICTIM, server_url(stage.server));
    set_first(false, 1);
    int64_t began_ms = now_ms();
    pid_t child = process_start(hold_for_a_lease, holder);
    for (int64_t end_ms = limit_end_ms(5000); !holder->holds && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(holder->holds == 1, "the C process has no permit");
    int64_t held_ms = now_ms();
    waiter *waiting = begin_demand(true, 0, 1, 30000, -1);
    process_kill(child);
    cr_assert(waiter_served(waiting, 10000));
    assert_between(now_ms(), began_ms + LEASE_MS, held_ms + LEASE_MS + at_most_ms(LATE_MS));
    read_ids(waiter_text(waiting), demands[0].permits);
    give(false, demands[0].permits, 1);

    rlock_permit permit;
    began_ms = now_ms();
    cr_assert(take(true, 1, LEASE_MS, &permit));
    held_ms = now_ms();
    waiting = begin_demand(false, 1, 1, 30000, -1);
    java_kill();
    cr_assert(waiter_served(waiting, 10000));
    assert_between(now_ms(), began_ms + LEASE_MS, held_ms + LEASE_MS + at_most_ms(LATE_MS));
}

/* --- parity --- */

static rlock_permit kept[2][4];

static void acquire(bool in_java)
{
    cr_assert(set_first(in_java, 3) && take(in_java, 1, -1, &kept[in_java][0]));
}

/* Not for one second, which would be over too soon on a busy machine. */
static void acquire_for_a_while(bool in_java)
{
    cr_assert(take(in_java, 1, 20000, &kept[in_java][1]));
}

/* By the call for one permit, which publishes another number than that for many. */
static void release_1(bool in_java)
{
    if (in_java)
        ASK_PERMITS("releaseOne", kept[true][0].id);
    else
        assert_ok(rlock_permit_semaphore_release(ours, kept[false][0].id));
}

/* Available permits are counted, which takes back what has expired. */
static void let_it_expire(bool in_java)
{
    int left = 0;
    cr_assert(update(in_java, &kept[in_java][1], 50));
    for (int64_t end_ms = limit_end_ms(5000); left != 3; pass_ms(5)) {
        cr_assert(now_ms() < end_ms, "%d are available", left);
        if (in_java)
            left = atoi(ASK_PERMITS("available")->text);
        else
            assert_ok(rlock_permit_semaphore_available_permits(ours, &left));
    }
}

static void acquire_2(bool in_java)
{
    cr_assert(take(in_java, 2, -1, kept[in_java]));
}

static void set_10(bool in_java)
{
    set(in_java, 10);
}

static void lease_20_s(bool in_java)
{
    cr_assert(update(in_java, &kept[in_java][0], 20000));
}

static void release_both(bool in_java)
{
    give(in_java, kept[in_java], 2);
}

Test(permit_semaphore, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"acquire", acquire, SAME_TTL},
        {"acquire lease 1 s", acquire_for_a_while, SAME_TTL},
        {"release 1", release_1, SAME_TTL},
        {"after expiry", let_it_expire, SAME_TTL},
        {"acquire 2", acquire_2, SAME_TTL},
        {"setPermits 10", set_10, SAME_TTL},
        {"updateLeaseTime", lease_20_s, SAME_TTL},
        {"release both", release_both, SAME_TTL},
    };
    /* In C an expiry that comes closer is told of: the 1 after `2` and that after `10`. */
    static const char said[] = "PUBLISH redisson_sc:{pe} 3\n"
                               "PUBLISH redisson_sc:{pe} 2\n"
                               "PUBLISH redisson_sc:{pe} 1\n"
                               "PUBLISH redisson_sc:{pe} 3\n"
                               "PUBLISH redisson_sc:{pe} 10\n"
                               "PUBLISH redisson_sc:{pe} 1\n"
                               "PUBLISH redisson_sc:{pe} 2\n";
    ASSERT_PARITY("permit expirable", steps, &(parity_difference){.messages = said});
}

/* Permit-expirable semaphores of C and of Java are one: a permit's id is good in either language. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/either.h"
#include "tests/interop/support/parity.h"
#include "tests/interop/support/process.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#include <stdlib.h>

static void start(void)
{
    java_stage();
    either_open();
}

TestSuite(permit_semaphore, .init = start, .fini = either_close);

/* --- the claims --- */

static void exchange(bool in_java)
{
    rlock_permit taken[PERMITS_AT_ONCE], more[PERMITS_AT_ONCE];
    cr_assert(either_set_first(in_java, 10) && !either_set_first(!in_java, 15));
    cr_assert(either_take(in_java, 6, -1, taken) && !either_take(!in_java, 5, -1, more));
    assert_permits(4, 6, 10);
    either_give(!in_java, taken, 4);
    assert_permits(8, 2, 10);
    cr_assert(either_try_give(!in_java, &taken[4]) && !either_try_give(in_java, &taken[4]) &&
              !either_try_give(!in_java, &taken[0]));
    cr_assert(either_try_give_many(!in_java, &taken[4], 2) == 0, "one of them was given back already");
    assert_permits(9, 1, 10);
    cr_assert(either_try_give_many(!in_java, &taken[5], 1) == 1);
    assert_permits(10, 0, 10);
    cr_assert(either_take(!in_java, 3, -1, more));
    either_set(in_java, 3);
    assert_permits(0, 3, 3);
    either_set(!in_java, 2);
    assert_permits(-1, 3, 2);
    either_add(!in_java, 5);
    assert_permits(4, 3, 7);
    either_add(in_java, -5);
    assert_permits(-1, 3, 2);
    either_give(in_java, more, 3);
    assert_permits(2, 0, 2);
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
    either_set_first(false, 3);
    cr_assert(either_take(false, 2, -1, taken));
    ASK_PERMITS("releaseOne", taken[0].id);
    assert_status(rlock_permit_semaphore_release(our_permits, taken[0].id), RLOCK_INVALID);
    cr_assert(ASK(java, "t1", "permits", PERMITS_NAME, "releaseOne", taken[0].id)->threw);
    assert_status(rlock_permit_semaphore_release(our_permits, unknown.id), RLOCK_INVALID);
    cr_assert(ASK(java, "t1", "permits", PERMITS_NAME, "releaseOne", unknown.id)->threw);
    for (int in_java = 0; in_java < 2; in_java++)
        cr_assert(!either_try_give(in_java, &unknown) && !either_update(in_java, &unknown, 1000) &&
                  !either_update(in_java, &taken[0], 1000));
    assert_permits(2, 1, 3);
}

/* Given a lease by one side, seen, lengthened and waited for by the other. */
static void lease(bool in_java)
{
    rlock_permit permit, more;
    cr_assert(either_take(in_java, 1, LASTING_MS, &permit));
    assert_between(either_lease_left(!in_java, &permit), LASTING_MS / 2, LASTING_MS);
    cr_assert(either_update(!in_java, &permit, 2 * LASTING_MS));
    assert_between(either_lease_left(in_java, &permit), LASTING_MS + 1, 2 * LASTING_MS);
    cr_assert(either_update(in_java, &permit, -1) && either_lease_left(!in_java, &permit) == -1);
    int64_t asked_ms = now_ms();
    cr_assert(either_update(!in_java, &permit, 500));
    int64_t updated_ms = now_ms();
    waiter *waiting = either_begin_demand(!in_java, 0, 1, 30000, -1);
    more = *either_got(waiting, 0);
    assert_between(now_ms(), asked_ms + 500 - 2, updated_ms + 500 + at_most_ms(LATE_MS));
    cr_assert(!either_try_give(in_java, &permit) && !either_update(in_java, &permit, 1000));
    cr_assert(either_try_give_many(!in_java, &permit, 1) == 0);
    assert_permits(0, 1, 1);
    cr_assert(either_try_give(in_java, &more));
    assert_permits(1, 0, 1);
}

Test(permit_semaphore, has_permits_that_run_out_for_the_other_side)
{
    either_set_first(true, 1);
    lease(false);
    lease(true);
}

/* Waits for two, and is not content with one. */
static void wake_waiter(bool in_java)
{
    rlock_permit taken[3];
    cr_assert(either_take(!in_java, 3, -1, taken));
    waiter *waiting = either_demand(in_java, 0, 2, 30000, -1);
    either_give(!in_java, taken, 1);
    cr_assert(!waiter_ended(waiting, 100), "it came in with one permit of two");
    either_give(in_java, &taken[1], 1);
    either_give(!in_java, either_got(waiting, 0), 2);
    either_give(!in_java, &taken[2], 1);
    cr_assert(either_take(!in_java, 3, -1, taken));
    waiting = either_demand(in_java, 0, 1, 30000, -1);
    either_add(!in_java, 1);
    either_give(in_java, either_got(waiting, 0), 1);
    either_give(in_java, taken, 3);
    either_set(in_java, 3);
    assert_permits(3, 0, 3);
    cr_assert(wait_no_channels(5000));
}

Test(permit_semaphore, wakes_who_waits_on_the_other_side)
{
    either_set_first(false, 3);
    wake_waiter(true);
    wake_waiter(false);
}

Test(permit_semaphore, wait_that_times_out_takes_nothing_on_either_side)
{
    rlock_permit taken;
    either_set_first(true, 2);
    cr_assert(either_take(true, 1, -1, &taken));
    for (int in_java = 0; in_java < 2; in_java++) {
        int64_t wait_ms = vain_wait_ms(in_java);
        assert_timed_out(either_begin_demand(in_java, 0, 2, wait_ms, -1), wait_ms);
        cr_assert(wait_no_channels(5000));
        assert_permits(1, 1, 2);
    }
}

/* --- killed --- */

#define LEASE_MS 1500

/* Its lease ends without it, and the waiter of the other side has it then. */
Test(permit_semaphore, of_a_killed_holder_goes_to_the_other_side)
{
    either_set_first(false, 1);
    int64_t began_ms = now_ms();
    pid_t child = permit_holder_start(shared_memory(sizeof(permit_holder)), LEASE_MS);
    int64_t held_ms = now_ms();
    waiter *waiting = either_begin_demand(true, 0, 1, 30000, -1);
    process_kill(child);
    cr_assert(waiter_served(waiting, 10000));
    assert_between(now_ms(), began_ms + LEASE_MS, held_ms + LEASE_MS + at_most_ms(LATE_MS));
    either_read_ids(waiter_text(waiting), permit_demands[0].permits);
    either_give(false, permit_demands[0].permits, 1);

    rlock_permit permit;
    began_ms = now_ms();
    cr_assert(either_take(true, 1, LEASE_MS, &permit));
    held_ms = now_ms();
    waiting = either_begin_demand(false, 1, 1, 30000, -1);
    java_kill();
    cr_assert(waiter_served(waiting, 10000));
    assert_between(now_ms(), began_ms + LEASE_MS, held_ms + LEASE_MS + at_most_ms(LATE_MS));
}

/* --- parity --- */

static rlock_permit kept[2][4];

static void acquire(bool in_java)
{
    cr_assert(either_set_first(in_java, 3) && either_take(in_java, 1, -1, &kept[in_java][0]));
}

/* Not for one second, which would be over too soon on a busy machine. */
static void acquire_for_a_while(bool in_java)
{
    cr_assert(either_take(in_java, 1, 20000, &kept[in_java][1]));
}

/* By the call for one permit, which publishes another number than that for many. */
static void release_1(bool in_java)
{
    if (in_java)
        ASK_PERMITS("releaseOne", kept[true][0].id);
    else
        assert_ok(rlock_permit_semaphore_release(our_permits, kept[false][0].id));
}

/* Available permits are counted, which takes back what has expired. */
static void let_it_expire(bool in_java)
{
    int left = 0;
    cr_assert(either_update(in_java, &kept[in_java][1], 50));
    for (int64_t end_ms = limit_end_ms(5000); left != 3; pass_ms(5)) {
        cr_assert(now_ms() < end_ms, "%d are available", left);
        if (in_java)
            left = atoi(ASK_PERMITS("available")->text);
        else
            assert_ok(rlock_permit_semaphore_available_permits(our_permits, &left));
    }
}

static void acquire_2(bool in_java)
{
    cr_assert(either_take(in_java, 2, -1, kept[in_java]));
}

static void set_10(bool in_java)
{
    either_set(in_java, 10);
}

static void lease_20_s(bool in_java)
{
    cr_assert(either_update(in_java, &kept[in_java][0], 20000));
}

static void release_both(bool in_java)
{
    either_give(in_java, kept[in_java], 2);
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

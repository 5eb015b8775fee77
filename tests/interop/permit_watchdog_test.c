/* Permits that the watchdog of C renews, beside Java: taken for as long as they are renewed, and Java's own leases end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/losses.h"
#include "tests/interop/support/either.h"
#include "tests/interop/support/process.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#include <string.h>

static void start(void)
{
    java_stage_quick();
    either_open();
}

TestSuite(permit_watchdog, .init = start, .fini = either_close);

/* Takes a permit that is renewed. */
static rlock_permit take_renewed(void)
{
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_acquire(our_permits, 0, RLOCK_PERMIT_WATCHDOG, &permit));
    return permit;
}

/* Waits until more is left of the permit's lease than before. */
static void await_renewed(const char *id)
{
    int64_t left_ms = QUICK_MS, was_ms;
    int64_t end_ms = limit_end_ms(QUICK_MS);
    do {
        cr_assert(now_ms() < end_ms, "permit %s is not renewed", id);
        was_ms = left_ms;
        pass_ms(5);
        assert_ok(rlock_permit_semaphore_get_lease_time(our_permits, id, &left_ms));
    } while (left_ms <= was_ms);
}

/* Java's wait is in vain beyond the first lease; then it has the permit at once. */
Test(permit_watchdog, keeps_a_permit_from_java_beyond_its_lease)
{
    either_set_first(true, 1);
    rlock_permit permit = take_renewed();
    waiter *waiting = either_begin_demand(true, 0, 1, QUICK_MS + 1000, -1);
    assert_timed_out(waiting, QUICK_MS + 1000);
    assert_permits(0, 1, 1);
    cr_assert(either_lease_left(true, &permit) > 0); /* by the clock of when Java asked, so it may be more than the lease */
    cr_assert(rlock_permit_semaphore_valid_for(our_permits, permit.id) > 0);
    waiting = either_demand(true, 1, 1, LASTING_MS, -1);
    assert_ok(rlock_permit_semaphore_release(our_permits, permit.id));
    either_give(false, either_got(waiting, 1), 1);
    assert_permits(1, 0, 1);
}

/* Java's permit runs out, though permits of the same semaphore are renewed here; and it is waited for. */
Test(permit_watchdog, leaves_the_lease_of_a_permit_of_java_alone)
{
    rlock_permit theirs, more;
    either_set_first(false, 2);
    rlock_permit permit = take_renewed();
    int64_t began_ms = now_ms();
    cr_assert(either_take(true, 1, QUICK_MS / 2, &theirs));
    int64_t taken_ms = now_ms();
    assert_permits(0, 2, 2);
    assert_status(rlock_permit_semaphore_try_acquire(our_permits, 0, -1, &more), RLOCK_TIMEOUT);
    waiter *waiting = either_begin_demand(false, 0, 1, LASTING_MS, RLOCK_PERMIT_WATCHDOG);
    await_renewed(permit.id);
    more = *either_got(waiting, 0);
    assert_between(now_ms(), began_ms + QUICK_MS / 2 - 2, taken_ms + QUICK_MS / 2 + at_most_ms(LATE_MS));
    assert_permits(0, 2, 2);
    cr_assert(!either_try_give(true, &theirs));
    either_give(true, &permit, 1);
    either_give(false, &more, 1);
    assert_permits(2, 0, 2);
}

/* After the lease as it was renewed last, not after the first one. */
Test(permit_watchdog, gives_a_permit_of_a_killed_process_to_java, .lasts = 13)
{
    permit_holder *holder = shared_memory(sizeof *holder);
    int64_t left_ms = 0;
    either_set_first(true, 1);
    pid_t child = permit_holder_start(holder, RLOCK_PERMIT_WATCHDOG);
    await_renewed(holder->permit.id);
    waiter *waiting = either_begin_demand(true, 0, 1, 3 * QUICK_MS, -1);
    process_kill(child);
    wait_disconnected(PERMIT_VICTIM);
    int64_t asked_ms = now_ms();
    assert_ok(rlock_permit_semaphore_get_lease_time(our_permits, holder->permit.id, &left_ms));
    int64_t answered_ms = now_ms();
    cr_assert(waiter_served(waiting, 2 * QUICK_MS));
    assert_between(now_ms(), asked_ms + left_ms - 2, answered_ms + left_ms + at_most_ms(LATE_MS));
    either_read_ids(waiter_text(waiting), permit_demands[0].permits);
    assert_status(rlock_permit_semaphore_release(our_permits, holder->permit.id), RLOCK_INVALID);
    either_give(false, permit_demands[0].permits, 1);
    assert_permits(1, 0, 1);
}

/* It is a loss: the program here did not release it. */
Test(permit_watchdog, tells_of_a_permit_that_java_has_released)
{
    static losses told;
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
    either_set_first(false, 1);
    rlock_permit permit = take_renewed();
    cr_assert(either_try_give(true, &permit));
    losses_await(&told, 1, ROUND_MS);
    cr_assert(told.all[0].reason == RLOCK_LOST_GONE && strcmp(told.all[0].permit, permit.id) == 0);
    cr_assert(rlock_permit_semaphore_valid_for(our_permits, permit.id) == 0);
    assert_permits(1, 0, 1);
}

/* The unlock that passes a lock on to the next of two waiters of its process, cut off everywhere: they have it one
 * after the other, and nobody after them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/stage.h"
#include "tests/support/test.h"

TestSuite(cut_hand_over, .init = cuts_open, .fini = cuts_close);

#define SOON_MS 10000

static actor *first, *second;
static rlock_status unlocked, had; /* what the unlock answered, and the first waiter's call */

static void two_in_the_queue(cell *self)
{
    assert_ok(rlock_lock(self->lock));
    first = queue_up(self->lock);
    second = queue_up(self->lock);
}

static actor *wait_here(rlock *lock)
{
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    cr_assert(actor_asleep(waiter, SOON_MS));
    return waiter;
}

static void two_in_the_process(cell *self)
{
    assert_ok(rlock_lock(self->lock));
    first = wait_here(self->lock);
    second = wait_here(self->lock);
}

/* Until the first has it. */
static rlock_status hand_over(cell *self)
{
    unlocked = rlock_unlock(self->lock);
    if (unlocked == RLOCK_OK)
        had = actor_finish(first, SOON_MS);
    return unlocked == RLOCK_OK ? had : unlocked;
}

/* When the server is out of reach, a wait may end with that. */
static void take_turn(actor *waiter, rlock_status status, rlock *lock)
{
    cr_assert(status == RLOCK_OK || (status == RLOCK_UNAVAILABLE && unlocked == RLOCK_UNAVAILABLE), "%s: %s",
              rlock_strstatus(status), actor_error(waiter));
    if (status == RLOCK_OK) {
        cr_assert(actor_hold_count(waiter, lock) == 1 && actor_valid_for(waiter, lock) > 0);
        assert_ok(actor_unlock(waiter, lock));
    }
    cr_assert(actor_valid_for(waiter, lock) == 0);
}

static void one_after_the_other(cell *self, bool done)
{
    (void)done;
    assert_status(rlock_unlock(self->lock), RLOCK_NOT_OWNER);
    cr_assert(unlocked != RLOCK_OK || !actor_ended(second, 0), "two have it");
    take_turn(first, unlocked == RLOCK_OK ? had : actor_finish(first, SOON_MS), self->lock);
    take_turn(second, actor_finish(second, SOON_MS), self->lock);
    actor_end(first);
    actor_end(second);
}

Test(cut_hand_over, of_a_fair_lock_reaches_one_waiter_after_the_other_however_it_is_cut)
{
    static const operation table[] = {
        {"hand over", &kind_fair, two_in_the_queue, hand_over, one_after_the_other, .ends = true, .says = -1,
         .is = "N hash O=1\nredisson_lock_queue:{N} list O O\nredisson_lock_timeout:{N} zset 2\n",
         .becomes = "N hash O=1\nredisson_lock_queue:{N} list O\nredisson_lock_timeout:{N} zset 1\n"},
    };
    cut_operations(table, 1);
}

Test(cut_hand_over, of_a_lock_reaches_one_waiter_after_the_other_however_it_is_cut)
{
    static const operation table[] = {
        {"hand over", &kind_reentrant, two_in_the_process, hand_over, one_after_the_other, .ends = true, .varies = true,
         .says = -1, .had = 1, .has = 1},
    };
    cut_operations(table, 1);
}

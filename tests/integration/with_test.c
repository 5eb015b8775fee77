/* RLOCK_WITH: a block under the lock, given back on every way out of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

TestSuite(with, .init = stage_open, .fini = stage_close);

#define NAME "order"

Test(with, holds_the_lock_in_its_block_and_not_after)
{
    rlock *lock = lock_of(stage.client, NAME);
    int inside = 0;
    RLOCK_WITH(lock) {
        inside = hold_count(lock);
    }
    cr_assert(inside == 1);
    cr_assert(hold_count(lock) == 0);
    assert_no_keys();
}

Test(with, may_be_nested)
{
    rlock *lock = lock_of(stage.client, NAME), *second = lock_of(stage.client, "second");
    int inside = 0;
    RLOCK_WITH(lock) {
        RLOCK_WITH(second) {
            RLOCK_WITH(lock)
                inside = hold_count(lock) + hold_count(second);
        }
        cr_assert(hold_count(lock) == 1 && hold_count(second) == 0);
    }
    cr_assert(inside == 3);
    assert_no_keys();
}

/* break and continue leave the block alone, not the loop around it. */
Test(with, unlocks_on_break_and_continue)
{
    rlock *lock = lock_of(stage.client, NAME);
    int rounds = 0, after = 0;
    for (; rounds < 4; rounds++) {
        RLOCK_WITH(lock) {
            cr_assert(hold_count(lock) == 1);
            if (rounds % 2)
                break;
            continue;
        }
        cr_assert(hold_count(lock) == 0);
        after++;
    }
    cr_assert(rounds == 4 && after == 4);
    assert_no_keys();
}

static int returns_inside(rlock *lock)
{
    RLOCK_WITH(lock) {
        return hold_count(lock); /* worked out while the lock is held */
    }
    return -1;
}

Test(with, unlocks_on_return)
{
    rlock *lock = lock_of(stage.client, NAME);
    cr_assert(returns_inside(lock) == 1);
    cr_assert(hold_count(lock) == 0);
    assert_no_keys();
}

Test(with, unlocks_on_goto_out_of_the_block)
{
    rlock *lock = lock_of(stage.client, NAME);
    int rounds = 0;
again:
    cr_assert(hold_count(lock) == 0);
    RLOCK_WITH(lock) {
        cr_assert(hold_count(lock) == 1);
        if (++rounds < 3)
            goto again;
        goto out;
    }
    cr_assert(false, "went on after the block");
out:
    cr_assert(hold_count(lock) == 0);
    assert_no_keys();
}

/* A wrong type under the name: the acquire fails, and only the else part runs. */
Test(with, runs_its_else_part_when_the_acquire_fails)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_status status = RLOCK_OK;
    int block = 0, otherwise = 0;
    freeReplyObject(server_command(stage.server, "SET %s text", NAME));
    RLOCK_WITH(lock) {
        block++;
    } else {
        otherwise++;
    }
    RLOCK_WITH_STATUS(lock, &status) {
        block++;
    } else {
        otherwise++;
    }
    RLOCK_WITH(lock)
        block++;
    cr_assert(block == 0 && otherwise == 2);
    assert_status(status, RLOCK_SERVER);
}

Test(with, skips_its_block_without_a_lock)
{
    rlock_status status = RLOCK_OK;
    int block = 0, otherwise = 0;
    RLOCK_WITH_STATUS(NULL, &status) {
        block++;
    } else {
        otherwise++;
    }
    cr_assert(block == 0 && otherwise == 1);
    assert_status(status, RLOCK_INVALID);
}

Test(with, says_that_all_went_well)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_status status = RLOCK_TIMEOUT;
    RLOCK_WITH_STATUS(lock, &status) {
        assert_status(status, RLOCK_OK);
    }
    assert_status(status, RLOCK_OK);
}

/* The lock is forced open meanwhile: the block may have run beside another holder. */
Test(with, says_that_the_lock_was_lost)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_status status = RLOCK_OK;
    RLOCK_WITH_STATUS(lock, &status) {
        foreign_vanish(NAME);
    }
    assert_status(status, RLOCK_LOST);
}

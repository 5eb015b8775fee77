/* Answers: what a lock's handle says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/answers.h"

#include "tests/support/test.h"

bool is_locked(rlock *lock)
{
    bool locked = false;
    assert_ok(rlock_is_locked(lock, &locked));
    return locked;
}

bool is_held(rlock *lock)
{
    bool held = false;
    assert_ok(rlock_is_held(lock, &held));
    return held;
}

int hold_count(rlock *lock)
{
    int count = -1;
    assert_ok(rlock_get_hold_count(lock, &count));
    return count;
}

uint64_t token_of(rlock *lock)
{
    uint64_t token = 0;
    assert_ok(rlock_get_token(lock, &token));
    return token;
}

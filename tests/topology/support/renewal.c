/* Renewal, as the holder sees it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/topology/support/renewal.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

/* A hundredth of a lease is not relied on. */
bool is_renewed(rlock *lock, int64_t watchdog_ms, int64_t since_ms)
{
    int64_t by_ms = now_ms(); /* first: a standstill between the two makes a hold look older, not younger */
    return by_ms + rlock_valid_for(lock) >= since_ms + watchdog_ms * 99 / 100;
}

void await_renewal(rlock *lock, int64_t watchdog_ms, int64_t since_ms)
{
    for (; !is_renewed(lock, watchdog_ms, since_ms); pass_ms(5))
        cr_assert(rlock_valid_for(lock) > 0, "lost %lld ms later", (long long)(now_ms() - since_ms));
}

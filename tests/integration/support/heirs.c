/* Heirs: threads that wait to be handed a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/heirs.h"

#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/support/test.h"

#define SOON_MS 5000

actor *heir_start(const kind *of, rlock *lock)
{
    if (of->fair)
        return queue_up(lock);
    actor *heir = actor_start();
    actor_begin_lock(heir, lock);
    heir_await(of, lock, heir);
    return heir;
}

actor *heir_start_try(const kind *of, rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    if (of->fair)
        return queue_up_for(lock, wait_ms, lease_ms);
    actor *heir = actor_start();
    actor_begin_try(heir, lock, wait_ms, lease_ms);
    heir_await(of, lock, heir);
    return heir;
}

void heir_await(const kind *of, rlock *lock, actor *heir)
{
    const char *name = rlock_name(lock);
    cr_assert(of->fair ? wait_queued(name, 1, SOON_MS) : !of->channel || wait_listened(name, SOON_MS), "it does not wait");
    cr_assert(actor_asleep(heir, SOON_MS));
}

bool heirs_queue(const kind *of, rlock *lock, int count)
{
    return !of->fair || queue_length(rlock_name(lock)) == count;
}

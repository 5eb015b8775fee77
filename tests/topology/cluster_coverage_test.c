/* Slots that nobody serves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <string.h>

TestSuite(cluster_coverage, .fini = shards_close);

#define BRIEF "timeout=5000&retryAttempts=2&retryBaseDelay=200&retryMaxDelay=400"
#define PARTIAL ARGS("--cluster-require-full-coverage", "no")
#define SOON_MS 10000

Test(cluster_coverage, gap_takes_all_down_and_the_message_says_so)
{
    shards_open_with(0, NULL, BRIEF);
    const char *gone = cluster_key(shards.cluster, 0, "gone:"), *well = cluster_key(shards.cluster, 1, "well:");
    rlock *lock = lock_of(shards.client, well), *missing = lock_of(shards.client, gone);
    cluster_uncover(shards.cluster, cluster_slot(gone));
    for (int i = 0; i < 2; i++) {
        rlock_status status = rlock_lock(i ? missing : lock);
        const char *why = rlock_last_error();
        cr_assert(status == RLOCK_UNAVAILABLE, "%s: %s", rlock_strstatus(status), why);
        cr_log_info("%s", why);
        cr_assert(strstr(why, "CLUSTERDOWN") || strstr(why, "slot"), "%s", why);
    }
    cluster_cover(shards.cluster, cluster_slot(gone), 0);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(missing));
    assert_ok(rlock_unlock(missing));
}

Test(cluster_coverage, gap_costs_its_own_names_alone_and_is_named)
{
    shards_open_with(0, PARTIAL, BRIEF);
    const char *gone = cluster_key(shards.cluster, 0, "gone:"), *well = cluster_key(shards.cluster, 0, "well:");
    rlock *missing = lock_of(shards.client, gone), *lock = lock_of(shards.client, well);
    assert_ok(rlock_lock(missing));
    assert_ok(rlock_unlock(missing));
    cluster_uncover(shards.cluster, cluster_slot(gone));
    char slot[32];
    snprintf(slot, sizeof slot, "slot %d", cluster_slot(gone));
    assert_status(rlock_lock(missing), RLOCK_UNAVAILABLE);
    cr_log_info("%s", rlock_last_error());
    assert_error(slot, gone);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cluster_cover(shards.cluster, cluster_slot(gone), 2);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(missing));
    cr_log_info("had %lld ms after the gap was closed", (long long)(now_ms() - since_ms));
    assert_ok(rlock_unlock(missing));
}

/* Who waits already goes on waiting, and has it when the slot is back, wherever that is. */
Test(cluster_coverage, gap_does_not_end_a_wait_that_outlasts_it)
{
    shards_open_with(0, PARTIAL, PATIENT);
    const char *gone = cluster_key(shards.cluster, 0, "gone:");
    rlock *held = lock_of(shards.other, gone), *wanted = lock_of(shards.client, gone);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, wanted);
    cr_assert(shards_wait_channels_at(0, 1, SOON_MS) && actor_asleep(waiter, SOON_MS));
    cluster_uncover(shards.cluster, cluster_slot(gone));
    cr_assert(!actor_ended(waiter, 1500));
    cluster_cover(shards.cluster, cluster_slot(gone), 1); /* its keys are gone with the slot */
    int64_t since_ms = now_ms();
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_log_info("had %lld ms after the gap was closed", (long long)(actor_ended_at(waiter) - since_ms));
    assert_ok(actor_unlock(waiter, wanted));
    assert_status(rlock_unlock(held), RLOCK_LOST);
    actor_end(waiter);
    cr_assert(shards_wait_no_channels(SOON_MS));
}

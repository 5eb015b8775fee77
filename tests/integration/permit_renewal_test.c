/* Permits that the watchdog renews: kept for as long as their client lives, and told of when they are lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

TestSuite(permit_renewal, .init = stage_quick, .fini = stage_close);

#define NAME    "pe"
#define PERMITS 5

static losses told; /* zeroed: each test is a process of its own */

static rlock_permit_semaphore *renewing_semaphore(rlock_client *client)
{
    rlock_permit_semaphore *semaphore = permits_of(client, NAME);
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, PERMITS, NULL));
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    return semaphore;
}

static rlock_permit renewed(rlock_permit_semaphore *semaphore)
{
    rlock_permit permit;
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, RLOCK_PERMIT_WATCHDOG, &permit));
    return permit;
}

static int64_t lease_of(rlock_permit_semaphore *semaphore, const rlock_permit *permit)
{
    int64_t ms = 0;
    assert_ok(rlock_permit_semaphore_get_lease_time(semaphore, permit->id, &ms));
    return ms;
}

static void assert_told(int number, const rlock_permit *permit, rlock_lost_reason reason)
{
    const loss *lost = &told.all[number];
    cr_assert(strcmp(lost->name, NAME) == 0 && strcmp(lost->permit, permit->id) == 0, "%s %s", lost->name,
              lost->permit);
    cr_assert(lost->reason == reason && lost->hold_count == 1 && lost->owner == 0 && !lost->named_owner);
}

/* Twice its lease long, whatever has become of the thread that took it. */
Test(permit_renewal, lasts_until_it_is_released)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit permit;
    actor *taker = actor_start();
    actor_begin(taker, lease, &(leasing){semaphore, 1, 0, RLOCK_PERMIT_WATCHDOG, NULL, &permit});
    assert_ok(actor_finish(taker, 5000));
    actor_end(taker);
    assert_between(lease_of(semaphore, &permit), 1, QUICK_MS);
    pass_ms(2 * QUICK_MS);
    assert_between(rlock_permit_semaphore_valid_for(semaphore, permit.id), 1, lease_of(semaphore, &permit));
    cr_assert(permits_available(semaphore) == PERMITS - 1);
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
    cr_assert(permits_available(semaphore) == PERMITS && rlock_permit_semaphore_valid_for(semaphore, permit.id) == 0);
    cr_assert(commands_within(QUICK_MS) == 0, "it is renewed although it was released");
    cr_assert(event_count(&told.came) == 0);
}

/* In one request each third of the timeout, which renews each and no other. */
Test(permit_renewal, of_many_is_one_request)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit many[3], leased;
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_WATCHDOG, many));
    many[2] = renewed(semaphore);
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 10 * QUICK_MS, &leased));
    monitor *tap = monitor_open();
    pass_ms(2 * QUICK_MS);
    assert_between(monitor_ran(tap, &rli_script_permit_semaphore_renew), 5, 7);
    monitor_close(tap);
    assert_between(lease_of(semaphore, &leased), 7 * QUICK_MS, 8 * QUICK_MS);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 3, many));
    cr_assert(permits_available(semaphore) == PERMITS - 1);
    cr_assert(event_count(&told.came) == 0);
}

/* Each has its own requests, though all are due at the same time. */
Test(permit_renewal, of_several_semaphores_asks_for_each)
{
    rlock_permit_semaphore *semaphores[] = {renewing_semaphore(stage.client), permits_of(stage.client, "pf"),
                                            permits_of(stage.client, "pg")};
    rlock_permit permits[3][2];
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_permit_semaphore_try_set_permits(semaphores[i], PERMITS, NULL));
        assert_ok(rlock_permit_semaphore_acquire_many(semaphores[i], 2, RLOCK_PERMIT_WATCHDOG, permits[i]));
    }
    pass_ms(KEPT_MS);
    for (int i = 0; i < 3; i++) {
        cr_assert(permits_taken(semaphores[i]) == 2);
        assert_ok(rlock_permit_semaphore_release_many(semaphores[i], 2, permits[i]));
    }
    cr_assert(event_count(&told.came) == 0);
}

/* With more permits than one request may have, there are several. */
Test(permit_renewal, of_more_than_a_batch_takes_several_requests)
{
    rlock_client *client = stage_client(STAGE_QUICK "&lockWatchdogBatchSize=2");
    rlock_permit_semaphore *semaphore = renewing_semaphore(client);
    rlock_permit many[PERMITS];
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, PERMITS, RLOCK_PERMIT_WATCHDOG, many));
    monitor *tap = monitor_open();
    pass_ms(2 * QUICK_MS);
    assert_between(monitor_ran(tap, &rli_script_permit_semaphore_renew), 3 * 5, 3 * 7);
    monitor_close(tap);
    cr_assert(permits_taken(semaphore) == PERMITS && event_count(&told.came) == 0);
}

/* More than the script reads at a time. */
Test(permit_renewal, of_many_hundreds_keeps_each)
{
    enum { MANY = 1203 };
    static rlock_permit many[MANY];
    rlock_client *client = stage_client(STAGE_QUICK "&lockWatchdogBatchSize=1000");
    rlock_permit_semaphore *semaphore = renewing_semaphore(client);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, MANY));
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, MANY, RLOCK_PERMIT_WATCHDOG, many));
    pass_ms(KEPT_MS);
    cr_assert(permits_taken(semaphore) == MANY && event_count(&told.came) == 0);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, MANY, many));
}

/* All at the same time, before any of them was told. */
Test(permit_renewal, that_finds_many_permits_gone_tells_of_each)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit many[PERMITS];
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, PERMITS, RLOCK_PERMIT_WATCHDOG, many));
    assert_ok(rlock_permit_semaphore_delete(semaphore, NULL));
    losses_await(&told, PERMITS, ROUND_MS);
    for (int i = 0; i < PERMITS; i++) {
        int times = 0;
        for (int k = 0; k < PERMITS; k++)
            times += strcmp(told.all[k].permit, many[i].id) == 0;
        cr_assert(times == 1, "told %d times of permit %d", times, i);
    }
}

/* The server has it still, and it is over: it is not had back. */
Test(permit_renewal, revives_no_permit_that_has_expired)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client), *theirs = permits_of(stage.other, NAME);
    rlock_permit permit = renewed(semaphore);
    assert_ok(rlock_permit_semaphore_update_lease_time(theirs, permit.id, 1, NULL));
    losses_await(&told, 1, ROUND_MS);
    assert_told(0, &permit, RLOCK_LOST_GONE);
    cr_assert(permits_available(theirs) == PERMITS && permits_taken(theirs) == 0);
}

/* One of several is gone: told, and the others are kept. */
Test(permit_renewal, that_finds_a_permit_gone_is_told_once)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit first = renewed(semaphore), second = renewed(semaphore);
    assert_ok(rlock_permit_semaphore_release(permits_of(stage.other, NAME), first.id));
    losses_await(&told, 1, ROUND_MS);
    assert_told(0, &first, RLOCK_LOST_GONE);
    cr_assert(rlock_permit_semaphore_valid_for(semaphore, first.id) == 0);
    cr_assert(!event_wait_count(&told.came, 2, KEPT_MS), "told twice");
    assert_between(lease_of(semaphore, &second), 1, QUICK_MS);
    assert_ok(rlock_permit_semaphore_delete(semaphore, NULL));
    losses_await(&told, 2, ROUND_MS);
    assert_told(1, &second, RLOCK_LOST_GONE);
}

Test(permit_renewal, that_nobody_answers_is_told_by_the_deadline)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit permit = renewed(semaphore);
    server_freeze(stage.server);
    losses_await(&told, 1, QUICK_MS);
    assert_told(0, &permit, RLOCK_LOST_EXPIRED);
    cr_assert(rlock_permit_semaphore_valid_for(semaphore, permit.id) == 0);
    server_thaw(stage.server);
    pass_ms(KEPT_MS); /* renewals that were stuck came late; no other follows */
    assert_status(rlock_permit_semaphore_release(semaphore, permit.id), RLOCK_INVALID);
    cr_assert(event_count(&told.came) == 1);
}

/* Also while the watchdog waits for an answer to the others' renewal. */
TimedTest(permit_renewal, that_nobody_answers_is_told_of_each_permit_by_its_deadline)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit permits[PERMITS];
    for (int i = 0; i < PERMITS; i++) {
        permits[i] = renewed(semaphore);
        pass_ms(QUICK_MS / 30);
    }
    server_freeze(stage.server);
    for (int i = 0; i < PERMITS; i++) {
        losses_await(&told, i + 1, rlock_permit_semaphore_valid_for(semaphore, permits[i].id) + 5);
        assert_told(i, &permits[i], RLOCK_LOST_EXPIRED);
    }
    server_thaw(stage.server);
}

/* Renewals go on when the server is back in time. */
Test(permit_renewal, outlives_a_server_that_stands_still)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit permit = renewed(semaphore);
    for (int i = 0; i < 3; i++) {
        server_freeze(stage.server);
        pass_ms(QUICK_MS / 2);
        server_thaw(stage.server);
        pass_ms(QUICK_MS / 2);
    }
    assert_between(lease_of(semaphore, &permit), 1, QUICK_MS);
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
    cr_assert(event_count(&told.came) == 0);
}

Test(permit_renewal, ends_with_a_new_lease)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit first = renewed(semaphore), second = renewed(semaphore);
    bool updated = false;
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, first.id, QUICK_MS / 2, &updated));
    cr_assert(updated);
    assert_ok(rlock_permit_semaphore_update_lease_time(semaphore, second.id, RLOCK_PERMIT_FOREVER, &updated));
    cr_assert(updated);
    pass_ms(QUICK_MS);
    cr_assert(permits_taken(semaphore) == 1);
    cr_assert(lease_of(semaphore, &second) == RLOCK_PERMIT_FOREVER);
    cr_assert(event_count(&told.came) == 0);
}

Test(permit_renewal, goes_on_after_a_new_lease_that_is_refused)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit permit = renewed(semaphore);
    assert_status(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, 0, NULL), RLOCK_INVALID);
    pass_ms(2 * QUICK_MS);
    cr_assert(rlock_permit_semaphore_valid_for(semaphore, permit.id) > 0);
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
    cr_assert(event_count(&told.came) == 0);
}

/* The request may run yet, and nobody can tell when the permit ends then. */
Test(permit_renewal, ends_with_a_new_lease_that_nobody_confirmed)
{
    const rlock_call_options hasty = {sizeof hasty, 100, 0, 0};
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    rlock_permit permit = renewed(semaphore);
    assert_ok(rlock_object_set_call_options(rlock_permit_semaphore_object(semaphore), &hasty));
    cr_assert(rlock_permit_semaphore_valid_for(semaphore, permit.id) > 0);
    server_freeze(stage.server);
    cr_assert(rlock_permit_semaphore_update_lease_time(semaphore, permit.id, 1, NULL) != RLOCK_OK);
    cr_assert(rlock_permit_semaphore_valid_for(semaphore, permit.id) == 0);
    server_thaw(stage.server);
}

/* One that another process has given an end, or none, has at least the lease of the watchdog. */
Test(permit_renewal, shortens_no_lease)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client), *theirs = permits_of(stage.other, NAME);
    rlock_permit permit = renewed(semaphore);
    assert_ok(rlock_permit_semaphore_update_lease_time(theirs, permit.id, 10 * QUICK_MS, NULL));
    pass_ms(QUICK_MS);
    assert_between(lease_of(semaphore, &permit), 8 * QUICK_MS, 9 * QUICK_MS);
    assert_ok(rlock_permit_semaphore_update_lease_time(theirs, permit.id, RLOCK_PERMIT_FOREVER, NULL));
    pass_ms(QUICK_MS);
    cr_assert(lease_of(semaphore, &permit) == RLOCK_PERMIT_FOREVER);
    assert_ok(rlock_permit_semaphore_release(semaphore, permit.id));
}

/* A wait that ends without permits leaves nothing to renew. */
Test(permit_renewal, begins_with_the_grant)
{
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client), *theirs = permits_of(stage.other, NAME);
    rlock_permit many[PERMITS], one;
    actor *waiter = actor_start();
    assert_ok(rlock_permit_semaphore_acquire_many(theirs, PERMITS, RLOCK_PERMIT_FOREVER, many));
    assert_status(rlock_permit_semaphore_try_acquire(semaphore, 100, RLOCK_PERMIT_WATCHDOG, &one), RLOCK_TIMEOUT);
    actor_begin(waiter, lease, &(leasing){semaphore, 1, RLOCK_FOREVER, RLOCK_PERMIT_WATCHDOG, NULL, &one});
    cr_assert(!actor_ended(waiter, 2 * QUICK_MS));
    assert_ok(rlock_permit_semaphore_release(theirs, many[0].id));
    assert_ok(actor_finish(waiter, 5000));
    pass_ms(2 * QUICK_MS);
    assert_between(lease_of(semaphore, &one), 1, QUICK_MS);
    cr_assert(event_count(&told.came) == 0);
    actor_end(waiter);
}

Test(permit_renewal, ends_with_the_client)
{
    rlock_client *client = stage_client(STAGE_QUICK);
    rlock_permit_semaphore *semaphore = renewing_semaphore(client), *theirs = permits_of(stage.other, NAME);
    renewed(semaphore);
    stage_close_client(client);
    cr_assert(permits_taken(theirs) == 1);
    pass_ms(KEPT_MS);
    cr_assert(permits_taken(theirs) == 0);
    cr_assert(event_count(&told.came) == 0);
}

Test(permit_renewal, of_many_ends_with_their_release)
{
    rlock_permit many[3];
    rlock_permit_semaphore *semaphore = renewing_semaphore(stage.client);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, RLOCK_PERMIT_WATCHDOG, many));
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 3, many));
    for (int i = 0; i < 3; i++)
        cr_assert(rlock_permit_semaphore_valid_for(semaphore, many[i].id) == 0);
    cr_assert(commands_within(QUICK_MS) == 0, "they are renewed although they were released");
    cr_assert(event_count(&told.came) == 0);
}

/* Losing, and keeping, for every kind of lock at once: each under a name of its own, with one owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The watchdog timeout is QUICK_MS here instead of 30 s. */
TestSuite(lost_kinds, .init = stage_quick, .fini = stage_close);

/* A renewal each third of the timeout finds the loss; its answer is read within a sixth. */
#define FOUND_MS (ROUND_MS + 300)

static losses told;
static rlock *locks[KINDS];

static void listen_for_losses(void)
{
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
}

static void make_locks(void)
{
    for (int i = 0; i < KINDS; i++)
        locks[i] = kind_of(all_kinds[i], stage.client, all_kinds[i]->name);
}

/* Of each kind once, with the reason and so many holds (of kinds that can't be taken twice: one). */
static void assert_told_each_once(rlock_lost_reason reason, int holds, int64_t ms)
{
    losses_await(&told, KINDS, ms);
    cr_assert(!event_wait_count(&told.came, KINDS + 1, FOUND_MS), "told twice");
    for (int i = 0; i < KINDS; i++) {
        int found = 0;
        for (int n = 0; n < KINDS; n++) {
            if (strcmp(told.all[n].name, all_kinds[i]->name) != 0)
                continue;
            found++;
            cr_assert(told.all[n].reason == reason, "%s: reason %d", all_kinds[i]->name, (int)told.all[n].reason);
            cr_assert(told.all[n].hold_count == (all_kinds[i]->once ? 1 : holds), "%s", all_kinds[i]->name);
        }
        cr_assert(found == 1, "told %d times of the %s lock", found, all_kinds[i]->name);
    }
}

static void assert_each_unlocks_in_vain(int holds)
{
    for (int i = 0; i < KINDS; i++) {
        cr_assert(rlock_valid_for(locks[i]) == 0);
        for (int n = 0; n < (all_kinds[i]->once ? 1 : holds); n++)
            assert_status(rlock_unlock(locks[i]), RLOCK_LOST);
        assert_status(rlock_unlock(locks[i]), RLOCK_NOT_OWNER);
        assert_ok(rlock_try_lock(locks[i], 0, 5000));
        assert_ok(rlock_unlock(locks[i]));
    }
}

static void lock_each(int holds)
{
    make_locks();
    for (int i = 0; i < KINDS; i++) {
        for (int n = 0; n < (all_kinds[i]->once ? 1 : holds); n++)
            assert_ok(rlock_lock(locks[i]));
    }
}

Test(lost_kinds, deleted_ones_are_told_once)
{
    listen_for_losses();
    lock_each(2);
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    assert_told_each_once(RLOCK_LOST_GONE, 2, FOUND_MS);
    assert_each_unlocks_in_vain(2);
}

Test(lost_kinds, forced_open_elsewhere_are_told_once)
{
    listen_for_losses();
    lock_each(1);
    for (int i = 0; i < KINDS; i++) {
        bool was_locked = false;
        assert_ok(rlock_force_unlock(kind_of(all_kinds[i], stage.other, all_kinds[i]->name), &was_locked));
        cr_assert(was_locked);
    }
    assert_told_each_once(RLOCK_LOST_GONE, 1, FOUND_MS);
    assert_each_unlocks_in_vain(1);
}

Test(lost_kinds, leases_that_ran_out_are_told_once)
{
    listen_for_losses();
    make_locks();
    int64_t since_ms = now_ms();
    for (int i = 0; i < KINDS; i++)
        assert_ok(rlock_lock_lease(locks[i], 600));
    assert_told_each_once(RLOCK_LOST_EXPIRED, 1, 5000);
    for (int i = 0; i < KINDS; i++)
        assert_between(told.all[i].at_ms - since_ms, 590, at_most_ms(1000));
    assert_each_unlocks_in_vain(1);
}

/* No server answers any renewal: told though nobody can be asked. */
Test(lost_kinds, ones_of_a_silent_server_are_told_by_their_deadline)
{
    listen_for_losses();
    lock_each(1);
    server_freeze(stage.server);
    assert_told_each_once(RLOCK_LOST_EXPIRED, 1, 3 * QUICK_MS / 2);
    server_thaw(stage.server);
    assert_each_unlocks_in_vain(1);
}

static void *lock_and_end(void *arg)
{
    (void)arg;
    lock_each(1);
    return NULL;
}

/* Their owner's thread ended: they are renewed no more, and free within the timeout. */
Test(lost_kinds, ones_of_a_thread_that_ended_are_told_once)
{
    pthread_t thread;
    listen_for_losses();
    cr_assert(pthread_create(&thread, NULL, lock_and_end, NULL) == 0);
    pthread_join(thread, NULL);
    int64_t since_ms = now_ms();
    assert_told_each_once(RLOCK_LOST_OWNER_EXITED, 1, FOUND_MS);
    for (int i = 0; i < KINDS; i++)
        cr_assert(server_wait_exists(stage.server, all_kinds[i]->name, false, 10000));
    assert_between(now_ms() - since_ms, 0, at_most_ms(QUICK_MS + 500));
}

/* 58, with a watchdog timeout of QUICK_MS: a restarted server knows nothing of them. */
Test(lost_kinds, ones_of_a_restarted_server_can_be_taken_again)
{
    listen_for_losses();
    lock_each(2);
    server_kill(stage.server);
    server_restart(stage.server);
    losses_await(&told, KINDS, QUICK_MS);
    assert_each_unlocks_in_vain(2);
    lock_each(1);
    pass_ms(KEPT_MS);
    for (int i = 0; i < KINDS; i++) {
        cr_assert(rlock_valid_for(locks[i]) > 0);
        assert_ok(rlock_unlock(locks[i]));
    }
    cr_assert(event_count(&told.came) == KINDS);
}

/* --- renewal, hold by hold --- */

static void assert_each_kept(int64_t ms)
{
    for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms; pass_ms(10)) {
        for (int i = 0; i < KINDS; i++)
            cr_assert(pttl_of(kind_key(all_kinds[i], all_kinds[i]->name)) > 0 && rlock_valid_for(locks[i]) > 0, "the %s lock is lost",
                      all_kinds[i]->name);
    }
}

/* Around, and then without, a hold with a lease. */
Test(lost_kinds, hold_without_lease_is_renewed_whatever_is_inside)
{
    listen_for_losses();
    lock_each(1);
    for (int i = 0; i < KINDS; i++)
        assert_status(rlock_lock_lease(locks[i], 200), all_kinds[i]->once ? RLOCK_ALREADY_HELD : RLOCK_OK);
    assert_each_kept(ROUND_MS);
    for (int i = 0; i < KINDS; i++)
        assert_ok(all_kinds[i]->once ? RLOCK_OK : rlock_unlock(locks[i]));
    assert_each_kept(KEPT_MS);
    for (int i = 0; i < KINDS; i++)
        assert_ok(rlock_unlock(locks[i]));
    cr_assert(event_count(&told.came) == 0);
}

/* Inside a hold with a lease: when it is given back, renewal ends, and the outer one's lease is what is left. */
Test(lost_kinds, hold_with_lease_is_not_renewed_once_the_inner_one_is_gone)
{
    listen_for_losses();
    make_locks();
    for (int i = 0; i < KINDS; i++) {
        if (all_kinds[i]->once)
            continue;
        assert_ok(rlock_lock_lease(locks[i], ROUND_MS + 100));
        assert_ok(rlock_lock(locks[i]));
    }
    pass_ms(ROUND_MS);
    int left = 0;
    for (int i = 0; i < KINDS; i++) {
        if (all_kinds[i]->once)
            continue;
        assert_ok(rlock_unlock(locks[i]));
        left++;
    }
    monitor *tap = monitor_open();
    losses_await(&told, left, 2 * QUICK_MS);
    for (int i = 0; i < KINDS; i++) {
        cr_assert(server_wait_exists(stage.server, all_kinds[i]->name, false, 10000));
        cr_assert(all_kinds[i]->both_sides || monitor_count(tap, (const char *const[]){"\"evalsha\"",
                  all_kinds[i]->name, NULL}) == 0, "the %s lock was renewed", all_kinds[i]->name);
    }
    monitor_close(tap);
}

/* Nothing renews after the last unlock, or after a wait that was given up. */
Test(lost_kinds, nothing_is_renewed_that_is_not_held)
{
    lock_each(2);
    for (int i = 0; i < KINDS; i++) {
        rlock *rival = rival_of(all_kinds[i], stage.other, all_kinds[i]->name);
        assert_status(rlock_try_lock(rival, 30, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(locks[i]));
        if (!all_kinds[i]->once)
            assert_ok(rlock_unlock(locks[i]));
    }
    monitor *tap = monitor_open();
    pass_ms(ROUND_MS);
    cr_assert(monitor_saw(tap, "evalsha") == 0);
    monitor_close(tap);
}

/* Stalls: a server that stands still for a moment, as while it forks for its snapshot, fails no try, however short. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>

#define KIND_SUITE stall
#define STALL_MS 600
#define LATEST_MS 30000

static void open_patient(void)
{
    stage_open_with("timeout=20000");
}

TestSuite(stall, .init = open_patient, .fini = stage_close);

static const int64_t waits_ms[] = {0, 5, 100};
enum { TRIES = sizeof waits_ms / sizeof *waits_ms };

static actor *tries[TRIES];

static void start_tries(void)
{
    for (int i = 0; i < TRIES; i++)
        tries[i] = actor_start();
}

/* Time is the subject: the server stands still for so long, and all ask at the beginning of that, as nothing is late here. */
static void stand_still(void)
{
    pass_ms(STALL_MS);
    for (int i = 0; i < TRIES; i++)
        cr_assert(!actor_ended(tries[i], 0), "a try of %lld ms does not wait", (long long)waits_ms[i]);
    server_thaw(stage.server);
}

static void assert_all_succeed(void)
{
    for (int i = 0; i < TRIES; i++) {
        rlock_status status = actor_finish(tries[i], LATEST_MS);
        cr_assert(status == RLOCK_OK, "a try of %lld ms: %s", (long long)waits_ms[i], actor_error(tries[i]));
    }
}

static void end_tries(void)
{
    for (int i = 0; i < TRIES; i++)
        actor_end(tries[i]);
}

/* A free lock for each, with connection and scripts in place. */
static void open_locks(rlock *locks[TRIES], rlock *(*get)(const void *of, const char *name), const void *of)
{
    for (int i = 0; i < TRIES; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%d", i);
        locks[i] = get(of, name);
        assert_ok(rlock_lock(locks[i]));
        assert_ok(rlock_unlock(locks[i]));
    }
}

static void assert_outlived(rlock *locks[TRIES])
{
    start_tries();
    server_freeze(stage.server);
    for (int i = 0; i < TRIES; i++)
        actor_begin_try(tries[i], locks[i], waits_ms[i], 60000);
    stand_still();
    assert_all_succeed();
    for (int i = 0; i < TRIES; i++)
        assert_ok(actor_unlock(tries[i], locks[i]));
    end_tries();
}

static rlock *get_kind(const void *of, const char *name)
{
    return kind_of(of, stage.client, name);
}

KIND_TEST(is_outlived_by_tries)
{
    rlock *locks[TRIES];
    open_locks(locks, get_kind, of);
    assert_outlived(locks);
}

static rlock *get_multi(const void *nothing, const char *name)
{
    char second[40];
    (void)nothing;
    snprintf(second, sizeof second, "%s-2", name);
    return stage_keep(rlock_get_multi_lock((rlock *[]){lock_of(stage.client, name), lock_of(stage.client, second)}, 2));
}

Test(stall, is_outlived_by_tries_of_multi_locks)
{
    rlock *locks[TRIES];
    open_locks(locks, get_multi, NULL);
    assert_outlived(locks);
}

Test(stall, is_outlived_by_tries_of_semaphores)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "permits");
    taking wanted[TRIES];
    bool set;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, TRIES + 1, &set));
    assert_ok(rlock_semaphore_try_acquire(semaphore, 1, 0));
    start_tries();
    server_freeze(stage.server);
    for (int i = 0; i < TRIES; i++) {
        wanted[i] = (taking){.semaphore = semaphore, .permits = 1, .wait_ms = waits_ms[i]};
        actor_begin(tries[i], take, &wanted[i]);
    }
    stand_still();
    assert_all_succeed();
    end_tries();
}

Test(stall, is_outlived_by_tries_of_permit_semaphores)
{
    rlock_permit_semaphore *semaphore = permits_of(stage.client, "permits");
    rlock_permit permits[TRIES];
    leasing wanted[TRIES];
    bool set;
    assert_ok(rlock_permit_semaphore_try_set_permits(semaphore, TRIES + 1, &set));
    assert_ok(rlock_permit_semaphore_try_acquire(semaphore, 0, 60000, &permits[0]));
    start_tries();
    server_freeze(stage.server);
    for (int i = 0; i < TRIES; i++) {
        wanted[i] = (leasing){.semaphore = semaphore, .count = 1, .wait_ms = waits_ms[i], .lease_ms = 60000,
                              .permits = &permits[i]};
        actor_begin(tries[i], lease, &wanted[i]);
    }
    stand_still();
    assert_all_succeed();
    end_tries();
}

Test(stall, is_outlived_by_tries_of_latches)
{
    rlock_count_down_latch *latch = latch_of(stage.client, "open");
    awaiting wanted[TRIES];
    assert_ok(rlock_count_down_latch_try_await(latch, 0));
    start_tries();
    server_freeze(stage.server);
    for (int i = 0; i < TRIES; i++) {
        wanted[i] = (awaiting){.latch = latch, .wait_ms = waits_ms[i]};
        actor_begin(tries[i], await_open, &wanted[i]);
    }
    stand_still();
    assert_all_succeed();
    end_tries();
}

/* Those that queue behind another thread of this process for one lock are told that it is held, not that nobody
 * answered. */
Test(stall, is_outlived_by_tries_of_one_lock)
{
    rlock *lock = lock_of(stage.client, "order");
    int got = 0;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    start_tries();
    server_freeze(stage.server);
    for (int i = 0; i < TRIES; i++)
        actor_begin_try(tries[i], lock, waits_ms[i], 60000);
    stand_still();
    for (int i = 0; i < TRIES; i++) {
        rlock_status status = actor_finish(tries[i], LATEST_MS);
        cr_assert(status == RLOCK_OK || status == RLOCK_TIMEOUT, "a try of %lld ms: %s", (long long)waits_ms[i],
                  actor_error(tries[i]));
        got += status == RLOCK_OK;
    }
    cr_assert(got == 1, "%d have it", got);
    end_tries();
}

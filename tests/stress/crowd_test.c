/* Crowd: many threads of one client, on few names or on many (scenarios 10 and 19 to 22). Two are
 * reduced, to keep the suite short; RLOCK_STRESS_FULL=1 in the environment runs them whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/stress/support/scale.h"
#include "tests/stress/support/workers.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdio.h>

TestSuite(crowd, .init = stage_open, .fini = stage_close);

/* A handle for one round. */
static rlock_status with_lock(const char *name, rlock_status (*use)(rlock *, worker *), worker *self)
{
    rlock *lock = rlock_get_lock(stage.client, name);
    rlock_status status = use(lock, self);
    rlock_free(lock);
    return status;
}

static rlock_status hold_a_while(rlock *lock, worker *self)
{
    rlock_status status = rlock_lock(lock);
    if (status != RLOCK_OK)
        return status;
    pass_ms(worker_random(self, 20));
    return rlock_unlock(lock);
}

static rlock_status on_one_of_five(worker *self, int task)
{
    (void)task;
    char name[16];
    snprintf(name, sizeof name, "lock-%d", worker_random(self, 5));
    return with_lock(name, hold_a_while, self);
}

/* 19. 32 threads share 5000 tasks on 5 names, held 0 to 19 ms, over our one subscribed
 * connection; at the end nobody listens. Full size: 10 s. */
Test(crowd, of_32_threads_on_five_names_does_all_its_tasks)
{
    workers_run(32, 5000, on_one_of_five, 150000);
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

static rlock_status try_patiently(rlock *lock, worker *self)
{
    (void)self;
    rlock_status status = rlock_try_lock(lock, 600000, RLOCK_WATCHDOG);
    return status == RLOCK_OK ? rlock_unlock(lock) : status;
}

/* Two threads a name, at the same time on the same one. */
static rlock_status on_a_name_of_two(worker *self, int task)
{
    char name[32];
    snprintf(name, sizeof name, "Lock%d_%d", self->number / 2, task / 4);
    return with_lock(name, try_patiently, self);
}

/* 20. 4 threads, two a name, try and unlock: all succeed. The scenario has 2 rounds, this 250. */
Test(crowd, of_two_threads_a_name_gets_each_lock)
{
    workers_run(4, 1000, on_a_name_of_two, 60000);
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

/* In so short a time, a try may come to nothing, and may hear nothing. */
static rlock_status lock_or_try(rlock *lock, worker *self)
{
    bool waits = self->number % 2 == 0;
    rlock_status status = waits ? rlock_lock(lock) : rlock_try_lock(lock, worker_random(self, 10), RLOCK_WATCHDOG);
    if (status == RLOCK_OK)
        return rlock_unlock(lock);
    return !waits && (status == RLOCK_TIMEOUT || status == RLOCK_UNAVAILABLE) ? RLOCK_OK : status;
}

/* Each thread goes through all names in order, so that the threads meet again and again. */
static rlock_status on_the_next_name(worker *self, int task)
{
    (void)task;
    char name[32];
    snprintf(name, sizeof name, "RLOCK_%d", self->done);
    return with_lock(name, lock_or_try, self);
}

/* 22. 20 threads go through the same names, half of them waiting, half trying for up to 9 ms:
 * no hang. The scenario has 50000 names; the reduced size is 5000. */
Test(crowd, of_20_threads_goes_through_many_names)
{
    workers_run(20, 20 * scaled(5000, 50000), on_the_next_name, 200000);
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

/* 10. One client, 15 tasks, each re-entering twice. */
Test(crowd, of_15_tasks_counts_to_15)
{
    static crowd all = {.name = "order:42", .turns = 1, .nested = 2, .hold_ms = 10};
    for (int i = 0; i < 15; i++)
        crowd_add(&all, stage.client);
    crowd_run(&all, 60000);
    cr_assert(all.counter == 15 && all.most_inside == 1);
}

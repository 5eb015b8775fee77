/* Workers: threads that share out a number of tasks, with random numbers that can be repeated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/support/workers.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64

static struct {
    worker_task *run;
    int tasks;
    atomic_int begun, failures;
    event ended;
} job;

int worker_random(worker *self, int below)
{
    return rand_r(&self->seed) % below;
}

static void *work(void *arg)
{
    worker *self = arg;
    for (int task; (task = atomic_fetch_add(&job.begun, 1)) < job.tasks; self->done++) {
        rlock_status status = job.run(self, task);
        if (status != RLOCK_OK && atomic_fetch_add(&job.failures, 1) == 0)
            fprintf(stderr, "task %d: %s: %s\n", task, rlock_strstatus(status), rlock_last_error());
    }
    event_set(&job.ended);
    return NULL;
}

void workers_run(int threads, int tasks, worker_task *run, int64_t ms)
{
    static worker workers[THREADS_MAX];
    pthread_t running[THREADS_MAX];
    cr_assert(threads <= THREADS_MAX);
    job.run = run;
    job.tasks = tasks;
    event_init(&job.ended);
    int64_t began_ms = now_ms();
    for (int i = 0; i < threads; i++) {
        workers[i] = (worker){.number = i, .seed = (unsigned)i + 1};
        cr_assert(pthread_create(&running[i], NULL, work, &workers[i]) == 0);
    }
    cr_assert(event_wait_count(&job.ended, threads, ms), "%d of %d threads have not ended after %lld ms",
              threads - event_count(&job.ended), threads, (long long)ms);
    for (int i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
    fprintf(stderr, "%d tasks in %d threads: %lld ms\n", tasks, threads, (long long)(now_ms() - began_ms));
    cr_assert(atomic_load(&job.failures) == 0, "%d of %d tasks failed", atomic_load(&job.failures), tasks);
}

/* Workers: threads that share out a number of tasks, with random numbers that can be repeated. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WORKERS_H
#define WORKERS_H

#include <rlock/status.h>
#include <stdint.h>

typedef struct worker {
    int number; /* from 0 */
    int done;   /* tasks so far */
    unsigned seed;
} worker;

/* From 0 to below. */
int worker_random(worker *worker, int below);

/* Runs `tasks` tasks in `threads` threads; each is numbered in the order they begin. Fails the
 * test when one of them answers anything but RLOCK_OK, or all have not ended after ms. */
typedef rlock_status worker_task(worker *worker, int task);
void workers_run(int threads, int tasks, worker_task *run, int64_t ms);

#endif

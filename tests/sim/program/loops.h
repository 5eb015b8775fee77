/* Loops: the thread of a process that runs an event loop over its client, where the plan has async calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LOOPS_H
#define SIM_LOOPS_H

#include "tests/sim/program/run.h"

/* What the loop's thread is to do between two calls of rlock_client_process. Its own until it is done. */
typedef struct task {
    struct task *next;
    void (*act)(struct task *task);
} task;

/* Whether the client's threads make async calls. */
bool loop_is_planned(int client);
/* Whether it forgets now and then to process. */
bool loop_forgets(int client);
void loop_begin(process *of);
/* All tasks are done. */
void loop_end(process *of);
void loop_post(process *of, task *task);
/* It does not process for so long. */
void loop_forget(process *of, int64_t span_ms);
/* How long it has done so by now, in all. */
int64_t loop_forgotten_ns(const process *of);

#endif

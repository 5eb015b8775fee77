/* Tasks: the threads of this process, by the names the kernel knows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <sys/types.h>

/* How many threads have a name that begins with `prefix`. */
int tasks_named(const char *prefix);
/* Whether the thread sleeps, and how often it has gone to sleep so far. */
bool task_sleeps(pid_t tid, long *times);
/* How often the thread with such a name has gone to sleep so far; -1: there is none. In virtual time alone. */
long task_sleeps_of(const char *prefix);
/* Whether every thread but the calling one sleeps. */
bool tasks_others_sleep(void);

#endif

/* A C process beside the test: forked, so that it can be killed while it holds a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs run(arg) in a new process, whose exit status is what it gives. It opens a client of its
 * own, asserts nothing (that belongs to the test's process), and dies with the test. */
pid_t process_start(int (*run)(void *arg), void *arg);
void process_kill(pid_t process); /* SIGKILL, waits for its end */
/* Its exit status, or minus the signal that ended it; fails the test when it runs on after ms. */
int process_wait(pid_t process, int64_t ms);

/* Memory, zeroed, that children see as well; it goes with the test. */
void *shared_memory(size_t size);

#endif

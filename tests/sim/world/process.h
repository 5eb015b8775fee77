/* Processes: what the world does with them, beside what they ask for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include <sys/types.h>

/* Of so many threads that are asked for, one is refused; 0: none. */
extern int process_refuses_threads;

/* How many forks led to this process. */
int process_generation(void);
/* Waits for a forked child's end, in which no time of the world passes. Its exit status; -1: it was killed. */
int process_wait(pid_t pid);

#endif

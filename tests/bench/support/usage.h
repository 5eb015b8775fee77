/* What a process uses: CPU time and memory, seen from outside; and for how long it had no core. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <sys/types.h>

double usage_now_s(void); /* CLOCK_MONOTONIC */
/* User and system time since its start. All of these end the program when there is no such process. */
double usage_cpu_us(pid_t pid);
long usage_resident_bytes(pid_t pid);

/* How long a thread has stood ready to run while no core was free for it, so far: open once, and close. -1, where the
 * kernel does not say, is known to have stood for no time. */
int usage_open_ready(pid_t thread);
double usage_ready_s(int fd);

#endif

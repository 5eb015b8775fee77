/* What a process uses: CPU time and memory, seen from outside. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <sys/types.h>

double usage_now_s(void); /* CLOCK_MONOTONIC */
/* User and system time since its start. All of these end the program when there is no such process. */
double usage_cpu_us(pid_t pid);
long usage_resident_bytes(pid_t pid);

#endif

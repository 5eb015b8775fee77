/* A family: a process, and the processes that it has started, as PostgreSQL's server is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_FAMILY_H
#define BENCH_FAMILY_H

#include <sys/types.h>

/* The CPU time of those that are alive, in µs. */
double family_cpu_us(pid_t pid);
/* Has all their threads run on `core` alone; -1: on all cores. */
void family_pin(pid_t pid, int core);
/* How many sockets the process itself has open. */
int family_sockets(pid_t pid);

#endif

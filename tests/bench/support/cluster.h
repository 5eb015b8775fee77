/* The benchmark's own Redis Cluster: masters without replicas on loopback ports. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

#include <stdbool.h>
#include <sys/types.h>

#define CLUSTER_MASTERS 3

typedef struct bench_cluster {
    pid_t pids[CLUSTER_MASTERS];
    int ports[CLUSTER_MASTERS];
    char url[128]; /* redis-cluster://… */
} bench_cluster;

/* Starts it in `folder`, without persistence, and waits until it serves; it dies with this program. False: it
 * does not come up, which has been said; to be stopped in any case. */
bool cluster_start(bench_cluster *cluster, const char *folder);
void cluster_stop(bench_cluster *cluster);
/* CPU time that its servers have used together, in µs. */
double cluster_cpu_us(const bench_cluster *cluster);

#endif

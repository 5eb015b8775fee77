/* What a sentinel believes about the master that it watches. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_SENTINEL_H
#define SIM_SERVER_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_SENTINELS_MAX 8

typedef struct sim_sentinel_view {
    char master_name[64];
    char host[64]; /* of the master */
    int port;
    uint64_t epoch; /* config-epoch */
    bool master_down; /* by this sentinel's own judgement */
    int replicas, quorum;
    int others; /* sentinels */
    struct {
        char host[64];
        int port;
        char run_id[41];
    } sentinels[SIM_SENTINELS_MAX];
} sim_sentinel_view;

#endif

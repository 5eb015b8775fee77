/* Shards: a master and its replicas. What the master writes reaches each of them after a while, unless it is kept from it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SHARDS_H
#define SIM_SHARDS_H

#include "tests/sim/world/network.h"

#include <stdbool.h>

#define SHARDS_MOST 3
#define SHARD_NODES 3

typedef struct node {
    host *at;
    struct shard *of;
    bool cut_off;      /* its master knows that it is not there */
    bool held, silent; /* what its master writes does not reach it: for a failover, or for a while */
    bool coming;       /* a catch-up is planned */
    int64_t since_ns;  /* it has been what it is */
} node;

typedef struct shard {
    node nodes[SHARD_NODES];
    int count;
    node *master; /* the one that all agree on in the end */
    bool busy;    /* a failover is under way, or a slot moves from it or to it */
} shard;

shard *shard_number(int number); /* NULL: no more */
int shard_count(void);
/* The first of the hosts is the master. */
shard *shard_make(host *const *hosts, int count);
/* The node that such a host is; NULL: a sentinel. */
node *shard_node(const host *at);

/* A replica is the master from now on, whatever it lacks; the others follow it, but for the old one. The ledger is told what
 * that loses. */
void shard_promote(node *to);
/* One that was a master follows the present one. */
void shard_demote(node *old);
/* It takes itself for the master, and another one is. */
bool shard_is_deposed(const node *one);
/* What it lacks is on its way, if nothing keeps it. */
void shard_catch_up(node *replica);

/* Something has become of one of them: from now on it is to be found out anew who is there. */
void shard_note_change(shard *of);
/* Whether none of the replicas has the key of that name, all of which had long been there when a call began. */
bool shard_lacks(const shard *of, const char *name, int64_t began_ns);

/* A script ran there. On a deposed master all that it did is lost, or is done a second time elsewhere. */
void shard_note_run(const host *at, const sim_run *run);

#endif

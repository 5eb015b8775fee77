/* What is known of who serves what: by each sentinel, by each node of a cluster. They learn what is so after a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_KNOWN_H
#define SIM_KNOWN_H

#include "tests/sim/program/shards.h"

#define MASTER_NAME "mymaster"

/* The shards are those of a cluster, whose slots they share; all its nodes know that. */
void known_begin_cluster(void);
/* These hosts are sentinels, which watch the first shard. */
void known_begin_sentinels(host *const *hosts, int count);

/* The master of a shard has changed, or does not answer: whoever is not cut off from the others learns what is so, each at
 * an instant until then. */
void known_within(int64_t span_ns);
/* That node knows at once; NULL: all do. */
void known_now(const node *one);
/* Who counts failovers has one more to count. */
void known_raise_epoch(void);
/* The master seems to be away, says who is not cut off. */
void known_suspect(const shard *away);

/* The shard of a cluster that serves a slot; it may be on its way from there. */
shard *known_owner(int slot);
/* The key's node now: while its slot moves it may have gone ahead. */
host *known_host_of(const char *key, size_t length);
/* Whether the key may be at that shard's node. A new master that has not heard that its slot is gone may have it still. */
bool known_may_be_at(const shard *of, const char *key, size_t length);
/* See shard_lacks; of the shard that serves that key. */
bool shards_lack(const char *name, int64_t began_ns);
/* A slot begins to move; one of its keys goes, false: there is none left; it belongs to the other. One moves at a time. */
void known_slot_begins(int slot, shard *to);
bool known_slot_key_goes(void);
void known_slot_has_moved(void);
/* NULL: none moves. */
shard *known_slot_from(void);
/* A script has run at that server, on that key. */
void known_slot_ran(const host *at, const char *key, size_t length);

/* The hook of a cluster's nodes. */
void known_spread(void *world, sim_server *server, bool sharded, const char *channel, size_t channel_length,
                  const char *message, size_t message_length);

#endif

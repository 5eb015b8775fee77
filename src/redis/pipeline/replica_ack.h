/* Sync: how a synced wire has replicas confirm what was written on it. One WAIT follows each batch
 * of requests, as Redisson's batches end with one; it is for as many replicas as the server has in step. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPLICA_ACK_H
#define RLI_REPLICA_ACK_H

#include "net/buffer.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Instead of a number of replicas that confirmed. */
enum {
    RLI_REPLICA_ACK_NONE = -1,   /* none was asked: the pipeline is not a synced one, or the server has no replicas */
    RLI_REPLICA_ACK_REFUSED = -2 /* the server has no WAIT, or the user may not use it: Redisson then does without */
};

/* All zero but for the first two: nothing is known of the server yet. */
typedef struct rli_replica_ack {
    const atomic_int *listed; /* replicas that the server is said to have, dead ones among them; ≤ 0: none to ask;
                                   NULL: not synced */
    int64_t timeout_ms;       /* slavesSyncTimeout */
    int online;               /* replicas in step with the server when they were last counted; -1: it did not say */
    int64_t counted_ms;       /* when that was; 0: never, or the number has turned out to be wrong */
    bool counting;            /* the question for the number is under way */
    int asked;                /* by the WAIT under way; 0: there is none */
    bool unknown, forbidden;  /* the server knows no WAIT; the user may not use it */
} rli_replica_ack;

/* Whether a question for the number, or a WAIT, is under way: the next batch gathers until it is answered. */
bool rli_replica_ack_is_busy(const rli_replica_ack *ack);
/* Whether the replicas are to be counted before the next WAIT. */
bool rli_replica_ack_is_to_count(const rli_replica_ack *ack);
/* Appends the question for the number. False: out of memory. */
bool rli_replica_ack_count(rli_replica_ack *ack, rli_buffer *buffer);
/* Reads its answer. */
void rli_replica_ack_hear_count(rli_replica_ack *ack, const redisReply *reply);

/* Appends WAIT for all replicas, when there are any. False: out of memory. */
bool rli_replica_ack_ask(rli_replica_ack *ack, rli_buffer *buffer);
/* What became of what was sent without a WAIT. */
int rli_replica_ack_without(const rli_replica_ack *ack);
/* Reads the answer to WAIT, which is over with that: how many replicas confirmed. */
int rli_replica_ack_hear(rli_replica_ack *ack, const redisReply *reply);
/* The connection has ended, and what was under way with it. */
void rli_replica_ack_end(rli_replica_ack *ack);
/* How long a request queued now may take longer for it: while a WAIT is under way, also by that one. */
int64_t rli_replica_ack_time_ms(const rli_replica_ack *ack);

/* How many replicas are in step with a server, by its answer to INFO replication. */
int rli_replica_ack_online(const char *info);

#endif

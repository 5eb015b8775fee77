/* Replica acknowledgement: how a pipe makes replicas confirm what was written on it.
 *
 * One WAIT follows each batch of requests, as at the end of Redisson's batches. It asks for as many replicas as are
 * online. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_REPLICA_ACK_H
#define RLI_REPLICA_ACK_H

#include "net/buffer.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Values in place of a number of replicas that acknowledged. */
enum {
    RLI_REPLICA_ACK_NONE = -1, /* none was asked for: no replica acknowledgement here, or no replicas */
    /* the server has no WAIT, or the user may not use it; as in Redisson, the requests count without it */
    RLI_REPLICA_ACK_REFUSED = -2
};

/* State of one pipe. Initially all zero except the first two fields: nothing is known about the server. The pipeline's
 * mutex guards it. */
typedef struct rli_replica_ack {
    /* number of replicas that the server is said to have, dead ones included; <= 0: none; NULL: no replica
     * acknowledgement */
    const atomic_int *listed;
    int64_t timeout_ms;      /* slavesSyncTimeout */
    int online;              /* replicas that were online when last counted; -1: the server did not tell */
    int64_t counted_ms;      /* when they were counted; 0: never, or the number has proved wrong */
    bool counting;           /* the request for the count is unanswered */
    int64_t asked_ms;        /* when it was made */
    int64_t needed_ms;       /* since when requests gather for the next batch */
    int asked;               /* number of replicas that the unanswered WAIT asked for; 0: no WAIT is unanswered */
    bool unknown, forbidden; /* the server does not know WAIT; the user may not use it */
} rli_replica_ack;

/* Whether a count or a WAIT is unanswered. Until it is answered, the next batch only gathers. */
bool rli_replica_ack_is_busy(const rli_replica_ack *ack);
/* Whether the replicas must be counted before the next WAIT. */
bool rli_replica_ack_is_to_count(const rli_replica_ack *ack);
/* Appends the request for the count. False: out of memory. */
bool rli_replica_ack_count(rli_replica_ack *ack, rli_buffer *buffer);
/* Takes the reply to it; the caller frees that. */
void rli_replica_ack_hear_count(rli_replica_ack *ack, const redisReply *reply);

/* Appends a WAIT for all online replicas, if there are any. False: out of memory. */
bool rli_replica_ack_ask(rli_replica_ack *ack, rli_buffer *buffer);
/* The result for requests that were sent without a WAIT. */
int rli_replica_ack_without(const rli_replica_ack *ack);
/* Takes the reply to WAIT, which is then answered; the caller frees it. Returns how many replicas acknowledged, or
 * RLI_REPLICA_ACK_REFUSED. */
int rli_replica_ack_hear(rli_replica_ack *ack, const redisReply *reply);
/* The connection has ended, so a count or WAIT will not be answered. */
void rli_replica_ack_end(rli_replica_ack *ack);
/* How much longer a request that is queued now may take because of WAIT: its own, and one that is unanswered now. */
int64_t rli_replica_ack_time_ms(const rli_replica_ack *ack);

/* The number of replicas that are online, from the text of INFO replication. */
int rli_replica_ack_online(const char *info);

#endif

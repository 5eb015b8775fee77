/* Outgoing: the bytes of a pipe's requests, which gather while an earlier batch of them is sent.
 *
 * The pipeline's mutex guards it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OUTGOING_H
#define RLI_OUTGOING_H

#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pipeline/replica_ack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Initially all zero. */
typedef struct rli_outgoing {
    rli_buffer queued; /* bytes of the next batch */
    rli_buffer batch;  /* bytes of the present batch */
    size_t passed;     /* how many of these the kernel has */
    bool to_sync;      /* the next batch must end with WAIT */
    bool sending;      /* a thread is sending */
} rli_outgoing;

typedef enum rli_sent { RLI_SENT_ALL, RLI_SENT_PART, RLI_SENT_FAILED } rli_sent;

void rli_outgoing_free(rli_outgoing *outgoing);
/* Appends a request to the next batch, with ASKING before it if the command wants that. Returns its size in bytes; 0:
 * out of memory, and nothing is appended. */
size_t rli_outgoing_add(rli_outgoing *outgoing, const rli_command *command);
/* Removes a request of that many bytes from the next batch; `behind`: the bytes of the requests added after it. */
void rli_outgoing_withdraw(rli_outgoing *outgoing, size_t bytes, size_t behind);

/* Whether bytes of the present batch remain to be sent. */
bool rli_outgoing_has_rest(const rli_outgoing *outgoing);
/* Whether any bytes remain to be sent and no thread is sending. */
bool rli_outgoing_has_unsent(const rli_outgoing *outgoing);
/* Begins the next batch if the present one is sent and `ack` permits. While a WAIT is unanswered the requests stay
 * queued: otherwise, with a slow replica, each of several batches would wait as long again. *began: the new batch has
 * all requests that were queued. False: out of memory. */
bool rli_outgoing_begin(rli_outgoing *outgoing, rli_replica_ack *ack, bool *began);
/* Sends the rest of the present batch as far as the connection has room. Releases `mutex` while it sends. No other
 * thread may be sending. RLI_SENT_FAILED: the connection has ended. */
rli_sent rli_outgoing_send(rli_outgoing *outgoing, rli_connection *connection, pthread_mutex_t *mutex);

#endif

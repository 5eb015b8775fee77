/* A connection: opened and greeted; then bytes in and out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONNECTION_H
#define RLI_CONNECTION_H

#include "config/settings.h"
#include "net/buffer.h"
#include "net/dial.h"
#include "net/tls.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct rli_connection {
    redisContext *context; /* its reader parses the received bytes, within limits.h */
    int fd;                /* blocking */
    rli_tls_stream *tls;   /* NULL: plain */
    uint64_t run;          /* which run of the server answers; 0: it did not say */
} rli_connection;

/* Connects to the server at `address` within the connect timeout and greets within the timeout, as long as patience lasts.
 * RLOCK_OK; RLOCK_UNAVAILABLE: no server, or not yet; RLOCK_SERVER: it refused password, database or name, or there
 * is no agreement on TLS; RLOCK_NO_MEMORY. */
rlock_status rli_connection_open(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                                 const rli_patience *patience);
void rli_connection_close(rli_connection *connection);

/* Sends all of it, for as long as patience lasts. */
bool rli_connection_send_all(const rli_connection *connection, const rli_buffer *bytes, const rli_patience *patience);
/* One command and its answer, for as long as patience lasts, while nothing else is under way.
 * NULL: none came; the connection is of no more use. */
redisReply *rli_connection_ask(const rli_connection *connection, const rli_command *command,
                               const rli_patience *patience);
/* The next reply or message, however long patience lasts. NULL: none came. */
redisReply *rli_connection_next(const rli_connection *connection, const rli_patience *patience);

/* The next reply or message of those that were received; *reply NULL: none is complete yet. False: the bytes are no
 * reply, or exceed limits.h, and the connection is of no more use. */
bool rli_connection_parse(const rli_connection *connection, redisReply **reply);
/* A description of those bytes for a message: "arrays nested more than 7 deep". NULL: there were none. Static text. */
const char *rli_connection_trouble(const rli_connection *connection);

/* No answer came before the client was logged in: fails with the reason, as far as it shows. RLOCK_UNAVAILABLE, or
 * RLOCK_SERVER where the two cannot agree on TLS. */
rlock_status rli_connection_silent(const rli_connection *connection, const rli_address *address);

/* What a receive came to. */
typedef enum rli_received { RLI_BYTES, RLI_QUIET, RLI_ENDED } rli_received;

/* Sends the bytes that can be sent at once. Their number; -1: the connection has ended, also for the thread that
 * receives. The bytes that could not be sent must be offered again before any others: TLS may have begun with them. */
ssize_t rli_connection_send(const rli_connection *connection, const char *bytes, size_t length);

/* Waits until bytes have come (they are fed to the reader), `deadline_ms`, `wake_fd` (-1: none)
 * being readable, or, with `and_send`, room to send. RLI_QUIET: nothing has come. */
rli_received rli_connection_receive(const rli_connection *connection, int64_t deadline_ms, int wake_fd, bool and_send);
/* Waits until bytes have come, however long, or the socket is shut down. */
rli_received rli_connection_block(const rli_connection *connection);

/* Whether the server has closed it, although what it said before may not have been read. Does not wait. */
bool rli_connection_is_closed(const rli_connection *connection);

#endif

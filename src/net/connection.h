/* A connection: opening it with the greeting, then sending and receiving bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CONNECTION_H
#define RLI_CONNECTION_H

#include "config/settings.h"
#include "net/buffer.h"
#include "net/dial.h"
#include "net/tls.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A socket that another thread than the connection's own polls, to notice its end. The number stays taken, and the
 * socket shut down, until both have let go of it. */
typedef struct rli_shared_socket {
    int fd;
    atomic_int users;
} rli_shared_socket;

typedef struct rli_connection {
    redisContext *context;     /* only its reader is used: it parses received bytes within the limits of limits.h */
    int fd;                    /* a blocking socket */
    rli_tls_stream *tls;       /* NULL: no TLS */
    int64_t timeout_ms;        /* how long the greeting waits for an answer; 0: as long as the caller has time */
    uint64_t run_id;           /* identifies this run of the server, from its run id; 0: the server did not tell */
    rli_shared_socket *shared; /* NULL: nobody else polls the socket */
} rli_connection;

/* Connects to the server at `address` within the connect timeout, then exchanges the greeting within the timeout; both
 * only while patience lasts. Close it with rli_connection_close. RLOCK_OK; otherwise it is already closed.
 * RLOCK_UNAVAILABLE: no server there, or it is not ready yet; RLOCK_SERVER: it refused the password, database or name,
 * or the two cannot agree on TLS; RLOCK_NO_MEMORY. */
rlock_status rli_connection_open(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                                 const rli_patience *patience);
/* Closes the socket and frees everything. May be called again. */
void rli_connection_close(rli_connection *connection);

/* Lets another thread poll the socket of an open connection until rli_shared_socket_release. NULL: out of memory, or
 * another does already. */
rli_shared_socket *rli_connection_share(rli_connection *connection);
void rli_shared_socket_release(rli_shared_socket *shared); /* NULL is allowed */

/* Sends all the bytes. False: the connection has ended, or patience has. */
bool rli_connection_send_all(const rli_connection *connection, const rli_buffer *bytes, const rli_patience *patience);
/* Sends one command and waits for its answer while patience lasts. No other request may be under way. The caller frees
 * the reply. NULL: no answer came, and the connection must not be used any more. */
redisReply *rli_connection_ask(const rli_connection *connection, const rli_command *command,
                               const rli_patience *patience);
/* The next reply or message, waited for while patience lasts; the caller frees it. NULL: none came. */
redisReply *rli_connection_next(const rli_connection *connection, const rli_patience *patience);

/* Takes the next reply or message from the bytes received so far; the caller frees it. *reply is NULL if none is
 * complete yet. False: the bytes are not Redis's protocol or exceed limits.h, and the connection must not be used any
 * more. */
bool rli_connection_parse(const rli_connection *connection, redisReply **reply);
/* Why rli_connection_parse failed, for a message: "arrays nested more than 7 deep". NULL: it did not fail. Static
 * text. */
const char *rli_connection_trouble(const rli_connection *connection);

/* Fails with the reason why no answer came during the greeting, as far as it can be found out. RLOCK_UNAVAILABLE, or
 * RLOCK_SERVER if the two cannot agree on TLS. */
rlock_status rli_connection_explain_failure(const rli_connection *connection, const rli_address *address);

/* Result of a receive: bytes were received, nothing came, or the connection has ended. */
typedef enum rli_received { RLI_RECEIVED_BYTES, RLI_RECEIVED_NOTHING, RLI_RECEIVED_END } rli_received;

/* Sends as many of the bytes as the socket takes without blocking. Returns their number, or -1 if the connection has
 * ended; the receiving thread then notices that, too. Offer the unsent bytes again before any others: TLS may already
 * have encrypted a part of them. */
ssize_t rli_connection_send(const rli_connection *connection, const char *bytes, size_t length);

/* Waits until bytes arrive (which are fed to the reader), until `deadline_ms` (RLI_NEVER: without a limit), until
 * `wake_fd` is readable (-1: none), with `and_send` until the socket can send, or until the socket is shut down.
 * May return at a signal, too. RLI_RECEIVED_NOTHING: no bytes arrived. */
rli_received rli_connection_receive(const rli_connection *connection, int64_t deadline_ms, int wake_fd, bool and_send);

/* Whether the server has closed the connection; bytes that it sent before may still be unread. Does not wait. */
bool rli_connection_is_closed(const rli_connection *connection);

#endif

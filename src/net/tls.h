/* TLS: encrypts and decrypts between a connection and its socket.
 *
 * One thread may send while another one receives: a mutex guards what they share, and no thread sleeps while it holds
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_H
#define RLI_TLS_H

#include "net/dial.h"

#include <hiredis/hiredis.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct rli_tls_stream rli_tls_stream;

/* Performs the handshake with the server at `fd`, while patience lasts. Close the stream with rli_tls_close. The
 * server's first bytes may already have been received: call rli_tls_feed once with length 0. RLOCK_OK; RLOCK_SERVER:
 * they cannot agree, or one does not trust the other; RLOCK_UNAVAILABLE: the connection or patience ended;
 * RLOCK_NO_MEMORY. */
rlock_status rli_tls_open(rli_tls_stream **stream, const rli_tls *settings, const rli_address *address, int fd,
                          const rli_patience *patience);
/* Frees the stream; NULL is allowed. Sends nothing to the server and does not close the socket, which belongs to the
 * caller. */
void rli_tls_close(rli_tls_stream *stream);

/* Like rli_connection_send. A TLS record that could be sent only in part counts as not sent, although it is encrypted:
 * offer its bytes again before any others. */
ssize_t rli_tls_send(rli_tls_stream *stream, const char *bytes, size_t length);

/* Decrypts `length` received bytes, which are at the beginning of `bytes`, and feeds the result to `reader`. All
 * `size` bytes of `bytes` are used as scratch space. False: the connection has ended, and these bytes
 * contained nothing for the reader. */
bool rli_tls_feed(rli_tls_stream *stream, redisReader *reader, char *bytes, size_t length, size_t size);

/* Why the server ended a connection soon after the handshake, if known: RLOCK_SERVER with a message. Else RLOCK_OK. */
rlock_status rli_tls_check(rli_tls_stream *stream, const rli_address *address);

#endif

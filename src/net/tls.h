/* TLS: one connection's, between its bytes and its socket. A thread may send while another receives: what
 * they share is guarded here, and no thread sleeps meanwhile. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_H
#define RLI_TLS_H

#include "net/dial.h"

#include <hiredis/hiredis.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct rli_tls_stream rli_tls_stream;

/* Shakes hands with the server behind `fd`, for as long as patience lasts. What it has said beyond that is
 * still to be fed. RLOCK_OK; RLOCK_SERVER: they cannot agree, or one does not trust the other;
 * RLOCK_UNAVAILABLE: the connection ended, or patience did; RLOCK_NO_MEMORY. */
rlock_status rli_tls_open(rli_tls_stream **stream, const rli_tls *settings, const rli_address *address, int fd,
                          const rli_patience *patience);
/* Says nothing to the server. The socket is its owner's to close. */
void rli_tls_close(rli_tls_stream *stream);

/* As rli_connection_send. Bytes of a record of which a part could not leave count as not sent, although they
 * are encrypted: they must be offered again, before others. */
ssize_t rli_tls_send(rli_tls_stream *stream, const char *bytes, size_t length);

/* Decrypts `length` bytes off the socket, which stand in `bytes`, and feeds them to `reader`; all `size` of
 * `bytes` is used for that. False: the connection has ended, and the reader has got all there was. */
bool rli_tls_feed(rli_tls_stream *stream, redisReader *reader, char *bytes, size_t length, size_t size);

/* Why the server ended a connection soon after the handshake, if it is known: RLOCK_SERVER. Else RLOCK_OK. */
rlock_status rli_tls_check(rli_tls_stream *stream, const rli_address *address);

#endif

/* A TLS context: what all TLS connections of a client share.
 *
 * It is made from the ssl… settings when the client is opened, and again when one of their files has changed, because
 * certificates get renewed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_CONTEXT_H
#define RLI_TLS_CONTEXT_H

#include "config/settings.h"

#include <openssl/ssl.h>

typedef struct rli_tls_context rli_tls_context;

/* Sets settings->context if TLS is on; otherwise does nothing. Close it with rli_tls_context_close. RLOCK_INVALID: a
 * setting or a file cannot be used; RLOCK_NO_MEMORY. */
rlock_status rli_tls_context_open(rli_tls *settings);
void rli_tls_context_close(rli_tls *settings);

/* A new SSL object for one connection; the caller frees it. Reads changed files first, and uses them if they are
 * valid. NULL: out of memory. Any thread. */
SSL *rli_tls_context_connect(const rli_tls *settings);

#endif

/* A TLS context: what all TLS connections of a client share. It is made from the ssl… settings when the
 * client is opened, and again when one of their files has changed: certificates are renewed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_CONTEXT_H
#define RLI_TLS_CONTEXT_H

#include "config/settings.h"

#include <openssl/ssl.h>

typedef struct rli_tls_context rli_tls_context;

/* Makes settings->context when TLS is on, and nothing when not. RLOCK_INVALID: a setting or a file that will
 * not do; RLOCK_NO_MEMORY. */
rlock_status rli_tls_context_open(rli_tls *settings);
void rli_tls_context_close(rli_tls *settings);

/* A connection's own end. When the files have changed, with what they hold now, if that is of use.
 * NULL: out of memory. Any thread. */
SSL *rli_tls_context_connect(const rli_tls *settings);

#endif

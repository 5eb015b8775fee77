/* A TLS store: the certificates and the key in a PEM or PKCS#12 file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_STORE_H
#define RLI_TLS_STORE_H

#include <openssl/x509.h>
#include <rlock/status.h>

typedef struct rli_tls_store {
    STACK_OF(X509) * certificates; /* never empty; the first one belongs to `key`, if there is a key */
    EVP_PKEY *key;                 /* NULL: not wanted */
} rli_tls_store;

/* Reads a file of CA certificates. `password` may be NULL. Free the store with rli_tls_store_free. RLOCK_INVALID: the
 * file cannot be read, has another format or another password, or is empty; the message says what to do.
 * RLOCK_NO_MEMORY. */
rlock_status rli_tls_read_trusted(rli_tls_store *store, const char *path, const char *password);
/* Reads a file with a certificate, its key, and any intermediate certificates. Parameters and statuses as above. */
rlock_status rli_tls_read_own(rli_tls_store *store, const char *path, const char *password);
void rli_tls_store_free(rli_tls_store *store);

/* The path in a setting. Redisson writes it as a URL: file:/path, file:///path, or the plain path. Points into
 * `setting`. */
const char *rli_tls_store_path(const char *setting);

#endif

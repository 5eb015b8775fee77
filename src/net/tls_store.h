/* A TLS store: the certificates and the key in a PEM or PKCS#12 file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_STORE_H
#define RLI_TLS_STORE_H

#include <openssl/x509.h>
#include <rlock/status.h>

typedef struct rli_tls_store {
    STACK_OF(X509) * certificates; /* the key's own first, when there is a key; never empty */
    EVP_PKEY *key;                 /* NULL: not wanted */
} rli_tls_store;

/* Reads a file of certificates: those of CAs. RLOCK_INVALID: not readable, not of such a form, the wrong
 * password, or nothing in it, with what to do; RLOCK_NO_MEMORY. `password`: NULL: none. */
rlock_status rli_tls_read_trusted(rli_tls_store *store, const char *path, const char *password);
/* Reads a file with a certificate, its key, and the certificates between it and the CA, if any. */
rlock_status rli_tls_read_own(rli_tls_store *store, const char *path, const char *password);
void rli_tls_store_free(rli_tls_store *store);

/* The path in a setting, which Redisson writes as a URL: file:/path, file:///path, or the path itself. */
const char *rli_tls_store_path(const char *setting);

#endif

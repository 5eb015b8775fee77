/* TLS trouble: what went wrong between a server and us, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_TROUBLE_H
#define RLI_TLS_TROUBLE_H

#include "config/settings.h"

#include <openssl/ssl.h>

/* What is known of one connection. */
typedef struct rli_tls_trouble {
    const rli_tls *settings;
    const char *host;
    bool certificate_wanted; /* the server asked for one */
    char why[280];           /* "": nothing is wrong yet */
} rli_tls_trouble;

/* Has connections of `shared` checked, if `verify`, and trouble with them noted. */
void rli_tls_trouble_watch(SSL_CTX *shared, bool verify);
/* Where `ssl` notes it; the trouble must live as long. */
void rli_tls_trouble_attach(rli_tls_trouble *trouble, SSL *ssl);

/* Notes why the last call on the connection failed, as OpenSSL's queue of errors has it. */
void rli_tls_trouble_note(rli_tls_trouble *trouble);
/* Notes that what the server says is not TLS. */
void rli_tls_trouble_note_plain(rli_tls_trouble *trouble);

#endif

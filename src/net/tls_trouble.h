/* TLS trouble: describes in words what went wrong between a server and us. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TLS_TROUBLE_H
#define RLI_TLS_TROUBLE_H

#include "config/settings.h"

#include <openssl/ssl.h>

/* The facts that are known about one connection. */
typedef struct rli_tls_trouble {
    const rli_tls *settings;
    const char *host;
    bool certificate_wanted; /* the server asked for one, and none was configured */
    char why[280];           /* the reason; "": nothing is wrong yet */
} rli_tls_trouble;

/* Makes connections of `shared` verify the server's certificate, if `verify`, and note problems with it. */
void rli_tls_trouble_watch(SSL_CTX *shared, bool verify);
/* Sets where `ssl` notes problems. `trouble` must live as long as `ssl`. */
void rli_tls_trouble_attach(rli_tls_trouble *trouble, SSL *ssl);

/* Notes why the last call on the connection failed, from OpenSSL's error queue. Only the first reason is kept. */
void rli_tls_trouble_note(rli_tls_trouble *trouble);
/* Notes that the server does not speak TLS. */
void rli_tls_trouble_note_plain(rli_tls_trouble *trouble);

#endif

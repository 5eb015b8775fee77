/* Certificates for TLS servers of the test and for their clients, made on the spot. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CERTIFICATES_H
#define TEST_CERTIFICATES_H

#include "tests/support/server.h"
#include "tests/support/texts.h"

typedef enum certificate {
    CERTIFICATE_AUTHORITY,     /* the one that has signed all but the last two */
    CERTIFICATE_SERVER,        /* for DNS localhost and IP 127.0.0.1 */
    CERTIFICATE_CLIENT,        /* CN rlock-client */
    CERTIFICATE_EXPIRED,       /* as the server's, but it has ended */
    CERTIFICATE_OTHER_NAME,    /* as the server's, for DNS elsewhere.example alone */
    CERTIFICATE_OTHER_AUTHORITY,
    CERTIFICATE_OTHER_SERVER   /* as the server's, signed by the other authority */
} certificate;

/* Paths of files, made when they are first asked for and kept for the test's process, in a folder that
 * goes with it. Any certificate takes some 30 ms. The key is not encrypted. */
const char *certificate_file(certificate certificate); /* PEM */
const char *certificate_key(certificate certificate);  /* PEM, EC P-256 */
/* The same and its key in PKCS#12, with CERTIFICATES_PASSWORD: Java's key store. */
const char *certificate_key_store(certificate certificate);
/* The certificate alone, in PKCS#12, with CERTIFICATES_PASSWORD: Java's trust store. It is made with
 * keytool where there is one, which takes a second; else by openssl, and then Java does not trust it. */
const char *certificate_trust_store(certificate certificate);
#define CERTIFICATES_PASSWORD "changeit"

/* Arguments for server_start_with, fleet_start, cluster_start and the sentinels: the port speaks TLS
 * alone and shows that certificate; replicas, the cluster's bus and sentinels use TLS, too. `clients`:
 * "no", "optional" or "yes", whether a client must show a certificate that the authority has signed.
 * Then come `args`, or NULL. The array lives as long as `texts`. */
const char *const *certificates_args(texts *texts, certificate shown, const char *clients, const char *const *args);

/* Puts another certificate up on a server that runs: new connections see it. */
void certificate_show(server *server, certificate shown);

#endif

/* A secure stage: the stage's server speaks TLS on its port, and clients that reach it there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SECURE_H
#define SECURE_H

#include "tests/integration/support/stage.h"
#include "tests/support/certificates.h"

/* Starts the stage's server with that certificate; `clients`: "no", "optional" or "yes", whether theirs are
 * asked for; `args`: more for redis-server, NULL-terminated, or NULL. There are no clients yet. */
void secure_stage(certificate shown, const char *clients, const char *const *args);
/* For .init: with CERTIFICATE_SERVER, no certificates of clients, and two clients that trust its authority. */
void secure_open(void);
void secure_quick(void); /* their watchdog timeout is QUICK_MS */
/* For .fini; the clients, then the stage and the handles of kinds.h. */
void secure_close(void);

/* The URL of the stage's server, rediss://localhost:port?sslTruststore=… (the authority) and `query`, printf-like;
 * "": nothing more. The text lives until secure_close. */
__attribute__((format(printf, 1, 2))) const char *secure_url(const char *query, ...);
/* The same with another host, and without a trust store. */
__attribute__((format(printf, 2, 3))) const char *secure_url_at(const char *host, const char *query, ...);

/* A client, closed by secure_close. */
rlock_client *secure_client(const char *url);
/* Fails the test unless the client does not open, for a reason that has all these words (ended by NULL). */
void assert_refused(const char *url, rlock_status expected, const char *const *words);
#define REFUSED_FOR(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Fails the test unless a client opens, and locks and unlocks. */
void assert_serves(const char *url);

/* A file that holds the certificate and its key, in PEM; lives as long as the certificates. */
const char *secure_pem(certificate own);

/* Ends all connections but the fixture's. */
void secure_kill_connections(void);

#endif

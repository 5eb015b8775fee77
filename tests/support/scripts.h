/* The library's scripts, at a test's server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SCRIPTS_H
#define TEST_SCRIPTS_H

#include "redis/script.h"
#include "tests/support/server.h"

/* Has the server know that form of it. Fails the test unless the server calls it by the SHA1 that the
 * library does. */
void server_load(server *self, const rli_script *script, rli_pubsub_mode spread);
/* Its text; free it. */
char *script_text(const rli_script *script, rli_pubsub_mode spread);

#endif

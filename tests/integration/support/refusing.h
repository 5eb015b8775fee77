/* A server that refuses: for its disk's sake, and how often it has. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REFUSING_H
#define REFUSING_H

#include "tests/support/server.h"

/* From now on it refuses writes with MISCONF, as after its disk has become full; until disk_mend(). */
void disk_spoil(server *of);
void disk_mend(server *of);

/* Waits until it has answered with so many errors of that code, since its start or CONFIG RESETSTAT. */
void server_await_errors(server *of, const char *code, int count);

#endif

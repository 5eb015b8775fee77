/* How often a server has refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REFUSING_H
#define REFUSING_H

#include "tests/support/server.h"

/* Waits until the number behind `words` in its INFO is `least` at least. */
void server_await_info(server *of, const char *words, int least);
/* Waits until it has answered with so many errors of that code, since its start or CONFIG RESETSTAT. */
void server_await_errors(server *of, const char *code, int count);

#endif

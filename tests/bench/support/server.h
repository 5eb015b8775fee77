/* The servers that contestants work on: redis-server, which the whole run has, and those of other products, each
 * started when it is first asked for (servers/serve.py). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include "tests/bench/support/bench.h"

#include <stdbool.h>

typedef struct bench_server bench_server;

/* The one that the contestant `who` works on. NULL: it does not start, which has been said. */
bench_server *server_of(bench_run *bench, const char *who);
bool server_is_redis(const bench_server *server);
/* NULL: it has no unix socket. */
const char *server_url(const bench_server *server, bool unix_socket);
/* CPU time that it has used, with all its processes, in µs. */
double server_cpu_us(const bench_server *server);
/* How many locks `who` has given back so far, as the server itself says, or more (contestants/PROTOCOL.md says what is
 * counted). PostgreSQL says it once the contestants have ended, Redis while no other contestant works. -1: it does not
 * say. */
long long server_count(bench_server *server, const char *who, bool unix_socket);
/* Has all its threads run on `core` alone; -1: on all cores. */
void server_pin(const bench_server *server, int core);
void server_end_all(void);

#endif

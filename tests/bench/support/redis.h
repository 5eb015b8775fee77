/* The benchmark's own redis-server: a child on a unix socket and a loopback port, and what it says
 * about itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_REDIS_H
#define BENCH_REDIS_H

#include <hiredis/hiredis.h>
#include <sys/types.h>

typedef struct bench_redis {
    pid_t pid;
    char socket[108];
    int port;
    char unix_url[128], tcp_url[64];
    redisContext *control; /* named "control" in CLIENT LIST */
} bench_redis;

/* Starts it in `folder`, without persistence; it dies with this program. All that fails here
 * ends the program with a message: a benchmark has nothing to do without its server. */
void redis_start(bench_redis *redis, const char *folder);
void redis_stop(bench_redis *redis);
/* A port that nobody listens on; another program might, until the server does, which then says so and ends. */
int redis_free_port(void);

redisContext *redis_connect(const bench_redis *redis, const char *client_name);
/* A command on the control connection; free the reply. */
redisReply *redis_ask(bench_redis *redis, const char *format, ...);
/* How often the command `name` was called so far. */
long long redis_calls(bench_redis *redis, const char *name);
/* How many keys stand. */
long long redis_keys(bench_redis *redis);
/* How many connections have that name. */
int redis_connections(bench_redis *redis, const char *name);
void redis_version(bench_redis *redis, char version[32]);
/* CPU time that the server has used, in µs. */
double redis_cpu_us(const bench_redis *redis);

#endif

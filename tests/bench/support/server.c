/* The servers that contestants work on: redis-server, which the whole run has, and those of other products, each
 * started when it is first asked for (servers/serve.py). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/server.h"

#include "tests/bench/support/contestant.h"
#include "tests/bench/support/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MS     30000
#define PRODUCTS_MAX 8

struct bench_server {
    bench_redis *redis;      /* NULL: another product */
    char who[32];            /* its contestant */
    bench_contestant *serve; /* the program that runs it */
    int pid;
    char url[160], unix_url[160]; /* "-": it has none */
    bool failed;
};

static const char *const products[] = {"postgresql", "memcached", "zookeeper", "hazelcast", "etcd", NULL};
static bench_server servers[PRODUCTS_MAX];
static int count;

static bool is_product(const char *who)
{
    for (const char *const *product = products; *product; product++) {
        if (strcmp(*product, who) == 0)
            return true;
    }
    return false;
}

static bool start(bench_run *bench, bench_server *server, const char *who)
{
    char program[64];
    snprintf(program, sizeof program, "serve-%s", who);
    snprintf(server->who, sizeof server->who, "%s", who);
    server->serve = contestant_start(bench, program, bench->scratch);
    const char *where = server->serve ? contestant_ask(server->serve, COUNT_MS, "where", "where") : NULL;
    return where && sscanf(where, "%d %159s %159s", &server->pid, server->url, server->unix_url) == 3;
}

bench_server *server_of(bench_run *bench, const char *who)
{
    static bench_server redis;
    if (!is_product(who)) {
        redis.redis = &bench->redis;
        redis.pid = bench->redis.pid;
        snprintf(redis.url, sizeof redis.url, "%s", bench->redis.tcp_url);
        snprintf(redis.unix_url, sizeof redis.unix_url, "%s", bench->redis.unix_url);
        return &redis;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(servers[i].who, who) == 0)
            return servers[i].failed ? NULL : &servers[i];
    }
    if (count == PRODUCTS_MAX)
        abort();
    bench_server *server = &servers[count++];
    server->failed = !start(bench, server, who);
    if (server->failed)
        printf("LEFT OUT: %s: its server did not start\n", who);
    return server->failed ? NULL : server;
}

bool server_is_redis(const bench_server *server)
{
    return server->redis;
}

const char *server_url(const bench_server *server, bool unix_socket)
{
    const char *url = unix_socket ? server->unix_url : server->url;
    return strcmp(url, "-") == 0 ? NULL : url;
}

double server_cpu_us(const bench_server *server)
{
    return server->redis ? redis_cpu_us(server->redis) : family_cpu_us(server->pid);
}

/* How often the command ran of which each pair is at least one: where a script deletes the key, that, else scripts. */
static long long count_commands(bench_redis *redis, const char *who)
{
    static const char *const deletes[] = {"hiredis", "redis-py", "redlock", NULL};
    for (const char *const *each = deletes; *each; each++) {
        if (strcmp(*each, who) == 0)
            return redis_calls(redis, "del");
    }
    return redis_calls(redis, "evalsha") + redis_calls(redis, "eval");
}

long long server_count(bench_server *server, const char *who, bool unix_socket)
{
    if (server->redis)
        return count_commands(server->redis, who);
    const char *heard = contestant_ask(server->serve, COUNT_MS, "count", "count %s", unix_socket ? "unix" : "tcp");
    return heard ? atoll(heard) : -1;
}

void server_pin(const bench_server *server, int core)
{
    family_pin(server->pid, core);
}

void server_end_all(void)
{
    for (int i = 0; i < count; i++) {
        if (servers[i].serve)
            contestant_quit(servers[i].serve);
    }
    count = 0;
}

/* memcached as a contestant: add takes the lock, delete gives it back, libmemcached, one connection a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/poll_pause.h"
#include "tests/bench/contestants/support/trouble.h"

#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_S 30 /* as long as Redisson's; nothing renews it */

typedef struct cache_seat {
    memcached_st *connection;
    char name[256];
    size_t length; /* of the name */
    unsigned random;
} cache_seat;

static char host[256];
static in_port_t port;

static bool open_server(const char *url)
{
    unsigned number;
    if (sscanf(url, "memcached://%255[^:/]:%u", host, &number) != 2)
        return trouble("not a memcached server: %s", url);
    port = (in_port_t)number;
    return true;
}

static void close_server(void)
{
}

static bool take(void *own)
{
    cache_seat *seat = own;
    for (;;) {
        memcached_return_t answer = memcached_add(seat->connection, seat->name, seat->length, "1", 1, LEASE_S, 0);
        if (answer == MEMCACHED_SUCCESS)
            return true;
        if (answer != MEMCACHED_NOTSTORED && answer != MEMCACHED_DATA_EXISTS)
            return trouble("add: %s", memcached_strerror(seat->connection, answer));
        poll_pause(&seat->random);
    }
}

/* Deletes the lock even if another contender holds it by then: memcached cannot compare and delete. */
static bool give(void *own)
{
    cache_seat *seat = own;
    memcached_return_t answer = memcached_delete(seat->connection, seat->name, seat->length, 0);
    return answer == MEMCACHED_SUCCESS || trouble("delete: %s", memcached_strerror(seat->connection, answer));
}

static void leave(void *own)
{
    cache_seat *seat = own;
    memcached_free(seat->connection);
    free(seat);
}

static void *join(const char *kind, const char *name)
{
    if (strcmp(kind, "lock") != 0) {
        trouble("memcached has no kind %s", kind);
        return NULL;
    }
    cache_seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        abort();
    snprintf(seat->name, sizeof seat->name, "%s", name);
    seat->length = strlen(seat->name);
    seat->random = poll_pause_seed();
    seat->connection = memcached_create(NULL);
    memcached_return_t answer = seat->connection ? memcached_server_add(seat->connection, host, port)
                                                 : MEMCACHED_FAILURE;
    if (answer == MEMCACHED_SUCCESS)
        answer = memcached_behavior_set(seat->connection, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
    if (answer == MEMCACHED_SUCCESS)
        return seat;
    trouble("memcached: no connection");
    leave(seat);
    return NULL;
}

int main(void)
{
    static const bench_player cache_player = {open_server, join, take, give, leave, close_server};
    return player_run(&cache_player);
}

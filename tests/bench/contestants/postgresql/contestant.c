/* PostgreSQL's advisory locks as a contestant: libpq, one connection a thread, prepared statements. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/trouble.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pg_seat {
    PGconn *connection;
    uint64_t key; /* in network order */
} pg_seat;

static char server[512]; /* its URL */

static bool failed(const pg_seat *seat, const char *what)
{
    return trouble("%s: %s", what, PQerrorMessage(seat->connection));
}

static bool open_server(const char *url)
{
    snprintf(server, sizeof server, "%s", url);
    PGconn *connection = PQconnectdb(server);
    bool right = PQstatus(connection) == CONNECTION_OK || trouble("%s", PQerrorMessage(connection));
    PQfinish(connection);
    return right;
}

static void close_server(void)
{
}

/* Advisory locks are named by a number of 64 bits. */
static uint64_t key_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return htobe64(hash);
}

static PGresult *execute(const pg_seat *seat, const char *statement)
{
    const char *const values[] = {(const char *)&seat->key};
    const int lengths[] = {sizeof seat->key}, formats[] = {1};
    return PQexecPrepared(seat->connection, statement, 1, values, lengths, formats, 1);
}

static bool take(void *own)
{
    PGresult *result = execute(own, "take");
    bool right = PQresultStatus(result) == PGRES_TUPLES_OK || failed(own, "pg_advisory_lock");
    PQclear(result);
    return right;
}

static bool give(void *own)
{
    PGresult *result = execute(own, "give");
    bool right = PQresultStatus(result) == PGRES_TUPLES_OK || failed(own, "pg_advisory_unlock");
    if (right && *PQgetvalue(result, 0, 0) != 1)
        right = trouble("pg_advisory_unlock: the lock was not held");
    PQclear(result);
    return right;
}

static void leave(void *own)
{
    pg_seat *seat = own;
    PQfinish(seat->connection);
    free(seat);
}

static bool prepare(const pg_seat *seat, const char *name, const char *statement)
{
    PGresult *result = PQprepare(seat->connection, name, statement, 1, NULL);
    bool right = PQresultStatus(result) == PGRES_COMMAND_OK || failed(seat, "prepare");
    PQclear(result);
    return right;
}

/* `kind`: lock or fair: the server's queue is in the order of the requests for both. */
static void *join(const char *kind, const char *name)
{
    if (strcmp(kind, "lock") != 0 && strcmp(kind, "fair") != 0) {
        trouble("PostgreSQL has no kind %s", kind);
        return NULL;
    }
    pg_seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        abort();
    seat->key = key_of(name);
    seat->connection = PQconnectdb(server);
    if (PQstatus(seat->connection) != CONNECTION_OK)
        failed(seat, "connect");
    else if (prepare(seat, "take", "select pg_advisory_lock($1::bigint)") &&
             prepare(seat, "give", "select pg_advisory_unlock($1::bigint)"))
        return seat;
    leave(seat);
    return NULL;
}

int main(void)
{
    static const bench_player pg_player = {open_server, join, take, give, leave, close_server};
    return player_run(&pg_player);
}

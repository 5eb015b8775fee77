/* What rlock doctor says of a server, by the server's own words: those of versions, loads and failures that no test can have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/cli/checks.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD                                                                                                            \
    "redis_version:7.2.4\r\nused_memory_human:1M\r\nused_memory:1000\r\nmaxmemory_human:0B\r\nmaxmemory:0\r\n"          \
    "maxmemory_policy:noeviction\r\nconnected_clients:5\r\nmaxclients:1000\r\naof_enabled:1\r\n"                        \
    "aof_last_write_status:ok\r\nrdb_last_bgsave_status:ok\r\nconnected_slaves:0\r\n"
#define SETTINGS                                                                                                        \
    "maxmemory-policy:noeviction\nsave:\nappendonly:yes\nappendfsync:everysec\nmin-replicas-to-write:0\n"               \
    "stop-writes-on-bgsave-error:yes\nclient-output-buffer-limit:normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 " \
    "8388608 60\n"
#define REPLICA "ip=10.0.0.2,port=6379,state=online,offset=1,lag="

/* To be freed. The first lines of a text go before those behind them. */
static char *said_of(const rlock_server *server, cli_findings *findings)
{
    char *said = NULL;
    size_t length;
    FILE *before = stdout;
    stdout = open_memstream(&said, &length);
    cr_assert(stdout != NULL);
    *findings = (cli_findings){0};
    check_server(findings, server);
    fclose(stdout);
    stdout = before;
    return said;
}

static const struct {
    const char *info, *settings; /* what differs */
    int64_t ahead_ms;
    const char *line;
} cases[] = {
    {"", "", 0, "ok:      h:1: version: Redis 7.2.4\n"},
    {"redis_version:6.2.0\n", "", 0, "ok:      h:1: version: Redis 6.2.0\n"},
    {"redis_version:6.1.9\n", "", 0, "problem: h:1: version: Redis 6.1.9 is too old"},
    {"redis_version:5.0.14\n", "", 0, "problem: h:1: version: Redis 5.0.14 is too old"},
    {"redis_version:10.0.1\n", "", 0, "ok:      h:1: version: Redis 10.0.1\n"},
    {"valkey_version:8.1.0\nredis_version:7.2.4\n", "", 0, "ok:      h:1: version: Valkey 8.1.0\n"},
    {"valkey_version:5.0.0\n", "", 0, "ok:      h:1: version: Valkey 5.0.0\n"},

    {"", "", 0, "ok:      h:1: eviction: no memory limit"},
    {"maxmemory:100000\n", "", 0, "ok:      h:1: eviction: noeviction: no lock is evicted"},
    {"maxmemory:100000\nused_memory:90000\n", "", 0, "ok:      h:1: eviction: noeviction"},
    {"maxmemory:100000\nused_memory:90001\n", "", 0, "warning: h:1: eviction: 90 % of maxmemory is used"},
    {"maxmemory:100000\nmaxmemory_policy:volatile-ttl\n", "", 0, "problem: h:1: eviction: maxmemory-policy is volatile-ttl"},
    {"maxmemory:100000\nmaxmemory_policy:allkeys-lru\n", "", 0, "problem: h:1: eviction: maxmemory-policy is allkeys-lru"},

    {"", "", 0, "ok:      h:1: persistence: append-only file, synced each second"},
    {"", "appendfsync:always\n", 0, "ok:      h:1: persistence: append-only file, written at once"},
    {"", "appendfsync:no\n", 0, "warning: h:1: persistence: appendfsync is no"},
    {"aof_last_write_status:err\n", "", 0, "problem: h:1: persistence: the append-only file cannot be written"},
    {"aof_enabled:0\n", "save:3600 1\n", 0, "warning: h:1: persistence: snapshots only"},
    {"aof_enabled:0\n", "", 0, "warning: h:1: persistence: none: "},
    {"rdb_last_bgsave_status:err\n", "save:3600 1\n", 0, "problem: h:1: persistence: the last snapshot failed"},

    {"", "", 0, "note:    h:1: replicas: none"},
    {"connected_slaves:1\nslave0:" REPLICA "10\n", "", 0, "ok:      h:1: replicas: 1; a lock is acquired once"},
    {"connected_slaves:1\nslave0:" REPLICA "11\n", "", 0, "warning: h:1: replicas: 1 of 1 lag behind"},
    {"connected_slaves:2\nslave0:" REPLICA "0\nslave1:ip=h,port=1,state=wait_bgsave,offset=0,lag=0\n", "", 0,
     "warning: h:1: replicas: 1 of 2 lag behind"},
    {"connected_slaves:2\nslave0:" REPLICA "0\nslave1:" REPLICA "99\n", "min-replicas-to-write:2\n", 0,
     "problem: h:1: replicas: 1 of them follow closely, and min-replicas-to-write is 2"},
    {"connected_slaves:1\nslave0:" REPLICA "0\n", "min-replicas-to-write:1\n", 0, "ok:      h:1: replicas: 1; "},

    {"", "", 0, "ok:      h:1: connections: 5 of at most 1000\n"},
    {"connected_clients:901\n", "", 0, "warning: h:1: connections: 901 of at most 1000: "},
    {"connected_clients:900\n", "", 0, "ok:      h:1: connections: 900 of at most 1000\n"},

    {"", "", 1100, "ok:      h:1: clock: agrees"},
    {"", "", 1101, "warning: h:1: clock: 1.1 s ahead of this machine's"},
    {"", "", -5000, "warning: h:1: clock: 5.0 s behind this machine's"},
    {"", "", RLOCK_NO_CLOCK, "note:    h:1: clock: unknown"},

    {"", "", 0, "ok:      h:1: output buffers: room for messages to waiters\n"},
    {"", "client-output-buffer-limit:normal 0 0 0 pubsub 0 0 0\n", 0, "note:    h:1: output buffers: messages are not limited"},
    {"", "client-output-buffer-limit:normal 0 0 0 pubsub 0 262143 60\n", 0, "warning: h:1: output buffers: messages are limited "
                                                                           "to 262143 bytes"},
    {"", "client-output-buffer-limit:normal 0 0 0 pubsub 1048575 0 60\n", 0, "warning: h:1: output buffers: messages are limited "
                                                                            "to 1048575 bytes"},
    {"", "client-output-buffer-limit:normal 0 0 0 pubsub 1048576 262144 60\n", 0, "ok:      h:1: output buffers: room"},
    {"", "client-output-buffer-limit:normal 65536 0 0 pubsub 1048576 262144 60\n", 0,
     "warning: h:1: output buffers: answers are limited to 65536 bytes"},
    {"", "client-output-buffer-limit:\n", 0, "note:    h:1: output buffers: unknown"},
};

/* And each line counts as what it begins with. */
Test(checks, each_state_of_a_server_has_its_line)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char info[2000], settings[2000];
        cli_findings findings;
        snprintf(info, sizeof info, "%s%s", cases[i].info, GOOD);
        snprintf(settings, sizeof settings, "%s%s", cases[i].settings, SETTINGS);
        rlock_server server = {.size = sizeof server, .address = "h:1", .info = info, .settings = settings,
                               .clock_ahead_ms = cases[i].ahead_ms, .clock_error_ms = 100};
        char *said = said_of(&server, &findings);
        const char *line = strstr(said, cases[i].line);
        cr_assert(line && (line == said || line[-1] == '\n'), "no line \"%s\" in\n%s", cases[i].line, said);
        cr_assert(findings.warnings == (strncmp(line, "warning", 7) == 0), "%s", said);
        cr_assert(findings.problems == (strncmp(line, "problem", 7) == 0), "%s", said);
        free(said);
    }
}

/* A failed snapshot is none of a problem where there are to be none, or where the server goes on. */
Test(checks, failed_snapshot_that_stops_nothing_is_no_problem)
{
    static const char *const settings[] = {SETTINGS, "save:3600 1\nstop-writes-on-bgsave-error:no\n" SETTINGS};
    for (int i = 0; i < 2; i++) {
        cli_findings findings;
        rlock_server server = {.size = sizeof server, .address = "h:1", .info = "rdb_last_bgsave_status:err\n" GOOD,
                               .settings = settings[i]};
        char *said = said_of(&server, &findings);
        cr_assert(findings.problems == 0, "%s", said);
        free(said);
    }
}

/* What it does not tell is a note, and no reason to fall. */
Test(checks, server_that_tells_nothing_has_notes_alone)
{
    cli_findings findings;
    rlock_server server = {.size = sizeof server, .address = "h:1", .clock_ahead_ms = RLOCK_NO_CLOCK};
    char *said = said_of(&server, &findings);
    cr_assert(findings.warnings == 0 && findings.problems == 0, "%s", said);
    cr_assert(strstr(said, "note:    h:1: settings: unknown: ") && strstr(said, "note:    h:1: output buffers: unknown"), "%s",
              said);
    free(said);
}

/* A server's own words do not change the terminal. */
Test(checks, what_the_server_says_is_printable)
{
    cli_findings findings;
    rlock_server server = {.size = sizeof server, .address = "h\033[1", .info = "redis_version:7.\033[2J\r\n", .settings = ""};
    char *said = said_of(&server, &findings);
    cr_assert(strstr(said, "h\\x1b[1: version: Redis 7.\\x1b[2J\n") && !strchr(said, '\033'), "%s", said);
    free(said);
}

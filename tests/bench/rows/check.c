/* Tests the check for violations: each contestant takes turns without a lock, in two processes of four threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#include <stdio.h>

#define PROCESSES 2
#define SLICES    50 /* at most; a slice finds some nearly always */
#define MS        100
#define ANSWER_MS 60000

static const char *const all[] = {"rlock", "raw", "hiredis", "postgresql", "memcached", "redlock", NULL};
static const char *const rest[] = {"redisson", "redis-py", "hazelcast", "zookeeper", "etcd", NULL};

static unsigned long long violations_of(bench_contestant *contestant)
{
    unsigned long long violations = 0;
    const char *heard = contestant_hear(contestant, "done", ANSWER_MS);
    if (!heard || sscanf(heard, "%*u %*f %*f %*f %*f %llu", &violations) != 1)
        return 0;
    return violations;
}

static bool go(bench_contestant *const pair[PROCESSES], unsigned long long *found)
{
    bool right = true;
    for (int i = 0; right && i < PROCESSES; i++)
        right = contestant_tell(pair[i], "go %d", MS);
    for (int i = 0; right && i < PROCESSES; i++)
        *found += violations_of(pair[i]);
    return right;
}

static bool check(bench_run *bench, const char *who)
{
    bench_contestant *pair[PROCESSES] = {NULL};
    unsigned long long found = 0;
    if (!contestant_is_there(bench, who))
        return true;
    const bench_server *server = server_of(bench, who);
    bool right = server;
    if (!right)
        return true;
    for (int i = 0; right && i < PROCESSES; i++)
        right = (pair[i] = contestant_start(bench, who, server_url(server, false))) &&
                contestant_ask(pair[i], ANSWER_MS, "ok", "crew none 4 one:bench:check:%s", who);
    for (int slice = 0; right && !found && slice < SLICES; slice++)
        right = go(pair, &found);
    for (int i = 0; i < PROCESSES; i++) {
        if (pair[i])
            contestant_end(pair[i]);
    }
    if (right && !found)
        fprintf(stderr, "bench: %s: turns without a lock, and no violation was found\n", who);
    else if (right)
        printf("%s: turns without a lock: %llu violations found, as expected\n", who, found);
    return right && found;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (const char *const *who = all; right && *who; who++)
        right = check(bench, *who);
    for (const char *const *who = rest; right && bench->all_peers && *who; who++)
        right = check(bench, *who);
    return right;
}

extern const bench_row row_check;
const bench_row row_check = {"check", "Whether violations are found: contestants that take no lock have to be caught",
                             measure};

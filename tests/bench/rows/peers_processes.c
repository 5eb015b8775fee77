/* Beside other products: processes of one thread each, all on one name; of what runs in a JVM four of two threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/peers.h"

#define JVM(name)                                                                                                      \
    {                                                                                                                  \
        .who = name, .rest = true, .processes = 4, .threads = 2                                                        \
    }
#define P99_TIMES 1.2
#define CPU_US    114

/* A JVM for each contender would be no measurement of locks. What polls every 100 ms shows nothing new with more. */
static const bench_peers few = {.what = "one name, processes",
                                .names = "one",
                                .threads = 1,
                                .processes = 8,
                                .p99_times = P99_TIMES,
                                .cpu_us = CPU_US,
                                .peers = {{.who = "rlock"},
                                          {.who = "hiredis"},
                                          {.who = "postgresql", .times = 1},
                                          {.who = "memcached"},
                                          {.who = "redlock"},
                                          {.who = "redis-py", .rest = true},
                                          JVM("redisson"),
                                          JVM("hazelcast"),
                                          JVM("zookeeper"),
                                          JVM("etcd")}};
static const bench_peers over_unix = {
    .what = "one name, processes, unix sockets",
    .names = "one",
    .threads = 1,
    .processes = 8,
    .unix_socket = true,
    .peers = {{.who = "rlock"}, {.who = "hiredis"}, {.who = "postgresql", .times = 1}}};
static const int many[] = {16, 32, 128};

static bool measure(bench_run *bench)
{
    bool right = peers_run(bench, &few);
    for (size_t i = 0; right && i < sizeof many / sizeof *many; i++) {
        bench_peers row = {
            .what = "one name, processes",
            .names = "one",
            .threads = 1,
            .processes = many[i],
            .p99_times = P99_TIMES,
            .cpu_us = CPU_US,
            .peers = {{.who = "rlock"}, {.who = "hiredis"}, {.who = "postgresql", .times = 1}, {.who = "memcached"}}};
        right = peers_run(bench, &row);
    }
    return right && peers_run(bench, &over_unix);
}

extern const bench_row row_peers_processes;
const bench_row row_peers_processes = {
    "peers-processes", "Beside other products, contended: processes of one thread each want one name", measure};

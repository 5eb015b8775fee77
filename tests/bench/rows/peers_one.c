/* Beside other products: all threads of one process on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/peers.h"

static const bench_peers over_tcp = {.what = "one name, threads of one process",
                                     .names = "one",
                                     .threads = 8,
                                     .peers = {{.who = "rlock"},
                                               {.who = "hiredis"},
                                               {.who = "postgresql"},
                                               {.who = "memcached"},
                                               {.who = "redlock"},
                                               {.who = "redisson", .rest = true},
                                               {.who = "redis-py", .rest = true},
                                               {.who = "hazelcast", .rest = true},
                                               {.who = "zookeeper", .rest = true},
                                               {.who = "etcd", .rest = true}}};
static const bench_peers over_unix = {.what = "one name, threads of one process, unix sockets",
                                      .names = "one",
                                      .threads = 8,
                                      .unix_socket = true,
                                      .peers = {{.who = "rlock"}, {.who = "hiredis"}, {.who = "postgresql"}}};

static bool measure(bench_run *bench)
{
    return peers_run(bench, &over_tcp) && peers_run(bench, &over_unix);
}

extern const bench_row row_peers_one;
const bench_row row_peers_one = {"peers-one",
                                 "Beside other products, contended: all threads of one process want one name", measure};

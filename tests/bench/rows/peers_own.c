/* Beside other products: uncontended pairs, each thread on a name of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/peers.h"

#define REST                                                                                                           \
    {.who = "redisson", .rest = true}, {.who = "redis-py", .rest = true}, {.who = "hazelcast", .rest = true},          \
        {.who = "zookeeper", .rest = true},                                                                            \
    {                                                                                                                  \
        .who = "etcd", .rest = true                                                                                    \
    }

static const bench_peers cases[] = {
    {.what = "own names",
     .names = "own",
     .threads = 1,
     .peers =
         {{.who = "rlock"}, {.who = "hiredis"}, {.who = "postgresql"}, {.who = "memcached"}, {.who = "redlock"}, REST}},
    {.what = "own names, client and server pinned to one core",
     .names = "own",
     .threads = 1,
     .core = 1,
     .peers = {{.who = "rlock"}, {.who = "hiredis", .times = 0.95}, {.who = "postgresql"}, {.who = "memcached"}}},
    {.what = "own names, token lock, client and server pinned to one core",
     .names = "own",
     .threads = 1,
     .core = 1,
     .peers = {{.who = "rlock", .kind = "token"}, {.who = "hiredis", .times = 1}}},
    {.what = "own names",
     .names = "own",
     .threads = 8,
     .peers = {{.who = "rlock"},
               {.who = "hiredis", .times = 1.1},
               {.who = "postgresql"},
               {.who = "memcached", .times = 1},
               {.who = "redlock", .times = 1},
               REST}},
    {.what = "own names",
     .names = "own",
     .threads = 64,
     .peers = {{.who = "rlock"},
               {.who = "hiredis", .times = 1.6},
               {.who = "postgresql", .times = 1.6},
               {.who = "memcached", .times = 1.6},
               {.who = "redlock", .times = 1.6},
               REST}},
    {.what = "own names, 64 under way in one thread",
     .names = "own",
     .threads = 1,
     .peers = {{.who = "rlock_async", .kind = "lock+64"}, {.who = "redlock", .threads = 64, .times = 2}}},
    {.what = "own names, unix sockets",
     .names = "own",
     .threads = 1,
     .unix_socket = true,
     .peers = {{.who = "rlock"}, {.who = "hiredis"}, {.who = "postgresql"}}},
    {.what = "own names, unix sockets, client and server pinned to one core",
     .names = "own",
     .threads = 1,
     .core = 1,
     .unix_socket = true,
     .peers = {{.who = "rlock"}, {.who = "hiredis", .times = 0.95}, {.who = "postgresql"}}},
    {.what = "own names, unix sockets",
     .names = "own",
     .threads = 8,
     .unix_socket = true,
     .peers = {{.who = "rlock"}, {.who = "hiredis"}, {.who = "postgresql", .times = 1}}},
};

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = peers_run(bench, &cases[i]);
    return right;
}

extern const bench_row row_peers_own;
const bench_row row_peers_own = {"peers-own", "Beside other products, uncontended: each thread locks a name of its own",
                                 measure};

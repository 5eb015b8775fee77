/* Beside PostgreSQL, which grants its locks in the order of the requests: the fair lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/peers.h"

static const bench_peers cases[] = {
    {.what = "fair, one name, threads of one process",
     .names = "one",
     .kind = "fair",
     .threads = 8,
     .peers = {{.who = "rlock"}, {.who = "postgresql", .times = 1}, {.who = "redisson", .rest = true}}},
    {.what = "fair, one name, processes",
     .names = "one",
     .kind = "fair",
     .threads = 1,
     .processes = 8,
     .peers = {{.who = "rlock"},
               {.who = "postgresql", .times = 0.9},
               {.who = "redisson", .rest = true, .processes = 4, .threads = 2}}},
};

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = peers_run(bench, &cases[i]);
    return right;
}

extern const bench_row row_peers_fair;
const bench_row row_peers_fair = {
    "peers-fair", "Beside PostgreSQL, contended: locks that are granted in the order of the requests", measure};

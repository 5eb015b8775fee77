/* All rows, in the order of the report. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

extern const bench_row row_own_names, row_async, row_kinds, row_one_name, row_local, row_processes, row_beside_java, row_fair, row_group, row_idle;
extern const bench_row row_multi, row_spin;
extern const bench_row row_waiters, row_holds, row_cluster, row_wire, row_start, row_size;
extern const bench_row row_check, row_peers_own, row_peers_one, row_peers_processes, row_peers_fair;
extern const bench_row row_other_clients, row_sweep_threads, row_sweep_processes, row_sweep_waiters, row_sweep_holds;

const bench_row *const rows[] = {
    &row_check,
    &row_peers_own,
    &row_peers_one,
    &row_peers_processes,
    &row_peers_fair,
    &row_own_names,
    &row_async,
    &row_kinds,
    &row_one_name,
    &row_local,
    &row_processes,
    &row_beside_java,
    &row_fair,
    &row_spin,
    &row_multi,
    &row_group,
    &row_idle,
    &row_other_clients,
    &row_sweep_threads,
    &row_sweep_processes,
    &row_sweep_waiters,
    &row_sweep_holds,
    &row_waiters,
    &row_cluster,
    &row_wire,
    &row_start,
    &row_size,
    &row_holds, /* last, as it leaves Redisson's JVM with locks to look after */
    NULL,
};

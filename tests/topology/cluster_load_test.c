/* Slots that move, and masters that change, while eight threads of two clients take turns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/load.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

TestSuite(cluster_load, .fini = shards_close);

#define TURNS_MS 30000
#define NO_OTHER ((const rlock_status[]){RLOCK_OK})

/* What the load locks. */
static const char *const names[] = {"load-0", "load-1", "load-2"};

static load *start(void)
{
    load *threads = load_start_of(shards.client, shards.other, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, TURNS_MS);
    return threads;
}

static void assert_undisturbed(load *threads, const char *what)
{
    load_await_turns(threads, 5, TURNS_MS);
    load_stop(threads);
    cr_log_info("%s: %d locks, the longest took %lld ms, the longest unlock %lld ms", what,
                load_answers(threads, LOAD_LOCK, RLOCK_OK), (long long)load_longest_ms(threads, LOAD_LOCK),
                (long long)load_longest_ms(threads, LOAD_UNLOCK));
    load_assert_answers(threads, NO_OTHER, NO_OTHER);
    cr_assert(load_counters_exact(threads), "turns were lost");
    shards_assert_nothing_left();
}

/* The slots of the very locks, each all around the cluster, and others back and forth. */
Test(cluster_load, is_undisturbed_by_slots_that_move)
{
    shards_open_with(0, NULL, PATIENT "&lockWatchdogTimeout=3000");
    load *threads = start();
    int64_t since_ms = now_ms();
    int moves = 0;
    for (int round = 0; round < 12; round++) {
        for (int node = 0; node < MASTERS; node++) {
            int slot = round % 2 ? cluster_slot(cluster_key(shards.cluster, node, "other:")) : cluster_slot(names[node]);
            int home = cluster_serving_slot(shards.cluster, slot);
            cluster_move(shards.cluster, slot, (home + 1) % MASTERS);
            cluster_move(shards.cluster, slot, (home + 2) % MASTERS);
            cluster_move(shards.cluster, slot, home);
            moves += 3;
        }
    }
    cr_log_info("%d moves in %lld ms", moves, (long long)(now_ms() - since_ms));
    assert_undisturbed(threads, "slots that move");
}

/* A move that takes its time: keys of the slot are in both places meanwhile. */
Test(cluster_load, is_undisturbed_by_slots_long_on_their_way)
{
    shards_open_with(0, NULL, PATIENT "&lockWatchdogTimeout=3000");
    load *threads = start();
    for (int i = 0; i < MASTERS; i++) {
        int slot = cluster_slot(names[i]);
        cluster_move_begin(shards.cluster, slot, (cluster_serving_slot(shards.cluster, slot) + 1) % MASTERS);
        pass_ms(500);
        cluster_move_keys(shards.cluster, slot);
        pass_ms(500);
        cluster_move_keys(shards.cluster, slot);
        cluster_move_end(shards.cluster, slot);
    }
    assert_undisturbed(threads, "slots long on their way");
}

Test(cluster_load, is_undisturbed_by_masters_that_change_places)
{
    shards_open_with(1, NULL, PATIENT "&lockWatchdogTimeout=10000");
    load *threads = start();
    for (int i = 0; i < MASTERS; i++) {
        int replica = cluster_replica_of(shards.cluster, i);
        cr_assert(replica >= 0);
        cluster_promote(shards.cluster, replica);
        load_await_turns(threads, 3, TURNS_MS);
    }
    assert_undisturbed(threads, "masters that change places");
}

/* What the killed master had not passed on is lost with it; nobody hangs, and all go on. */
Test(cluster_load, goes_on_after_a_killed_master, .lasts = 12)
{
    shards_open_with(1, NULL, PATIENT "&lockWatchdogTimeout=5000");
    load *threads = start();
    int slot = cluster_slot(names[0]), master = cluster_serving_slot(shards.cluster, slot);
    load_data_lost_soon(threads);
    server_kill(cluster_node(shards.cluster, master));
    int64_t since_ms = now_ms();
    cr_assert(cluster_await_takeover(shards.cluster, slot, master, 30000) >= 0);
    int64_t ready_ms = now_ms();
    load_data_lost(threads);
    load_await_turns(threads, 1, TURNS_MS);
    cr_log_info("taken over %lld ms after the kill; every thread had a turn %lld ms later",
                (long long)(ready_ms - since_ms), (long long)(now_ms() - ready_ms));
    load_await_turns(threads, 20, TURNS_MS);
    load_stop(threads);
    load_assert_answers(threads, ((const rlock_status[]){RLOCK_UNAVAILABLE, RLOCK_NOT_SYNCED, RLOCK_LOST, RLOCK_OK}),
                        ((const rlock_status[]){RLOCK_UNAVAILABLE, RLOCK_LOST, RLOCK_OK}));
    cr_assert(shards_wait_no_channels(10000));
}

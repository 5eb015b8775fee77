/* C and Java in one cluster: one lock, one message, and one new master for both. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/crossing.h"
#include "tests/interop/support/everywhere.h"
#include "tests/interop/support/mixed.h"
#include "tests/interop/support/several.h"
#include "tests/support/event.h"

#include <stdio.h>

#define TURNS 5 /* of each thread, to show that it goes on */

TestSuite(java_cluster, .init = several_cluster, .fini = several_close);

Test(java_cluster, has_locks_that_belong_to_c_or_to_java_and_wake_the_other_by_message)
{
    everywhere_locks();
}

Test(java_cluster, has_semaphores_permits_and_latches_that_wake_the_other_side)
{
    everywhere_objects();
}

Test(java_cluster, has_the_keys_and_sharded_messages_of_redisson)
{
    everywhere_keys();
}

/* --- masters that change, slots that move --- */

/* What the load locks. */
static const char *const names[] = {"load-0", "load-1", "load-2"};

static mixed *begin_load(const char *beside)
{
    crossing_begin(beside);
    mixed *load = mixed_start(stage.client, stage.other);
    mixed_await_turns(load, TURNS, SEVERAL_PATIENCE_MS);
    return load;
}

/* Each acquisition is confirmed by the only replica, which becomes the master: nothing is lost. */
Test(java_cluster, has_nobody_hold_double_and_everybody_go_on_when_a_master_is_killed, .lasts = 24)
{
    int slot = cluster_slot(names[0]), master = cluster_serving_slot(several.cluster, slot);
    mixed *load = begin_load(names[0]);
    int64_t since_ms = now_ms();
    server_kill(cluster_node(several.cluster, master));
    cr_assert(cluster_await_takeover(several.cluster, slot, master, AGENT_MS) >= 0);
    int64_t ready_ms = now_ms();
    mixed_await_that_all_go_on(load, TURNS, SEVERAL_PATIENCE_MS);
    fprintf(stderr, "a new master after %lld ms; everybody went on %lld ms later\n", (long long)(ready_ms - since_ms),
            (long long)(now_ms() - ready_ms));
    several_look(names[0]);
    crossing_end();
    mixed_stop(load);
}

Test(java_cluster, has_nobody_hold_double_and_everybody_go_on_when_masters_change_places,
     .init = several_cluster_brief, .lasts = 14)
{
    mixed *load = begin_load(names[0]);
    for (int i = 0; i < 2; i++) {
        int master = cluster_serving(several.cluster, names[0]);
        cluster_promote(several.cluster, cluster_replica_of(several.cluster, master));
        int64_t ready_ms = now_ms();
        mixed_await_turns_of_c(load, TURNS, SEVERAL_PATIENCE_MS);
        fprintf(stderr, "C had %d turns %lld ms after all agreed\n", TURNS, (long long)(now_ms() - ready_ms));
    }
    mixed_await_that_all_go_on(load, 0, SEVERAL_PATIENCE_MS);
    several_look(names[0]);
    crossing_end();
    mixed_stop(load);
}

/* Slots of the very locks. A Redisson that listened to one of them hears nothing more of it. */
Test(java_cluster, has_nobody_hold_double_and_everybody_go_on_while_slots_move,
     .init = several_cluster_brief, .lasts = 51)
{
    mixed *load = begin_load(names[1]);
    for (int i = 0; i < MIXED_NAMES; i++) {
        int slot = cluster_slot(names[i]), home = cluster_serving_slot(several.cluster, slot);
        cluster_move_begin(several.cluster, slot, (home + 1) % 3);
        pass_ms(200); /* some keys are here, some there */
        cluster_move_keys(several.cluster, slot);
        cluster_move_end(several.cluster, slot);
        mixed_await_turns_of_c(load, TURNS, SEVERAL_PATIENCE_MS);
    }
    mixed_await_that_all_go_on(load, 0, SEVERAL_PATIENCE_MS);
    several_look(names[1]);
    crossing_end();
    mixed_stop(load);
}

/* C and Java on one master that sentinels watch, and on the one that follows it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/crossing.h"
#include "tests/interop/support/everywhere.h"
#include "tests/interop/support/mixed.h"
#include "tests/interop/support/several.h"
#include "tests/support/event.h"

#include <stdio.h>

#define TURNS 5 /* of each thread, to show that it goes on */
#define NAME "load-0"

TestSuite(java_sentinel, .init = several_sentinels, .fini = several_close);

Test(java_sentinel, has_locks_that_belong_to_c_or_to_java_and_wake_the_other_by_message)
{
    everywhere_locks();
}

Test(java_sentinel, has_semaphores_permits_and_latches_that_wake_the_other_side)
{
    everywhere_objects();
}

Test(java_sentinel, has_the_keys_and_messages_of_redisson)
{
    everywhere_keys();
}

/* --- masters that change --- */

static void kill_master(void)
{
    server_kill(sentinel_server(several.sentinel, 0));
    cr_assert(sentinel_await_switch(several.sentinel, 0, AGENT_MS) > 0);
}

static void fail_over(void)
{
    cr_assert(sentinel_fail_over(several.sentinel) > 0);
}

/* Until all servers agree there may be two masters, and a replica of each that confirms. */
static void go_on_after(void (*replace)(void))
{
    crossing_begin(NAME);
    mixed *load = mixed_start(stage.client, stage.other);
    mixed_await_turns(load, TURNS, SEVERAL_PATIENCE_MS);
    int64_t since_ms = now_ms();
    mixed_split(load);
    replace();
    mixed_healthy(load);
    int64_t ready_ms = now_ms();
    mixed_await_that_all_go_on(load, TURNS, SEVERAL_PATIENCE_MS);
    fprintf(stderr, "a new master after %lld ms; everybody went on %lld ms later\n", (long long)(ready_ms - since_ms),
            (long long)(now_ms() - ready_ms));
    several_look(NAME);
    crossing_end();
    mixed_stop(load);
}

Test(java_sentinel, has_nobody_hold_double_and_everybody_go_on_when_the_master_is_killed)
{
    go_on_after(kill_master);
}

Test(java_sentinel, has_nobody_hold_double_and_everybody_go_on_when_the_master_is_replaced)
{
    go_on_after(fail_over);
}

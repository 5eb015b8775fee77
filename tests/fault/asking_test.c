/* ASKING: a command that a moving slot's new server takes only after it. Its answer is nobody's, and the
 * answers behind it stay with those who asked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/pipelines.h"
#include "tests/integration/support/stage.h"
#include "tests/support/cluster.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_MS 5000
#define THREADS 40
#define TURNS 25

static cluster *moving;
static const char *key;  /* its slot is on the way to the pipelines' server */
static char moved[64];   /* what that says to those who don't ask */

static void open_importing(void)
{
    moving = cluster_start(2, 0, NULL);
    key = cluster_key(moving, 0, "n");
    cluster_move_begin(moving, cluster_slot(key), 1);
    pipelines_open_at(cluster_node(moving, 1));
    snprintf(moved, sizeof moved, "MOVED %d 127.0.0.1:%d", cluster_slot(key), server_port(cluster_node(moving, 0)));
}

static void close_importing(void)
{
    pipelines_close();
    cluster_stop(moving);
}

static void open_plain(void)
{
    pipelines_open(0, NULL);
}

static void open_replica(void)
{
    pipelines_open(1, NULL);
}

TestSuite(asking, .init = open_importing, .fini = close_importing);
TestSuite(asking_without_cluster, .init = open_plain, .fini = pipelines_close);
TestSuite(asking_synced, .init = open_replica, .fini = pipelines_close);

static pipeline_call increment(rli_pipeline *pipeline, bool asks)
{
    pipeline_call call = {.pipeline = pipeline, .words = {"INCR", key}, .asking = asks};
    pipeline_run(&call);
    return call;
}

static void assert_counted(rli_pipeline *pipeline, bool asks, const char *text)
{
    pipeline_call call = increment(pipeline, asks);
    assert_answered(&call, text);
}

Test(asking, has_a_moving_key_served_by_its_new_server)
{
    assert_counted(pipelines.plain, false, moved);
    assert_counted(pipelines.plain, true, "1");
    assert_counted(pipelines.plain, true, "2");
    cr_assert(server_times(pipelines.master, "asking") == 2);
}

Test(asking, holds_for_one_command_alone)
{
    assert_counted(pipelines.plain, true, "1");
    assert_counted(pipelines.plain, false, moved);
    assert_counted(pipelines.plain, true, "2");
}

typedef struct turns {
    bool asks;
    int64_t sum;
} turns;

static rlock_status take_turns(void *arg)
{
    turns *own = arg;
    for (int i = 0; i < TURNS; i++) {
        pipeline_call call = increment(pipelines.plain, own->asks);
        if (call.outcome != RLI_ANSWERED)
            return RLOCK_UNAVAILABLE;
        if (!own->asks && strcmp(call.text, moved) != 0)
            return RLOCK_SERVER;
        own->sum += own->asks ? atoll(call.text) : 0;
    }
    return RLOCK_OK;
}

/* Those who ask and those who don't, in the same batches: each has the answer to its own. */
Test(asking, keeps_answers_and_requests_of_many_together)
{
    actor *actors[THREADS];
    turns own[THREADS];
    int64_t sum = 0, asked = THREADS / 2 * TURNS;
    for (int i = 0; i < THREADS; i++) {
        actors[i] = actor_start();
        own[i] = (turns){.asks = i % 2};
        actor_begin(actors[i], take_turns, &own[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(actors[i], at_most_ms(20000)));
        sum += own[i].sum;
        actor_end(actors[i]);
    }
    cr_assert(sum == asked * (asked + 1) / 2, "the answers are not 1 to %d", (int)asked);
    cr_assert(server_times(pipelines.master, "asking") == asked);
    cr_assert(proxy_accepted(pipelines.proxy) == 1);
}

/* --- what fails meanwhile; the server need not be a cluster's for it --- */

Test(asking_without_cluster, does_no_harm_where_it_is_refused)
{
    key = "n";
    assert_counted(pipelines.plain, true, "1");
    assert_counted(pipelines.plain, false, "2");
    cr_assert(server_info(pipelines.master, "total_error_replies") == 1, "ASKING was not refused");
}

static void assert_in_step_after(const char *held)
{
    key = "n";
    int rule = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = held, .times = 1});
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", key}, .asking = true, .limit_ms = 100};
    pipeline_run(&call);
    cr_assert(call.outcome == RLI_ABANDONED, "%s", outcome_word(call.outcome));
    cr_assert(proxy_count(pipelines.proxy, rule, PROXY_ACTED) == 1);
    proxy_release(pipelines.proxy, rule);
    assert_counted(pipelines.plain, false, "2");
    assert_counted(pipelines.plain, true, "3");
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "the connection was given up");
}

Test(asking_without_cluster, stays_in_step_when_its_caller_gives_up_before_both_answers)
{
    assert_in_step_after("ASKING");
}

Test(asking_without_cluster, stays_in_step_when_its_caller_gives_up_between_the_answers)
{
    assert_in_step_after("INCR");
}

/* The answer to ASKING is there; that to the command is not, or not whole. */
Test(asking_without_cluster, takes_no_answer_for_another_when_the_connection_ends)
{
    key = "n";
    for (int64_t bytes = 0; bytes < 8; bytes++) { /* of -ERR This instance… and of :N\r\n */
        const char *text = bytes < 4 ? "ASKING" : "INCR";
        int rule = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = text, .amount = bytes % 4});
        pipeline_call call = increment(pipelines.plain, true);
        proxy_release(pipelines.proxy, rule);
        cr_assert(call.outcome == RLI_DISCONNECTED, "%s: %s", outcome_word(call.outcome), call.text);
    }
}

Test(asking_synced, is_confirmed_as_any_other)
{
    key = "n";
    pipeline_call call = increment(&pipelines.synced, true);
    assert_synced(&call, "1", 1);
    call = increment(&pipelines.synced, false);
    assert_synced(&call, "2", 1);
    cr_assert(server_times(pipelines.master, "wait") == 2);
}

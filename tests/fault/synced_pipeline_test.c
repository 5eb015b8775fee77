/* Synced pipelines: what is written on them is answered when the replicas have confirmed it, with one WAIT a
 * batch, and however the replicas, the connection or the callers fail meanwhile. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/pipelines.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <string.h>

#define SOON_MS 5000
#define LONG_MS 20000
#define THREADS 64

static void open_with_replica(void)
{
    pipelines_open(1, NULL);
}

static void open_alone(void)
{
    pipelines_open(0, NULL);
}

TestSuite(synced_pipeline, .init = open_with_replica, .fini = pipelines_close);
TestSuite(synced_pipeline_alone, .init = open_alone, .fini = pipelines_close);

static void freeze_replica(void)
{
    server_freeze(fleet_node(pipelines.fleet, 1));
}

/* Until the master counts so many. */
static void await_replicas(int64_t count)
{
    for (int64_t end_ms = limit_end_ms(LONG_MS); server_info(pipelines.master, "connected_slaves") != count; pass_ms(2))
        cr_assert(now_ms() < end_ms, "the master counts %d replicas", (int)server_info(pipelines.master, "connected_slaves"));
}

/* The next request makes another. */
static void drop_connection(void)
{
    rli_pipeline_drop(&pipelines.synced);
    rli_pipeline_drop(&pipelines.synced);
}

/* A request whose WAIT is under way at the server, for as long as the replica sleeps. */
static void begin_waiting(actor *first, pipeline_call *call)
{
    int rule = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_NOTE, .text = "WAIT"});
    *call = (pipeline_call){.pipeline = &pipelines.synced, .words = {"INCR", "first"}};
    actor_begin(first, pipeline_run, call);
    cr_assert(proxy_await(pipelines.proxy, rule, PROXY_SEEN, 1, SOON_MS), "no WAIT was sent");
    cr_assert(actor_asleep(first, SOON_MS));
}

/* --- the replicas --- */

Test(synced_pipeline, tells_how_many_replicas_confirmed)
{
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", 1);
    cr_assert(call.answer.asked == 1);
    cr_assert(server_integer(fleet_node(pipelines.fleet, 1), "EXISTS n") == 1);
    cr_assert(server_times(pipelines.master, "wait") == 1);
}

Test(synced_pipeline, tells_that_a_stopped_replica_has_not_confirmed)
{
    pipelines_time_out();
    freeze_replica();
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", 0);
    cr_assert(call.answer.asked == 1);
    assert_between(call.took_ms, PIPELINE_SYNC_MS - 1, at_most_ms(PIPELINE_SYNC_MS + 300));
}

/* As a cluster's list of who is whose replica has them for a while. */
Test(synced_pipeline, waits_for_no_replica_that_is_only_said_to_be_there)
{
    atomic_store(&pipelines.replicas, 3);
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", 1);
    cr_assert(call.answer.asked == 1, "%d were asked", call.answer.asked);
    server_kill(fleet_node(pipelines.fleet, 1));
    await_replicas(0);
    drop_connection();
    call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "2", RLI_REPLICA_ACK_NONE);
}

/* The connection was made while it lived: the first request does not hear of it, those behind it do without. */
Test(synced_pipeline, waits_once_for_a_replica_that_has_ended)
{
    pipelines_time_out();
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", 1);
    server_kill(fleet_node(pipelines.fleet, 1));
    await_replicas(0);
    for (int i = 0; i < 2; i++)
        call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "3", RLI_REPLICA_ACK_NONE);
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "it was asked on another connection");
}

/* Nothing tells the connection of that but its own question. */
Test(synced_pipeline, waits_for_a_replica_that_has_come_back)
{
    server_kill(fleet_node(pipelines.fleet, 1));
    await_replicas(0);
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", RLI_REPLICA_ACK_NONE);
    server_restart(fleet_node(pipelines.fleet, 1));
    fleet_follow(pipelines.fleet, 1, 0);
    for (int64_t end_ms = limit_end_ms(LONG_MS); call.answer.synced != 1; call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL))
        cr_assert(now_ms() < end_ms, "the replica is not asked");
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "it was asked on another connection");
}

/* The server counted before the replica was back, and nobody has read its answer since. */
TimedTest(synced_pipeline, relies_on_no_count_that_was_asked_for_long_ago)
{
    server_kill(fleet_node(pipelines.fleet, 1));
    await_replicas(0);
    int rule = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "replication", .times = 1});
    pipeline_call call = {.pipeline = &pipelines.synced, .words = {"INCR", "n"}, .limit_ms = 100};
    pipeline_run(&call);
    cr_assert(call.outcome == RLI_ABANDONED && proxy_count(pipelines.proxy, rule, PROXY_ACTED) == 1, "%s",
              outcome_word(call.outcome));
    server_restart(fleet_node(pipelines.fleet, 1));
    fleet_follow(pipelines.fleet, 1, 0);
    await_replicas(1);
    pass_ms(1500);
    proxy_release(pipelines.proxy, rule);
    pass_ms(50);
    call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    cr_assert(call.outcome == RLI_ANSWERED && call.answer.synced == 1, "%d replicas have confirmed it",
              call.answer.synced);
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "it was asked on another connection");
}

/* Then it can only go by what the servers list. */
Test(synced_pipeline, waits_for_those_it_is_told_of_where_the_server_does_not_count_them)
{
    pipelines_time_out();
    atomic_store(&pipelines.replicas, 2);
    freeReplyObject(server_command(pipelines.master, "ACL SETUSER default -info"));
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    freeReplyObject(server_command(pipelines.master, "ACL SETUSER default +info"));
    assert_synced(&call, "1", 1);
    cr_assert(call.answer.asked == 2, "%d were asked", call.answer.asked);
}

Test(synced_pipeline_alone, sends_no_wait_when_there_are_no_replicas)
{
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", RLI_REPLICA_ACK_NONE);
    cr_assert(call.answer.asked == 0);
    atomic_store(&pipelines.replicas, -1); /* not known */
    call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "2", RLI_REPLICA_ACK_NONE);
    cr_assert(server_times(pipelines.master, "wait") == 0);
}

Test(synced_pipeline, gives_errors_of_a_command_as_its_answer)
{
    freeReplyObject(server_command(pipelines.master, "SET text x"));
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "text", NULL);
    assert_synced(&call, "ERR value is not an integer or out of range", 1);
}

Test(synced_pipeline, of_plain_pipelines_says_nothing)
{
    pipeline_call call = pipeline_ask(pipelines.plain, "INCR", "n", NULL);
    assert_synced(&call, "1", RLI_REPLICA_ACK_NONE);
    cr_assert(server_times(pipelines.master, "wait") == 0);
}

/* The server ends the WAITs under way when it becomes a replica: nobody has confirmed. */
Test(synced_pipeline, is_not_confirmed_by_a_master_that_becomes_a_replica_meanwhile)
{
    freeze_replica();
    actor *first = actor_start();
    pipeline_call call;
    begin_waiting(first, &call);
    freeReplyObject(server_command(pipelines.master, "REPLICAOF 127.0.0.1 %d", server_port(fleet_node(pipelines.fleet, 1))));
    assert_ok(actor_finish(first, SOON_MS));
    assert_synced(&call, "1", 0);
    assert_between(call.took_ms, 0, at_most_ms(PIPELINE_SYNC_MS - 100));
    actor_end(first);
}

/* --- batches --- */

Test(synced_pipeline, sends_what_comes_during_a_wait_as_one_batch)
{
    freeze_replica();
    actor *actors[THREADS];
    pipeline_call calls[THREADS];
    for (int i = 0; i < THREADS; i++)
        actors[i] = actor_start();
    begin_waiting(actors[0], &calls[0]);
    for (int i = 1; i < THREADS; i++) {
        calls[i] = (pipeline_call){.pipeline = &pipelines.synced, .words = {"INCR", "n"}};
        actor_begin(actors[i], pipeline_run, &calls[i]);
    }
    for (int i = 1; i < THREADS; i++)
        cr_assert(actor_asleep(actors[i], SOON_MS));
    cr_assert(pipelines_number("n") == 0);
    server_thaw(fleet_node(pipelines.fleet, 1));
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(actors[i], SOON_MS));
        cr_assert(calls[i].outcome == RLI_ANSWERED && calls[i].answer.synced == 1);
        actor_end(actors[i]);
    }
    cr_assert(pipelines_number("n") == THREADS - 1);
    cr_assert(server_times(pipelines.master, "wait") == 2, "%d WAITs", (int)server_times(pipelines.master, "wait"));
}

typedef struct many {
    pipeline_call call;
    int left;
} many;

static rlock_status run_many(void *arg)
{
    many *own = arg;
    for (; own->left > 0; own->left--) {
        pipeline_run(&own->call);
        if (own->call.outcome != RLI_ANSWERED || own->call.answer.synced != 1)
            return RLOCK_UNKNOWN;
    }
    return RLOCK_OK;
}

/* However long replicas take, threads wait for it together. */
Test(synced_pipeline, sends_fewer_waits_than_requests_under_load)
{
    proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = "WAIT", .amount = 10});
    actor *actors[THREADS];
    many calls[THREADS];
    for (int i = 0; i < THREADS; i++) {
        actors[i] = actor_start();
        calls[i] = (many){{.pipeline = &pipelines.synced, .words = {"INCR", "n"}}, 20};
        actor_begin(actors[i], run_many, &calls[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(actors[i], at_most_ms(20000)));
        actor_end(actors[i]);
    }
    cr_assert(pipelines_number("n") == 20 * THREADS);
    assert_between(server_times(pipelines.master, "wait"), 20, 20 * THREADS / 4);
    cr_assert(proxy_accepted(pipelines.proxy) == 1);
}

/* A batch that does not fit into the socket is sent as the server reads, and has one WAIT behind it. */
Test(synced_pipeline, sends_a_batch_larger_than_the_socket)
{
    enum { LENGTH = 4 << 20 };
    char *large = calloc(LENGTH + 1, 1);
    cr_assert(large != NULL);
    memset(large, 'x', LENGTH);
    pipeline_call call = pipeline_ask(&pipelines.synced, "SET", "large", large, NULL);
    assert_synced(&call, "OK", 1);
    cr_assert(server_times(pipelines.master, "wait") == 1);
    free(large);
}

/* --- servers without WAIT --- */

Test(synced_pipeline, does_without_wait_as_long_as_the_user_may_not_use_it)
{
    freeReplyObject(server_command(pipelines.master, "ACL SETUSER default -wait"));
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", RLI_REPLICA_ACK_REFUSED);
    freeReplyObject(server_command(pipelines.master, "ACL SETUSER default +wait"));
    for (int64_t end_ms = limit_end_ms(LONG_MS); call.answer.synced != 1; call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL))
        cr_assert(now_ms() < end_ms, "the right is not used that was given");
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "it was asked on another connection");
}

/* --- the connection --- */

Test(synced_pipeline, has_no_answer_when_the_connection_ends_before_that_to_wait)
{
    for (int64_t bytes = 0; bytes < 4; bytes++) { /* of :1\r\n */
        int rule = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = "WAIT", .amount = bytes});
        pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
        proxy_release(pipelines.proxy, rule);
        cr_assert(call.outcome == RLI_DISCONNECTED, "%s after %d bytes", outcome_word(call.outcome), (int)bytes);
        cr_assert(pipelines_number("n") == bytes + 1, "it has not run");
    }
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "5", 1);
}

Test(synced_pipeline, has_no_answer_when_that_to_wait_does_not_come)
{
    pipelines_time_out();
    int rule = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "WAIT"});
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    cr_assert(call.outcome == RLI_TIMED_OUT, "%s", outcome_word(call.outcome));
    assert_between(call.took_ms, PIPELINE_TIMEOUT_MS + PIPELINE_SYNC_MS - 1,
                   at_most_ms(PIPELINE_TIMEOUT_MS + PIPELINE_SYNC_MS + 300));
    proxy_release(pipelines.proxy, rule);
    call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "2", 1);
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
}

/* Behind a WAIT that takes all its time, a request of its own has its whole time yet. */
Test(synced_pipeline, counts_no_time_behind_another_wait_against_a_request)
{
    pipelines.settings.sync_timeout_ms = 2 * PIPELINE_TIMEOUT_MS;
    freeze_replica();
    actor *first = actor_start();
    pipeline_call waiting;
    begin_waiting(first, &waiting);
    pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "1", 0);
    assert_ok(actor_finish(first, SOON_MS));
    assert_synced(&waiting, "1", 0);
    assert_between(call.took_ms, 3 * PIPELINE_TIMEOUT_MS, at_most_ms(4 * PIPELINE_TIMEOUT_MS + 300));
    actor_end(first);
}

/* What was queued for the next batch has not run and can be repeated, even if it must not run twice. */
Test(synced_pipeline, knows_what_had_not_left_when_the_connection_ended)
{
    freeze_replica();
    actor *first = actor_start(), *second = actor_start();
    pipeline_call sent, queued = {.pipeline = &pipelines.synced, .words = {"INCR", "n"}};
    begin_waiting(first, &sent);
    actor_begin(second, pipeline_run, &queued);
    cr_assert(actor_asleep(second, SOON_MS));
    proxy_cut(pipelines.proxy);
    assert_ok(actor_finish(first, SOON_MS));
    assert_ok(actor_finish(second, SOON_MS));
    cr_assert(sent.outcome == RLI_DISCONNECTED && sent.answer.left, "%s", outcome_word(sent.outcome));
    cr_assert(queued.outcome == RLI_DISCONNECTED && !queued.answer.left, "%s", outcome_word(queued.outcome));
    cr_assert(pipelines_number("first") == 1 && pipelines_number("n") == 0);
    actor_end(first);
    actor_end(second);
}

/* --- callers --- */

Test(synced_pipeline, stays_in_step_when_callers_give_up_before_wait_is_answered)
{
    freeze_replica();
    pipeline_call call = {.pipeline = &pipelines.synced, .words = {"INCR", "n"}, .limit_ms = PIPELINE_SYNC_MS / 5};
    pipeline_run(&call);
    cr_assert(call.outcome == RLI_ABANDONED && call.answer.left, "%s", outcome_word(call.outcome));
    server_thaw(fleet_node(pipelines.fleet, 1));
    call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
    assert_synced(&call, "2", 1);
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "the connection was given up");
}

/* What was still queued must not run when its caller has long gone; its neighbours do. */
Test(synced_pipeline, takes_back_what_was_given_up_before_it_left)
{
    pipelines_time_out();
    freeze_replica();
    actor *actors[4];
    pipeline_call calls[4];
    static const char *const keys[] = {"first", "ahead", "given-up", "behind"};
    for (int i = 0; i < 4; i++)
        actors[i] = actor_start();
    begin_waiting(actors[0], &calls[0]);
    for (int i = 1; i < 4; i++) {
        calls[i] = (pipeline_call){.pipeline = &pipelines.synced,
                                   .words = {"INCR", keys[i]},
                                   .limit_ms = i == 2 ? PIPELINE_SYNC_MS / 3 : 0};
        actor_begin(actors[i], pipeline_run, &calls[i]);
        cr_assert(actor_asleep(actors[i], SOON_MS));
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(actor_finish(actors[i], SOON_MS));
        actor_end(actors[i]);
        if (i != 2)
            assert_synced(&calls[i], "1", 0);
    }
    cr_assert(calls[2].outcome == RLI_ABANDONED && !calls[2].answer.left, "%s", outcome_word(calls[2].outcome));
    cr_assert(server_integer(pipelines.master, "EXISTS given-up") == 0);
    cr_assert(proxy_accepted(pipelines.proxy) == 1, "the connection was given up");
}

Test(synced_pipeline, ends_all_that_is_under_way_when_it_is_closed)
{
    freeze_replica();
    actor *actors[3];
    pipeline_call calls[3];
    for (int i = 0; i < 3; i++)
        actors[i] = actor_start();
    begin_waiting(actors[0], &calls[0]);
    for (int i = 1; i < 3; i++) {
        calls[i] = (pipeline_call){.pipeline = &pipelines.synced, .words = {"INCR", "n"}};
        actor_begin(actors[i], pipeline_run, &calls[i]);
        cr_assert(actor_asleep(actors[i], SOON_MS));
    }
    int64_t since_ms = now_ms();
    rli_pipeline_close(&pipelines.synced);
    for (int i = 0; i < 3; i++) {
        assert_ok(actor_finish(actors[i], SOON_MS));
        cr_assert(calls[i].outcome == RLI_ABANDONED, "%s", outcome_word(calls[i].outcome));
        actor_end(actors[i]);
    }
    assert_between(now_ms() - since_ms, 0, at_most_ms(PIPELINE_SYNC_MS / 2));
}

/* A slow replica does not slow down what goes over other pipelines. */
Test(synced_pipeline, stalls_no_other_pipeline)
{
    pipelines_time_out();
    freeze_replica();
    actor *first = actor_start();
    pipeline_call waiting;
    begin_waiting(first, &waiting);
    pipeline_call call = pipeline_ask(pipelines.plain, "INCR", "n", NULL);
    assert_answered(&call, "1");
    assert_between(call.took_ms, 0, at_most_ms(PIPELINE_SYNC_MS / 2));
    assert_ok(actor_finish(first, SOON_MS));
    actor_end(first);
}

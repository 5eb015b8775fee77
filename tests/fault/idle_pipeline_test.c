/* Lanes that nobody uses: a connection that died without a sign is found by a ping, not by a request; and
 * pipelines that are told to make a new connection. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"
#include "tests/fault/support/pipelines.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <fcntl.h>

#define SOON_MS 5000
#define HOUR_MS 3600000

static void open_alone(void)
{
    pipelines_open(0, NULL);
}

static void open_with_replica(void)
{
    pipelines_open(1, NULL);
}

TestSuite(idle_pipeline, .init = open_alone, .fini = pipelines_close);
TestSuite(idle_synced_pipeline, .init = open_with_replica, .fini = pipelines_close);
TestSuite(dropped_pipeline, .init = open_alone, .fini = pipelines_close);

static bool ping(rli_pipeline *pipeline, int64_t idle_ms)
{
    rli_operation caller;
    assert_ok(rli_operation_begin(&caller, &stage.client->gate, NULL));
    bool alive = rli_pipeline_ping_if_idle(pipeline, &caller, idle_ms);
    rli_operation_end(&caller);
    return alive;
}

static void assert_counts(rli_pipeline *pipeline, const char *text)
{
    pipeline_call call = pipeline_ask(pipeline, "INCR", "n", NULL);
    assert_answered(&call, text);
}

static int note(const char *text)
{
    return proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_NOTE, .text = text});
}

/* --- pings --- */

Test(idle_pipeline, is_pinged_when_it_has_been_idle_for_so_long_and_no_sooner)
{
    int pings = note("PING");
    assert_counts(pipelines.plain, "1");
    cr_assert(ping(pipelines.plain, HOUR_MS));
    cr_assert(proxy_count(pipelines.proxy, pings, PROXY_SEEN) == 0);
    pass_ms(500);
    cr_assert(ping(pipelines.plain, 500));
    cr_assert(proxy_count(pipelines.proxy, pings, PROXY_ANSWERED) == 1);
    cr_assert(ping(pipelines.plain, 500)); /* the ping itself counts as use */
    cr_assert(proxy_count(pipelines.proxy, pings, PROXY_SEEN) == 1);
    assert_counts(pipelines.plain, "2");
    cr_assert(proxy_accepted(pipelines.proxy) == 1);
}

Test(idle_pipeline, that_has_no_connection_gets_none_for_a_ping)
{
    cr_assert(ping(pipelines.plain, 0));
    cr_assert(proxy_accepted(pipelines.proxy) == 0);
}

/* Nothing passes any more, and no end of the connection is heard of. */
Test(idle_pipeline, that_is_half_open_is_found_by_a_ping)
{
    pipelines_time_out();
    assert_counts(pipelines.plain, "1");
    proxy_pass(pipelines.proxy, false, false);
    int64_t since_ms = now_ms();
    cr_assert(!ping(pipelines.plain, 0));
    assert_between(now_ms() - since_ms, PIPELINE_TIMEOUT_MS - 1, at_most_ms(PIPELINE_TIMEOUT_MS + 300));
    proxy_pass(pipelines.proxy, true, true);
    pipeline_call call = pipeline_ask(pipelines.plain, "INCR", "n", NULL);
    assert_answered(&call, "2");
    assert_between(call.took_ms, 0, at_most_ms(PIPELINE_TIMEOUT_MS / 2));
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
}

/* As above, with the server's own end heard of. */
Test(idle_pipeline, that_was_cut_is_found_by_a_ping)
{
    assert_counts(pipelines.plain, "1");
    proxy_cut(pipelines.proxy);
    cr_assert(!ping(pipelines.plain, 0));
    assert_counts(pipelines.plain, "2");
}

Test(idle_pipeline, is_alive_when_the_server_answers_a_ping_with_an_error)
{
    assert_counts(pipelines.plain, "1");
    freeReplyObject(server_command(pipelines.master, "ACL SETUSER default -ping"));
    cr_assert(ping(pipelines.plain, 0));
    cr_assert(server_info(pipelines.master, "total_error_replies") == 1);
    assert_counts(pipelines.plain, "2");
    cr_assert(proxy_accepted(pipelines.proxy) == 1);
}

static rlock_status run_ping(void *arg)
{
    *(bool *)arg = ping(pipelines.plain, 0);
    return RLOCK_OK;
}

/* A request in the middle of a ping is sent at once and has its own answer. */
Test(idle_pipeline, serves_requests_while_it_is_pinged)
{
    assert_counts(pipelines.plain, "1");
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "PING"});
    actor *pinger = actor_start(), *asker = actor_start();
    bool alive = false;
    actor_begin(pinger, run_ping, &alive);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "meanwhile"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(server_wait_exists(pipelines.master, "meanwhile", true, PIPELINE_TIMEOUT_MS / 2), "it waits for the ping");
    proxy_release(pipelines.proxy, held);
    assert_ok(actor_finish(asker, SOON_MS));
    assert_answered(&call, "1");
    assert_ok(actor_finish(pinger, SOON_MS));
    cr_assert(alive);
    cr_assert(proxy_accepted(pipelines.proxy) == 1);
    actor_end(pinger);
    actor_end(asker);
}

/* Who waits there finds out. */
Test(idle_pipeline, is_not_pinged_while_a_request_is_waited_for)
{
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "INCR", .times = 1});
    int pings = note("PING");
    actor *asker = actor_start();
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "n"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS) && actor_asleep(asker, SOON_MS));
    cr_assert(ping(pipelines.plain, 0));
    proxy_release(pipelines.proxy, held);
    assert_ok(actor_finish(asker, SOON_MS));
    assert_answered(&call, "1");
    cr_assert(proxy_count(pipelines.proxy, pings, PROXY_SEEN) == 0);
    actor_end(asker);
}

/* Nobody waits for the answer that is outstanding: it is no use of the pipeline. */
Test(idle_pipeline, is_pinged_although_a_request_was_given_up_on_it)
{
    pipelines_time_out();
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "INCR", .times = 1});
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "n"}, .limit_ms = 50};
    pipeline_run(&call);
    cr_assert(call.outcome == RLI_ABANDONED && proxy_count(pipelines.proxy, held, PROXY_ACTED) == 1);
    cr_assert(!ping(pipelines.plain, 0));
    assert_counts(pipelines.plain, "2");
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
}

/* A ping waits for no replica. */
Test(idle_synced_pipeline, is_pinged_without_wait)
{
    assert_counts(&pipelines.synced, "1");
    server_freeze(fleet_node(pipelines.fleet, 1));
    freeReplyObject(server_command(pipelines.master, "SET not confirmed"));
    int64_t since_ms = now_ms();
    cr_assert(ping(&pipelines.synced, 0));
    assert_between(now_ms() - since_ms, 0, at_most_ms(PIPELINE_SYNC_MS / 2));
    cr_assert(server_times(pipelines.master, "wait") == 1, "%d WAITs", (int)server_times(pipelines.master, "wait"));
}

/* --- a new connection from now on --- */

Test(dropped_pipeline, lets_what_is_under_way_have_its_answer)
{
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "first"});
    actor *asker = actor_start();
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "first"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
    rli_pipeline_drop(pipelines.plain);
    assert_counts(pipelines.plain, "1");
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
    proxy_release(pipelines.proxy, held);
    assert_ok(actor_finish(asker, SOON_MS));
    assert_answered(&call, "1");
    cr_assert(proxy_connected(pipelines.proxy) == 1, "the old connection is open");
    assert_counts(pipelines.plain, "2");
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
    actor_end(asker);
}

Test(dropped_pipeline, closes_a_connection_that_nobody_uses)
{
    assert_counts(pipelines.plain, "1");
    rli_pipeline_drop(pipelines.plain);
    cr_assert(proxy_connected(pipelines.proxy) == 0);
    assert_counts(pipelines.plain, "2");
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
}

Test(dropped_pipeline, ends_what_is_under_way_when_it_is_dropped_twice)
{
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "first"});
    actor *asker = actor_start();
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "first"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
    rli_pipeline_drop(pipelines.plain);
    rli_pipeline_drop(pipelines.plain);
    assert_ok(actor_finish(asker, SOON_MS));
    cr_assert(call.outcome == RLI_DISCONNECTED, "%s", outcome_word(call.outcome));
    actor_end(asker);
}

/* The limit of a request on a dropped connection is kept, too, and so is the client's closing. */
Test(dropped_pipeline, keeps_the_limit_of_what_is_under_way)
{
    pipelines_time_out();
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "first"});
    actor *asker = actor_start();
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "first"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
    rli_pipeline_drop(pipelines.plain);
    assert_ok(actor_finish(asker, SOON_MS));
    cr_assert(call.outcome == RLI_TIMED_OUT, "%s", outcome_word(call.outcome));
    assert_between(call.took_ms, PIPELINE_TIMEOUT_MS - 1, at_most_ms(PIPELINE_TIMEOUT_MS + 300));
    cr_assert(proxy_connected(pipelines.proxy) == 0);
    actor_end(asker);
}

Test(dropped_pipeline, ends_what_is_under_way_when_it_is_closed)
{
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "first"});
    actor *asker = actor_start();
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "first"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
    rli_pipeline_drop(pipelines.plain);
    int64_t since_ms = now_ms();
    rli_pipeline_close(pipelines.plain);
    assert_ok(actor_finish(asker, SOON_MS));
    cr_assert(call.outcome == RLI_ABANDONED, "%s", outcome_word(call.outcome));
    assert_between(now_ms() - since_ms, 0, at_most_ms(PIPELINE_TIMEOUT_MS / 2));
    actor_end(asker);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Whom the lead is handed to learns of the connection's end before it has taken it. */
static rlock_status ask_and_condemn(void *call)
{
    rlock_status status = pipeline_run(call);
    rli_pipeline_fail_all(pipelines.plain);
    return status;
}

Test(dropped_pipeline, is_freed_when_it_ends_as_the_lead_is_handed_on)
{
    actor *leader = actor_start(), *follower = actor_start();
    assert_counts(pipelines.plain, "1");
    rli_pipeline_fail_all(pipelines.plain);
    int64_t until_ms = limit_end_ms(SOON_MS);
    while (proxy_connected(pipelines.proxy) > 0)
        cr_assert(now_ms() < until_ms);
    int before = open_descriptors();
    for (int i = 0; i < 30; i++) {
        int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "leads", .times = 1});
        int never = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "follows", .times = 1});
        pipeline_call leading = {.pipeline = pipelines.plain, .words = {"INCR", "leads"}};
        pipeline_call following = {.pipeline = pipelines.plain, .words = {"INCR", "follows"}};
        actor_begin(leader, ask_and_condemn, &leading);
        cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
        actor_begin(follower, pipeline_run, &following);
        cr_assert(actor_asleep(follower, SOON_MS));
        proxy_release(pipelines.proxy, held);
        assert_ok(actor_finish(leader, SOON_MS));
        cr_assert(leading.outcome == RLI_ANSWERED, "%s", outcome_word(leading.outcome));
        (void)actor_finish(follower, SOON_MS);
        cr_assert(following.outcome == RLI_TIMED_OUT, "%s", outcome_word(following.outcome));
        proxy_release(pipelines.proxy, never);
    }
    until_ms = limit_end_ms(SOON_MS);
    while (open_descriptors() > before)
        cr_assert(now_ms() < until_ms, "%d connections are left open", open_descriptors() - before);
    actor_end(leader);
    actor_end(follower);
}

/* A connection that was begun before the drop may lead to where the name led then, or to a server that is no
 * master any more: who asks looks again where to go, and at once, however long the server takes. */
Test(dropped_pipeline, does_not_use_a_connection_that_was_being_made)
{
    int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "INFO", .times = 1});
    actor *asker = actor_start();
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "n"}};
    actor_begin(asker, pipeline_run, &call);
    cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
    int64_t since_ms = now_ms();
    rli_pipeline_drop(pipelines.plain);
    assert_status(actor_finish(asker, SOON_MS), RLOCK_UNAVAILABLE);
    cr_assert(call.outcome == RLI_UNSENT && call.answer.status == RLOCK_UNAVAILABLE, "%s", outcome_word(call.outcome));
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    proxy_release(pipelines.proxy, held);
    call = pipeline_ask(pipelines.plain, "INCR", "n", NULL);
    assert_answered(&call, "1");
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
    actor_end(asker);
}

/* Nor one that was ready just then. */
Test(dropped_pipeline, does_not_use_a_connection_that_comes_up_as_it_is_dropped)
{
    actor *asker = actor_start();
    for (int i = 0; i < 20; i++) {
        int held = proxy_add(pipelines.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = "INFO", .times = 1});
        pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "n"}};
        actor_begin(asker, pipeline_run, &call);
        cr_assert(proxy_await(pipelines.proxy, held, PROXY_ACTED, 1, SOON_MS));
        rli_pipeline_drop(pipelines.plain);
        proxy_release(pipelines.proxy, held);
        (void)actor_finish(asker, SOON_MS);
        cr_assert(call.outcome == RLI_UNSENT && call.answer.status == RLOCK_UNAVAILABLE, "%s", outcome_word(call.outcome));
    }
    assert_counts(pipelines.plain, "1");
    actor_end(asker);
}

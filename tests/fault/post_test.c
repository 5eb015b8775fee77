/* Requests that nobody waits for, on a pipeline: sent at once, and whoever posted them is told what became of them,
 * whoever reads the answer, and however the connection ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/pending.h"
#include "tests/fault/support/pipelines.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SOON_MS 5000
#define MANY 10000

static void open_alone(void)
{
    pipelines_open(0, NULL);
}

TestSuite(posted, .init = open_alone, .fini = pipelines_close);

/* One request, and what its owner was told. */
typedef struct post {
    rli_pending slot;
    event told;
    rli_outcome outcome;
    int64_t number;
    bool left;
} post;

static void note(rli_pending *slot)
{
    post *own = (post *)(void *)slot;
    own->outcome = slot->outcome;
    own->left = slot->left;
    own->number = slot->reply && slot->reply->type == REDIS_REPLY_INTEGER ? slot->reply->integer : -1;
    freeReplyObject(slot->reply);
    event_set(&own->told);
}

static bool send_post(post *own, const char *key)
{
    uint64_t run;
    const rli_command incr = {.count = 2, .words = (const char *const[]){"INCR", key},
                              .lengths = (const size_t[]){4, strlen(key)}};
    *own = (post){.slot = {.done = note}};
    event_init(&own->told);
    return rli_pipeline_post(pipelines.plain, &incr, &own->slot, &run);
}

static void assert_told(post *own, rli_outcome outcome)
{
    cr_assert(event_count(&own->told) == 1, "told %d times", event_count(&own->told));
    cr_assert(own->outcome == outcome, "%s instead of %s", outcome_word(own->outcome), outcome_word(outcome));
}

static void connect_pipeline(void)
{
    pipeline_call call = pipeline_ask(pipelines.plain, "SET", "n", "0", NULL);
    assert_answered(&call, "OK");
}

static int rule_for_incr(proxy_act act)
{
    return proxy_add(pipelines.proxy, &(proxy_rule){.act = act, .text = "INCR"});
}

/* Until there is none left. */
static void collect(void)
{
    int64_t until_ms = limit_end_ms(SOON_MS);
    while (rli_pipeline_collect(pipelines.plain, rli_after_ms(50)))
        cr_assert(now_ms() < until_ms, "there are requests left that nobody was told of");
}

/* --- */

Test(posted, has_reached_the_server_without_anybody_waiting)
{
    static post own;
    connect_pipeline();
    int rule = rule_for_incr(PROXY_NOTE);
    cr_assert(send_post(&own, "n"));
    cr_assert(proxy_await(pipelines.proxy, rule, PROXY_ANSWERED, 1, SOON_MS));
    cr_assert(event_count(&own.told) == 0, "nobody has read the answer");
}

Test(posted, is_answered_before_what_is_asked_after_it)
{
    static post own;
    connect_pipeline();
    for (int64_t i = 1; i <= 3; i++) {
        cr_assert(send_post(&own, "n"));
        pipeline_call call = pipeline_ask(pipelines.plain, "INCR", "n", NULL);
        assert_told(&own, RLI_ANSWERED);
        cr_assert(own.number == 2 * i - 1 && own.left);
        cr_assert(strtoll(call.text, NULL, 10) == 2 * i);
    }
}

Test(posted, is_told_its_answer_though_nobody_asks_any_more)
{
    static post own[3];
    connect_pipeline();
    for (int i = 0; i < 3; i++)
        cr_assert(send_post(&own[i], "n"));
    collect();
    for (int i = 0; i < 3; i++) {
        assert_told(&own[i], RLI_ANSWERED);
        cr_assert(own[i].number == i + 1);
    }
    cr_assert(!rli_pipeline_collect(pipelines.plain, 0));
}

Test(posted, is_not_sent_where_there_is_no_connection)
{
    static post own;
    cr_assert(!send_post(&own, "n"));
    cr_assert(event_count(&own.told) == 0);
    cr_assert(proxy_accepted(pipelines.proxy) == 0);
}

/* A look does not wait. */
Test(posted, is_left_alone_while_its_answer_is_on_its_way)
{
    static post own;
    connect_pipeline();
    int rule = rule_for_incr(PROXY_HOLD_REPLY);
    cr_assert(send_post(&own, "n"));
    int64_t since_ms = now_ms();
    cr_assert(rli_pipeline_collect(pipelines.plain, rli_now_ms()));
    assert_between(now_ms() - since_ms, 0, at_most_ms(PIPELINE_TIMEOUT_MS / 2));
    cr_assert(event_count(&own.told) == 0);
    proxy_release(pipelines.proxy, rule);
    collect();
    assert_told(&own, RLI_ANSWERED);
}

/* Close reads the answers to requests whose callers have given up, also after posted requests were answered. */
Test(posted, counts_for_no_request_whose_caller_has_given_up)
{
    static post own;
    connect_pipeline();
    for (int i = 0; i < 3; i++) {
        cr_assert(send_post(&own, "n"));
        collect();
    }
    int rule = rule_for_incr(PROXY_HOLD_REPLY);
    pipeline_call call = {.pipeline = pipelines.plain, .words = {"INCR", "n"}, .limit_ms = 20};
    pipeline_run(&call);
    cr_assert(call.outcome == RLI_ABANDONED, "%s", outcome_word(call.outcome));
    cr_assert(rli_pipeline_collect(pipelines.plain, rli_now_ms()), "its answer is not missed");
    proxy_release(pipelines.proxy, rule);
    collect();
}

Test(posted, is_given_up_with_its_connection_when_no_answer_comes)
{
    pipelines_time_out();
    static post own;
    connect_pipeline();
    rule_for_incr(PROXY_HOLD_REPLY);
    int64_t since_ms = now_ms();
    cr_assert(send_post(&own, "n"));
    collect();
    assert_told(&own, RLI_TIMED_OUT);
    cr_assert(own.left);
    assert_between(now_ms() - since_ms, PIPELINE_TIMEOUT_MS - 1, at_most_ms(PIPELINE_TIMEOUT_MS + 300));
    pipeline_call call = pipeline_ask(pipelines.plain, "GET", "n", NULL);
    assert_answered(&call, "1");
    cr_assert(proxy_accepted(pipelines.proxy) == 2);
}

Test(posted, is_told_that_its_connection_was_cut)
{
    static post own, late;
    connect_pipeline();
    int rule = rule_for_incr(PROXY_CUT_AFTER);
    cr_assert(send_post(&own, "n"));
    collect();
    assert_told(&own, RLI_DISCONNECTED);
    cr_assert(!send_post(&late, "n"), "there is no connection now");
    proxy_release(pipelines.proxy, rule);
    pipeline_call call = pipeline_ask(pipelines.plain, "GET", "n", NULL);
    assert_answered(&call, "1");
}

/* Whoever calls next finds out. */
Test(posted, is_told_of_the_end_by_the_next_call_on_that_connection)
{
    static post own;
    connect_pipeline();
    rule_for_incr(PROXY_CUT_BEFORE);
    cr_assert(send_post(&own, "n"));
    pipeline_call call = pipeline_ask(pipelines.plain, "GET", "n", NULL);
    assert_told(&own, RLI_DISCONNECTED);
    cr_assert(call.outcome == RLI_DISCONNECTED);
}

/* What must be sent only once is not lost on a connection that ended under an answer that nobody has read. */
Test(posted, does_not_hide_that_the_server_has_closed_the_connection)
{
    static post own;
    connect_pipeline();
    int rule = rule_for_incr(PROXY_CUT_AFTER);
    cr_assert(send_post(&own, "n"));
    cr_assert(proxy_await(pipelines.proxy, rule, PROXY_ACTED, 1, SOON_MS));
    int64_t until_ms = limit_end_ms(SOON_MS);
    while (proxy_connected(pipelines.proxy) > 0)
        cr_assert(now_ms() < until_ms);
    rli_pipeline_refresh(pipelines.plain, 0);
    assert_told(&own, RLI_DISCONNECTED);
    pipeline_call call = pipeline_ask(pipelines.plain, "GET", "n", NULL);
    assert_answered(&call, "1");
}

Test(posted, is_told_when_the_pipeline_is_dropped_or_closed)
{
    static post own[2];
    connect_pipeline();
    rule_for_incr(PROXY_HOLD_REPLY);
    cr_assert(send_post(&own[0], "n"));
    rli_pipeline_drop(pipelines.plain);
    assert_told(&own[0], RLI_DISCONNECTED);
    connect_pipeline();
    cr_assert(send_post(&own[1], "n"));
    rli_pipeline_close(pipelines.plain);
    assert_told(&own[1], RLI_ABANDONED);
}

/* --- many --- */

static post *many;

/* Those that are refused, because too many are unanswered, once more when they are fewer. */
static rlock_status send_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < MANY; i++) {
        while (!send_post(&many[i], "n"))
            rli_pipeline_collect(pipelines.plain, rli_after_ms(10));
    }
    return RLOCK_OK;
}

static void assert_many_in_order(void)
{
    for (int i = 0; i < MANY; i++) {
        assert_told(&many[i], RLI_ANSWERED);
        cr_assert(many[i].number == i + 1);
    }
    free(many);
}

Test(posted, in_great_number_are_all_answered_in_their_order)
{
    many = calloc(MANY, sizeof *many);
    connect_pipeline();
    assert_ok(send_many(NULL));
    collect();
    assert_many_in_order();
}

/* Who waits for an answer does not wait for those to any number of others. */
Test(posted, is_refused_while_very_many_are_unanswered)
{
    static post own[1000];
    int sent = 0;
    connect_pipeline();
    int rule = rule_for_incr(PROXY_HOLD_REPLY);
    while (sent < 1000 && send_post(&own[sent], "n"))
        sent++;
    assert_between(sent, 10, 200);
    proxy_release(pipelines.proxy, rule);
    collect();
    cr_assert(send_post(&own[sent], "n"));
    collect();
    for (int i = 0; i <= sent; i++)
        assert_told(&own[i], RLI_ANSWERED);
}

#define LONG 1000000
#define MANY_LONG 60 /* more than the system's buffers hold, whose sizes differ from machine to machine */

/* Requests of which so many are sent that one has to wait. */
typedef struct long_posts {
    atomic_bool enough;
    int count;
    post own[MANY_LONG];
} long_posts;

static rlock_status send_long(void *arg)
{
    static char key[LONG + 1];
    long_posts *posts = arg;
    memset(key, 'k', LONG);
    while (!atomic_load(&posts->enough) && posts->count < MANY_LONG) {
        if (!send_post(&posts->own[posts->count++], key))
            return RLOCK_UNAVAILABLE;
    }
    return RLOCK_OK;
}

/* The server reads nothing for a while. */
Test(posted, waits_for_room_to_be_sent)
{
    static long_posts posts;
    actor *poster = actor_start();
    connect_pipeline();
    proxy_pass(pipelines.proxy, false, true);
    actor_begin(poster, send_long, &posts);
    cr_assert(actor_asleep(poster, SOON_MS), "%d megabytes wait in no buffer", posts.count);
    atomic_store(&posts.enough, true);
    proxy_pass(pipelines.proxy, true, true);
    assert_ok(actor_finish(poster, SOON_MS));
    collect();
    for (int i = 0; i < posts.count; i++)
        assert_told(&posts.own[i], RLI_ANSWERED);
    actor_end(poster);
}

#define EACH 45

static rlock_status send_each(void *posts)
{
    post *own = posts;
    for (int i = 0; i < EACH; i++) {
        if (!send_post(&own[i], "n"))
            return RLOCK_UNAVAILABLE;
    }
    return RLOCK_OK;
}

/* Who finds another thread sending leaves it to that one; for the answer to either, nobody waits. */
Test(posted, by_two_threads_at_a_time_waits_for_nothing)
{
    static post own[2][EACH];
    actor *posters[2] = {actor_start(), actor_start()};
    connect_pipeline();
    for (int round = 0; round < 300; round++) {
        int rule = rule_for_incr(PROXY_HOLD_REPLY);
        for (int i = 0; i < 2; i++)
            actor_begin(posters[i], send_each, own[i]);
        for (int i = 0; i < 2; i++)
            assert_ok(actor_finish(posters[i], SOON_MS));
        for (int i = 0; i < 2 * EACH; i++)
            cr_assert(event_count(&own[i / EACH][i % EACH].told) == 0, "somebody has read on the connection");
        proxy_release(pipelines.proxy, rule);
        collect();
        for (int i = 0; i < 2 * EACH; i++)
            assert_told(&own[i / EACH][i % EACH], RLI_ANSWERED);
    }
    for (int i = 0; i < 2; i++)
        actor_end(posters[i]);
}

/* --- with others that wait --- */

static rlock_status ask_often(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        pipeline_call call = pipeline_ask(pipelines.plain, "INCR", arg, NULL);
        assert_answered(&call, call.text);
        if (strtoll(call.text, NULL, 10) != i + 1)
            return RLOCK_SERVER;
    }
    return RLOCK_OK;
}

/* Each answer goes to whom it belongs. */
Test(posted, mixes_with_requests_of_many_threads)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f"};
    actor *others[6];
    many = calloc(MANY, sizeof *many);
    connect_pipeline();
    for (int i = 0; i < 6; i++) {
        others[i] = actor_start();
        actor_begin(others[i], ask_often, (void *)(uintptr_t)keys[i]);
    }
    assert_ok(send_many(NULL));
    for (int i = 0; i < 6; i++) {
        assert_ok(actor_finish(others[i], 30000));
        actor_end(others[i]);
    }
    collect();
    assert_many_in_order();
}

/* The scene of pipelines: a master with its replicas, the proxy before it, and pipelines that the test drives. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"
#include "tests/fault/support/pipelines.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No machine that stands still for a while is taken for a server that is silent. */
#define PATIENT_MS 20000

struct pipelines pipelines;

static void open_pipelines(int timeout_ms, int sync_timeout_ms)
{
    char url[256];
    snprintf(url, sizeof url, "unix://%s?timeout=%d", proxy_socket(pipelines.proxy), timeout_ms);
    rlock_config config;
    rlock_config_init(&config);
    config.address = url;
    assert_ok(rli_settings_make(&pipelines.settings, &config));
    pipelines.settings.sync_timeout_ms = sync_timeout_ms;
    assert_ok(rli_pool_init(&pipelines.pool, &pipelines.settings, &pipelines.settings.addresses[0]));
    pipelines.plain = &pipelines.pool.pipelines[0];
    rli_pipeline_init_synced(&pipelines.synced, &pipelines.settings, &pipelines.settings.addresses[0], &pipelines.replicas);
}

static void close_pipelines(void)
{
    rli_pool_close(&pipelines.pool);
    rli_pipeline_close(&pipelines.synced);
    rli_pool_destroy(&pipelines.pool);
    rli_pipeline_destroy(&pipelines.synced);
    rli_settings_free(&pipelines.settings);
}

/* Calls belong to a client, whose own connections are of no account here: they go past the proxy. */
static void open_scene(void)
{
    pipelines.proxy = proxy_start(pipelines.master); /* before there are threads: it forks */
    stage.server = pipelines.master;
    stage.client = stage_client(NULL);
    open_pipelines(PATIENT_MS, PATIENT_MS);
}

/* A replica that has all data is heard of by its master a second later, when it first acknowledges it. */
static void await_confirmation(int replicas)
{
    if (!server_knows(pipelines.master, "WAIT"))
        return;
    freeReplyObject(server_command(pipelines.master, "PUBLISH nobody hears"));
    cr_assert(server_integer(pipelines.master, "WAIT %d 10000", replicas) == replicas, "the replicas confirm nothing");
    freeReplyObject(server_command(pipelines.master, "CONFIG RESETSTAT"));
}

void pipelines_open(int replicas, const char *const *args)
{
    pipelines.fleet = fleet_start(replicas, args);
    pipelines.master = fleet_node(pipelines.fleet, 0);
    if (replicas > 0)
        await_confirmation(replicas);
    atomic_init(&pipelines.replicas, replicas);
    open_scene();
}

void pipelines_open_at(server *at)
{
    pipelines.master = at;
    open_scene();
}

void pipelines_time_out(void)
{
    close_pipelines();
    open_pipelines(PIPELINE_TIMEOUT_MS, PIPELINE_SYNC_MS);
}

void pipelines_close(void)
{
    close_pipelines();
    proxy_stop(pipelines.proxy);
    stage.server = NULL; /* the fleet's, or the test's own */
    stage_close();
    fleet_stop(pipelines.fleet);
    memset(&pipelines, 0, sizeof pipelines);
}

static void show(redisReply *reply, char text[128])
{
    if (reply->type == REDIS_REPLY_INTEGER)
        snprintf(text, 128, "%lld", reply->integer);
    else
        snprintf(text, 128, "%.127s", reply->str ? reply->str : "nothing");
    freeReplyObject(reply);
}

rlock_status pipeline_run(void *arg)
{
    pipeline_call *call = arg;
    size_t lengths[8], count = 0;
    for (; call->words[count]; count++)
        lengths[count] = strlen(call->words[count]);
    rli_command command = {.count = count, .words = call->words, .lengths = lengths, .asking = call->asking,
                           .unsynced = call->unsynced};
    rli_operation caller;
    int64_t since_ms = now_ms();
    assert_ok(rli_operation_begin(&caller, &stage.client->gate, NULL));
    if (call->limit_ms)
        caller.deadline_ms = rli_after_ms(call->limit_ms);
    call->outcome = rli_pipeline_call(call->pipeline, &caller, &command, pipelines.settings.timeout_ms, &call->answer);
    call->took_ms = now_ms() - since_ms;
    if (call->outcome == RLI_ANSWERED)
        show(call->answer.reply, call->text);
    call->answer.reply = NULL;
    rli_operation_end(&caller);
    return call->answer.status;
}

pipeline_call pipeline_ask(rli_pipeline *pipeline, const char *word, ...)
{
    pipeline_call call = {.pipeline = pipeline, .words = {word}};
    va_list more;
    va_start(more, word);
    for (size_t i = 1; i < 8 && (call.words[i] = va_arg(more, const char *)); i++)
        continue;
    va_end(more);
    pipeline_run(&call);
    return call;
}

const char *outcome_word(rli_outcome outcome)
{
    static const char *const words[] = {"ANSWERED", "UNSENT", "BROKEN", "SILENT", "GAVE_UP"};
    return words[outcome];
}

void assert_answered(const pipeline_call *call, const char *text)
{
    cr_assert(call->outcome == RLI_ANSWERED, "%s: %s: %s", call->words[0], outcome_word(call->outcome),
              rlock_last_error());
    cr_assert_str_eq(call->text, text, "%s: \"%s\" instead of \"%s\"", call->words[0], call->text, text);
}

void assert_synced(const pipeline_call *call, const char *text, int synced)
{
    assert_answered(call, text);
    cr_assert(call->answer.synced == synced, "%s: synced is %d instead of %d", call->words[0], call->answer.synced,
              synced);
}

int64_t pipelines_number(const char *key)
{
    char *text = server_text(pipelines.master, "GET %s", key);
    int64_t number = text ? strtoll(text, NULL, 10) : 0;
    free(text);
    return number;
}

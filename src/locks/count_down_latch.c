/* Count-down latch: closed while it has a count, open at 0. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/count_down_latch.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "locks/object.h"
#include "net/reply.h"

#include <string.h>

struct rlock_count_down_latch {
    rli_object object;
};

static const rli_naming naming = {
    .what = "latch",
    .channel_prefix = "redisson_countdownlatch__channel__",
    .braces_always = true,
};

static const rli_object *object_of(const rlock_count_down_latch *latch)
{
    return latch ? &latch->object : NULL;
}

static rlock_status check(const rlock_count_down_latch *latch)
{
    return rli_object_check(object_of(latch), "latch");
}

/* In the channel's name, Redisson adds braces even if the name contains some. In a cluster with sharded
 * pub/sub, a script can only publish to a channel in the slot of its key. */
static bool keeps_together(const rli_object *object)
{
    char shown[RLI_NAME_SHOWN];
    if (!memchr(object->names.name, '{', object->names.length) ||
        atomic_load(&object->client->topology.pubsub_mode) != RLI_SHARDED)
        return true;
    rli_fail(RLOCK_INVALID,
             "the %s's name \"%s\" would have its channel in another slot of the cluster "
             "than its key: leave { and } out of it, or set shardedSubscriptionMode to OFF everywhere",
             naming.what, rli_show_name(object->names.name, shown));
    return false;
}

rlock_count_down_latch *rlock_get_count_down_latch(rlock_client *client, const char *name)
{
    rlock_count_down_latch *latch = rli_object_new(sizeof *latch, client, name, &naming);
    if (latch && !keeps_together(&latch->object)) {
        rli_object_free(&latch->object);
        return NULL;
    }
    return latch;
}

void rlock_count_down_latch_free(rlock_count_down_latch *latch)
{
    rli_object_free(latch ? &latch->object : NULL);
}

const char *rlock_count_down_latch_name(const rlock_count_down_latch *latch)
{
    return rli_object_name(object_of(latch));
}

static void start(rli_call *call, const rli_object *object, const rli_script *script)
{
    rli_call_script(call, script, 1);
    rli_call_add(call, object->names.name, object->names.length);
}

/* --- counting --- */

rlock_status rlock_count_down_latch_try_set_count(rlock_count_down_latch *latch, int64_t count, bool *set)
{
    rlock_status status = check(latch);
    if (status == RLOCK_OK && count < 0)
        status = rli_fail(RLOCK_INVALID, "a count of %lld; it must not be below 0", (long long)count);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, &latch->object, &rli_script_count_down_latch_set);
    rli_call_add_number(&call, count);
    rli_call_add(&call, latch->object.names.channel, latch->object.names.channel_length);
    call.once = true;
    return rli_object_ask_flag(&latch->object, &call, set);
}

/* Runs a change that publishes and must not be repeated. */
static rlock_status change(rlock_count_down_latch *latch, const rli_script *script, bool *changed)
{
    rlock_status status = check(latch);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, &latch->object, script);
    rli_call_add(&call, latch->object.names.channel, latch->object.names.channel_length);
    call.once = true;
    return rli_object_ask_flag(&latch->object, &call, changed);
}

rlock_status rlock_count_down_latch_count_down(rlock_count_down_latch *latch)
{
    return change(latch, &rli_script_count_down_latch_count_down, NULL);
}

rlock_status rlock_count_down_latch_delete(rlock_count_down_latch *latch, bool *deleted)
{
    return change(latch, &rli_script_count_down_latch_delete, deleted);
}

/* --- asking and waiting --- */

static rlock_status read_state(const rli_object *object, const redisReply *reply, int64_t *count, int64_t *ttl_ms)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || !rli_reply_integer(reply->element[0], count) ||
        !rli_reply_integer(reply->element[1], ttl_ms))
        return rli_reply_unexpected(reply, object->names.name);
    return RLOCK_OK;
}

rlock_status rlock_count_down_latch_get_count(rlock_count_down_latch *latch, int64_t *answer)
{
    rlock_status status = rli_object_check_place(object_of(latch), "latch", answer, "the count");
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    int64_t count = 0, ttl_ms;
    start(&call, &latch->object, &rli_script_count_down_latch_state);
    status = rli_object_run(&latch->object, &call);
    if (status == RLOCK_OK)
        status = read_state(&latch->object, call.reply, &count, &ttl_ms);
    if (status == RLOCK_OK)
        *answer = count;
    rli_call_clear(&call);
    return status;
}

static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    rli_waiting *waiting = (rli_waiting *)(void *)wait;
    const rli_object *object = waiting->object;
    int64_t count = 0, ttl_ms = -1;
    rli_call call;
    start(&call, object, &rli_script_count_down_latch_state);
    rli_wait_limit_request(wait, waiting->wait_ms, 0);
    rlock_status status = rli_call_run(&call, waiting->wait.topology, &waiting->op, NULL);
    if (status == RLOCK_OK)
        status = read_state(object, call.reply, &count, &ttl_ms);
    rli_call_clear(&call);
    char shown[RLI_NAME_SHOWN];
    /* No message is published when the counter's TTL ends. */
    *again_ms = ttl_ms >= 0 && ttl_ms < RLI_NEVER ? rli_after_ms(ttl_ms + 1) : RLI_NEVER;
    if (status == RLOCK_OK && count > 0)
        status = rli_fail(RLOCK_TIMEOUT, "latch \"%s\" is closed, with a count of %lld",
                          rli_show_name(object->names.name, shown), (long long)count);
    return status;
}

static rlock_status await(rlock_count_down_latch *latch, int64_t wait_ms, rlock_cancel *cancel)
{
    rlock_status status = check(latch);
    rli_waiting waiting = {.wait.ask = ask};
    return status == RLOCK_OK ? rli_object_wait(&waiting, &latch->object, wait_ms, cancel) : status;
}

rlock_status rlock_count_down_latch_await(rlock_count_down_latch *latch)
{
    return await(latch, RLOCK_FOREVER, NULL);
}

rlock_status rlock_count_down_latch_try_await(rlock_count_down_latch *latch, int64_t wait_ms)
{
    return await(latch, wait_ms, NULL);
}

rlock_status rlock_count_down_latch_await_with(rlock_count_down_latch *latch, const rlock_await_options *options)
{
    static const rli_sized sized = RLI_SIZED(rlock_await_options, cancel, "options", "RLOCK_AWAIT_OPTIONS_INIT");
    rlock_await_options full = RLOCK_AWAIT_OPTIONS_INIT;
    rlock_status status = check(latch);
    if (status == RLOCK_OK)
        status = rli_sized_read(&full, options, &sized);
    return status == RLOCK_OK ? await(latch, full.wait_ms, full.cancel) : status;
}

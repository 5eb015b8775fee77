/* Count-down latch: closed while it has a count, open at 0. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"
#include "locks/object_call.h"
#include "locks/object_wait.h"
#include "net/reply.h"

#include <rlock/async.h>
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
        rli_object_unref(&latch->object);
        return NULL;
    }
    return latch;
}

void rlock_count_down_latch_free(rlock_count_down_latch *latch)
{
    rli_object_unref(latch ? &latch->object : NULL);
}

rlock_object *rlock_count_down_latch_object(rlock_count_down_latch *latch)
{
    return latch ? &latch->object : NULL;
}

const char *rlock_count_down_latch_name(const rlock_count_down_latch *latch)
{
    return rli_object_name(object_of(latch));
}

static void put(rli_call *call, const rli_object_call *asked)
{
    const rli_names *names = &asked->object->names;
    rli_call_script(call, asked->script, 1);
    rli_call_add(call, names->name, names->length);
    rli_object_put_numbers(call, asked);
    if (asked->publishes)
        rli_call_add(call, names->channel, names->channel_length);
}

/* --- counting --- */

static rlock_status prepare_set(rli_object_call *asked, rlock_count_down_latch *latch, int64_t count)
{
    rlock_status status = check(latch);
    if (status == RLOCK_OK && count < 0)
        status = rli_fail(RLOCK_INVALID, "the count is %lld; it must not be negative", (long long)count);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &latch->object,
                               .script = &rli_script_count_down_latch_set,
                               .put = put,
                               .read = rli_object_read_flag,
                               .once = true,
                               .publishes = true,
                               .numbers = {count},
                               .number_count = 1};
    return RLOCK_OK;
}

static rlock_status prepare_count_down(rli_object_call *asked, rlock_count_down_latch *latch)
{
    rlock_status status = check(latch);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &latch->object,
                               .script = &rli_script_count_down_latch_count_down,
                               .put = put,
                               .read = rli_object_read_nothing,
                               .once = true,
                               .publishes = true};
    return RLOCK_OK;
}

static rlock_status prepare_delete(rli_object_call *asked, rlock_count_down_latch *latch)
{
    rlock_status status = check(latch);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = &latch->object,
                               .script = &rli_script_count_down_latch_delete,
                               .put = put,
                               .read = rli_object_read_flag,
                               .once = true,
                               .publishes = true};
    return RLOCK_OK;
}

rlock_status rlock_count_down_latch_try_set_count(rlock_count_down_latch *latch, int64_t count, bool *set)
{
    rli_object_call asked;
    rlock_status status = prepare_set(&asked, latch, count);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, set) : status;
}

rlock_status rlock_count_down_latch_try_set_count_async(rlock_count_down_latch *latch, int64_t count,
                                                        rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_set(&asked, latch, count);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_count_down_latch_count_down(rlock_count_down_latch *latch)
{
    rli_object_call asked;
    rlock_status status = prepare_count_down(&asked, latch);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_count_down_latch_count_down_async(rlock_count_down_latch *latch, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_count_down(&asked, latch);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_count_down_latch_delete(rlock_count_down_latch *latch, bool *deleted)
{
    rli_object_call asked;
    rlock_status status = prepare_delete(&asked, latch);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, deleted) : status;
}

rlock_status rlock_count_down_latch_delete_async(rlock_count_down_latch *latch, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_delete(&asked, latch);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

/* --- asking and waiting --- */

static rlock_status read_state(const rli_object *object, const redisReply *reply, int64_t *count, int64_t *ttl_ms)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || !rli_reply_integer(reply->element[0], count) ||
        !rli_reply_integer(reply->element[1], ttl_ms))
        return rli_reply_unexpected(reply, object->names.name);
    return RLOCK_OK;
}

static rlock_status read_count(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t count = 0, ttl_ms;
    rlock_status status = read_state(asked->object, call->reply, &count, &ttl_ms);
    if (status == RLOCK_OK)
        *answer = count;
    return status;
}

static rli_object_call state_of(rli_object *object)
{
    return (rli_object_call){
        .object = object, .script = &rli_script_count_down_latch_state, .put = put, .read = read_count};
}

rlock_status rlock_count_down_latch_get_count(rlock_count_down_latch *latch, int64_t *answer)
{
    rlock_status status = rli_object_check_place(object_of(latch), "latch", answer, "the count");
    if (status != RLOCK_OK)
        return status;
    rli_object_call asked = state_of(&latch->object);
    return rli_object_call_run(&asked, answer);
}

rlock_status rlock_count_down_latch_get_count_async(rlock_count_down_latch *latch, rlock_result_fn *fn, void *arg)
{
    rlock_status status = check(latch);
    if (status != RLOCK_OK)
        return status;
    rli_object_call asked = state_of(&latch->object);
    return rli_object_call_async(&asked, fn, arg);
}

static rlock_status read_answer(rli_waiting *waiting, const redisReply *reply, int64_t *again_ms)
{
    int64_t ttl_ms = -1;
    rlock_status status = read_state(waiting->object, reply, &waiting->count, &ttl_ms);
    if (status != RLOCK_OK)
        return status;
    /* No message is published when the counter's TTL ends. */
    *again_ms = ttl_ms >= 0 && ttl_ms < RLI_NEVER ? rli_after_ms(ttl_ms + 1) : RLI_NEVER;
    return waiting->count > 0 ? RLOCK_TIMEOUT : RLOCK_OK;
}

static rlock_status denied(const rli_waiting *waiting)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_TIMEOUT, "latch \"%s\" is closed, with a count of %lld",
                    rli_show_name(waiting->object->names.name, shown), (long long)waiting->count);
}

static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    rli_waiting *waiting = (rli_waiting *)(void *)wait;
    bool begins;
    rli_call own, *call = rli_operation_frame(wait->op, &own, sizeof own, &begins);
    *again_ms = RLI_NEVER;
    if (!call)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (begins) {
        const rli_object_call state = state_of(waiting->object);
        put(call, &state);
        rli_wait_limit_request(wait, waiting->wait_ms, 0);
    }
    rlock_status status = rli_call_run(call, wait->topology, wait->op, NULL);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_OK)
        status = read_answer(waiting, call->reply, again_ms);
    rli_call_clear(call);
    rli_operation_end_frame(wait->op);
    return status;
}

static rlock_status await(rlock_count_down_latch *latch, int64_t wait_ms, rlock_cancel *cancel)
{
    rlock_status status = check(latch);
    if (status != RLOCK_OK)
        return status;
    rli_waiting waiting = {.wait.ask = ask, .denied = denied, .object = &latch->object, .wait_ms = wait_ms};
    return rli_object_wait(&waiting, cancel);
}

typedef struct async_awaiting {
    rli_async_waiting on; /* first */
    rli_waiting waiting;
} async_awaiting;

static rlock_status await_async(rlock_count_down_latch *latch, int64_t wait_ms, rlock_cancel *cancel,
                                rlock_result_fn *fn, void *arg)
{
    void *made;
    rlock_status status = check(latch);
    if (status == RLOCK_OK)
        status = rli_object_wait_new(&made, sizeof(async_awaiting), &latch->object, cancel, fn, arg);
    if (status != RLOCK_OK)
        return status;
    async_awaiting *self = made;
    self->waiting.wait.ask = ask;
    self->waiting.denied = denied;
    self->waiting.object = &latch->object;
    self->waiting.wait_ms = wait_ms;
    rli_object_wait_start(&self->on, &self->waiting);
    return RLOCK_OK;
}

rlock_status rlock_count_down_latch_await(rlock_count_down_latch *latch)
{
    return await(latch, RLOCK_FOREVER, NULL);
}

rlock_status rlock_count_down_latch_await_async(rlock_count_down_latch *latch, rlock_result_fn *fn, void *arg)
{
    return await_async(latch, RLOCK_FOREVER, NULL, fn, arg);
}

rlock_status rlock_count_down_latch_try_await(rlock_count_down_latch *latch, int64_t wait_ms)
{
    return await(latch, wait_ms, NULL);
}

rlock_status rlock_count_down_latch_try_await_async(rlock_count_down_latch *latch, int64_t wait_ms, rlock_result_fn *fn,
                                                    void *arg)
{
    return await_async(latch, wait_ms, NULL, fn, arg);
}

static rlock_status read_options(const rlock_count_down_latch *latch, const rlock_await_options *options,
                                 rlock_await_options *full)
{
    static const rli_sized sized = RLI_SIZED(rlock_await_options, cancel, "options", "RLOCK_AWAIT_OPTIONS_INIT");
    rlock_status status = check(latch);
    return status == RLOCK_OK ? rli_sized_read(full, options, &sized) : status;
}

rlock_status rlock_count_down_latch_await_with(rlock_count_down_latch *latch, const rlock_await_options *options)
{
    rlock_await_options full = RLOCK_AWAIT_OPTIONS_INIT;
    rlock_status status = read_options(latch, options, &full);
    return status == RLOCK_OK ? await(latch, full.wait_ms, full.cancel) : status;
}

rlock_status rlock_count_down_latch_await_with_async(rlock_count_down_latch *latch, const rlock_await_options *options,
                                                     rlock_result_fn *fn, void *arg)
{
    rlock_await_options full = RLOCK_AWAIT_OPTIONS_INIT;
    rlock_status status = read_options(latch, options, &full);
    return status == RLOCK_OK ? await_async(latch, full.wait_ms, full.cancel, fn, arg) : status;
}

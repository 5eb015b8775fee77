/* Permit acquire: takes permits under ids that are chosen here, so that a repeated request takes them only once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "engine/permit_id.h"
#include "engine/synced.h"
#include "locks/permit_semaphore.h"
#include "net/reply.h"

#include <stdio.h>

typedef struct acquiring {
    rli_waiting waiting; /* first, because the wait loop passes it to `ask` */
    int64_t lease_ms;
    rli_doubtful_permits *asked; /* the ids that are requested */
    /* How many requests for these ids were not answered and may have run, or may still run. */
    int unanswered;
} acquiring;

/* Frees the ids that were requested; if a request for them may still run, hands them to the background
 * release instead. */
static void give_up(acquiring *attempt)
{
    char message[512];
    snprintf(message, sizeof message, "%s", rlock_last_error());
    if (attempt->unanswered)
        rli_permits_in_doubt_add(&attempt->waiting.object->client->engine, attempt->asked, attempt->lease_ms,
                                 attempt->unanswered);
    else
        rli_doubtful_permits_free(attempt->asked);
    rli_fail_text(RLOCK_OK, message);
}

static rli_doubtful_permits *make_ids(const rli_object *object, int count, rlock_status *status)
{
    rli_doubtful_permits *ids = rli_doubtful_permits_make(&object->names, count);
    *status = ids ? rli_permit_ids_make(ids->ids, (size_t)count)
                  : rli_fail(RLOCK_NO_MEMORY, "out of memory for %d permits", count);
    if (*status == RLOCK_OK)
        return ids;
    rli_doubtful_permits_free(ids);
    return NULL;
}

/* The permits are taken, but an unanswered request for them may still run: after the program has released
 * them, it would take them again, for nobody. So they get new ids, and the old ids stay in doubt. */
static rlock_status replace(acquiring *attempt)
{
    const rli_object *object = attempt->waiting.object;
    rlock_status status;
    int count = attempt->asked->count;
    size_t length = (size_t)count * RLI_PERMIT_ID;
    rli_doubtful_permits *fresh = make_ids(object, count, &status);
    if (!fresh)
        return status;
    rli_call call;
    rli_call_script(&call, &rli_script_permit_semaphore_replace, 1);
    rli_call_add(&call, object->names.keys[0], object->names.key_lengths[0]);
    rli_call_add_number(&call, count);
    rli_call_add(&call, attempt->asked->ids, length);
    rli_call_add(&call, fresh->ids, length);
    /* A copy that runs late, after the late acquire, would leave permits under the new ids. */
    call.once = true;
    status = rli_call_run(&call, attempt->waiting.wait.topology, &attempt->waiting.op, NULL);
    rli_call_clear(&call);
    if (status != RLOCK_OK)
        attempt->unanswered++; /* the permits that were granted are in doubt, too */
    give_up(attempt);
    attempt->asked = fresh;
    attempt->unanswered = call.unanswered;
    /* Whatever was granted is released in the background, under the old or the new ids. */
    if (status == RLOCK_UNKNOWN && (status = rli_operation_check(&attempt->waiting.op)) == RLOCK_OK)
        status = rli_fail(RLOCK_UNAVAILABLE, "Redis did not answer in time; what it granted is given back");
    return status;
}

static rlock_status read_answer(acquiring *attempt, const redisReply *reply, int64_t *again_ms)
{
    const rli_names *names = &attempt->waiting.object->names;
    char shown[RLI_NAME_SHOWN];
    int64_t nearest_ms;
    if (rli_reply_is_nil(reply))
        return attempt->unanswered ? replace(attempt) : RLOCK_OK;
    if (!rli_reply_integer(reply, &nearest_ms))
        return rli_reply_unexpected(reply, names->name);
    if (nearest_ms >= 0)
        *again_ms = rli_after_ms(nearest_ms > 0 ? nearest_ms : 1);
    return rli_fail(RLOCK_TIMEOUT,
                    "semaphore \"%s\" does not have %d permit%s available; if nobody has made it yet, "
                    "rlock_permit_semaphore_try_set_permits() does",
                    rli_show_name(names->name, shown), attempt->asked->count, attempt->asked->count == 1 ? "" : "s");
}

static void put(rli_call *call, const void *what)
{
    const acquiring *attempt = what;
    rli_permit_call(call, &attempt->waiting.object->names, &rli_script_permit_semaphore_acquire);
    rli_call_add_number(call, attempt->asked->count);
    rli_call_add_number(call, attempt->lease_ms);
    rli_call_add(call, attempt->asked->ids, (size_t)attempt->asked->count * RLI_PERMIT_ID);
}

static bool is_grant(const redisReply *reply, const void *what)
{
    (void)what;
    return rli_reply_is_nil(reply);
}

static void take_back(rli_call *call, const void *what)
{
    const acquiring *attempt = what;
    rli_permit_call(call, &attempt->waiting.object->names, &rli_script_permit_semaphore_undo);
    rli_call_add_number(call, attempt->asked->count);
    rli_call_add(call, attempt->asked->ids, (size_t)attempt->asked->count * RLI_PERMIT_ID);
}

static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    acquiring *attempt = (acquiring *)(void *)wait;
    const rli_object *object = attempt->waiting.object;
    rli_call call;
    *again_ms = RLI_NEVER;
    const rli_grantable grantable = {.ask = put, .granted = is_grant, .take_back = take_back, .what = attempt};
    rli_operation *op = &attempt->waiting.op;
    rli_wait_limit_request(wait, attempt->waiting.wait_ms,
                           rli_synced_patience_ms(wait->topology, object->names.name, object->names.length));
    rli_synced synced;
    rli_synced_begin(&synced);
    rlock_status status = rli_synced_run(&synced, &grantable, &call, wait->topology, op, NULL);
    attempt->unanswered += call.unanswered;
    if (status == RLOCK_OK)
        status = read_answer(attempt, call.reply, again_ms);
    rli_call_clear(&call);
    return status;
}

rlock_status rli_permits_acquire(const rli_object *object, int count, const rlock_permit_options *options,
                                 rlock_permit *permits)
{
    rlock_status status;
    acquiring attempt = {
        .waiting = {.wait.ask = ask, .object = object},
        .lease_ms = options->lease_ms,
        .asked = make_ids(object, count, &status),
    };
    if (!attempt.asked)
        return status;
    status = rli_object_wait(&attempt.waiting, object, options->wait_ms, options->cancel);
    if (status != RLOCK_OK) {
        give_up(&attempt);
        return status;
    }
    for (int i = 0; i < count; i++)
        rli_permit_id_show(attempt.asked->ids + i * RLI_PERMIT_ID, permits[i].id);
    rli_doubtful_permits_free(attempt.asked);
    return RLOCK_OK;
}

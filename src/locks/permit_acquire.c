/* Permit acquire: takes permits under ids that are chosen here, so that a repeated request takes them only once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "engine/permit_id.h"
#include "engine/synced.h"
#include "locks/object_wait.h"
#include "locks/permit_semaphore.h"
#include "net/reply.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct acquiring {
    rli_waiting waiting;         /* first, because the wait loop passes it to `ask` */
    int64_t lease_ms;            /* as it is sent */
    rli_renewed_permit *renewed; /* for as many permits, which the watchdog renews then; NULL: it does not */
    int64_t sent_ms;             /* when the request was sent that was granted */
    rli_doubtful_permits *asked; /* the ids that are requested */
    rlock_permit *permits;       /* where to write the ids */
    /* How many requests for these ids were not answered and may have run, or may still run. */
    int unanswered;
    bool must_exist;
} acquiring;

#define MISSING (-2) /* the answer when there is no such semaphore */

static rli_engine *engine_of(const acquiring *attempt)
{
    return &attempt->waiting.object->client->engine;
}

/* Frees the ids that were requested; if a request for them may still run, hands them to the background
 * release instead. */
static void give_up(acquiring *attempt)
{
    char message[512];
    snprintf(message, sizeof message, "%s", rlock_last_error());
    if (attempt->unanswered)
        rli_permits_in_doubt_add(engine_of(attempt), attempt->asked, attempt->lease_ms, attempt->unanswered);
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

static rlock_status read_denial(acquiring *attempt, const redisReply *reply, int64_t *again_ms)
{
    int64_t nearest_ms;
    if (!rli_reply_integer(reply, &nearest_ms))
        return rli_reply_unexpected(reply, attempt->waiting.object->names.name);
    attempt->waiting.count = nearest_ms;
    if (nearest_ms == MISSING && attempt->must_exist)
        return rli_object_wait_missing(&attempt->waiting, RLOCK_INVALID, "rlock_permit_semaphore_try_set_permits()");
    attempt->waiting.was_there |= nearest_ms != MISSING;
    if (nearest_ms >= 0)
        *again_ms = rli_after_ms(nearest_ms > 0 ? nearest_ms : 1);
    return RLOCK_TIMEOUT;
}

static rlock_status denied(const rli_waiting *waiting)
{
    int count = ((const acquiring *)(const void *)waiting)->asked->count;
    char shown[RLI_NAME_SHOWN];
    if (waiting->count == MISSING)
        return rli_object_wait_missing(waiting, RLOCK_TIMEOUT, "rlock_permit_semaphore_try_set_permits()");
    return rli_fail(RLOCK_TIMEOUT, "semaphore \"%s\" does not have %d permit%s available",
                    rli_show_name(waiting->object->names.name, shown), count, count == 1 ? "" : "s");
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

/* The state of one request under way. */
typedef struct ask_frame {
    rli_grantable grantable;
    rli_doubtful_permits *fresh; /* the permits are being replaced by these; NULL: they are being requested */
    rli_synced synced;
    rli_call call;
} ask_frame;

/* The permits are taken, but an unanswered request for them may still run: after the program has released
 * them, it would take them again, for nobody. So they get new ids, and the old ids stay in doubt. */
static rlock_status begin_replacing(acquiring *attempt, ask_frame *asking)
{
    const rli_object *object = attempt->waiting.object;
    rli_call *call = &asking->call;
    rlock_status status;
    int count = attempt->asked->count;
    size_t length = (size_t)count * RLI_PERMIT_ID;
    asking->fresh = make_ids(object, count, &status);
    if (!asking->fresh)
        return status;
    rli_call_clear(call);
    rli_call_script(call, &rli_script_permit_semaphore_replace, 1);
    rli_call_add(call, object->names.keys[0], object->names.key_lengths[0]);
    rli_call_add_number(call, count);
    rli_call_add(call, attempt->asked->ids, length);
    rli_call_add(call, asking->fresh->ids, length);
    /* A copy that runs late, after the late acquire, would leave permits under the new ids. */
    call->once = true;
    call->synced = true;
    return RLOCK_OK;
}

/* A new master may then have the permits under their old ids, which are released in the background. */
static rlock_status check_confirmed(const acquiring *attempt, const rli_call *call)
{
    const rli_settings *settings = attempt->waiting.wait.topology->settings;
    if (!call->unconfirmed || !settings->check_synced)
        return RLOCK_OK;
    return rli_fail(RLOCK_NOT_SYNCED,
                    "no replica confirmed the new ids of permits within %lld ms, so they are released in the "
                    "background; check that the replicas keep up with their master",
                    (long long)settings->sync_timeout_ms);
}

/* Goes on with replacing them. */
static rlock_status replace(acquiring *attempt, ask_frame *asking)
{
    const rli_wait *wait = &attempt->waiting.wait;
    rlock_status status = rli_call_run(&asking->call, wait->topology, wait->op, NULL);
    if (status == RLI_WAITING)
        return status;
    if (status == RLOCK_OK)
        status = check_confirmed(attempt, &asking->call);
    if (status != RLOCK_OK)
        attempt->unanswered++; /* the permits that were granted are in doubt, too */
    give_up(attempt);
    attempt->asked = asking->fresh;
    attempt->unanswered = asking->call.unanswered + (status == RLOCK_NOT_SYNCED);
    /* Whatever was granted is released in the background, under the old or the new ids. */
    if (status == RLOCK_UNKNOWN && (status = rli_operation_check(wait->op)) == RLOCK_OK)
        status = rli_fail(RLOCK_UNAVAILABLE, "Redis did not answer in time; permits that it granted are released in "
                                             "the background");
    return status;
}

static void begin_request(acquiring *attempt, ask_frame *asking)
{
    const rli_wait *wait = &attempt->waiting.wait;
    const rli_names *names = &attempt->waiting.object->names;
    asking->grantable = (rli_grantable){.ask = put, .granted = is_grant, .take_back = take_back, .what = attempt};
    asking->fresh = NULL;
    rli_wait_limit_request(wait, attempt->waiting.wait_ms,
                           rli_synced_patience_ms(wait->topology, names->name, names->length));
    rli_synced_begin(&asking->synced);
}

/* Goes on with requesting them. */
static rlock_status request(acquiring *attempt, ask_frame *asking, int64_t *again_ms)
{
    const rli_wait *wait = &attempt->waiting.wait;
    rlock_status status = rli_synced_run(&asking->synced, &asking->grantable, &asking->call, wait->topology, wait->op,
                                         NULL);
    if (status == RLI_WAITING)
        return status;
    attempt->unanswered += asking->call.unanswered;
    if (status != RLOCK_OK)
        return status;
    if (!rli_reply_is_nil(asking->call.reply))
        return read_denial(attempt, asking->call.reply, again_ms);
    attempt->sent_ms = asking->call.sent_ms;
    return attempt->unanswered ? begin_replacing(attempt, asking) : RLOCK_OK;
}

static rlock_status ask(rli_wait *wait, int64_t *again_ms)
{
    acquiring *attempt = (acquiring *)(void *)wait;
    bool begins;
    ask_frame own, *asking = rli_operation_frame(wait->op, &own, sizeof own, &begins);
    *again_ms = RLI_NEVER;
    if (!asking)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (begins)
        begin_request(attempt, asking);
    rlock_status status = asking->fresh ? RLOCK_OK : request(attempt, asking, again_ms);
    if (status == RLOCK_OK && asking->fresh)
        status = replace(attempt, asking);
    if (status == RLI_WAITING)
        return status;
    rli_call_clear(&asking->call);
    rli_operation_end_frame(wait->op);
    return status;
}

/* The wait has ended. */
static void end(rli_waiting *waiting, rlock_status status)
{
    acquiring *attempt = (acquiring *)(void *)waiting;
    if (attempt->renewed && status == RLOCK_OK)
        rli_renewed_permits_begin(engine_of(attempt), attempt->renewed, attempt->asked->ids, attempt->sent_ms);
    else if (attempt->renewed)
        rli_renewed_permits_drop(engine_of(attempt), attempt->renewed);
    if (status != RLOCK_OK) {
        give_up(attempt);
        return;
    }
    for (int i = 0; i < attempt->asked->count; i++)
        rli_permit_id_show(attempt->asked->ids + i * RLI_PERMIT_ID, attempt->permits[i].id);
    rli_doubtful_permits_free(attempt->asked);
}

/* Frees what `prepare` has made. */
static void discard(acquiring *attempt)
{
    if (attempt->renewed)
        rli_renewed_permits_drop(engine_of(attempt), attempt->renewed);
    rli_doubtful_permits_free(attempt->asked);
}

static rlock_status prepare(acquiring *attempt, rli_object *object, int count, const rlock_permit_options *options)
{
    rli_engine *engine = &object->client->engine;
    rlock_status status;
    bool renews = options->lease_ms == RLOCK_PERMIT_WATCHDOG;
    *attempt = (acquiring){
        .waiting = {.wait.ask = ask, .denied = denied, .object = object, .wait_ms = options->wait_ms, .end = end},
        .lease_ms = renews ? engine->settings->watchdog_timeout_ms : options->lease_ms,
        .must_exist = options->must_exist != 0,
        .asked = make_ids(object, count, &status),
    };
    if (status == RLOCK_OK && renews)
        status = rli_renewed_permits_make(engine, &object->names, count, &attempt->renewed);
    if (status != RLOCK_OK)
        discard(attempt);
    return status;
}

rlock_status rli_permits_acquire(rli_object *object, int count, const rlock_permit_options *options,
                                 rlock_permit *permits)
{
    acquiring attempt;
    rlock_status status = prepare(&attempt, object, count, options);
    attempt.permits = permits;
    return status == RLOCK_OK ? rli_object_wait(&attempt.waiting, options->cancel) : status;
}

typedef struct async_acquiring {
    rli_async_waiting on; /* first */
    acquiring attempt;
    rlock_permit permits[]; /* of the result */
} async_acquiring;

rlock_status rli_permits_acquire_async(rli_object *object, int count, const rlock_permit_options *options,
                                       rlock_result_fn *fn, void *arg)
{
    acquiring attempt;
    void *made;
    rlock_status status = prepare(&attempt, object, count, options);
    if (status != RLOCK_OK)
        return status;
    size_t size = sizeof(async_acquiring) + (size_t)count * sizeof(rlock_permit);
    status = rli_object_wait_new(&made, size, object, options->cancel, fn, arg);
    if (status != RLOCK_OK) {
        discard(&attempt);
        return status;
    }
    async_acquiring *self = made;
    self->attempt = attempt; /* nothing of it is under way yet */
    self->attempt.permits = self->permits;
    self->on.async.permits = self->permits;
    self->on.async.permit_count = count;
    rli_object_wait_start(&self->on, &self->attempt.waiting);
    return RLOCK_OK;
}

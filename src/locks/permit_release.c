/* Permit release: releases permits, and reads and sets their leases. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"
#include "engine/permit_id.h"
#include "locks/permit_semaphore.h"

#include <rlock/async.h>
#include <stdlib.h>

/* The id, then the numbers. */
static void put_id(rli_call *call, const rli_object_call *asked)
{
    rli_permit_call(call, &asked->object->names, asked->script);
    rli_call_add(call, asked->id, sizeof asked->id);
    rli_object_put_numbers(call, asked);
}

/* Their number, then the ids. */
static void put_ids(rli_call *call, const rli_object_call *asked)
{
    rli_permit_call(call, &asked->object->names, asked->script);
    rli_object_put_numbers(call, asked);
    rli_call_add(call, asked->ids, (size_t)asked->numbers[0] * RLI_PERMIT_ID);
}

/* --- one permit --- */

/* Format for an id of any length in a message. */
#define ID_SHOWN "%.40s"

static rlock_status read_id(const char *text, char id[RLI_PERMIT_ID])
{
    if (!text)
        return rli_fail(RLOCK_INVALID, "the permit id is NULL");
    if (!rli_permit_id_read(text, id))
        return rli_fail(RLOCK_INVALID, "\"" ID_SHOWN "\" is not a permit id, which has 32 hex digits", text);
    return RLOCK_OK;
}

static rlock_status check_id(const rlock_permit_semaphore *semaphore, const char *text, char id[RLI_PERMIT_ID])
{
    rlock_status status = rli_permit_check(semaphore);
    return status == RLOCK_OK ? read_id(text, id) : status;
}

static rlock_status no_such_permit(const rli_object *object, const char id[RLI_PERMIT_ID], bool expired)
{
    char text[RLI_PERMIT_ID_TEXT + 1];
    rli_permit_id_show(id, text);
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_INVALID, "permit %s of semaphore \"%s\" %s", text, rli_show_name(object->names.name, shown),
                    expired ? "has expired" : "does not exist: it was released already, or never acquired");
}

/* An earlier attempt was not answered, and may have done what the answered attempt found done. */
static bool may_have_been_done(const rli_call *call)
{
    return call->unanswered > 0 && call->same_run;
}

static rlock_status odd_answer(const rli_object *object, int64_t said)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_SERVER,
                    "unexpected reply (%lld) to a release of permits of semaphore \"%s\"; check for a proxy between. "
                    "The permits may have been released",
                    (long long)said, rli_show_name(object->names.name, shown));
}

typedef enum released { RELEASED = 1, NOT_THERE = 0, EXPIRED = -1 } released;

static rlock_status read_released(const rli_object_call *asked, const rli_call *call, released *answer)
{
    int64_t said;
    rlock_status status = rli_object_read_number(asked, call, &said);
    if (status != RLOCK_OK)
        return status;
    if (said < -1 || said > 1)
        return odd_answer(asked->object, said);
    *answer = said == 1 || (said == 0 && may_have_been_done(call)) ? RELEASED : said == 0 ? NOT_THERE : EXPIRED;
    return RLOCK_OK;
}

static rlock_status read_release(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    released said = NOT_THERE;
    rlock_status status = read_released(asked, call, &said);
    if (status == RLOCK_OK && said != RELEASED)
        return no_such_permit(asked->object, asked->id, said == EXPIRED);
    if (status == RLOCK_OK)
        *answer = 0;
    return status;
}

static rlock_status read_try_release(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    released said = NOT_THERE;
    rlock_status status = read_released(asked, call, &said);
    if (status == RLOCK_OK)
        *answer = said == RELEASED;
    return status;
}

typedef rlock_status read_fn(const rli_object_call *asked, const rli_call *call, int64_t *answer);

/* Prepares a call on one permit. */
static rlock_status prepare(rli_object_call *asked, rlock_permit_semaphore *semaphore, const char *id,
                            const rli_script *script, read_fn *read)
{
    *asked = (rli_object_call){.script = script, .put = put_id, .read = read, .synced = true};
    rlock_status status = check_id(semaphore, id, asked->id);
    if (status == RLOCK_OK)
        asked->object = &semaphore->object;
    return status;
}

/* A permit that is being released is renewed no longer: if the release fails, the lease ends it. */
static void renew_no_more(const rli_object *object, const char *ids, int count)
{
    rli_renewed_permits_end(&object->client->engine, ids, count);
}

/* Prepares a release of one permit. */
static rlock_status prepare_one(rli_object_call *asked, rlock_permit_semaphore *semaphore, const char *id,
                                read_fn *read)
{
    rlock_status status = prepare(asked, semaphore, id, &rli_script_permit_semaphore_release, read);
    if (status == RLOCK_OK)
        renew_no_more(asked->object, asked->id, 1);
    return status;
}

static rlock_status prepare_release(rli_object_call *asked, rlock_permit_semaphore *semaphore, const char *id)
{
    return prepare_one(asked, semaphore, id, read_release);
}

static rlock_status prepare_try_release(rli_object_call *asked, rlock_permit_semaphore *semaphore, const char *id)
{
    return prepare_one(asked, semaphore, id, read_try_release);
}

/* A permit that is given a lease is renewed no longer, whatever becomes of the request: if it ran and its answer was
 * lost, the permit ends with that lease, and may not be relied on any more. */
static rlock_status prepare_update(rli_object_call *asked, rlock_permit_semaphore *semaphore, const char *id,
                                   int64_t lease_ms)
{
    rlock_status status = prepare(asked, semaphore, id, &rli_script_permit_semaphore_update_lease,
                                  rli_object_read_flag);
    asked->numbers[0] = lease_ms;
    asked->number_count = 1;
    if (status == RLOCK_OK)
        status = rli_permit_check_lease(lease_ms);
    if (status == RLOCK_OK)
        renew_no_more(asked->object, asked->id, 1);
    return status;
}

static rlock_status read_lease(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t left_ms;
    rlock_status status = rli_object_read_number(asked, call, &left_ms);
    if (status == RLOCK_OK && left_ms == 0)
        return no_such_permit(asked->object, asked->id, false);
    if (status == RLOCK_OK)
        *answer = left_ms;
    return status;
}

static rlock_status prepare_lease(rli_object_call *asked, rlock_permit_semaphore *semaphore, const char *id)
{
    rlock_status status = prepare(asked, semaphore, id, &rli_script_permit_semaphore_lease, read_lease);
    asked->synced = false;
    return status;
}

rlock_status rlock_permit_semaphore_release(rlock_permit_semaphore *semaphore, const char *id)
{
    rli_object_call asked;
    rlock_status status = prepare_release(&asked, semaphore, id);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_permit_semaphore_release_async(rlock_permit_semaphore *semaphore, const char *id,
                                                  rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_release(&asked, semaphore, id);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_try_release(rlock_permit_semaphore *semaphore, const char *id, bool *answer)
{
    rli_object_call asked;
    rlock_status status = prepare_try_release(&asked, semaphore, id);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, answer) : status;
}

rlock_status rlock_permit_semaphore_try_release_async(rlock_permit_semaphore *semaphore, const char *id,
                                                      rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_try_release(&asked, semaphore, id);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_update_lease_time(rlock_permit_semaphore *semaphore, const char *id,
                                                      int64_t lease_ms, bool *updated)
{
    rli_object_call asked;
    rlock_status status = prepare_update(&asked, semaphore, id, lease_ms);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, updated) : status;
}

rlock_status rlock_permit_semaphore_update_lease_time_async(rlock_permit_semaphore *semaphore, const char *id,
                                                            int64_t lease_ms, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_update(&asked, semaphore, id, lease_ms);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_get_lease_time(rlock_permit_semaphore *semaphore, const char *id, int64_t *ms)
{
    rli_object_call asked;
    rlock_status status = prepare_lease(&asked, semaphore, id);
    if (status == RLOCK_OK)
        status = rli_permit_check_place(semaphore, ms, "the lease");
    return status == RLOCK_OK ? rli_object_call_run(&asked, ms) : status;
}

rlock_status rlock_permit_semaphore_get_lease_time_async(rlock_permit_semaphore *semaphore, const char *id,
                                                         rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_lease(&asked, semaphore, id);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

int64_t rlock_permit_semaphore_valid_for(const rlock_permit_semaphore *semaphore, const char *id)
{
    char bytes[RLI_PERMIT_ID];
    if (check_id(semaphore, id, bytes) != RLOCK_OK)
        return 0;
    int64_t left_ms = rli_renewed_permits_deadline(&semaphore->object.client->engine, bytes) - rli_now_ms();
    return left_ms > 0 ? left_ms : 0;
}

/* --- many permits --- */

static rlock_status read_ids(int count, const rlock_permit *permits, char *ids)
{
    rlock_status status = RLOCK_OK;
    for (int i = 0; status == RLOCK_OK && i < count; i++) {
        if (permits[i].id[RLI_PERMIT_ID_TEXT])
            status = rli_fail(RLOCK_INVALID, "the id of permit %d of %d has no end", i + 1, count);
        else
            status = read_id(permits[i].id, ids + i * RLI_PERMIT_ID);
    }
    return status;
}

/* *refused: 0: released; -i: the i-th permit is not there; -(count + i): the i-th permit has expired. */
static rlock_status read_refused(const rli_object_call *asked, const rli_call *call, int64_t *refused)
{
    int64_t said, count = asked->numbers[0];
    rlock_status status = rli_object_read_number(asked, call, &said);
    if (status != RLOCK_OK)
        return status;
    int64_t none = -2 * count - 1; /* is there: all or none, so an unanswered attempt may have released them */
    if (said != count && (said >= 0 || said < none))
        return odd_answer(asked->object, said);
    if (said == none)
        said = may_have_been_done(call) ? 0 : -1;
    *refused = said > 0 ? 0 : said;
    return RLOCK_OK;
}

static rlock_status read_release_many(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t refused, count = asked->numbers[0];
    rlock_status status = read_refused(asked, call, &refused);
    if (status != RLOCK_OK)
        return status;
    *answer = 0;
    if (refused == 0)
        return RLOCK_OK;
    bool expired = -refused > count;
    int64_t index = (expired ? -refused - count : -refused) - 1;
    return no_such_permit(asked->object, asked->ids + index * RLI_PERMIT_ID, expired);
}

static rlock_status read_try_release_many(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t refused;
    rlock_status status = read_refused(asked, call, &refused);
    if (status == RLOCK_OK)
        *answer = refused == 0 ? asked->numbers[0] : 0;
    return status;
}

static rlock_status prepare_many(rli_object_call *asked, rlock_permit_semaphore *semaphore, int count,
                                 const rlock_permit *permits, read_fn *read)
{
    rlock_status status = rli_permit_check_many(semaphore, count, permits);
    if (status != RLOCK_OK)
        return status;
    char *ids = malloc((size_t)count * RLI_PERMIT_ID);
    if (!ids)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for %d permits", count);
    status = read_ids(count, permits, ids);
    if (status != RLOCK_OK) {
        free(ids);
        return status;
    }
    *asked = (rli_object_call){.object = &semaphore->object,
                               .script = &rli_script_permit_semaphore_release_many,
                               .put = put_ids,
                               .read = read,
                               .synced = true,
                               .numbers = {count},
                               .number_count = 1,
                               .ids = ids};
    renew_no_more(asked->object, ids, count);
    return RLOCK_OK;
}

rlock_status rlock_permit_semaphore_release_many(rlock_permit_semaphore *semaphore, int count,
                                                 const rlock_permit *permits)
{
    rli_object_call asked;
    rlock_status status = prepare_many(&asked, semaphore, count, permits, read_release_many);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_permit_semaphore_release_many_async(rlock_permit_semaphore *semaphore, int count,
                                                       const rlock_permit *permits, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_many(&asked, semaphore, count, permits, read_release_many);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_permit_semaphore_try_release_many(rlock_permit_semaphore *semaphore, int count,
                                                     const rlock_permit *permits, int *answer)
{
    rli_object_call asked;
    rlock_status status = prepare_many(&asked, semaphore, count, permits, read_try_release_many);
    return status == RLOCK_OK ? rli_object_call_run_int(&asked, answer) : status;
}

rlock_status rlock_permit_semaphore_try_release_many_async(rlock_permit_semaphore *semaphore, int count,
                                                           const rlock_permit *permits, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_many(&asked, semaphore, count, permits, read_try_release_many);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

/* Permit release: releases permits, and reads and sets their leases. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "engine/permit_id.h"
#include "locks/permit_semaphore.h"

#include <stdlib.h>

static void start(rli_call *call, const rlock_permit_semaphore *semaphore, const rli_script *script)
{
    rli_permit_call(call, &semaphore->object.names, script);
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

static rlock_status no_such_permit(const rlock_permit_semaphore *semaphore, const char *id, bool expired)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_INVALID, "permit " ID_SHOWN " of semaphore \"%s\" %s", id,
                    rli_show_name(semaphore->object.names.name, shown),
                    expired ? "has expired" : "does not exist: it was released already, or never acquired");
}

/* An earlier attempt was not answered, and may have done what the answered attempt found done. */
static bool may_have_been_done(const rli_call *call)
{
    return call->unanswered > 0 && call->same_run;
}

static rlock_status odd_answer(const rlock_permit_semaphore *semaphore, int64_t said)
{
    char shown[RLI_NAME_SHOWN];
    return rli_fail(RLOCK_SERVER,
                    "an unexpected answer (%lld) to a release of permits of semaphore \"%s\"; is there a proxy "
                    "in between? The permits may be released",
                    (long long)said, rli_show_name(semaphore->object.names.name, shown));
}

typedef enum released { RELEASED = 1, NOT_THERE = 0, EXPIRED = -1 } released;

static rlock_status release(rlock_permit_semaphore *semaphore, const char *text, released *answer)
{
    char id[RLI_PERMIT_ID];
    rlock_status status = check_id(semaphore, text, id);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    int64_t said;
    start(&call, semaphore, &rli_script_permit_semaphore_release);
    call.synced = true;
    rli_call_add(&call, id, sizeof id);
    status = rli_object_ask(&semaphore->object, &call, &said);
    if (status == RLOCK_OK && (said < -1 || said > 1))
        return odd_answer(semaphore, said);
    if (status == RLOCK_OK)
        *answer = said == 1 || (said == 0 && may_have_been_done(&call)) ? RELEASED : said == 0 ? NOT_THERE : EXPIRED;
    return status;
}

rlock_status rlock_permit_semaphore_release(rlock_permit_semaphore *semaphore, const char *id)
{
    released answer;
    rlock_status status = release(semaphore, id, &answer);
    if (status != RLOCK_OK || answer == RELEASED)
        return status;
    return no_such_permit(semaphore, id, answer == EXPIRED);
}

rlock_status rlock_permit_semaphore_try_release(rlock_permit_semaphore *semaphore, const char *id, bool *answer)
{
    released said;
    rlock_status status = release(semaphore, id, &said);
    if (status == RLOCK_OK && answer)
        *answer = said == RELEASED;
    return status;
}

rlock_status rlock_permit_semaphore_update_lease_time(rlock_permit_semaphore *semaphore, const char *text,
                                                      int64_t lease_ms, bool *updated)
{
    char id[RLI_PERMIT_ID];
    rlock_status status = check_id(semaphore, text, id);
    if (status == RLOCK_OK)
        status = rli_permit_check_lease(lease_ms);
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    start(&call, semaphore, &rli_script_permit_semaphore_update_lease);
    call.synced = true;
    rli_call_add(&call, id, sizeof id);
    rli_call_add_number(&call, lease_ms);
    return rli_object_ask_flag(&semaphore->object, &call, updated);
}

rlock_status rlock_permit_semaphore_get_lease_time(rlock_permit_semaphore *semaphore, const char *text, int64_t *ms)
{
    char id[RLI_PERMIT_ID];
    rlock_status status = check_id(semaphore, text, id);
    if (status == RLOCK_OK)
        status = rli_permit_check_place(semaphore, ms, "the lease");
    if (status != RLOCK_OK)
        return status;
    rli_call call;
    int64_t left_ms;
    start(&call, semaphore, &rli_script_permit_semaphore_lease);
    rli_call_add(&call, id, sizeof id);
    status = rli_object_ask(&semaphore->object, &call, &left_ms);
    if (status == RLOCK_OK && left_ms == 0)
        return no_such_permit(semaphore, text, false);
    if (status == RLOCK_OK)
        *ms = left_ms;
    return status;
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
static rlock_status release_many(rlock_permit_semaphore *semaphore, int count, const rlock_permit *permits,
                                 int64_t *refused)
{
    rlock_status status = rli_permit_check_many(semaphore, count, permits);
    if (status != RLOCK_OK)
        return status;
    char *ids = malloc((size_t)count * RLI_PERMIT_ID);
    if (!ids)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for %d permits", count);
    status = read_ids(count, permits, ids);
    if (status == RLOCK_OK) {
        rli_call call;
        int64_t said = 0;
        start(&call, semaphore, &rli_script_permit_semaphore_release_many);
        call.synced = true;
        rli_call_add_number(&call, count);
        rli_call_add(&call, ids, (size_t)count * RLI_PERMIT_ID);
        status = rli_object_ask(&semaphore->object, &call, &said);
        if (status == RLOCK_OK && said != count && (said >= 0 || said < -2 * (int64_t)count))
            status = odd_answer(semaphore, said);
        /* All or none: after an unanswered attempt that released them, the first one is missing. */
        *refused = said > 0 || (said == -1 && may_have_been_done(&call)) ? 0 : said;
    }
    free(ids);
    return status;
}

rlock_status rlock_permit_semaphore_release_many(rlock_permit_semaphore *semaphore, int count,
                                                 const rlock_permit *permits)
{
    int64_t refused;
    rlock_status status = release_many(semaphore, count, permits, &refused);
    if (status != RLOCK_OK || refused == 0)
        return status;
    bool expired = -refused > count;
    return no_such_permit(semaphore, permits[(expired ? -refused - count : -refused) - 1].id, expired);
}

rlock_status rlock_permit_semaphore_try_release_many(rlock_permit_semaphore *semaphore, int count,
                                                     const rlock_permit *permits, int *answer)
{
    int64_t refused;
    rlock_status status = release_many(semaphore, count, permits, &refused);
    if (status == RLOCK_OK && answer)
        *answer = refused == 0 ? count : 0;
    return status;
}

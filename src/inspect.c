/* What a server holds under a lock's name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/inspect.h>

#include "client.h"
#include "error.h"
#include "locks/names.h"
#include "redis/call.h"
#include "redis/reply.h"

#include <stdlib.h>
#include <string.h>

void rlock_inspection_free(rlock_inspection *inspection)
{
    if (!inspection)
        return;
    for (size_t i = 0; i < inspection->holder_count; i++)
        free(inspection->holders[i].owner);
    free(inspection->holders);
    free(inspection);
}

/* { PTTL, holder, count, … } */
static rlock_status read_lock(const redisReply *reply, const char *name, rlock_inspection **out)
{
    rlock_inspection *inspection = calloc(1, sizeof *inspection);
    if (!inspection)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for an inspection");
    rlock_status status = RLOCK_OK;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements % 2 != 1 ||
        !rli_reply_integer(reply->element[0], &inspection->ttl_ms))
        status = rli_reply_unexpected(reply, name);
    size_t holders = status == RLOCK_OK ? reply->elements / 2 : 0;
    inspection->kind = holders ? "lock" : "free";
    inspection->holders = calloc(holders + 1, sizeof *inspection->holders);
    for (size_t i = 0; status == RLOCK_OK && i < holders; i++) {
        const redisReply *owner = reply->element[1 + 2 * i], *count = reply->element[2 + 2 * i];
        if (!inspection->holders || !(inspection->holders[i].owner = strdup(owner->str ? owner->str : "")))
            status = rli_fail(RLOCK_NO_MEMORY, "out of memory for an inspection");
        else if (!rli_reply_integer(count, &inspection->holders[inspection->holder_count++].hold_count))
            status = rli_fail(RLOCK_SERVER, "the hash \"%.100s\" has a field that is no hold count: it is no lock, "
                              "or a read-write lock", name);
    }
    if (status != RLOCK_OK)
        rlock_inspection_free(inspection);
    else
        *out = inspection;
    return status;
}

rlock_status rlock_inspect(rlock_client *client, const char *name, rlock_inspection **inspection)
{
    rlock_status status = rli_client_check(client);
    rli_names names;
    rli_caller caller;
    if (status == RLOCK_OK && !inspection)
        status = rli_fail(RLOCK_INVALID, "the place for the inspection is NULL");
    if (status == RLOCK_OK)
        status = rli_names_make(&names, client->settings.name_prefix, name, &(rli_naming){.what = "lock"});
    if (status != RLOCK_OK)
        return status;
    status = rli_caller_begin(&caller, client, NULL);
    if (status == RLOCK_OK) {
        rli_call call;
        rli_call_script(&call, &rli_script_inspect_lock, 1);
        rli_call_add(&call, names.name, names.length);
        status = rli_call_run(&call, &caller, rli_pool_pick(&client->pool));
        if (status == RLOCK_OK)
            status = read_lock(call.reply, names.name, inspection);
        rli_call_clear(&call);
        rli_caller_end(&caller);
    }
    rli_names_free(&names);
    return status;
}

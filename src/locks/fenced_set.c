/* Guarded write: a string in Redis that a holder of a fenced lock writes, unless a newer holder has written it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "client/client.h"
#include "locks/object_call.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

static const rli_naming naming = {.what = "guarded key", .key_prefixes = {"rlock_fence"}};

#define VALUE_MAX ((size_t)512 * 1024 * 1024) /* Redis takes no longer string */

#define NUMBER_SIZE sizeof "18446744073709551615"

typedef struct guarded_write {
    rli_object_call asked; /* first */
    const char *value;
    size_t length;
    const char *client_id;
    char token[NUMBER_SIZE], number[NUMBER_SIZE];
} guarded_write;

/* Tells the writes of this process apart, the earlier from the later. */
static atomic_uint_least64_t writes;

static void put(rli_call *call, const rli_object_call *asked)
{
    const guarded_write *write = (const guarded_write *)(const void *)asked;
    const rli_names *names = &asked->object->names;
    rli_call_script(call, asked->script, 2);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
    rli_call_add(call, write->value, write->length);
    rli_call_add_text(call, write->token);
    rli_call_add_text(call, write->client_id);
    rli_call_add_text(call, write->number);
}

static rlock_status run(rli_object *object, const void *value, size_t length, uint64_t token)
{
    guarded_write write = {
        .asked = {.object = object, .script = &rli_script_fenced_set, .put = put, .read = rli_object_read_flag},
        .value = value ? value : "",
        .length = length,
        .client_id = rlock_client_id(object->client),
    };
    bool written = false;
    char shown[RLI_NAME_SHOWN];
    snprintf(write.token, sizeof write.token, "%" PRIu64, token);
    snprintf(write.number, sizeof write.number, "%" PRIu64, (uint64_t)atomic_fetch_add(&writes, 1) + 1);
    rlock_status status = rli_object_call_run_flag(&write.asked, &written);
    if (status != RLOCK_OK || written)
        return status;
    return rli_fail(RLOCK_LOST,
                    "\"%s\" was written with a newer token than %" PRIu64 ": the hold with this token has ended",
                    rli_show_name(object->names.name, shown), token);
}

rlock_status rlock_fenced_set(rlock_client *client, const char *key, const void *value, size_t length, uint64_t token)
{
    if (!value && length > 0)
        return rli_fail(RLOCK_INVALID, "the value is NULL, but its length is %zu", length);
    if (length > VALUE_MAX)
        return rli_fail(RLOCK_INVALID, "the value has %zu bytes; that is more than the 512 MiB that Redis takes",
                        length);
    if (token == 0)
        return rli_fail(RLOCK_INVALID, "the token is 0, which is not a fencing token; use the one from "
                                       "rlock_lock_and_get_token()");
    rlock_status status = rli_client_check(client);
    if (status != RLOCK_OK)
        return status;
    rli_object object = {.client = client, .what = naming.what, .call_options = RLOCK_CALL_OPTIONS_INIT};
    status = rli_names_make(&object.names, &client->settings, key, &naming);
    if (status != RLOCK_OK)
        return status;
    status = run(&object, value, length, token);
    rli_names_free(&object.names);
    return status;
}

/* Looking at what a server holds under a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/inspect.h>

#include "client.h"
#include "error.h"
#include "inspect/inspection.h"
#include "locks/names.h"
#include "redis/call.h"

#include <string.h>

#define PERMITS_SUFFIX "timeout"

/* All keys that any object has beside its name: more than one naming can say. */
static const rli_naming fair = {.what = "lock",
                                .key_prefixes = {"redisson_lock_queue", "redisson_lock_timeout"}};
static const rli_naming others = {.what = "lock", .key_prefixes = {NULL, "redisson_lock_token"},
                                  .key_suffix = PERMITS_SUFFIX};

static rlock_status look(rli_caller *caller, const rli_names *queue, const rli_names *more,
                         rlock_inspection **inspection)
{
    rli_call call;
    rli_call_script(&call, &rli_script_inspect_look, 5);
    rli_call_add(&call, queue->name, queue->length);
    for (int i = 0; i < 2; i++)
        rli_call_add(&call, queue->keys[i], queue->key_lengths[i]);
    for (int i = 0; i < 2; i++)
        rli_call_add(&call, more->keys[i], more->key_lengths[i]);
    /* What the timeout keys of read holds begin with: the permits' key without its end. */
    rli_call_add(&call, more->keys[0], more->key_lengths[0] - strlen(PERMITS_SUFFIX));
    rlock_status status = rli_call_run(&call, caller, NULL);
    if (status == RLOCK_OK)
        status = rli_inspection_read(call.reply, queue->name, inspection);
    rli_call_clear(&call);
    return status;
}

rlock_status rlock_inspect(rlock_client *client, const char *name, rlock_inspection **inspection)
{
    rlock_status status = rli_client_check(client);
    rli_names queue, more;
    rli_caller caller;
    if (status == RLOCK_OK && !inspection)
        status = rli_fail(RLOCK_INVALID, "the place for the inspection is NULL");
    if (status == RLOCK_OK)
        status = rli_names_make(&queue, client, name, &fair);
    if (status != RLOCK_OK)
        return status;
    status = rli_names_make(&more, client, name, &others);
    if (status == RLOCK_OK) {
        status = rli_caller_begin(&caller, client, NULL);
        if (status == RLOCK_OK) {
            status = look(&caller, &queue, &more, inspection);
            if (status != RLOCK_OK)
                rli_fail_of(status, "inspection of", name);
            rli_caller_end(&caller);
        }
        rli_names_free(&more);
    }
    rli_names_free(&queue);
    return status;
}

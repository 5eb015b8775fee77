/* Object: the handle of a semaphore or latch, with its client and names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/object.h"

#include "base/error.h"
#include "client/client.h"

#include <stdlib.h>

void *rli_object_new(size_t size, rlock_client *client, const char *name, const rli_naming *naming)
{
    if (rli_client_check(client) != RLOCK_OK)
        return NULL;
    rli_object *object = calloc(1, size);
    if (!object) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a %s's handle", naming->what);
        return NULL;
    }
    if (rli_names_make(&object->names, &client->settings, name, naming) != RLOCK_OK) {
        free(object);
        return NULL;
    }
    object->client = client;
    object->what = naming->what;
    object->naming = naming;
    object->call_options = (rlock_call_options)RLOCK_CALL_OPTIONS_INIT;
    atomic_init(&object->references, 1);
    rli_gate_ref(&client->gate);
    return object;
}

void rli_object_ref(rli_object *object)
{
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void rli_object_unref(rli_object *object)
{
    if (!object || atomic_fetch_sub(&object->references, 1) > 1)
        return;
    rli_names_free(&object->names);
    rli_gate_unref(&object->client->gate);
    free(object);
}

const char *rli_object_name(const rli_object *object)
{
    return object ? object->names.name + object->names.prefix_length : NULL;
}

rlock_status rli_object_check(const rli_object *object, const char *what)
{
    if (!object)
        return rli_fail_null(what);
    return rli_client_check(object->client);
}

rlock_status rli_object_check_place(const rli_object *object, const char *what, const void *place, const char *answer)
{
    rlock_status status = rli_object_check(object, what);
    if (status == RLOCK_OK && !place)
        return rli_fail(RLOCK_INVALID, "the pointer for %s must not be NULL", answer);
    return status;
}

rlock_status rli_object_told(const rli_object *object, rlock_status status)
{
    return status == RLOCK_OK ? status : rli_fail_prefix(status, object->what, rli_object_name(object));
}

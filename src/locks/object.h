/* Object: the handle of a semaphore or latch, with its client and names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OBJECT_H
#define RLI_OBJECT_H

#include "engine/names.h"

#include <rlock/object.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of the handle of a semaphore or latch. */
typedef struct rlock_object {
    rlock_client *client; /* referenced */
    const char *what;     /* for messages, for example "semaphore" */
    const rli_naming *naming;
    atomic_int references; /* the program's, and one for each async operation that is under way */
    rlock_call_options call_options;
    rli_names names;
} rli_object;

/* Whether it is a latch: one that does not exist is open. */
static inline bool rli_object_opens(const rli_object *object)
{
    return object->naming->braces_always;
}

/* Allocates a handle of `size` bytes, which begins with an rli_object and is zero otherwise. NULL:
 * rlock_last_error() says why. */
void *rli_object_new(size_t size, rlock_client *client, const char *name, const rli_naming *naming);
/* Takes and drops a reference; the last one frees the handle. NULL may be dropped. */
void rli_object_ref(rli_object *object);
void rli_object_unref(rli_object *object);
/* The name as the program gave it; NULL for NULL. */
const char *rli_object_name(const rli_object *object);

/* RLOCK_OK; RLOCK_INVALID: `object` is NULL (the message names `what`); RLOCK_FORKED; RLOCK_CLOSED. */
rlock_status rli_object_check(const rli_object *object, const char *what);
/* The same; also RLOCK_INVALID if `place`, where `answer` is to be stored, is NULL. */
rlock_status rli_object_check_place(const rli_object *object, const char *what, const void *place, const char *answer);

/* Returns `status`. Adds the object's name to the message of a failure, because a message from a lower layer names only
 * the connection. */
rlock_status rli_object_told(const rli_object *object, rlock_status status);

#endif

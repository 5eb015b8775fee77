/* Object: the client and names of a semaphore or latch, one call to it, and a wait for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OBJECT_H
#define RLI_OBJECT_H

#include "engine/names.h"
#include "engine/wait.h"
#include "redis/call.h"

#include <rlock/client.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of the handle of a semaphore or latch. */
typedef struct rli_object {
    rlock_client *client; /* referenced */
    const char *what;     /* for messages, for example "semaphore" */
    rli_names names;
} rli_object;

/* Allocates a handle of `size` bytes, which begins with an rli_object and is zero otherwise. NULL:
 * rlock_last_error() says why. */
void *rli_object_new(size_t size, rlock_client *client, const char *name, const rli_naming *naming);
/* Frees the handle; NULL is allowed. */
void rli_object_free(rli_object *object);
/* The name as the program gave it; NULL for NULL. */
const char *rli_object_name(const rli_object *object);

/* RLOCK_OK; RLOCK_INVALID: `object` is NULL (the message names `what`); RLOCK_FORKED; RLOCK_CLOSED. */
rlock_status rli_object_check(const rli_object *object, const char *what);
/* The same; also RLOCK_INVALID if `place`, where `answer` is to be stored, is NULL. */
rlock_status rli_object_check_place(const rli_object *object, const char *what, const void *place, const char *answer);

/* Runs `call` with the configured attempts, reads its answer, an integer, and clears the call. */
rlock_status rli_object_ask(const rli_object *object, rli_call *call, int64_t *answer);
/* The same for an answer of 1 or 0; `answer` may be NULL. */
rlock_status rli_object_ask_flag(const rli_object *object, rli_call *call, bool *answer);
/* Runs `call` with the configured attempts. On RLOCK_OK the reply is in `call`. The caller clears the call in
 * any case. */
rlock_status rli_object_run(const rli_object *object, rli_call *call);
/* Converts a number of permits to int. RLOCK_SERVER: it does not fit. */
rlock_status rli_object_int(const rli_object *object, int64_t number, int *answer);

/* One wait under way. */
typedef struct rli_waiting {
    /* First, because the wait loop passes it to `ask`. The caller sets `ask`; rli_object_wait sets the rest. */
    rli_wait wait;
    rli_operation op;
    const rli_object *object;
    int64_t wait_ms;
} rli_waiting;

/* Asks once; if the answer is "not yet" (RLOCK_TIMEOUT), subscribes to the object's channel and asks again as
 * the wait loop decides, for up to wait_ms (0 or less: does not wait). Returns what the last `ask` returned;
 * RLOCK_CANCELLED, RLOCK_CLOSED, RLOCK_FORKED; and what rli_wait_join and rli_wait_run return. */
rlock_status rli_object_wait(rli_waiting *waiting, const rli_object *object, int64_t wait_ms, rlock_cancel *cancel);

#endif

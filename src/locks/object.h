/* An object that is no lock: its client, its names, one call, and a wait. What the semaphores and the
 * latch share. */
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

/* The first member of a handle. */
typedef struct rli_object {
    rlock_client *client; /* kept */
    const char *what;     /* "semaphore"…, for messages */
    rli_names names;
} rli_object;

/* A handle of `size` bytes, which begins with its object; the rest is zero. NULL: rlock_last_error(). */
void *rli_object_new(size_t size, rlock_client *client, const char *name, const rli_naming *naming);
/* Frees the handle; NULL is allowed. */
void rli_object_free(rli_object *object);
/* The name as the program gave it; NULL for NULL. */
const char *rli_object_name(const rli_object *object);

/* RLOCK_OK; RLOCK_INVALID (NULL: no `what`), RLOCK_FORKED, RLOCK_CLOSED. */
rlock_status rli_object_check(const rli_object *object, const char *what);
/* The same, and RLOCK_INVALID when `place`, for `answer`, is NULL. */
rlock_status rli_object_check_place(const rli_object *object, const char *what, const void *place, const char *answer);

/* Runs the call, with the retry rules, and reads its answer, an integer; clears it. */
rlock_status rli_object_ask(const rli_object *object, rli_call *call, int64_t *answer);
/* The same for a 1 or 0; `answer` may be NULL. */
rlock_status rli_object_ask_flag(const rli_object *object, rli_call *call, bool *answer);
/* Runs the call; its reply, on RLOCK_OK, is in it. To be cleared. */
rlock_status rli_object_run(const rli_object *object, rli_call *call);
/* A number of permits for a program that takes an int; RLOCK_SERVER: it is none. */
rlock_status rli_object_int(const rli_object *object, int64_t number, int *answer);

/* One call that waits. */
typedef struct rli_waiting {
    rli_wait wait; /* first: the wait loop hands it back. Its `ask` is set by who waits, all else here */
    rli_operation op;
    const rli_object *object;
    int64_t wait_ms;
} rli_waiting;

/* Asks, and where that says "not yet", waits for wait_ms (0 or less: not at all) with the object's
 * channel subscribed, asking again as the wait loop does. What the last `ask` answered; RLOCK_CANCELLED,
 * RLOCK_CLOSED, RLOCK_FORKED and what a wait loop says. */
rlock_status rli_object_wait(rli_waiting *waiting, const rli_object *object, int64_t wait_ms, rlock_cancel *cancel);

#endif

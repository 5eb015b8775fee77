/* What a server holds under a lock's name, whoever holds it: for operators and tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_INSPECT_H
#define RLOCK_INSPECT_H

#include <rlock/client.h>
#include <rlock/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_holder {
    char *owner;       /* "<client id>:<number>" */
    int64_t hold_count;
} rlock_holder;

typedef struct rlock_inspection {
    const char *kind;      /* "free" or "lock" */
    int64_t ttl_ms;        /* of the lock; -1: no end; -2: not locked */
    size_t holder_count;
    rlock_holder *holders;
} rlock_inspection;

/* Looks at `name` on the server, in one script, so that what it says was true together.
 * *inspection is set only on RLOCK_OK; end it with rlock_inspection_free().
 * RLOCK_OK; RLOCK_SERVER (the key is of another type: the message names it); RLOCK_UNAVAILABLE;
 * RLOCK_INVALID; RLOCK_CLOSED; RLOCK_FORKED; RLOCK_NO_MEMORY. Blocks. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_inspect(rlock_client *client, const char *name,
                                                      rlock_inspection **inspection);

/* Frees what rlock_inspect gave. NULL is allowed. */
RLOCK_API void rlock_inspection_free(rlock_inspection *inspection);

#ifdef __cplusplus
}
#endif
#endif

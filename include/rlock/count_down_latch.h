/* Count-down latch: closed while it has a count; opens for all waiters when the count reaches 0. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_COUNT_DOWN_LATCH_H
#define RLOCK_COUNT_DOWN_LATCH_H

#include <rlock/cancel.h>
#include <rlock/client.h>
#include <rlock/lock.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A latch without a count is open. After it has opened, it can be closed again with another count.
 *
 * For all calls: any thread; they block; they are no cancellation points. Out-parameters are set only on
 * RLOCK_OK. Each call may return, besides the statuses given with it:
 * RLOCK_UNKNOWN      (only calls that change something) the request was sent, its answer was lost, and it was
 *                    not repeated. It may have been carried out, or may still be. Read the count before you
 *                    repeat the call.
 * RLOCK_UNAVAILABLE  the server could not be asked within the configured attempts; nothing was changed.
 * RLOCK_SERVER       the server refused, nothing was changed. WRONGTYPE: the name is a key of another type. But if
 *                    the user may not publish on the channel, which rlock_last_error() says then, the change was
 *                    carried out, and only the waiters were not told: do not repeat it. docs/security.md
 * RLOCK_INVALID      an argument is wrong. RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY.
 * Follows org.redisson.RedissonCountDownLatch. */
typedef struct rlock_count_down_latch rlock_count_down_latch;

/* Makes a handle for the latch `name` (1 byte to 512 MiB, none of them 0; copied). Does not ask the server. Threads
 * may share the handle. It keeps a reference to the client. NULL: rlock_last_error() says why. End it with
 * rlock_count_down_latch_free(). Java: getCountDownLatch(name). */
RLOCK_API rlock_count_down_latch *rlock_get_count_down_latch(rlock_client *client, const char *name);

/* Frees the handle; the latch on the server stays. NULL is allowed. No call may be using the handle. */
RLOCK_API void rlock_count_down_latch_free(rlock_count_down_latch *latch);

/* The name that the handle was made with; owned by the handle. NULL for NULL. */
RLOCK_API const char *rlock_count_down_latch_name(const rlock_count_down_latch *latch);

/* Closes the latch with `count` (0 and up), unless it has a count already. *set (may be NULL): whether it
 * did. A latch with a count of 0 is open, but cannot be closed before it is deleted or counted down once
 * more. Java: trySetCount(count). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_set_count(rlock_count_down_latch *latch,
                                                                             int64_t count, bool *set);

/* Decrements the count. At 0 the latch opens and all waiters wake. A latch that is open stays open. Java: countDown().
 */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_count_down(rlock_count_down_latch *latch);

/* Reads the count; 0: open. Java: getCount(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_get_count(rlock_count_down_latch *latch, int64_t *count);

/* Waits without limit until the latch is open. RLOCK_OK: it is open. Java: await(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await(rlock_count_down_latch *latch);

/* Waits for up to wait_ms; 0 or less: asks once. Also RLOCK_TIMEOUT: the latch is still closed.
 * RLOCK_UNAVAILABLE if the server answers neither before the wait ends nor within the configured timeout
 * (3000 ms), as with rlock_try_lock. Java: await(time). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_await(rlock_count_down_latch *latch,
                                                                         int64_t wait_ms);

/* All options of a wait. Start from RLOCK_AWAIT_OPTIONS_INIT: no limit, not cancellable. */
typedef struct rlock_await_options {
    size_t size;          /* sizeof(rlock_await_options) in the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: ask once */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
} rlock_await_options;
#define RLOCK_AWAIT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(rlock_await_options), RLOCK_FOREVER, NULL                                                               \
    }

/* As rlock_count_down_latch_try_await, with options. Also RLOCK_CANCELLED: the token ended the wait. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await_with(rlock_count_down_latch *latch,
                                                                          const rlock_await_options *options);

/* Deletes the count, which opens the latch and wakes all waiters. *deleted (may be NULL): whether there was a
 * count. Java: delete(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_delete(rlock_count_down_latch *latch, bool *deleted);

#ifdef __cplusplus
}
#endif
#endif

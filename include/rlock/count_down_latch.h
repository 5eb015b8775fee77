/* The count-down latch: closed with a count, open for all who wait once it has been counted down to 0. */
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

/* A latch without a count is open. Once open, it may be closed anew with another count.
 *
 * Common to all calls: any thread; they block; they are no cancellation points. Out-parameters are set
 * only on RLOCK_OK. Besides what stands at a call:
 * RLOCK_UNKNOWN      (calls that change something) the request left and its answer was lost, so it was
 *                    not repeated: it may have been carried out, or may be yet. Look at the count before
 *                    you repeat it.
 * RLOCK_UNAVAILABLE  the server could not be asked within the configured attempts; nothing was changed.
 * RLOCK_SERVER       the server refused, nothing was changed; WRONGTYPE: the name is another kind of key.
 * RLOCK_INVALID      an argument; RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY.
 * Follows org.redisson.RedissonCountDownLatch. */
typedef struct rlock_count_down_latch rlock_count_down_latch;

/* A handle on the latch called `name` (UTF-8, 1 byte to 512 MiB; copied). Cheap; asks no server; may be
 * shared by threads. It keeps a reference on the client. NULL: rlock_last_error() says why. End with
 * rlock_count_down_latch_free(). Java: getCountDownLatch(name). */
RLOCK_API rlock_count_down_latch *rlock_get_count_down_latch(rlock_client *client, const char *name);

/* Frees the handle; the latch stays. NULL is allowed. No call may be using it. */
RLOCK_API void rlock_count_down_latch_free(rlock_count_down_latch *latch);

/* The name the handle was made with; owned by it. NULL for NULL. */
RLOCK_API const char *rlock_count_down_latch_name(const rlock_count_down_latch *latch);

/* Closes the latch with `count` (from 0), unless it has one; *set (may be NULL): whether it did. A latch
 * with a count of 0 is open, but is not to be closed before it is deleted or counted down once more.
 * Java: trySetCount(count). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_set_count(rlock_count_down_latch *latch,
                                                                             int64_t count, bool *set);

/* One less; at 0 the latch is open, and all who wait are woken. An open latch stays so.
 * Java: countDown(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_count_down(rlock_count_down_latch *latch);

/* The count; 0: open. Java: getCount(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_get_count(rlock_count_down_latch *latch, int64_t *count);

/* Waits until the latch is open, as long as it takes. RLOCK_OK: it is. Java: await(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await(rlock_count_down_latch *latch);

/* Waits up to wait_ms; 0 or less: asks once. Also RLOCK_TIMEOUT: it is still closed. RLOCK_UNAVAILABLE when
 * the server answers neither before the end of the wait nor within the configured timeout (3000 ms) of being
 * asked, as with rlock_try_lock. Java: await(time). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_try_await(rlock_count_down_latch *latch,
                                                                         int64_t wait_ms);

/* Everything at once. Start from RLOCK_AWAIT_OPTIONS_INIT, which waits for ever. */
typedef struct rlock_await_options {
    size_t size;          /* sizeof(rlock_await_options) of the program */
    int64_t wait_ms;      /* RLOCK_FOREVER; 0 or less: asks once */
    rlock_cancel *cancel; /* NULL: cannot be cancelled */
} rlock_await_options;
#define RLOCK_AWAIT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(rlock_await_options), RLOCK_FOREVER, NULL                                                               \
    }

/* As rlock_count_down_latch_try_await, with options. Also RLOCK_CANCELLED: the token ended the wait. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_await_with(rlock_count_down_latch *latch,
                                                                          const rlock_await_options *options);

/* Opens the latch whatever its count and wakes all who wait; *deleted (may be NULL): whether it had one.
 * Java: delete(). */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_count_down_latch_delete(rlock_count_down_latch *latch, bool *deleted);

#ifdef __cplusplus
}
#endif
#endif

/* Singleflight: of the callers of a process that ask for one key at a time, one loads its value and all get it. It
 * keeps nothing: a caller that asks later begins another load. Needs no server; beside a lock it does the same for many
 * processes (docs/singleflight.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_SINGLEFLIGHT_H
#define RLOCK_SINGLEFLIGHT_H

#include <rlock/cancel.h>
#include <rlock/lock.h>
#include <rlock/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_singleflight rlock_singleflight;

/* Makes an object whose callers share their loads. NULL: out of memory; rlock_last_error() says so. End it with
 * rlock_singleflight_free(). Threads may share it. */
RLOCK_API rlock_singleflight *rlock_singleflight_new(void);

/* Frees it. Callers that wait get RLOCK_CLOSED. A load that is under way goes on, and its own caller gets the result.
 * NULL is allowed. Any thread; afterwards no call may begin with it. Does nothing in a forked child. */
RLOCK_API void rlock_singleflight_free(rlock_singleflight *flights);

/* The answer of a load: bytes that all its callers share and must not change. */
typedef struct rlock_loaded rlock_loaded;

/* The bytes, aligned as by malloc(), and how many there are; they stay until rlock_loaded_free. `length` may be NULL.
 * NULL: there are none, or `loaded` is NULL. Any thread. */
RLOCK_API const void *rlock_loaded_bytes(const rlock_loaded *loaded, size_t *length);
/* Gives a caller's share back. NULL is allowed. Any thread. */
RLOCK_API void rlock_loaded_free(rlock_loaded *loaded);

/* Loads the value of `key`; `arg` is as its own caller gave it. Sets *bytes to memory of malloc(), which the library
 * frees, or leaves it NULL, and *length. Any status may be returned: all callers get it, and the bytes with it, so that
 * an error may have details. It is called on the thread of one of the callers, without a mutex held, and may take as
 * long as it needs. It must not ask the same object for the same key, nor leave by longjmp() or by a C++ exception; its
 * thread may end (pthread_exit, pthread_cancel). If it forks, rlock_singleflight_do returns RLOCK_FORKED in the
 * child. */
typedef rlock_status rlock_load_fn(const char *key, void *arg, void **bytes, size_t *length);

typedef struct rlock_singleflight_options {
    size_t size; /* sizeof(rlock_singleflight_options) in the program */
    /* How long to wait for another caller's load, ms; 0 or less: not at all; RLOCK_FOREVER: as long as it takes. A load
     * of one's own is not ended by it. */
    int64_t wait_ms;
    rlock_cancel *cancel; /* ends that wait; NULL: nothing does */
} rlock_singleflight_options;
#define RLOCK_SINGLEFLIGHT_OPTIONS_INIT                                                                                \
    {                                                                                                                  \
        sizeof(rlock_singleflight_options), RLOCK_FOREVER, NULL                                                        \
    }

/* Gets the value of `key`: by another caller's load if one is under way, else by `load`. When the thread of a load ends
 * without a result, one of the waiting callers loads instead, with its own function and argument.
 *
 * options NULL: waits as long as it takes. *loaded is set to this caller's share if the load gave bytes, to NULL else;
 * end it with rlock_loaded_free. Blocks. Any thread.
 * What `load` returned, with its message in rlock_last_error(); RLOCK_TIMEOUT; RLOCK_CANCELLED; RLOCK_CLOSED: the
 * object was freed meanwhile; RLOCK_INVALID: an argument, or the calling thread is just loading that key;
 * RLOCK_NO_MEMORY;
 * RLOCK_FORKED: a parent process made the object. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_singleflight_do(rlock_singleflight *flights, const char *key,
                                                              const rlock_singleflight_options *options,
                                                              rlock_load_fn *load, void *arg, rlock_loaded **loaded);

#ifdef __cplusplus
}
#endif
#endif

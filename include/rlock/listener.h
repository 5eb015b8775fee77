/* Listener: a function that is called when an object's key is deleted or expires on the server. Java:
 * RObject.addListener with a DeletedObjectListener or an ExpiredObjectListener. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_LISTENER_H
#define RLOCK_LISTENER_H

#include <rlock/lock.h>
#include <rlock/object.h>
#include <rlock/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rlock_event_kind {
    /* Of a lock: its last hold was released and nobody here was next, it was forced open, or somebody deleted its key.
     * Of a semaphore: it was deleted. Of a latch: it is open, or was deleted. Also: the server evicted it, if it tells
     * of that. */
    RLOCK_EVENT_DELETED = 0,
    /* Its time to live has ended: of a lock, nobody renewed it. */
    RLOCK_EVENT_EXPIRED = 1
} rlock_event_kind;

typedef struct rlock_event {
    size_t size;      /* size of this struct in this version of the library */
    const char *name; /* of the object as the program gave it; valid during the call */
    rlock_event_kind kind;
} rlock_event;

typedef void rlock_event_fn(const rlock_event *event, void *arg);

typedef struct rlock_listener rlock_listener;

/* Calls `fn` from now on, until rlock_remove_listener. The server tells of such events if notify-keyspace-events has
 * the letters K, g and x (CONFIG SET notify-keyspace-events Kgx, on each master), and the user of the connection may
 * subscribe to __keyspace@*. The object need not exist.
 * A report, not a guarantee: what happens while a connection is away is not told, one call may stand for several events
 * of one kind in quick succession, and a lock that is handed over from thread to thread is never free between. The
 * server may notice late that a key has expired. To wait for a lock, acquire it; to learn that one's own is lost, use
 * rlock_on_lost. `fn` runs on a thread of the library that holds no mutex of the library. All listeners of a client
 * share that thread. It may use locks and add and remove listeners, but must not close the client. If it forks, the
 * child must end in it (_exit, or exec): when the function returns, it ends as by _exit(0).
 * Blocks until the server has confirmed the subscription; not if a listener's function makes the call. Any thread; no
 * cancellation point.
 * RLOCK_OK           *listener is to be ended with rlock_remove_listener, also after the client was closed.
 * RLOCK_UNSUPPORTED  the server's notify-keyspace-events lacks these letters; or a multi, red or sharded lock: listen
 *                    to its members.
 * RLOCK_SERVER       the server refuses the subscription.
 * RLOCK_UNAVAILABLE  it was not confirmed within subscriptionTimeout, the server did not tell its
 *                    notify-keyspace-events, or no node serves the name's slot.
 * RLOCK_INVALID: a pointer (except `arg`) is NULL. RLOCK_CLOSED, RLOCK_FORKED, RLOCK_NO_MEMORY. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_add_listener(rlock *lock, rlock_event_fn *fn, void *arg,
                                                           rlock_listener **listener);
/* The same for a semaphore or latch. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_object_add_listener(rlock_object *object, rlock_event_fn *fn, void *arg,
                                                                  rlock_listener **listener);

/* Ends and frees the listener. When the call returns, its function is no longer running (unless it made the call
 * itself) and will not be called again. NULL is allowed. Any thread, once. Java: removeListener(id). */
RLOCK_API void rlock_remove_listener(rlock_listener *listener);

#ifdef __cplusplus
}
#endif
#endif

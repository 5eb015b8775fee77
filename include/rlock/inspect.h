/* What a server holds under a name, whoever holds it and whichever object it is: for operators and tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_INSPECT_H
#define RLOCK_INSPECT_H

#include <rlock/client.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times that are left are in ms, by the server's clock. Owners are as any client wrote them on the
 * server: any bytes other than 0. Replace control characters before you show them. */
#define RLOCK_NO_END    ((int64_t)-1) /* of a time that is left */
#define RLOCK_NOT_THERE ((int64_t)-2) /* of a TTL: there is no such key */

typedef struct rlock_holder {
    char *owner; /* "<client id>:<number>" */
    int64_t hold_count;
    const char *side; /* of a read-write lock: "read" or "write"; else NULL */
    int64_t left_ms;  /* unless renewed; of several read holds the one that lasts longest; 0: over, and the
                          lock goes when another is released or at its TTL; or RLOCK_NO_END */
} rlock_holder;

typedef struct rlock_waiter {
    char *owner;
    int64_t left_ms; /* how long its place is kept; 0: over, it is passed over; or RLOCK_NO_END */
} rlock_waiter;

typedef struct rlock_taken_permit {
    char *id;        /* as the program that took it has it: 32 hex digits */
    int64_t left_ms; /* of its lease, above 0; or RLOCK_NO_END */
} rlock_taken_permit;

/* The process that a client id leads to, by a connection of it that the server has. Allocated by the library, which may
 * add members at its end. The host and the pid are
 * what that process says of itself. */
typedef struct rlock_process {
    char *client;  /* the client id: what an owner begins with, up to its last colon */
    char *host;    /* the name of its machine or container, as that one has it; what is odd in it stands as _ */
    int64_t pid;   /* its process there */
    char *address; /* of a connection, as the server sees it: "10.0.0.7:51234"; of a unix socket its path and :0 */
} rlock_process;

/* Allocated by the library, which may add members at its end.
 *
 * kind  "free"                nothing is there
 *       "lock"                a lock; also a spin, a non-reentrant lock, and a fair lock that nobody waits for:
 *                             they look alike
 *       "fair"                others wait in a queue on the server; held or free
 *       "fenced"              a token was given; held or free
 *       "read-write"          held by readers, or by a writer
 *       "permit-expirable"    a permit-expirable semaphore, permits of which are or were out
 *       "semaphore-or-latch"  a number alone: a semaphore, a permit-expirable one no permit of which is out,
 *                             or a count-down latch: they look alike */
typedef struct rlock_inspection {
    const char *kind;
    int64_t ttl_ms;      /* of the key that has the name; RLOCK_NO_END; RLOCK_NOT_THERE */
    size_t holder_count; /* above 0: locked */
    rlock_holder *holders;
    const char *mode;      /* of a read-write lock: "read" or "write"; else NULL */
    size_t waiter_count;   /* in the queue of a fair lock; other waiters leave no trace on the server. "x" and "{x}"
                                      have one queue, as in Redisson, so they may wait for the other name */
    rlock_waiter *waiters; /* the next one first */
    bool has_token;
    uint64_t token;      /* the last that was given */
    bool has_permits;    /* a semaphore or latch */
    int64_t available;   /* permits, those too whose lease is over; or the latch's count */
    size_t permit_count; /* known of a permit-expirable semaphore alone */
    rlock_taken_permit *permits;
    size_t process_count;      /* 0 until rlock_inspect_processes() */
    rlock_process **processes; /* of holders and waiters, by client; rlock_inspection_process() finds the one of
                                      an owner */
} rlock_inspection;

/* Looks at `name` and the keys that belong to it on the server, in one script, so that what it says
 * was true together. Changes nothing there.
 * *inspection is set only on RLOCK_OK; end it with rlock_inspection_free().
 * RLOCK_OK; RLOCK_SERVER (also when a key of that name is none that a lock, semaphore or latch has:
 * the message says so); RLOCK_UNAVAILABLE; RLOCK_INVALID; RLOCK_CLOSED; RLOCK_FORKED; RLOCK_NO_MEMORY.
 * Blocks. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_inspect(rlock_client *client, const char *name,
                                                      rlock_inspection **inspection);

/* Finds the processes of the holders and waiters in `inspection`, which rlock_inspect() gave for the same client and name:
 * one CLIENT LIST to the server where the name is, whose answer grows with the number of its clients. A process is found
 * when it uses this library without a clientName of its own, and has a connection to that server now; Redisson's are not.
 * RLOCK_OK: inspection->processes has those that were found. RLOCK_SERVER: refused, for example since the user may not
 * run CLIENT LIST; RLOCK_UNAVAILABLE; RLOCK_INVALID; RLOCK_CLOSED; RLOCK_FORKED; RLOCK_NO_MEMORY. Blocks. Any thread, one
 * an inspection at a time. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_inspect_processes(rlock_client *client, const char *name,
                                                                rlock_inspection *inspection);

/* The process of an owner, such as inspection->holders[0].owner; it belongs to the inspection. NULL: it was not found. */
RLOCK_API const rlock_process *rlock_inspection_process(const rlock_inspection *inspection, const char *owner);

/* Frees what rlock_inspect gave. NULL is allowed. */
RLOCK_API void rlock_inspection_free(rlock_inspection *inspection);

#ifdef __cplusplus
}
#endif
#endif

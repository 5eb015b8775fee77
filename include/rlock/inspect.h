/* Inspection: what the server stores under a name, whichever object it is and whoever holds it. For operators
 * and tests. */
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

/* Remaining times are in ms, by the server's clock. Owners are shown as their clients wrote them: any bytes
 * except 0. Replace control characters before you print them. */
#define RLOCK_NO_END    ((int64_t)-1) /* as a remaining time: no expiry */
#define RLOCK_NOT_THERE ((int64_t)-2) /* as a TTL: no such key */

typedef struct rlock_holder {
    char *owner; /* "<client id>:<number>", the client id a UUID; of a token or signal-list lock: the token, which other
                  * programs write otherwise */
    int64_t hold_count; /* of a token or signal-list lock: 1, as the server does not know it */
    /* Of a read-write lock: "read" or "write"; else NULL. */
    const char *side;
    /* How long the hold lasts unless it is renewed; with several read holds, the longest of them. 0: expired;
     * the lock is freed when another hold is released, or at the end of its TTL. Or RLOCK_NO_END. */
    int64_t left_ms;
} rlock_holder;

typedef struct rlock_waiter {
    char *owner;
    /* How long it keeps its place in the queue; 0: expired, and it will be passed over. Or RLOCK_NO_END. */
    int64_t left_ms;
} rlock_waiter;

typedef struct rlock_taken_permit {
    /* 32 hex digits, as the program that took the permit has it. */
    char *id;
    /* What is left of its lease, above 0; or RLOCK_NO_END. */
    int64_t left_ms;
} rlock_taken_permit;

/* The process behind a client id, found by one of its connections to the server. The host and the pid are
 * what that process says of itself. Allocated by the library, which may add members at the end. */
typedef struct rlock_process {
    /* The client id: an owner's text up to its colon. */
    char *client;
    /* Name of its machine or container, as that one reports it; unusual characters are replaced by _. */
    char *host;
    int64_t pid; /* its process id on that host */
    /* Address of one of its connections as the server sees it, for example "10.0.0.7:51234"; for a unix
     * socket, the socket's path and ":0". */
    char *address;
} rlock_process;

/* What is stored under one name. Allocated by the library, which may add members at the end.
 *
 * kind  "free"                nothing is stored
 *       "lock"                a reentrant, spin or non-reentrant lock, or a fair lock without waiters: these
 *                             look alike
 *       "fair"                a fair lock with waiters in its queue; held or free
 *       "fenced"              a fenced lock: it has a token counter; held or free
 *       "read-write"          held by readers or by a writer
 *       "group"               values of a group; held or free
 *       "token"               a token lock: a string of at most 1024 bytes that is no number
 *       "signal"              a signal-list lock that is held: a token lock under "lock:NAME"; free ones leave nothing
 *       "permit-expirable"    a permit-expirable semaphore of which permits are or were taken
 *       "semaphore-or-latch"  a number alone: a semaphore, a permit-expirable semaphore without taken
 *                             permits, a count-down latch, or a counter that programs use as a lock: these look
 *                             alike */
typedef struct rlock_inspection {
    const char *kind;
    /* TTL of the key NAME (of a signal-list lock: "lock:NAME"), ms; or RLOCK_NO_END; or RLOCK_NOT_THERE. */
    int64_t ttl_ms;
    size_t holder_count; /* above 0: locked */
    rlock_holder *holders;
    const char *mode; /* of a read-write lock: "read" or "write"; else NULL */
    /* Waiters in the queue of a fair lock; waiters of other locks leave no trace on the server. The names "x"
     * and "{x}" share one queue, as in Redisson, so these may wait for the other name. */
    size_t waiter_count;
    rlock_waiter *waiters; /* in the order of the queue */
    bool has_token;
    uint64_t token;   /* the last token that was drawn */
    bool has_permits; /* true: a semaphore or a latch */
    /* Permits that are available, including taken ones whose lease has expired; or the latch's count. */
    int64_t available;
    size_t permit_count; /* known only for a permit-expirable semaphore */
    rlock_taken_permit *permits;
    size_t process_count; /* 0 until rlock_inspect_processes() */
    /* One per client id of the holders and waiters; rlock_inspection_process() finds the process of an owner. */
    rlock_process **processes;
    /* Of a group lock: how many values of the group each holder holds, in the order of `holders`. Their hold_count is
     * that of the value that they hold most often, left_ms is until the last of their values ends. Else NULL. */
    int64_t *value_counts;
} rlock_inspection;

/* Reads what is stored for `name` and the keys that belong to it, with one script, so that the parts are
 * consistent; and if there is nothing, looks for a signal-list lock with another. Changes nothing on the server.
 * *inspection is set only on RLOCK_OK; end it with rlock_inspection_free().
 * RLOCK_OK; RLOCK_SERVER, also if the key is of a type that no lock, semaphore or latch has, or a hash with a field
 * that names no owner (the message says so); RLOCK_UNAVAILABLE; RLOCK_INVALID; RLOCK_CLOSED; RLOCK_FORKED;
 * RLOCK_NO_MEMORY. Blocks. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_inspect(rlock_client *client, const char *name,
                                                      rlock_inspection **inspection);

/* Finds the processes of the holders and waiters in `inspection`, which rlock_inspect() made for the same
 * client and name. Sends one CLIENT LIST to the server of that name; its answer grows with the number of the
 * server's clients. A process is found if it uses this library without a clientName of its own and is
 * connected to that server now. Processes that use Redisson are not found.
 * RLOCK_OK: inspection->processes holds the processes that were found. RLOCK_SERVER: the server refused, for
 * example because the user has no right to CLIENT LIST; RLOCK_UNAVAILABLE; RLOCK_INVALID; RLOCK_CLOSED;
 * RLOCK_FORKED; RLOCK_NO_MEMORY. Blocks. Any thread, but only one at a time for each inspection. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_inspect_processes(rlock_client *client, const char *name,
                                                                rlock_inspection *inspection);

/* The process of an owner, for example of inspection->holders[0].owner; it belongs to the inspection. NULL: not found.
 */
RLOCK_API const rlock_process *rlock_inspection_process(const rlock_inspection *inspection, const char *owner);

/* Frees an inspection. NULL is allowed. */
RLOCK_API void rlock_inspection_free(rlock_inspection *inspection);

/* Called with each name that rlock_find() finds, on the thread that called it. `name` is valid during the call. False
 * ends the search. Must not call the library. */
typedef bool rlock_found_fn(const char *name, void *arg);

/* What rlock_find() looks for. */
typedef enum rlock_find_what {
    /* Locks of all kinds but token and signal-list locks: hashes whose fields are owners. */
    RLOCK_FIND_LOCKS = 0,
    /* Strings, whatever they hold: token locks, signal-list locks (with "lock:" before the name), semaphores, latches,
     * and all other strings of the database. */
    RLOCK_FIND_STRINGS = 1
} rlock_find_what;

/* Finds what is stored now under names that match a pattern. Asks the master, or all masters of a cluster, one after
 * the other, with SCAN, which never blocks them for long; of each hash it asks for the first fields.
 * pattern: as SCAN takes it, for example "order:*"; NULL: all names. With namePrefix, only names that have the prefix
 *      are found; pattern and names are without it.
 * found: called with each name, in no particular order; a name may come twice. A name that is free leaves nothing to be
 *      found. One that is locked or freed during the call may be missing or not, and so may one whose slot of a cluster
 *      moves to another node meanwhile. Names with a 0 byte are left out.
 * RLOCK_OK, also if `found` ended the search; RLOCK_UNAVAILABLE: a server did not answer, or no node serves some
 * slots; RLOCK_SERVER: a server refused, for example because the user has no right to SCAN or HSCAN; RLOCK_INVALID;
 * RLOCK_CLOSED; RLOCK_FORKED; RLOCK_NO_MEMORY. After a failure some names may have been found. Blocks, for as long as
 * it takes to go through all keys. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_find(rlock_client *client, const char *pattern, rlock_find_what what,
                                                   rlock_found_fn *found, void *arg);

/* What a server says of itself, for rlock_examine(). The library may add members at the end. */
typedef struct rlock_server {
    size_t size;         /* size of this struct in this version of the library */
    const char *address; /* for example "10.0.0.7:6379" */
    /* The answer to INFO: lines of the form "name:value"; NULL: the server refused. */
    const char *info;
    /* Settings, as lines of the form "name:value": maxmemory-policy, save, appendonly, appendfsync,
     * min-replicas-to-write, stop-writes-on-bgsave-error and client-output-buffer-limit. One that the server refused to
     * tell is missing. */
    const char *settings;
    /* How far the server's clock is ahead of the clock of this machine, ms, and how far that may be wrong, because the
     * question took time on its way. RLOCK_NO_CLOCK: the server refused to tell. */
    int64_t clock_ahead_ms, clock_error_ms;
    /* Where the sentinels say that the master is: for each a line of its own address, a space, the master's host, a
     * space and its port; of one that does not say it, its own address alone. NULL: there are no sentinels. */
    const char *sentinels;
} rlock_server;

#define RLOCK_NO_CLOCK INT64_MIN

/* Called with each server, on the thread that called rlock_examine(). All texts are valid during the call. Control
 * characters other than line ends may be among them. Must not call the library. */
typedef void rlock_server_fn(const rlock_server *server, void *arg);

/* Asks the master, or all masters of a cluster, about version, settings and state. Changes nothing.
 * RLOCK_OK; RLOCK_UNAVAILABLE: a server did not answer, or no node serves some slots; RLOCK_SERVER: a server refused
 * the connection (a password, say); RLOCK_INVALID; RLOCK_CLOSED; RLOCK_FORKED; RLOCK_NO_MEMORY. A server that refuses a
 * question is no failure: what it would have said is missing. Blocks. Any thread. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_examine(rlock_client *client, rlock_server_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif

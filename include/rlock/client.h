/* A client: one id, its connections to one Redis, and the watchdog of all the locks it holds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_CLIENT_H
#define RLOCK_CLIENT_H

#include <rlock/config.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_client rlock_client;

/* Opens a client: finds the master, or the masters of a cluster, and connects to one. Redisson.create().
 * url: one of
 *      redis://[user:password@]host[:port][/db]                     one server (singleServerConfig)
 *      unix:///path[?db=n]                                          the same, on a socket
 *      redis-sentinel://[user:password@]host[:port],…[/db]?masterName=…  sentinels (sentinelServersConfig)
 *      redis-cluster://[user:password@]host[:port],…[/db]           some nodes of a cluster (clusterServersConfig)
 *      redis-replicated://[user:password@]host[:port],…[/db]        a master and replicas (replicatedServersConfig)
 *      redis-master-slave://[user:password@]master[:port],replica[:port],…[/db]  (masterSlaveServersConfig)
 *      with rediss in the place of redis for TLS; then optionally query parameters named as in
 *      rlock_config, such as ?lockWatchdogTimeout=10000&timeout=500. User, password and values may be
 *      percent-encoded. The user is that of the servers; sentinels have sentinelUsername.
 * *client is set only on RLOCK_OK; end it with rlock_client_close(). A process needs one; it may be shared
 * by all threads. One attempt, without retries: blocks for at most the connect timeout plus the timeout;
 * with several servers for a second for each that does not answer before.
 * RLOCK_OK.
 * RLOCK_INVALID: the URL, a value in it, or a file that it names: a truststore or keystore that cannot be
 * read; masterName is missing; TLS is asked for, and the module that librlock.so has it in cannot be loaded.
 * RLOCK_UNAVAILABLE: nobody answers there, or not yet (it is loading, its failover is not over): the server; all
 * of the sentinels, or the master that they name; all nodes of the cluster that were given, or all masters
 * that they name; no master is among the servers given.
 * RLOCK_SERVER: somebody answered and refused: user, password or database; masterName is none that the
 * sentinels watch; the server is no sentinel, or no cluster; there is no agreement on TLS: its
 * certificate is wrong, expired, or for another host, or only one of both speaks TLS.
 * RLOCK_NO_MEMORY.
 * rlock_last_error() says which server, what it said and what to do, never a password. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_client_open(rlock_client **client, const char *url);

/* As rlock_client_open, from a struct, which rlock_config_load_yaml() can fill from Redisson's own file.
 * RLOCK_INVALID also for what rlock_config_init() has not filled. `config` may be changed or freed
 * afterwards. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_client_open_config(rlock_client **client, const rlock_config *config);

/* Closes the client: calls under way in other threads end with RLOCK_CLOSED, its threads are
 * joined, its connections closed. Locks that are held stay until their TTL ends, as after
 * Redisson's shutdown(); unlock first to free them at once. So does what a call may have taken whose
 * answer was lost, and that is given back in the background while the client is open. Handles made from the client stay
 * valid and answer RLOCK_CLOSED; free them as usual, before or after. With unlock_waits = false,
 * waits first for the answers to releases, for a second or the timeout at most; that one of them
 * was refused may not be told any more. NULL is allowed. Not from a callback of this client (it
 * then does nothing). In a forked child: closes the child's
 * copies of the sockets and frees nothing the parent needs. */
RLOCK_API void rlock_client_close(rlock_client *client);

/* The client's id, 36 characters of UUID; owned by the client. NULL for NULL. */
RLOCK_API const char *rlock_client_id(const rlock_client *client);

/* Why a hold was lost. */
typedef enum rlock_lost_reason {
    RLOCK_LOST_EXPIRED = 0,      /* its validity ended: the lease ran out, or no renewal was confirmed in time */
    RLOCK_LOST_GONE = 1,         /* the server no longer has it: forced open, deleted, or lost in a restart */
    RLOCK_LOST_OWNER_EXITED = 2, /* the thread that held it has ended; it is no longer renewed */
    RLOCK_LOST_NOT_RELEASED = 3  /* unlockWaits=false: the server refused the release, or did not answer while the
                                    lease lasted: the lock was held for nobody until then, or is yet */
} rlock_lost_reason;

typedef struct rlock_lost_event {
    size_t size;      /* of this struct as the library knows it */
    const char *name; /* the lock's name as the program gave it; valid during the call */
    int64_t owner;    /* named owner's number, or the thread's number in this process */
    bool named_owner; /* true: from rlock_for_owner or options; false: a thread */
    int hold_count;   /* how many holds are gone */
    rlock_lost_reason reason;
} rlock_lost_event;

typedef void rlock_lost_fn(const rlock_lost_event *event, void *arg);

/* Calls `fn` once for each hold that is lost from now on, or whose release was refused when unlock did not wait, on a thread of the library that
 * holds no lock of it; the function may use locks, but must not close the client. One function
 * a client: a later call replaces it, NULL removes it; on return the former one is not running
 * any more (unless called from within it). `arg` must outlive it. Any thread. */
RLOCK_API void rlock_on_lost(rlock_client *client, rlock_lost_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif

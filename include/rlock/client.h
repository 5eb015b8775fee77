/* Client: one id, its connections to one Redis deployment, and the watchdog of all locks that it holds. */
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

/* Opens a client: finds the master, or the masters of a cluster, and connects to one of them. Java: Redisson.create().
 * url: one of
 *      redis://[user:password@]host[:port][/db]                     one server (singleServerConfig)
 *      unix:///path[?db=n]                                          one server, over a unix socket
 *      redis-sentinel://[user:password@]host[:port],…[/db]?masterName=…  sentinels (sentinelServersConfig)
 *      redis-cluster://[user:password@]host[:port],…[/db]           some nodes of a cluster (clusterServersConfig)
 *      redis-replicated://[user:password@]host[:port],…[/db]        a master and replicas (replicatedServersConfig)
 *      redis-master-slave://[user:password@]master[:port],replica[:port],…[/db]  (masterSlaveServersConfig)
 *
 * With "rediss" instead of "redis" the connections use TLS. Query parameters may follow; they are named as in
 * rlock_config, for example ?lockWatchdogTimeout=10000&timeout=500. User, password and values may be
 * percent-encoded. User and password are for the servers; sentinels have sentinelUsername and sentinelPassword.
 * *client is set only on RLOCK_OK; end it with rlock_client_close(). One client is enough for a process; all
 * threads may share it.
 * With lazyInitialization=true no server is asked: then only RLOCK_OK, RLOCK_INVALID and RLOCK_NO_MEMORY.
 * Makes one attempt, without retries. Blocks for at most the connect timeout plus the timeout. Where the servers have
 * to be found, each may take a second to answer; if none has, they are asked once more, and share the timeout, but have
 * a second at least.
 * RLOCK_OK           the client is open.
 * RLOCK_INVALID      the URL or a value in it is wrong; masterName is missing; a truststore or keystore
 *                    cannot be read; or the URL asks for TLS, and librlock.so cannot load its TLS module.
 * RLOCK_UNAVAILABLE  no answer, or the server cannot serve yet (it is loading its data, or a failover is not
 *                    over): from the server; from all sentinels, or from the master that they name; from all
 *                    given nodes of the cluster, or from all masters that they name. Also if none of the
 *                    given servers is a master.
 * RLOCK_SERVER       a server answered and refused: wrong user, password or database; the sentinels do not
 *                    know masterName; the server is no sentinel, or no cluster node; or TLS failed, because
 *                    the certificate is wrong, expired or for another host, or because only one side uses
 *                    TLS.
 * RLOCK_NO_MEMORY    out of memory.
 * rlock_last_error() says which server it was, what the server said and what to do. It never contains a password. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_client_open(rlock_client **client, const char *url);

/* As rlock_client_open, with the settings from a struct. rlock_config_load_yaml() can fill the struct from
 * Redisson's configuration file. Also RLOCK_INVALID: `config` was not filled by rlock_config_init(). The
 * caller may change or free `config` after the call. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_client_open_config(rlock_client **client, const rlock_config *config);

/* Closes the client. Calls under way in other threads end with RLOCK_CLOSED; the client's threads are joined
 * and its connections are closed.
 * Locks that are held stay locked until their TTL ends, as after Redisson's shutdown(); unlock first to free
 * them at once.
 * A call whose answer was lost may have taken a lock or a permit. The client gives that back in the background; close
 * first waits until the server has answered, for one second or the timeout, whichever is less. What is not given back
 * by then stays until its lease ends, as does what a call has taken that close itself ends. Only where the server ended
 * a script midway, for example because the user has no right to PEXPIRE, may a part of a lock stay without an expiry.
 * Handles that were made from the client stay valid and return RLOCK_CLOSED; free them as usual, before or after.
 * With unlock_waits = false, first waits for the answers to releases, for one second or the timeout,
 * whichever is less; rlock_on_lost may then not report a release that the server refused.
 * Where threads wait for signal-list locks, also waits until the signals that they have taken are passed on to other
 * programs: for each server one second or the timeout, whichever is less.
 * NULL is allowed. No cancellation point. Does nothing when called from the function of rlock_on_lost() or a listener
 * of this client; the function of an asynchronous operation may close it. In a forked child it closes the
 * child's copies of the sockets and frees nothing that the parent needs. */
RLOCK_API void rlock_client_close(rlock_client *client);

/* The client's id: a UUID of version 8, in 36 characters, owned by the client. NULL for NULL. */
RLOCK_API const char *rlock_client_id(const rlock_client *client);

/* How long the calls of one handle wait for an answer, and how often they ask, where that is to differ from the
 * client's configuration. Start from RLOCK_CALL_OPTIONS_INIT: nothing differs. Java: CommonOptions
 * (InvocationOptions). */
typedef struct rlock_call_options {
    size_t size; /* sizeof(rlock_call_options) in the program */
    /* How long to wait for the answer to one request: 1 to the client's `timeout`, as that judges the connections,
     * which all handles share; -1: the client's. Java: timeout(). */
    int64_t timeout_ms;
    /* How many more times to send a request that was not answered: 0 to 1000; -1: the client's. Java:
     * retryAttempts(). */
    int64_t retry_attempts;
    /* The pause before each of them: 0 to 3600000; -1: the client's retryDelay. Java: retryInterval(). */
    int64_t retry_interval_ms;
} rlock_call_options;
#define RLOCK_CALL_OPTIONS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(rlock_call_options), -1, -1, -1                                                                         \
    }

/* Why a hold was lost. */
typedef enum rlock_lost_reason {
    /* Its validity ended: the lease ran out, or no renewal was confirmed in time. */
    RLOCK_LOST_EXPIRED = 0,
    /* The server no longer has it: it was forced open, deleted, or lost in a restart. */
    RLOCK_LOST_GONE = 1,
    /* The thread that held it has ended; the hold is no longer renewed. Reported when its next renewal would have been
     * due: after a third of lockWatchdogTimeout at the latest. */
    RLOCK_LOST_OWNER_EXITED = 2,
    /* With unlockWaits=false: the server refused the release, or did not answer it before the lease ended.
     * The lock may have stayed locked, without an owner, until the end of the lease. */
    RLOCK_LOST_NOT_RELEASED = 3,
    /* Its validity ended because the server answered the renewal with an error, for want of a right, say
     * (docs/security.md). While the function of rlock_on_lost runs, rlock_last_error() says why. */
    RLOCK_LOST_REFUSED = 4
} rlock_lost_reason;

typedef struct rlock_lost_event {
    size_t size;      /* size of this struct in this version of the library */
    const char *name; /* name of the lock as the program gave it; valid during the callback */
    /* The number of the named owner, or that by which this library knows the thread, as in its messages. It is not the
     * system's, and not that in the lock's field on the server, which is another for each hold. A program that must
     * know which worker has lost its lock uses rlock_for_owner(). */
    int64_t owner;
    bool named_owner; /* true: an owner from rlock_for_owner or the options; false: a thread */
    int hold_count;   /* how many holds are lost */
    rlock_lost_reason reason;
    /* The id of a permit that was acquired with RLOCK_PERMIT_WATCHDOG, valid during the callback; then `name` is that
     * of its semaphore, `owner` is 0 and `hold_count` 1. NULL: a lock was lost. */
    const char *permit;
} rlock_lost_event;

typedef void rlock_lost_fn(const rlock_lost_event *event, void *arg);

/* Whether servers report changes that others make to this client's locks, so that a loss is told at once: rlock_on_lost
 * is called, rlock_valid_for() is 0 and the unlock returns RLOCK_LOST. In all other states, and for holds younger than
 * a second, a loss is found at the next renewal (a third of lockWatchdogTimeout) or when the lease has ended. */
typedef enum rlock_tracking {
    RLOCK_TRACKING_IDLE = 0,       /* no hold has been older than a second: nothing is tracked yet */
    RLOCK_TRACKING_ON = 1,         /* holds that are older than a second are tracked */
    RLOCK_TRACKING_CONNECTING = 2, /* it is being set up, or set up anew after a connection ended */
    RLOCK_TRACKING_DISABLED = 3,   /* lossTracking is false */
    /* a server lacks it (Redis before 6.0, a proxy), or the user has no right to it */
    RLOCK_TRACKING_REFUSED = 4,
    RLOCK_TRACKING_TOO_MANY_HOLDS = 5, /* the client has more holds than lossTrackingMaxHolds */
    RLOCK_TRACKING_FALSE_ALARMS = 6    /* most reports were no loss: tracking rests for five minutes */
} rlock_tracking;

/* Sets *tracking to the present state; with several servers to the worst of theirs. In the states from
 * RLOCK_TRACKING_CONNECTING on, rlock_last_error() then says why.
 * RLOCK_OK; RLOCK_INVALID: a pointer is NULL; RLOCK_CLOSED; RLOCK_FORKED. Does not block. Any thread. */
RLOCK_API rlock_status rlock_client_tracking(rlock_client *client, rlock_tracking *tracking);

/* Calls `fn` once for each hold that is lost from now on; with unlock_waits = false also for each release
 * that the server refused. `fn` runs on a thread of the library that holds no mutex of the library. It may
 * use locks, but must not close the client. If it forks, the child must end in it (_exit, or exec): when the function
 * returns, it ends as by _exit(0).
 * A client has one function: a later call replaces it, and NULL removes it. When the call returns, the former
 * function is no longer running (unless it made the call itself). `arg` must stay valid until then.
 * RLOCK_OK; RLOCK_INVALID: `client` is NULL; RLOCK_NO_MEMORY: the thread that would call `fn` cannot be started, so no
 * loss will be reported; RLOCK_CLOSED, RLOCK_FORKED. Any thread; no cancellation point. */
RLOCK_API rlock_status rlock_on_lost(rlock_client *client, rlock_lost_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif

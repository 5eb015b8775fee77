/* The settings of a client, with Redisson's names and defaults. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_CONFIG_H
#define RLOCK_CONFIG_H

#include <rlock/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start with rlock_config_init(), then change what differs. Strings belong to the caller and
 * are copied by rlock_client_open_config(); NULL: not set. Each line names Redisson's setting,
 * which is also the name of the URL's query parameter. */
typedef struct rlock_config {
    size_t size;                      /* set by rlock_config_init */
    const char *address;              /* any URL that rlock_client_open takes; what the URL says
                                         overrides the fields below */
    const char *username;             /* username: ACL user; NULL: the default user */
    const char *password;             /* password */
    int database;                     /* database: 0 and up */
    const char *client_name;          /* clientName: for CLIENT LIST */
    const char *name_prefix;          /* nameMapper, as a prefix before every lock's name */
    int64_t lock_watchdog_timeout_ms; /* lockWatchdogTimeout: 30000; renewed every third; from 1000 when
                                         the network needs it, never below 30 */
    int lock_watchdog_batch_size;     /* lockWatchdogBatchSize: 100 locks a renewal script */
    int64_t timeout_ms;               /* timeout: 3000, for the answer to one attempt */
    int64_t connect_timeout_ms;       /* connectTimeout: 10000 */
    int64_t subscription_timeout_ms;  /* subscriptionTimeout: 7500, for a subscription's confirmation */
    int retry_attempts;               /* retryAttempts: 4 more attempts after the first */
    int64_t retry_base_delay_ms;      /* retryDelay's baseDelay: 1000; a pause before attempt n+1 is */
    int64_t retry_max_delay_ms;       /* retryDelay's maxDelay: 2000; d/2 + random(0…d/2), d = min(max, base·2ⁿ) */
    int connection_pool_size;         /* connectionPoolSize: 8 shared connections at most, opened as load
                                         needs them; beside them one for messages while something
                                         waits, and one for renewals while something is renewed */
    int64_t fair_lock_wait_timeout_ms; /* fairLockWaitTimeout: 300000; how long a waiter without a wait time
                                          of its own keeps its place in a fair lock's queue unheard of */
} rlock_config;

/* Fills `config` with the defaults above. Any thread. */
RLOCK_API void rlock_config_init(rlock_config *config);

#ifdef __cplusplus
}
#endif
#endif

/* A client's settings: rlock_config and URLs, checked and copied. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SETTINGS_H
#define RLI_SETTINGS_H

#include "config/connection_name.h"
#include "config/nat.h"

#include <rlock/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a server is. */
typedef struct rli_address {
    char *socket_path; /* set: a unix socket; else host and port */
    char *host;
    int port;
    char *username, *password; /* this server's own; NULL: those of the settings */
    bool alone;                /* the host is a name that stands alone in its URL, without user and port */
    bool sentinel;             /* greeted as a sentinel: with its user and password, without database */
    char text[160];            /* for messages: never with user or password */
} rli_address;

/* How the servers belong together; Redisson's …ServersConfig. */
typedef enum rli_mode { RLI_SINGLE, RLI_SENTINEL, RLI_CLUSTER, RLI_REPLICATED, RLI_MASTER_SLAVE } rli_mode;

/* Redisson's shardedSubscriptionMode: whether messages in a cluster go by SPUBLISH. */
typedef enum rli_sharding { RLI_SHARDING_AUTO, RLI_SHARDING_ON, RLI_SHARDING_OFF } rli_sharding;

/* Redisson's sslVerificationMode. */
typedef enum rli_verification { RLI_VERIFY_STRICT, RLI_VERIFY_CA_ONLY, RLI_VERIFY_NONE } rli_verification;

/* Redisson's ssl… settings. Stores are PEM files, or PKCS#12 ones (a password opens them). */
typedef struct rli_tls {
    bool on; /* a rediss URL */
    rli_verification verification;
    char *truststore, *truststore_password; /* NULL: the system's */
    char *keystore, *keystore_password;     /* NULL: no client certificate */
    char *protocols;                        /* such as "TLSv1.2,TLSv1.3"; NULL: 1.2 and up */
    char *ciphers;                          /* separated by commas or colons; NULL: OpenSSL's */
    struct rli_tls_context *context;        /* what connections share, made of the above (tls_context.h) */
} rli_tls;

typedef struct rli_settings {
    rli_mode mode;
    rli_address *addresses; /* as configured: the server; sentinels; some nodes; the master, then its replicas */
    size_t address_count;
    rli_tls tls;
    char *username, *password, *client_name, *name_prefix; /* NULL: not set */
    char own_name[RLI_CONNECTION_NAME];                    /* of connections without a client_name; "": none */
    char *master_name, *sentinel_username, *sentinel_password;
    char *nat_map; /* its text, which `nat` points into */
    rli_nat nat;   /* natMapper: for each address that is configured or that a server tells */
    rli_sharding sharding;
    bool check_synced;                                           /* checkLockSyncedSlaves */
    bool local_hand_over;                                        /* localHandOver */
    bool unlock_waits;                                           /* unlockWaits */
    int64_t sync_timeout_ms;                                     /* slavesSyncTimeout */
    int64_t scan_interval_ms, dns_interval_ms, ping_interval_ms; /* scanInterval, dnsMonitoringInterval,
                                                                    pingConnectionInterval; 0: never */
    int database;
    int64_t watchdog_timeout_ms;
    int batch_size;
    int64_t timeout_ms, connect_timeout_ms, subscription_timeout_ms, fair_wait_timeout_ms;
    int retry_attempts;
    int64_t retry_base_delay_ms, retry_max_delay_ms;
    int pool_size;
    bool tcp_keep_alive;
    int tcp_keep_alive_count, tcp_keep_alive_idle_s, tcp_keep_alive_interval_s,
        tcp_user_timeout_ms; /* 0: ours, in redis/dial.c */
} rli_settings;

void rli_address_free(rli_address *address);
/* Appends an empty address. NULL: out of memory. */
rli_address *rli_settings_add_address(rli_settings *settings);

/* Names of modes and schemes, in url.c. */
const char *rli_mode_scheme(rli_mode mode, bool tls); /* "rediss-cluster" */

/* From a config whose address is set, or whose addresses are. On failure nothing is left to free.
 * RLOCK_OK, RLOCK_INVALID, RLOCK_UNSUPPORTED, RLOCK_NO_MEMORY. */
rlock_status rli_settings_make(rli_settings *settings, const rlock_config *config);
void rli_settings_free(rli_settings *settings);

/* Reads `url` into `settings` (url.c): scheme, addresses, common user, database, query parameters. */
rlock_status rli_settings_read_url(rli_settings *settings, const char *url);
/* Reads the URL of one of several servers (url.c): scheme, address, that server's own user. `first`: its
 * scheme says the mode; else it must be the same. */
rlock_status rli_settings_read_server(rli_settings *settings, const char *url, bool first);

/* One setting by its Redisson name, as text (settings.c). RLOCK_INVALID: unknown or malformed; `named`:
 * an unknown name may be shown. */
rlock_status rli_settings_set(rli_settings *settings, const char *name, const char *value, bool named);

/* Replaces *field by a copy of `length` bytes of `text`. */
rlock_status rli_settings_copy(char **field, const char *text, size_t length);

#endif

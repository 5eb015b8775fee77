/* Settings of a client: read from rlock_config and URLs, checked and copied. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SETTINGS_H
#define RLI_SETTINGS_H

#include "config/connection_name.h"
#include "config/nat.h"

#include <rlock/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a server is, and how to log in there. */
typedef struct rli_address {
    char *socket_path; /* a unix socket; NULL: host and port are used */
    char *host;
    int port;
    char *username, *password; /* this server's own; NULL: those of the settings */
    /* The URL gives the host as a name alone, without user and port. */
    bool alone;
    /* It is a sentinel: connections log in with the sentinels' user and password, and select no database. */
    bool sentinel;
    /* For messages; never contains user or password. */
    char text[160];
} rli_address;

/* How the servers belong together; Redisson's …ServersConfig. */
typedef enum rli_mode { RLI_SINGLE, RLI_SENTINEL, RLI_CLUSTER, RLI_REPLICATED, RLI_MASTER_SLAVE } rli_mode;

/* Whether messages in a cluster use sharded pub/sub; Redisson's shardedSubscriptionMode. */
typedef enum rli_sharding { RLI_SHARDING_AUTO, RLI_SHARDING_ON, RLI_SHARDING_OFF } rli_sharding;

/* Redisson's codec, as the configuration names it. */
typedef enum rli_stated_codec {
    RLI_STATES_NO_CODEC,
    RLI_STATES_KRYO5,
    RLI_STATES_STRING,
    RLI_STATES_OTHER_CODEC
} rli_stated_codec;

/* Redisson's sslVerificationMode. */
typedef enum rli_verification { RLI_VERIFY_STRICT, RLI_VERIFY_CA_ONLY, RLI_VERIFY_NONE } rli_verification;

/* Redisson's ssl… settings. Stores are PEM files, or PKCS#12 files that a password opens. */
typedef struct rli_tls {
    bool on; /* set by a rediss URL */
    rli_verification verification;
    char *truststore, *truststore_password; /* NULL: the system's */
    char *keystore, *keystore_password;     /* NULL: no client certificate */
    char *protocols;                        /* for example "TLSv1.2,TLSv1.3"; NULL: 1.2 and up */
    char *ciphers;                          /* separated by commas or colons; NULL: OpenSSL's default */
    /* Made from the fields above and shared by the connections (tls_context.h). */
    struct rli_tls_context *context;
} rli_tls;

typedef struct rli_settings {
    rli_mode mode;
    /* As configured: the server; sentinels; some nodes; or the master, then its replicas. */
    rli_address *addresses;
    size_t address_count;
    rli_tls tls;
    /* NULL: not set. */
    char *username, *password, *client_name, *name_prefix;
    /* Name of connections if there is no client_name; "": none. */
    char own_name[RLI_CONNECTION_NAME];
    char *master_name, *sentinel_username, *sentinel_password;
    char *nat_map; /* text of natMap; `nat` points into it */
    /* natMapper: applied to each address that is configured or that a server reports. */
    rli_nat nat;
    rli_sharding sharding;
    rli_stated_codec codec;
    bool check_synced;    /* checkLockSyncedSlaves */
    bool local_hand_over; /* localHandOver */
    bool unlock_waits;    /* unlockWaits */
    bool lazy;            /* lazyInitialization */
    bool loss_tracking;   /* lossTracking */
    int loss_tracking_max_holds;
    int64_t sync_timeout_ms; /* slavesSyncTimeout */
    /* scanInterval, dnsMonitoringInterval, pingConnectionInterval; 0: never. */
    int64_t scan_interval_ms, dns_interval_ms, ping_interval_ms;
    int database;
    int64_t watchdog_timeout_ms;
    int batch_size;
    int64_t timeout_ms, connect_timeout_ms, subscription_timeout_ms, fair_wait_timeout_ms;
    int retry_attempts;
    int64_t retry_base_delay_ms, retry_max_delay_ms;
    int pool_size;
    bool tcp_keep_alive;
    /* 0: the default in net/dial.c. */
    int tcp_keep_alive_count, tcp_keep_alive_idle_s, tcp_keep_alive_interval_s, tcp_user_timeout_ms;
} rli_settings;

void rli_address_free(rli_address *address);
/* Appends an empty address. NULL: out of memory. */
rli_address *rli_settings_add_address(rli_settings *settings);

/* The URL scheme of a mode (url.c). */
const char *rli_mode_scheme(rli_mode mode, bool tls); /* for example "rediss-cluster" */

/* Reads a config whose `address` or `addresses` are set, checks it and copies it. RLOCK_OK, RLOCK_INVALID,
 * RLOCK_NO_MEMORY; on failure nothing is left to free. */
rlock_status rli_settings_make(rli_settings *settings, const rlock_config *config);
void rli_settings_free(rli_settings *settings);

/* Reads `url` into `settings` (url.c): scheme, addresses, common user, database and query parameters. */
rlock_status rli_settings_read_url(rli_settings *settings, const char *url);
/* Reads the URL of one of several servers into `settings` (url.c): scheme, address and that server's own
 * user. `first`: the scheme sets the mode; otherwise it must be the same as before. */
rlock_status rli_settings_read_server(rli_settings *settings, const char *url, bool first);

/* Sets one setting by Redisson's name, from text (settings.c). RLOCK_INVALID: the name is unknown or the
 * value malformed. `named`: the message may show an unknown name. */
rlock_status rli_settings_set(rli_settings *settings, const char *name, const char *value, bool named);

/* How often a hold under the watchdog is renewed. */
static inline int64_t rli_renewal_period_ms(const rli_settings *settings)
{
    return settings->watchdog_timeout_ms / 3;
}

/* Replaces *field by a copy of `length` bytes of `text`. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_settings_copy(char **field, const char *text, size_t length);
/* The same with a whole text; NULL: changes nothing. */
rlock_status rli_settings_copy_text(char **field, const char *text);

#endif

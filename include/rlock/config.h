/* The settings of a client, with Redisson's names and defaults. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_CONFIG_H
#define RLOCK_CONFIG_H

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is checked of a server's certificate: Redisson's sslVerificationMode. */
typedef enum rlock_ssl_verification_mode {
    RLOCK_SSL_STRICT = 0,  /* STRICT: who signed it, and the host's name in it */
    RLOCK_SSL_CA_ONLY = 1, /* CA_ONLY: who signed it */
    RLOCK_SSL_NONE = 2     /* NONE: nothing; with a truststore the same as CA_ONLY, as in Redisson */
} rlock_ssl_verification_mode;

/* Whether messages in a cluster go by SPUBLISH: Redisson's shardedSubscriptionMode. */
typedef enum rlock_sharded_subscription_mode {
    RLOCK_SHARDED_AUTO =
        0, /* AUTO: when the masters know it, from Redis 7 on; opening answers RLOCK_SERVER where an ACL forbids
                             * to ask them (PUBSUB SHARDNUMSUB) */
    RLOCK_SHARDED_ON = 1, /* ON */
    RLOCK_SHARDED_OFF = 2 /* OFF */
} rlock_sharded_subscription_mode;

/* Start with rlock_config_init(), then change what differs, or let rlock_config_load_yaml() do it. Strings
 * that a program puts in belong to it and are copied by rlock_client_open_config(); NULL: not set. Each
 * line names Redisson's setting, which is also the name of the URL's query parameter, then the range and
 * the default. Spans are milliseconds unless the line says otherwise. */
typedef struct rlock_config {
    size_t size;                       /* set by rlock_config_init */
    const char *address;               /* any URL that rlock_client_open takes; what the URL says overrides
                                         the fields below. NULL: `addresses` are given */
    const char *username;              /* username: ACL user; NULL: the default user. No URL parameter: it
                                         stands before the @ */
    const char *password;              /* password; as username */
    int database;                      /* database: 0 and up (0); in a cluster more than 0 needs Valkey 9
                                         with cluster-databases */
    const char *client_name;           /* clientName: for CLIENT LIST, without white space. NULL: connections are called
                                         rlock:<client id>:<host>:<pid>, by which rlock_inspect_processes finds
                                         this process. "": no name */
    const char *name_prefix;           /* nameMapper, as a prefix before every lock's name; in URLs namePrefix */
    int64_t lock_watchdog_timeout_ms;  /* lockWatchdogTimeout: 30 ms to a year (30000); renewed every third.
                                         Take 1000 or more over a network */
    int lock_watchdog_batch_size;      /* lockWatchdogBatchSize: 1 to 1000 (100) locks a renewal script */
    int64_t timeout_ms;                /* timeout: 1 ms to a day (3000), for the answer to one attempt. Also how
                                         long a server may stall without failing a try, however short its
                                         wait, and how far a try overruns its wait while no server answers */
    int64_t connect_timeout_ms;        /* connectTimeout: 1 ms to a day (10000), for one attempt to connect:
                                         looking the host's name up, TCP, and TLS */
    int64_t subscription_timeout_ms;   /* subscriptionTimeout: 1 ms to a day (7500), for a subscription's
                                         confirmation */
    int retry_attempts;                /* retryAttempts: 0 to 1000 (4) more attempts after the first */
    int64_t retry_base_delay_ms;       /* retryDelay's baseDelay: 0 to a day (1000); a pause before attempt n+1
                                         is d/2 + random(0…d/2), d = min(max, base·2ⁿ); in URLs retryBaseDelay */
    int64_t retry_max_delay_ms;        /* retryDelay's maxDelay: 0 to a day (2000); in URLs retryMaxDelay */
    int connection_pool_size;          /* connectionPoolSize, masterConnectionPoolSize: 1 to 64 (8; Redisson
                                         64) shared connections a server at most, opened as load needs
                                         them; beside them one for messages while something waits, and
                                         one for renewals while something is renewed */
    int64_t fair_lock_wait_timeout_ms; /* fairLockWaitTimeout: 1 ms to a year (300000); how long a waiter
                                          without a wait time of its own keeps its place in a fair lock's
                                          queue unheard of */
    /* From here on: since rlock_config_init_size(). Every field begins where the one before it ends. */
    const char *const *addresses;        /* instead of `address`: one URL a server, all of one scheme, as in
                                         {"redis-cluster://a:7000", "redis-cluster://user:pw@b:7000"}; a
                                         user and password are that server's own and go before the common
                                         ones. redis-master-slave: the master comes first */
    size_t address_count;                /* how many those are */
    const char *master_name;             /* masterName: what the sentinels call the master; needed with them */
    const char *sentinel_username;       /* sentinelUsername, and */
    const char *sentinel_password;       /* sentinelPassword: for the sentinels alone; NULL: a sentinel that asks
                                         for one is told `password` */
    const char *nat_map;                 /* natMapper, natMap: where servers are whose own addresses lead nowhere
                                         from here (Docker, NAT), as in "172.18.0.1:7000=127.0.0.1:7001" for
                                         HostPortNatMapper, "172.18.0.1=10.0.0.1" for HostNatMapper; several
                                         are separated by commas, IPv6 stands in brackets. With sentinels,
                                         clusters and replicated servers; in URLs natMap */
    const char *ssl_truststore;          /* sslTruststore: path of a PEM or PKCS#12 file; NULL: the system's */
    const char *ssl_truststore_password; /* sslTruststorePassword: opens a PKCS#12 file */
    const char *ssl_keystore;            /* sslKeystore: certificate and key of this client, PEM or PKCS#12 */
    const char *ssl_keystore_password;   /* sslKeystorePassword */
    const char *ssl_protocols;           /* sslProtocols: as "TLSv1.2,TLSv1.3"; NULL: 1.2 and up */
    const char *ssl_ciphers;             /* sslCiphers: separated by commas; NULL: OpenSSL's */
    rlock_ssl_verification_mode ssl_verification_mode;         /* sslVerificationMode (STRICT) */
    rlock_sharded_subscription_mode sharded_subscription_mode; /* shardedSubscriptionMode (AUTO) */
    int64_t slaves_sync_timeout_ms;      /* slavesSyncTimeout: 1 ms to a day (1000), for the replicas to confirm */
    int64_t scan_interval_ms;            /* scanInterval: 1 ms to a day; how often the servers are asked who is
                                         what. 0, the default: 1000, in a cluster 5000 */
    int64_t dns_monitoring_interval_ms;  /* dnsMonitoringInterval: 1 ms to a day (5000); -1 or 0: never */
    int64_t ping_connection_interval_ms; /* pingConnectionInterval: 1 ms to a day (30000); 0: never */
    int tcp_keep_alive_count;            /* tcpKeepAliveCount: up to 127 unanswered probes; 0, the default: 3 */
    int tcp_keep_alive_idle_s;           /* tcpKeepAliveIdle: up to 32767 seconds; 0, the default: 15 */
    int tcp_keep_alive_interval_s;       /* tcpKeepAliveInterval: up to 32767 seconds; 0, the default: 5 */
    int tcp_user_timeout_ms;             /* tcpUserTimeout: up to 2147483647 ms; 0, the default: 30000 */
    bool check_lock_synced_slaves;       /* checkLockSyncedSlaves (true): a lock that no replica confirmed is
                                         given back with RLOCK_NOT_SYNCED; never with a single server */
    bool tcp_keep_alive;                 /* tcpKeepAlive (true) */
    bool local_hand_over;                /* localHandOver (false; not Redisson's): an unlock may leave the lock to a
                                         thread of this client that waits, with no word to the server, for up
                                         to 10 ms and 10,000 turns in a row; then other processes are served.
                                         For reentrant and non-reentrant locks without lease. A loss that only
                                         the server knows of is told by the watchdog, or by the unlock that ends
                                         the row */
    bool unlock_waits;                   /* unlockWaits (true; not Redisson's): rlock_unlock waits for the server's
                                         answer. false: it returns when the release is on its way, and
                                         rlock_on_lost tells of one that was refused, see there */
    bool unused[4];
    void *owned; /* the library's: what rlock_config_free() frees */
} rlock_config;

/* Fills `config` with the defaults above; NULL is allowed. Any thread. The macro tells the library how long the struct
 * is, and calls rlock_config_init_size(). A program built with an older, shorter struct keeps working: fields that it does
 * not have keep their defaults. So does one built with a newer, longer struct, as long as it leaves the fields that this
 * library does not know at 0; else the calls that read the config answer RLOCK_INVALID.
 * The exported function of the same name fills the fields up to fairLockWaitTimeout alone. Programs that bind the library
 * by its symbols take rlock_config_new(). */
RLOCK_API void rlock_config_init(rlock_config *config);
RLOCK_API void rlock_config_init_size(rlock_config *config, size_t size);
#define rlock_config_init(config) rlock_config_init_size((config), sizeof(rlock_config))

/* A config that the library allocates, with the defaults: for programs and bindings that do not know the struct. NULL:
 * out of memory. End it with rlock_config_delete(). Any thread. */
RLOCK_API rlock_config *rlock_config_new(void);

/* Frees a config that rlock_config_new() made, with all that belongs to it. NULL is allowed. Clients that were opened with
 * it go on. Not for a struct of the program's own: rlock_config_free() is for that. */
RLOCK_API void rlock_config_delete(rlock_config *config);

/* Sets one field by Redisson's name for it, as the lines above give it, or "address", "username", "password". `value` is
 * the text that a URL would have: a number (spans in milliseconds), a word such as STRICT, true or false, or a text, which
 * is copied and belongs to the config from then on, so end it with rlock_config_free() or rlock_config_delete(). NULL
 * unsets a text. "address" takes the place of the addresses of a file.
 * RLOCK_OK; RLOCK_INVALID: an unknown name, or a value that is malformed or out of range; rlock_last_error() says which;
 * RLOCK_NO_MEMORY. `config` is as before unless RLOCK_OK. One thread a config at a time. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_config_set(rlock_config *config, const char *name, const char *value);

/* Reads Redisson's own configuration file, YAML or JSON, into `config`, which rlock_config_init() or
 * rlock_config_new() has filled: one of singleServerConfig, sentinelServersConfig, clusterServersConfig, masterSlaveServersConfig
 * and replicatedServersConfig, and the settings beside it. ${NAME} and ${NAME:-default} are taken from the
 * environment, as Redisson does. Fields of which the file says nothing keep what they had, but for `address`,
 * which becomes NULL: the servers are in `addresses`. Keys that do not matter to locks are passed over;
 * those that are unknown, or that cannot be followed, are told by rlock_config_warnings().
 * A nameMapper is a Java class: one with Prefix in its name and the one property `prefix` is taken to put
 * that before each name; for any other, set config->name_prefix to what it does before the call ("":
 * nothing), or the file is refused, since locks would have other names than in Java.
 * Strings and addresses that the file gives belong to the config: end it with rlock_config_free().
 * RLOCK_OK; RLOCK_INVALID: `config`, the file cannot be read, is no YAML or has a wrong value;
 * rlock_last_error() has file, line and key; RLOCK_UNSUPPORTED: it asks for what only Java has;
 * RLOCK_NO_MEMORY. `config` is as before unless RLOCK_OK. Reads a file; one thread a config at a time. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_config_load_yaml(rlock_config *config, const char *path);

/* What the files loaded into `config` have that was not followed, a line each, as
 * "redisson.yaml:7: unknown key …"; "" when there is nothing, or for NULL. Never a password. Valid until
 * the next load or free. */
RLOCK_API const char *rlock_config_warnings(const rlock_config *config);

/* Frees what rlock_config_load_yaml() and rlock_config_set() put into `config` and fills it with the defaults. A config
 * without such, and NULL, are allowed. Clients that were opened with it go on. A config that was copied: once. */
RLOCK_API void rlock_config_free(rlock_config *config);

#ifdef __cplusplus
}
#endif
#endif

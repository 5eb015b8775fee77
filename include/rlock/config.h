/* Settings of a client, with Redisson's names and defaults. */
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

/* What is verified of a server's certificate. Redisson: sslVerificationMode. */
typedef enum rlock_ssl_verification_mode {
    RLOCK_SSL_STRICT = 0,  /* STRICT: the signer and the host name */
    RLOCK_SSL_CA_ONLY = 1, /* CA_ONLY: the signer */
    /* NONE: nothing. With a truststore it is the same as CA_ONLY, as in Redisson. */
    RLOCK_SSL_NONE = 2
} rlock_ssl_verification_mode;

/* Whether messages in a cluster use sharded pub/sub (SPUBLISH). Redisson: shardedSubscriptionMode. */
typedef enum rlock_sharded_subscription_mode {
    /* AUTO: if the masters support it (Redis 7 and up). Opening returns RLOCK_SERVER if an ACL forbids to ask them
     * (PUBSUB SHARDNUMSUB). */
    RLOCK_SHARDED_AUTO = 0,
    RLOCK_SHARDED_ON = 1, /* ON */
    RLOCK_SHARDED_OFF = 2 /* OFF */
} rlock_sharded_subscription_mode;

/* How Java's clients make bytes of the values of group locks. Redisson: codec. */
typedef enum rlock_config_codec {
    RLOCK_CONFIG_CODEC_UNSET = 0,  /* UNSET: not said; Java then takes Kryo5Codec */
    RLOCK_CONFIG_CODEC_KRYO5 = 1,  /* KRYO5: Kryo5Codec, without properties */
    RLOCK_CONFIG_CODEC_STRING = 2, /* STRING: StringCodec, LongCodec, IntegerCodec, DoubleCodec, without properties */
    RLOCK_CONFIG_CODEC_OTHER = 3   /* OTHER: one that this library does not know */
} rlock_config_codec;

/* Start with rlock_config_init(), then change fields, or let rlock_config_load_yaml() do it. Strings that a
 * program sets remain the program's; rlock_client_open_config() copies them. NULL means not set.
 * Each comment below begins with Redisson's name of the setting, which is also the name of the URL's query
 * parameter, followed by the range and, in parentheses, the default. Times are in milliseconds unless the
 * comment says otherwise. */
typedef struct rlock_config {
    size_t size; /* set by rlock_config_init */
    /* Any URL that rlock_client_open takes; what the URL says overrides the fields below. NULL: `addresses` is used. */
    const char *address;
    /* username: the ACL user. NULL: the default user. There is no URL parameter; in a URL the user stands
     * before the @. */
    const char *username;
    /* password: as username. */
    const char *password;
    /* database: 0 and up (0). In a cluster, a database above 0 needs Valkey 9 with cluster-databases. */
    int database;
    /* clientName: name of the connections in CLIENT LIST, without white space. NULL: the connections are
     * named rlock:<client id>:<host>:<pid>, by which rlock_inspect_processes() finds this process. "": no
     * name. */
    const char *client_name;
    /* nameMapper: a prefix for the name of every lock. In URLs: namePrefix. */
    const char *name_prefix;
    /* lockWatchdogTimeout: 30 ms to a year (30000). Lease of locks that are renewed; they are renewed every
     * third of it. Use 1000 or more over a network. */
    int64_t lock_watchdog_timeout_ms;
    /* lockWatchdogBatchSize: 1 to 1000 (100). How many locks one renewal script renews. */
    int lock_watchdog_batch_size;
    /* timeout: 1 ms to a day (3000). How long one attempt waits for its answer. A server that stalls for less
     * than this fails no attempt to lock, however short its wait; and while no server answers, an attempt to
     * lock may overrun its wait by this and about 100 ms, and by slavesSyncTimeout where there are replicas. */
    int64_t timeout_ms;
    /* connectTimeout: 1 ms to a day (10000). For one attempt to connect: host name lookup, TCP and TLS. */
    int64_t connect_timeout_ms;
    /* subscriptionTimeout: 1 ms to a day (7500). How long to wait for the confirmation of a subscription. */
    int64_t subscription_timeout_ms;
    /* retryAttempts: 0 to 1000 (4). How many attempts may follow the first one. */
    int retry_attempts;
    /* retryDelay's baseDelay: 0 to a day (1000). The pause after the n-th failed attempt is d/2 + random(0…d/2),
     * where d = min(max, base·2ⁿ⁻¹). In URLs: retryBaseDelay. */
    int64_t retry_base_delay_ms;
    /* retryDelay's maxDelay: 0 to a day (2000). In URLs: retryMaxDelay. */
    int64_t retry_max_delay_ms;
    /* connectionPoolSize, masterConnectionPoolSize: 1 to 64 (8; Redisson: 64). The most shared connections to
     * one server; they are opened as the load needs them. In addition, a server has one connection for
     * messages while something waits, and one for renewals while something is renewed. */
    int connection_pool_size;
    /* fairLockWaitTimeout: 1 ms to a year (300000). How long a waiter without its own wait time keeps
     * its place in the queue of a fair lock when it is not heard of. */
    int64_t fair_lock_wait_timeout_ms;
    /* The fields from here on were added with rlock_config_init_size(). Every field begins where the one
     * before it ends. */

    /* Used instead of `address`: one URL per server, all of one scheme, for example
     * {"redis-cluster://a:7000", "redis-cluster://user:pw@b:7000"}. A user and password in such a URL are for
     * that server and override the common ones. With redis-master-slave the first one is the master. */
    const char *const *addresses;
    size_t address_count; /* number of `addresses` */
    /* masterName: the sentinels' name for the master; required with sentinels. */
    const char *master_name;
    /* sentinelUsername: for the sentinels alone; as sentinel_password. */
    const char *sentinel_username;
    /* sentinelPassword: for the sentinels alone. NULL: a sentinel that asks for a password gets `password`. */
    const char *sentinel_password;
    /* natMapper, natMap: replaces addresses that servers report but that cannot be reached from here (Docker,
     * NAT). "172.18.0.1:7000=127.0.0.1:7001" corresponds to HostPortNatMapper, "172.18.0.1=10.0.0.1" to
     * HostNatMapper. Entries are separated by commas; IPv6 addresses are in brackets. For sentinels, clusters
     * and replicated servers. In URLs: natMap. */
    const char *nat_map;
    /* sslTruststore: path of a PEM or PKCS#12 file. NULL: the system's truststore. */
    const char *ssl_truststore;
    const char *ssl_truststore_password; /* sslTruststorePassword: opens a PKCS#12 file */
    /* sslKeystore: path of a file with this client's certificate and key, PEM or PKCS#12. */
    const char *ssl_keystore;
    const char *ssl_keystore_password; /* sslKeystorePassword */
    /* sslProtocols: for example "TLSv1.2,TLSv1.3". NULL: TLS 1.2 and up. */
    const char *ssl_protocols;
    /* sslCiphers: separated by commas. NULL: OpenSSL's default. */
    const char *ssl_ciphers;
    rlock_ssl_verification_mode ssl_verification_mode;         /* sslVerificationMode (STRICT) */
    rlock_sharded_subscription_mode sharded_subscription_mode; /* shardedSubscriptionMode (AUTO) */
    /* slavesSyncTimeout: 1 ms to a day (1000). How long to wait for replicas to confirm. */
    int64_t slaves_sync_timeout_ms;
    /* scanInterval: 1 ms to a day. How often the servers are asked for their roles. 0, the default, means
     * 1000, in a cluster 5000. */
    int64_t scan_interval_ms;
    /* dnsMonitoringInterval: 1 ms to a day (5000); -1 or 0: never. */
    int64_t dns_monitoring_interval_ms;
    /* pingConnectionInterval: 1 ms to a day (30000); 0: never. */
    int64_t ping_connection_interval_ms;
    /* tcpKeepAliveCount: up to 127 unanswered probes. 0, the default, means 3. */
    int tcp_keep_alive_count;
    /* tcpKeepAliveIdle: up to 32767 seconds. 0, the default, means 15. */
    int tcp_keep_alive_idle_s;
    /* tcpKeepAliveInterval: up to 32767 seconds. 0, the default, means 5. */
    int tcp_keep_alive_interval_s;
    /* tcpUserTimeout: up to 2147483647 ms. 0, the default, means 30000. */
    int tcp_user_timeout_ms;
    /* checkLockSyncedSlaves (true): a lock that no replica confirmed is released again, and the call returns
     * RLOCK_NOT_SYNCED. Has no effect with a single server. */
    bool check_lock_synced_slaves;
    bool tcp_keep_alive; /* tcpKeepAlive (true) */
    /* localHandOver (false; not a setting of Redisson): an unlock may hand the lock to a waiting thread of
     * this client without telling the server, for up to 10 ms and 10,000 turns in a row; then other processes
     * get their turn. For reentrant and non-reentrant locks without a lease. A loss that only the server
     * knows of is reported by the watchdog, or by the unlock that ends the row. */
    bool local_hand_over;
    /* unlockWaits (true; not a setting of Redisson): rlock_unlock waits for the server's answer. false: it
     * returns once the release is on its way; see rlock_unlock(). rlock_on_lost reports a release that the
     * server refused. */
    bool unlock_waits;
    /* lossTracking (false; not a setting of Redisson): the server reports changes that others make to locks held for
     * longer than a second (CLIENT TRACKING), so that a loss is told at once instead of at the next renewal. false: no
     * tracking, and no connection for it. rlock_client_tracking() tells whether it works. */
    bool loss_tracking;
    /* lazyInitialization (false): opening a client asks no server, so it succeeds while none answers. The servers are
     * found by the thread of the client, or by the first call that needs one; a wrong address or password shows
     * there. */
    bool lazy_initialization;
    bool unused[2];
    void *owned; /* internal: what rlock_config_free() frees */
    /* lossTrackingMaxHolds: 1 to 2147483647 (100000; not a setting of Redisson). While the client has more holds than
     * this, none are tracked. */
    int loss_tracking_max_holds;
    /* codec (UNSET). For group locks of strings and longs alone, which refuse a codec that contradicts it. */
    rlock_config_codec codec;
} rlock_config;

/* Fills `config` with the defaults, which the comments in rlock_config give in parentheses. NULL is allowed. Any
 * thread.
 * The macro passes the size of the struct to rlock_config_init_size(). A program that was built with an
 * older, shorter struct keeps working: the fields that it does not have keep their defaults. So does a
 * program that was built with a newer, longer struct, as long as it leaves the fields that this library does
 * not know at 0; otherwise the calls that read the config return RLOCK_INVALID.
 * The exported function of the same name fills only the fields up to fair_lock_wait_timeout_ms. Bindings that
 * call the library by its symbols should use rlock_config_new(). */
RLOCK_API void rlock_config_init(rlock_config *config);
RLOCK_API void rlock_config_init_size(rlock_config *config, size_t size);
#define rlock_config_init(config) rlock_config_init_size((config), sizeof(rlock_config))

/* Allocates a config with the defaults, for programs and bindings that do not know the struct. NULL: out of
 * memory. End it with rlock_config_delete(). Any thread. */
RLOCK_API rlock_config *rlock_config_new(void);

/* Frees a config that rlock_config_new() made, with everything that belongs to it. NULL is allowed. Clients
 * that were opened with it are not affected. For a struct of the program's own use rlock_config_free(). */
RLOCK_API void rlock_config_delete(rlock_config *config);

/* Sets one field by its name in URLs, which is the first word of the field's comment in rlock_config, or "address",
 * "username" or "password". It is Redisson's name where the comment does not say otherwise; what Redisson sets with a
 * class of Java has another, such as namePrefix for a nameMapper.
 * value: as in a URL: a number (times in ms), a word such as STRICT, true or false, or a string. A string is
 *        copied and belongs to the config, so end the config with rlock_config_free() or rlock_config_delete().
 *        NULL unsets a string. "address" replaces addresses that a file gave.
 * RLOCK_OK; RLOCK_INVALID: the name is unknown, or the value of a number, word or bool is malformed or out of range
 * (rlock_last_error() says which); RLOCK_NO_MEMORY. Unless RLOCK_OK, `config` is unchanged. Strings, such as an
 * address, are checked when a client is opened. Only one thread at a time may use a config. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_config_set(rlock_config *config, const char *name, const char *value);

/* Reads a configuration file of Redisson, YAML or JSON, into `config`, which rlock_config_init() or
 * rlock_config_new() has filled. The file has one of singleServerConfig, sentinelServersConfig,
 * clusterServersConfig, masterSlaveServersConfig and replicatedServersConfig, and common settings beside it.
 * ${NAME} and ${NAME:-default} are replaced from the environment, as Redisson does.
 * Fields that the file does not mention keep their values, except `address`: it becomes NULL, and the servers
 * are in `addresses`. Keys that do not concern locks are ignored; keys that are unknown or cannot be followed
 * are reported by rlock_config_warnings().
 * A nameMapper is a Java class. One whose name contains Prefix and whose only property is `prefix` is taken
 * to put that prefix before each name. For any other class, set config->name_prefix before the call to what
 * the class does ("": nothing); else the file is refused, since locks would have other names than in Java.
 * Strings and addresses from the file belong to the config: end it with rlock_config_free().
 * RLOCK_OK; RLOCK_INVALID: `config` is wrong, or the file cannot be read, is not YAML or has a wrong value
 * (rlock_last_error() has file, line and key); RLOCK_UNSUPPORTED: the file asks for something that only Java
 * has; RLOCK_NO_MEMORY. Unless RLOCK_OK, `config` is unchanged. Blocks to read the file. Only one thread at a
 * time may use a config. */
RLOCK_API RLOCK_MUST_CHECK rlock_status rlock_config_load_yaml(rlock_config *config, const char *path);

/* What the files loaded into `config` contain that was not followed: one line each, for example
 * "redisson.yaml:7: unknown key …". "" if there is nothing, or for NULL. Never contains a password. Valid
 * until the next load or free. */
RLOCK_API const char *rlock_config_warnings(const rlock_config *config);

/* Frees what rlock_config_load_yaml() and rlock_config_set() put into `config`, and fills it with the
 * defaults. Allowed for a config without such contents, and for NULL. Clients that were opened with it are
 * not affected. If the struct was copied, call this for one of the copies only. */
RLOCK_API void rlock_config_free(rlock_config *config);

#ifdef __cplusplus
}
#endif
#endif

/* Redisson's configuration file: what each key does, and what is said of what is wrong. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/config/redisson_file/yaml_keys.h"
#include "src/config/settings.h"
#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rlock_config config;

static void setup(void)
{
    rlock_config_init(&config);
}

static void tear_down(void)
{
    rlock_config_free(&config);
    scratch_remove();
}

TestSuite(yaml, .init = setup, .fini = tear_down);

#define SINGLE "singleServerConfig:\n  address: redis://h:1\n"
#define CLUSTER_OF "clusterServersConfig:\n  nodeAddresses: [\"redis://h:1\"]\n"

static const char *path_of(const char *name)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
    return path;
}

static rlock_status load_text(const char *text)
{
    scratch_write("redisson.yaml", text);
    return rlock_config_load_yaml(&config, path_of("redisson.yaml"));
}

static void load(const char *text)
{
    rlock_status status = load_text(text);
    cr_assert(status == RLOCK_OK, "%s: %s\n%s", rlock_strstatus(status), rlock_last_error(), text);
}

static void load_data(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "tests/unit/data/%s", name);
    assert_ok(rlock_config_load_yaml(&config, path));
}

static void assert_text(const char *found, const char *expected)
{
    cr_assert(found == expected || (found && expected && strcmp(found, expected) == 0), "\"%s\" instead of \"%s\"",
              found ? found : "(none)", expected ? expected : "(none)");
}

/* The addresses, one behind the other. */
static void assert_addresses(const char *expected)
{
    char all[1000] = "";
    for (size_t i = 0; i < config.address_count; i++) {
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", i ? " " : "", config.addresses[i]);
    }
    assert_text(all, expected);
    cr_assert(!config.address);
}

static void assert_no_warnings(void)
{
    assert_text(rlock_config_warnings(&config), "");
}

/* ---- Whole files ---- */

Test(yaml, every_setting_of_a_single_server_arrives)
{
    load_data("single.yaml");
    assert_no_warnings();
    assert_addresses("redis://10.1.0.1:6380");
    assert_text(config.username, "alice");
    assert_text(config.password, "open: sesame");
    assert_text(config.client_name, "orders");
    assert_text(config.name_prefix, NULL);
    cr_assert(config.database == 7 && config.timeout_ms == 2500 && config.connect_timeout_ms == 6000);
    cr_assert(config.subscription_timeout_ms == 7000 && config.retry_attempts == 6);
    cr_assert(config.retry_base_delay_ms == 250 && config.retry_max_delay_ms == 4000);
    cr_assert(config.connection_pool_size == 12 && config.ping_connection_interval_ms == 20000);
    cr_assert(config.dns_monitoring_interval_ms == 4000 && config.lock_watchdog_timeout_ms == 20000);
    cr_assert(config.lock_watchdog_batch_size == 50 && config.fair_lock_wait_timeout_ms == 200000);
    cr_assert(config.tcp_keep_alive && config.tcp_keep_alive_count == 3 && config.tcp_keep_alive_idle_s == 60);
    cr_assert(config.tcp_keep_alive_interval_s == 10 && config.tcp_user_timeout_ms == 5000);
}

Test(yaml, every_setting_of_sentinels_and_tls_arrives)
{
    load_data("sentinel.yaml");
    assert_no_warnings();
    assert_addresses("rediss-sentinel://10.1.0.1:26379 rediss-sentinel://watcher:s%40cret@10.1.0.2:26379 "
                     "rediss-sentinel://[fd00::3]:26379");
    assert_text(config.master_name, "orders");
    assert_text(config.sentinel_username, "sentry");
    assert_text(config.sentinel_password, "hush: hush");
    assert_text(config.password, "data");
    cr_assert(config.database == 2 && config.scan_interval_ms == 1500 && config.connection_pool_size == 16);
    cr_assert(!config.check_lock_synced_slaves && config.slaves_sync_timeout_ms == 700);
    cr_assert(config.ssl_verification_mode == RLOCK_SSL_CA_ONLY);
    assert_text(config.ssl_truststore, "/etc/tls/ca all.pem");
    assert_text(config.ssl_truststore_password, "changeit");
    assert_text(config.ssl_keystore, "/etc/tls/client.p12");
    assert_text(config.ssl_keystore_password, "changeme");
    assert_text(config.ssl_protocols, "TLSv1.2,TLSv1.3");
    assert_text(config.ssl_ciphers, "TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256");

    rli_settings settings;
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.mode == RLI_SENTINEL && settings.tls.on && settings.address_count == 3);
    cr_assert(settings.addresses[0].sentinel && settings.addresses[2].sentinel);
    assert_text(settings.addresses[1].username, "watcher");
    assert_text(settings.addresses[1].password, "s@cret");
    assert_text(settings.addresses[2].host, "fd00::3");
    rli_settings_free(&settings);
}

Test(yaml, every_setting_of_a_cluster_arrives)
{
    load_data("cluster.yaml");
    assert_no_warnings();
    assert_addresses("redis-cluster://127.0.0.1:7004 redis-cluster://127.0.0.1:7001 redis-cluster://127.0.0.1:7000");
    cr_assert(config.scan_interval_ms == 2000 && config.ping_connection_interval_ms == 0);
    cr_assert(config.sharded_subscription_mode == RLOCK_SHARDED_OFF);
    assert_text(config.password, NULL);
    assert_text(config.username, NULL);
}

Test(yaml, the_master_comes_first_whatever_the_order_in_the_file)
{
    load_data("master-slave.yaml");
    assert_no_warnings();
    assert_addresses("redis-master-slave://127.0.0.1:6379 redis-master-slave://127.0.0.1:6381 "
                     "redis-master-slave://127.0.0.1:6380");
    cr_assert(config.database == 3 && config.dns_monitoring_interval_ms == -1);
    rli_settings settings;
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.dns_interval_ms == 0);
    rli_settings_free(&settings);
}

Test(yaml, replicated_servers_arrive)
{
    load_data("replicated.yaml");
    assert_no_warnings();
    assert_addresses("redis-replicated://host1.example:2812 redis-replicated://host2.example:2815");
    cr_assert(config.scan_interval_ms == 900);
}

Test(yaml, a_file_of_redisson_3_is_read)
{
    load_data("redisson-3.yaml");
    assert_no_warnings();
    assert_addresses("rediss://127.0.0.1:6379");
    assert_text(config.username, "someone");
    assert_text(config.password, "section");
    cr_assert(config.retry_attempts == 3 && config.retry_base_delay_ms == 1500 && config.retry_max_delay_ms == 1500);
    cr_assert(config.ssl_verification_mode == RLOCK_SSL_NONE);
    cr_assert(config.connection_pool_size == 64 && config.tcp_keep_alive);
}

Test(yaml, json_is_read)
{
    load_data("redisson-3.json");
    assert_no_warnings();
    assert_addresses("redis-sentinel://127.0.0.1:26379 redis-sentinel://127.0.0.1:26389");
    assert_text(config.master_name, "mymaster");
    assert_text(config.password, "4.2");
    assert_text(config.name_prefix, "shop:");
    cr_assert(config.retry_base_delay_ms == 1500);
}

/* What a file leaves open keeps Redisson's defaults. */
Test(yaml, a_file_with_an_address_alone_leaves_the_defaults)
{
    rlock_config defaults;
    rlock_config_init(&defaults);
    load("singleServerConfig: {address: \"redis://127.0.0.1:6379\"}");
    assert_addresses("redis://127.0.0.1:6379");
    config.addresses = NULL;
    config.address_count = 0;
    void *owned = config.owned;
    config.owned = NULL;
    cr_assert(memcmp(&config, &defaults, sizeof config) == 0);
    config.owned = owned;
}

/* ---- Every key that Redisson knows ---- */

enum { TOP = 1, SINGLE_SERVER = 2, SENTINEL = 4, CLUSTER = 8, MASTER_SLAVE = 16, REPLICATED = 32 };
#define SEVERAL (SENTINEL | CLUSTER | MASTER_SLAVE | REPLICATED)
#define SECTIONS (SINGLE_SERVER | SEVERAL)

/* The properties of the classes of org.redisson.config in 4.7.0, and of 3.9 to 4.0 what that has lost, with
 * values of their types. */
static const struct {
    const char *names, *value;
    int where;
} keys[] = {
    {"lockWatchdogTimeout fairLockWaitTimeout slavesSyncTimeout reliableTopicWatchdogTimeout", "60000", TOP},
    {"lockWatchdogBatchSize threads nettyThreads minCleanUpDelay maxCleanUpDelay cleanUpKeysAmount", "7", TOP},
    {"checkLockSyncedSlaves referenceEnabled useScriptCache keepPubSubOrder useThreadClassLoader "
     "tcpKeepAlive tcpNoDelay useLinuxNativeEpoll redissonReferenceEnabled", "true", TOP},
    {"lazyInitialization", "false", TOP},
    {"username password sslTruststorePassword sslKeystorePassword sslKeystoreType", "text", TOP | SECTIONS},
    {"sslTruststore sslKeystore", "file:/tmp/store", TOP | SECTIONS},
    {"sslProtocols sslCiphers", "[a, b]", TOP | SECTIONS},
    {"sslVerificationMode", "STRICT", TOP | SECTIONS},
    {"sslProvider", "OPENSSL", TOP | SECTIONS},
    {"tcpKeepAliveCount tcpKeepAliveIdle tcpKeepAliveInterval tcpUserTimeout", "5", TOP | SECTIONS},
    {"nameMapper", "!<org.redisson.config.DefaultNameMapper> {}", TOP | SECTIONS},
    {"commandMapper", "!<org.redisson.config.DefaultCommandMapper> {}", TOP | SECTIONS},
    {"credentialsResolver", "!<org.redisson.config.DefaultCredentialsResolver> {}", TOP | SECTIONS},
    {"sslTrustManagerFactory sslKeyManagerFactory", "null", TOP | SECTIONS},
    {"transportMode", "EPOLL", TOP},
    {"protocol", "RESP3", TOP},
    {"valkeyCapabilities", "[REDIRECT]", TOP},
    {"codec", "!<org.redisson.codec.Kryo5Codec> {}", TOP},
    {"executor nettyExecutor eventLoopGroup referenceCodecProvider", "null", TOP},
    {"nettyHook", "!<org.redisson.client.DefaultNettyHook> {}", TOP},
    {"connectionListener", "!!org.example.Listener {}", TOP},
    {"addressResolverGroupFactory", "!<org.redisson.connection.SequentialDnsAddressResolverFactory> {}", TOP},

    {"idleConnectionTimeout connectTimeout timeout subscriptionTimeout retryInterval pingConnectionInterval "
     "dnsMonitoringInterval reconnectionTimeout pingTimeout", "4000", SECTIONS},
    {"retryAttempts subscriptionsPerConnection failedAttempts subscriptionConnectionMinimumIdleSize "
     "subscriptionConnectionPoolSize dnsMonitoringTimes", "3", SECTIONS},
    {"retryDelay", "!<org.redisson.config.FullJitterDelay> {baseDelay: PT0.1S, maxDelay: PT10S}", SECTIONS},
    {"reconnectionDelay", "!<org.redisson.config.ConstantDelay> {delay: PT1S}", SECTIONS},
    {"clientName", "text", SECTIONS},
    {"sslEnableEndpointIdentification keepAlive tcpNoDelay", "true", SECTIONS},
    {"database", "7", SECTIONS},

    {"loadBalancer", "!<org.redisson.connection.balancer.RoundRobinLoadBalancer> {}", SEVERAL},
    {"failedSlaveNodeDetector", "!<org.redisson.client.FailedConnectionDetector> {}", SEVERAL},
    {"slaveConnectionMinimumIdleSize slaveConnectionPoolSize masterConnectionMinimumIdleSize masterConnectionPoolSize "
     "slaveSubscriptionConnectionMinimumIdleSize slaveSubscriptionConnectionPoolSize", "9", SEVERAL},
    {"failedSlaveReconnectionInterval failedSlaveCheckInterval", "9000", SEVERAL},
    {"fallbackLoadingToMaster", "false", SEVERAL},
    {"readMode", "MASTER", SEVERAL},
    {"subscriptionMode", "MASTER", SEVERAL},
    {"natMapper", "!<org.redisson.config.DefaultNatMapper> {}", SENTINEL | CLUSTER | REPLICATED},
    {"natMap", "{}", SENTINEL | CLUSTER},

    {"address", "rediss://h:1", SINGLE_SERVER},
    {"connectionMinimumIdleSize connectionPoolSize", "5", SINGLE_SERVER},
    {"dnsMonitoring", "true", SINGLE_SERVER},
    {"sentinelAddresses", "[\"rediss://h:1\"]", SENTINEL},
    {"masterName sentinelUsername sentinelPassword", "text", SENTINEL},
    {"checkSentinelsList checkSlaveStatusWithSyncing sentinelsDiscovery", "true", SENTINEL},
    {"nodeAddresses", "[\"rediss://h:1\"]", CLUSTER | REPLICATED},
    {"scanInterval", "5000", SENTINEL | CLUSTER | REPLICATED},
    {"checkSlotsCoverage checkMasterLinkStatus", "true", CLUSTER},
    {"shardedSubscriptionMode", "ON", CLUSTER},
    {"masterAddress", "rediss://h:1", MASTER_SLAVE},
    {"slaveAddresses", "[\"rediss://h:2\"]", MASTER_SLAVE},
    {"monitorIPChanges", "true", REPLICATED},
};

static const struct {
    int where;
    const char *text; /* with what a section must have */
    const char *needed; /* the keys in it */
} sections[] = {
    {SINGLE_SERVER, "singleServerConfig:\n", "address: rediss://h:1"},
    {SENTINEL, "sentinelServersConfig:\n", "masterName: m|sentinelAddresses: [rediss://h:1]|sentinelPassword: p"},
    {CLUSTER, "clusterServersConfig:\n", "nodeAddresses: [rediss://h:1]"},
    {MASTER_SLAVE, "masterSlaveServersConfig:\n", "masterAddress: rediss://h:1"},
    {REPLICATED, "replicatedServersConfig:\n", "nodeAddresses: [rediss://h:1]"},
    {REPLICATED, "elasticacheServersConfig:\n", "nodeAddresses: [rediss://h:1]"},
};

/* A file of the section with `name: value` in that, or at the top. */
static void write_key(char *text, size_t size, size_t section, const char *name, const char *value, bool at_top)
{
    size_t length = (size_t)snprintf(text, size, "%s", sections[section].text);
    char needed[200];
    snprintf(needed, sizeof needed, "%s", sections[section].needed);
    for (char *next, *line = strtok_r(needed, "|", &next); line; line = strtok_r(NULL, "|", &next)) {
        bool same = strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':' && !at_top;
        if (!same)
            length += (size_t)snprintf(text + length, size - length, "  %s\n", line);
    }
    snprintf(text + length, size - length, "%s%s: %s\n", at_top ? "" : "  ", name, value);
}

/* docs/configuration.md lists what has no effect. */
Test(yaml, each_key_that_has_no_effect_is_documented)
{
    static char docs[100000];
    char name[80];
    FILE *file = fopen("docs/configuration.md", "r");
    cr_assert(file && fread(docs, 1, sizeof docs - 1, file) > 0 && fclose(file) == 0);
    for (size_t i = 0; rli_yaml_key_at(i); i++) {
        const rli_yaml_key *key = rli_yaml_key_at(i);
        snprintf(name, sizeof name, "`%s`", key->name);
        cr_assert(key->use != RLI_USE_NOT || strstr(docs, name), "%s is missing", name);
    }
}

/* Of codecs with properties nothing is known. */
Test(yaml, the_codec_is_known_by_its_class)
{
    static const struct {
        const char *text;
        rlock_config_codec codec;
    } cases[] = {
        {"", RLOCK_CONFIG_CODEC_UNSET},
        {"codec: null\n", RLOCK_CONFIG_CODEC_UNSET},
        {"codec: !<org.redisson.codec.Kryo5Codec> {}\n", RLOCK_CONFIG_CODEC_KRYO5},
        {"codec: !<org.redisson.client.codec.StringCodec> {}\n", RLOCK_CONFIG_CODEC_STRING},
        {"codec: !<org.redisson.client.codec.LongCodec> {}\n", RLOCK_CONFIG_CODEC_STRING},
        {"codec: !<org.redisson.client.codec.IntegerCodec> {}\n", RLOCK_CONFIG_CODEC_STRING},
        {"codec: !<org.redisson.client.codec.DoubleCodec> {}\n", RLOCK_CONFIG_CODEC_STRING},
        {"codec: {class: org.redisson.client.codec.StringCodec}\n", RLOCK_CONFIG_CODEC_STRING},
        {"codec: !<org.redisson.client.codec.StringCodec> {charset: UTF-16}\n", RLOCK_CONFIG_CODEC_OTHER},
        {"codec: !<org.redisson.codec.Kryo5Codec> {useReferences: false}\n", RLOCK_CONFIG_CODEC_OTHER},
        {"codec: !<org.redisson.codec.JsonJacksonCodec> {}\n", RLOCK_CONFIG_CODEC_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "singleServerConfig: {address: \"redis://h:1\"}\n%s", cases[i].text);
        load(text);
        cr_assert(config.codec == cases[i].codec, "%d: %s", (int)config.codec, text);
        assert_no_warnings();
        rlock_config_free(&config);
    }
}

Test(yaml, each_key_that_redisson_has_had_is_used_or_passed_over_in_silence)
{
    int count = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char names[400];
        snprintf(names, sizeof names, "%s", keys[i].names);
        for (char *next, *name = strtok_r(names, " ", &next); name; name = strtok_r(NULL, " ", &next)) {
            for (size_t j = 0; j < sizeof sections / sizeof *sections; j++) {
                for (int at_top = 0; at_top < 2; at_top++) {
                    if (!(keys[i].where & (at_top ? TOP : sections[j].where)))
                        continue;
                    char text[1000];
                    write_key(text, sizeof text, j, name, keys[i].value, at_top);
                    load(text);
                    cr_assert(!*rlock_config_warnings(&config), "%s%s", text, rlock_config_warnings(&config));
                    rlock_config_free(&config);
                    count++;
                }
            }
        }
    }
    cr_assert(count > 400, "only %d", count);
}

/* ---- What is wrong ---- */

static const struct {
    const char *text;
    rlock_status status;
    const char *words[2]; /* that the message has; the first with file and line */
} bad[] = {
    {"", RLOCK_INVALID, {"redisson.yaml: ", "empty"}},
    {"# nothing\n", RLOCK_INVALID, {"redisson.yaml: ", "empty"}},
    {"~", RLOCK_INVALID, {"redisson.yaml: ", "empty"}},
    {"redis://h:1", RLOCK_INVALID, {"yaml:1: ", "not a configuration file of Redisson"}},
    {"- a\n- b\n", RLOCK_INVALID, {"yaml:1: ", "not a configuration file of Redisson"}},
    {"threads: 3\n", RLOCK_INVALID, {"yaml:1: ", "no server is named"}},
    {"singleServerConfig:\n", RLOCK_INVALID, {"yaml:1: ", "no server is named"}},
    {"a: [1\n", RLOCK_INVALID, {"yaml:2: ", "not valid YAML"}},
    {"a: 1\n\tb: 2\n", RLOCK_INVALID, {"yaml:2: ", "not valid YAML"}},
    {"a: b: c\n", RLOCK_INVALID, {"yaml:1: ", "not valid YAML"}},
    {"a: \"\\x01\"\n\x01", RLOCK_INVALID, {"redisson.yaml: ", "not valid YAML"}},
    {"a: *b\n", RLOCK_INVALID, {"yaml:1: ", "alias"}},
    {SINGLE "---\n" SINGLE, RLOCK_INVALID, {"yaml:3: ", "second document"}},
    {"proxyServersConfig:\n  addresses: redis://h:1\n", RLOCK_UNSUPPORTED, {"yaml:1: ", "proxyServersConfig"}},
    {"threads: 1\nmultiClusterServersConfig: {}\n", RLOCK_UNSUPPORTED, {"yaml:2: ", "not supported"}},
    {"singleServerConfig: redis://h:1\n", RLOCK_INVALID, {"yaml:1: ", "must contain keys"}},
    {"singleServerConfig: [a]\n", RLOCK_INVALID, {"yaml:1: ", "must contain keys"}},
    {SINGLE "? [a]\n: b\n", RLOCK_INVALID, {"yaml:3: ", "plain word"}},

    {"singleServerConfig:\n  timeout: 1\n", RLOCK_INVALID, {"yaml:2: ", "no address"}},
    {"masterSlaveServersConfig:\n  slaveAddresses: [\"redis://h:1\"]\n", RLOCK_INVALID, {"yaml:2: ", "no masterAddress"}},
    {"clusterServersConfig:\n  nodeAddresses: []\n", RLOCK_INVALID, {"yaml:2: ", "no nodeAddresses"}},
    {"sentinelServersConfig:\n  masterName: m\n", RLOCK_INVALID, {"yaml:2: ", "no sentinelAddresses"}},
    {"sentinelServersConfig:\n  sentinelAddresses: [\"redis://h:1\"]\n", RLOCK_INVALID, {"yaml:2: ", "no masterName"}},
    {"clusterServersConfig:\n  nodeAddresses: redis://h:1\n", RLOCK_INVALID, {"yaml:2: ", "nodeAddresses must be a list"}},
    {"clusterServersConfig:\n  nodeAddresses:\n  - redis://h:1\n  - [a]\n", RLOCK_INVALID, {"yaml:4: ", "nodeAddresses"}},
    {"clusterServersConfig:\n  nodeAddresses:\n  - redis://h:1\n  - rediss://h:2\n", RLOCK_INVALID, {"yaml:4: ", "TLS"}},
    {"clusterServersConfig:\n  nodeAddresses: [\"redis+uds:///s\"]\n", RLOCK_INVALID, {"yaml:2: ", "socket"}},
    {CLUSTER_OF "  database: one\n", RLOCK_INVALID, {"yaml:3: database", "whole number"}},
    {"singleServerConfig:\n  address: [\"redis://h:1\"]\n", RLOCK_INVALID, {"yaml:2: ", "address must be"}},
    {"singleServerConfig:\n  address: h:1\n", RLOCK_INVALID, {"yaml:2: address", "redis://"}},
    {"singleServerConfig:\n  address: redis://h\n", RLOCK_INVALID, {"yaml:2: address", "no port"}},
    {"singleServerConfig:\n  address: \"redis://h:\"\n", RLOCK_INVALID, {"yaml:2: ", "no port"}},
    {"singleServerConfig:\n  address: redis://h:0\n", RLOCK_INVALID, {"yaml:2: ", "65535"}},
    {"singleServerConfig:\n  address: redis://h:65536\n", RLOCK_INVALID, {"yaml:2: ", "65535"}},
    {"singleServerConfig:\n  address: redis://h:x\n", RLOCK_INVALID, {"yaml:2: ", "65535"}},
    {"singleServerConfig:\n  address: redis://:1\n", RLOCK_INVALID, {"yaml:2: ", "no host"}},
    {"singleServerConfig:\n  address: redis://u:SECRET@:1\n", RLOCK_INVALID, {"yaml:2: ", "no host"}},
    {"singleServerConfig:\n  address: redis://u:SECRET@h\n", RLOCK_INVALID, {"yaml:2: ", "no port"}},
    {"singleServerConfig:\n  address: redis://u:SE@CRET@h:1\n", RLOCK_INVALID, {"yaml:2: ", "%40"}},
    {"singleServerConfig:\n  address: redis://u:SE/CRET@h:1\n", RLOCK_INVALID, {"yaml:2: ", "%2F"}},
    {"singleServerConfig:\n  address: redis://u:SECRET%@h:1\n", RLOCK_INVALID, {"yaml:2: ", "password"}},
    {"singleServerConfig:\n  address: redis+uds://sock\n", RLOCK_INVALID, {"yaml:2: ", "absolute path"}},
    {"singleServerConfig:\n  address: ${RLOCK_TEST_UNSET}\n", RLOCK_INVALID, {"yaml:2: ", "redis://"}},
    {"singleServerConfig:\n  address: redis://${RLOCK_TEST_UNSET}:1\n", RLOCK_INVALID,
     {"yaml:2: address: ", "; ${RLOCK_TEST_UNSET} is not set in the environment"}},
    {SINGLE "  clientName: ${RLOCK_TEST_UNKNOWN}\n  timeout: ${RLOCK_TEST_UNSET}\n", RLOCK_INVALID,
     {"yaml:4: timeout is", "; ${RLOCK_TEST_UNSET} is not set in the environment"}},

    {SINGLE "  timeout: soon\n", RLOCK_INVALID, {"yaml:3: timeout is \"soon\"", "whole number of milliseconds"}},
    {SINGLE "  timeout: 3.5\n", RLOCK_INVALID, {"yaml:3: timeout", "whole number"}},
    {SINGLE "  timeout: 08\n", RLOCK_INVALID, {"yaml:3: timeout", "whole number"}},
    {SINGLE "  timeout: 99999999999999999999\n", RLOCK_INVALID, {"yaml:3: timeout", "whole number"}},
    {SINGLE "  timeout: null\n", RLOCK_INVALID, {"yaml:3: timeout", "whole number"}},
    {SINGLE "  timeout:\n", RLOCK_INVALID, {"yaml:3: timeout", "whole number"}},
    {SINGLE "  timeout: [1]\n", RLOCK_INVALID, {"yaml:3: timeout", "single value"}},
    {SINGLE "  timeout: {a: 1}\n", RLOCK_INVALID, {"yaml:3: timeout", "single value"}},
    {SINGLE "  timeout: \"1\\02\"\n", RLOCK_INVALID, {"yaml:3: timeout", "0 byte"}},
    {SINGLE "  timeout: 0\n", RLOCK_INVALID, {"yaml:3: timeout is 0", "from 1"}},
    {SINGLE "  timeout: -1\n", RLOCK_INVALID, {"yaml:3: timeout is -1", "from 1"}},
    {SINGLE "  timeout: 86400001\n", RLOCK_INVALID, {"yaml:3: timeout", "to 86400000"}},
    {SINGLE "  retryAttempts: -1\n", RLOCK_INVALID, {"yaml:3: retryAttempts", "from 0"}},
    {SINGLE "  connectionPoolSize: 0\n", RLOCK_INVALID, {"yaml:3: connectionPoolSize", "from 1"}},
    {SINGLE "  database: -1\n", RLOCK_INVALID, {"yaml:3: database", "from 0"}},
    {SINGLE "  database: zero\n", RLOCK_INVALID, {"yaml:3: database", "whole number"}},
    {SINGLE "  retryInterval: often\n", RLOCK_INVALID, {"yaml:3: retryInterval", "milliseconds"}},
    {SINGLE "  retryInterval: -5\n", RLOCK_INVALID, {"yaml:3: retryInterval", "from 0"}},
    {SINGLE "  keepAlive: maybe\n", RLOCK_INVALID, {"yaml:3: keepAlive", "true or false"}},
    {SINGLE "  keepAlive: null\n", RLOCK_INVALID, {"yaml:3: keepAlive", "true or false"}},
    {SINGLE "  retryAttempts: null\n", RLOCK_INVALID, {"yaml:3: retryAttempts", "whole number"}},
    {SINGLE "  retryInterval: null\n", RLOCK_INVALID, {"yaml:3: retryInterval", "milliseconds"}},
    {SINGLE "  sslEnableEndpointIdentification: null\n", RLOCK_INVALID, {"yaml:3: sslEnable", "true or false"}},
    {"sentinelServersConfig:\n  sentinelsDiscovery: null\n  sentinelAddresses: [\"redis://h:1\"]\n", RLOCK_INVALID,
     {"yaml:2: sentinelsDiscovery", "true or false"}},
    {SINGLE "  sslEnableEndpointIdentification: 1\n", RLOCK_INVALID, {"yaml:3: sslEnable", "true or false"}},
    {SINGLE "  clientName: [a]\n", RLOCK_INVALID, {"yaml:3: clientName", "single value"}},
    {SINGLE "  tcpKeepAliveCount: -1\n", RLOCK_INVALID, {"yaml:3: tcpKeepAliveCount", "from 0"}},
    {SINGLE "lockWatchdogTimeout: 29\n", RLOCK_INVALID, {"yaml:3: lockWatchdogTimeout is 29", "from 30"}},
    {SINGLE "checkLockSyncedSlaves: 2\n", RLOCK_INVALID, {"yaml:3: checkLockSyncedSlaves", "true or false"}},
    {SINGLE "lazyInitialization: maybe\n", RLOCK_INVALID, {"yaml:3: lazyInitialization", "true or false"}},
    {SINGLE "password: [SECRET]\n", RLOCK_INVALID, {"yaml:3: password", "single value"}},
    {SINGLE "password: \"{aes}SECRET\"\n", RLOCK_UNSUPPORTED, {"yaml:3: password", "encrypted"}},
    {SINGLE "sslTruststorePassword: \"{aes}SECRET\"\n", RLOCK_UNSUPPORTED, {"yaml:3: sslTruststorePassword", "encrypted"}},
    {"sentinelServersConfig:\n  sentinelPassword: \"{aes}SECRET\"\n  sentinelAddresses: [\"redis://h:1\"]\n", RLOCK_UNSUPPORTED,
     {"yaml:2: sentinelPassword", "encrypted"}},
    {SINGLE "sslKeystorePassword: \"{aes}SECRET\"\n", RLOCK_UNSUPPORTED, {"yaml:3: sslKeystorePassword", "${NAME}"}},
    {SINGLE "sslVerificationMode: strict\n", RLOCK_INVALID, {"yaml:3: sslVerificationMode", "STRICT, CA_ONLY or NONE"}},
    {SINGLE "sslTruststore: http://h/store\n", RLOCK_INVALID, {"yaml:3: sslTruststore", "file:/"}},
    {SINGLE "sslTruststore: file://elsewhere/store\n", RLOCK_INVALID, {"yaml:3: sslTruststore", "another machine"}},
    {SINGLE "sslProtocols: TLSv1.2\n", RLOCK_INVALID, {"yaml:3: sslProtocols", "list"}},
    {SINGLE "sslCiphers: [[a]]\n", RLOCK_INVALID, {"yaml:3: sslCiphers", "not text"}},
    {"clusterServersConfig:\n  nodeAddresses: [\"redis://h:1\"]\n  shardedSubscriptionMode: MAYBE\n", RLOCK_INVALID,
     {"yaml:3: shardedSubscriptionMode", "AUTO, ON or OFF"}},

    {SINGLE "  retryDelay: 1000\n", RLOCK_INVALID, {"yaml:3: retryDelay", "EqualJitterDelay"}},
    {SINGLE "  retryDelay: {baseDelay: PT1S, maxDelay: PT2S}\n", RLOCK_INVALID, {"yaml:3: retryDelay", "strategies"}},
    {SINGLE "  retryDelay: !<com.example.Delay> {}\n", RLOCK_UNSUPPORTED, {"yaml:3: retryDelay", "strategies"}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "only one of"}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: 1000, maxDelay: PT2S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "PT1S"}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S, maxDelay: 5s}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "maxDelay is \"5s\""}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S, maxDelay: P2D}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "at most a day"}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: P0DT, maxDelay: PT2S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "baseDelay is \"P0DT\""}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S2S, maxDelay: PT9S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "baseDelay is \"PT1S2S\""}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: P1S, maxDelay: PT9S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "baseDelay is \"P1S\""}},
    {SINGLE "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT0.5M, maxDelay: PT90S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "baseDelay is \"PT0.5M\""}},
    {SINGLE "  retryDelay: !<org.redisson.config.ConstantDelay> {baseDelay: PT1S}\n", RLOCK_INVALID,
     {"yaml:3: retryDelay", "only delay"}},

    {CLUSTER_OF "  natMap: 7\n", RLOCK_INVALID, {"yaml:3: natMap must be", "127.0.0.1:7001"}},
    {CLUSTER_OF "  natMap: [a]\n", RLOCK_INVALID, {"yaml:3: natMap must be", "127.0.0.1:7001"}},
    {CLUSTER_OF "  natMap: {a: b}\n", RLOCK_INVALID, {"yaml:3: natMap has \"a\"", "no port"}},
    {CLUSTER_OF "  natMap: {\"[::1]\": \"b:1\"}\n", RLOCK_INVALID, {"yaml:3: natMap has \"[::1]\"", "no port"}},
    {CLUSTER_OF "  natMap: {\"a:1\": [b]}\n", RLOCK_INVALID, {"yaml:3: natMap has", "not text"}},
    {CLUSTER_OF "  natMap: {\"a:1\": \"b:x\"}\n", RLOCK_INVALID, {"yaml:3: natMap has \"b:x\"", "65535"}},
    {CLUSTER_OF "  natMap: {\"a:1\": \":2\"}\n", RLOCK_INVALID, {"yaml:3: natMap has", "no host"}},
    {CLUSTER_OF "  natMap: {\"a:1\": \"b:2,c:3\"}\n", RLOCK_INVALID, {"yaml:3: natMap has", "a comma"}},
    {CLUSTER_OF "  natMap: {\"a:1\": \"b:2\", \"a:1\": \"c:3\"}\n", RLOCK_INVALID, {"yaml:3: natMap has", "earlier pair"}},
    {CLUSTER_OF "  natMapper: !<org.redisson.config.HostNatMapper> {hostsMap: {\"a:1\": b}}\n", RLOCK_INVALID,
     {"yaml:3: natMapper has \"a:1\"", "HostPortNatMapper"}},
    {CLUSTER_OF "  natMapper: !<org.redisson.config.HostNatMapper> {hostsPortMap: {\"a:1\": \"b:1\"}}\n", RLOCK_INVALID,
     {"yaml:3: natMapper must be", "hostsMap"}},
    {CLUSTER_OF "  natMapper: !<org.redisson.config.HostPortNatMapper> {}\n", RLOCK_INVALID,
     {"yaml:3: natMapper must be", "hostsPortMap"}},

    {"singleServerConfig:\n  adress: redis://h:1\n", RLOCK_INVALID, {"yaml:2: singleServerConfig has no address",
     "line 2 has the unknown key \"adress\" (did you mean \"address\"?)"}},
    {"clusterServersConfig:\n  nodeAddress: [\"redis://h:1\"]\n", RLOCK_INVALID, {"no nodeAddresses",
     "\"nodeAddress\" (did you mean \"nodeAddresses\"?)"}},
    {"clusterServersConfig:\n  address: redis://h:1\n", RLOCK_INVALID, {"no nodeAddresses",
     "line 2 has the key \"address\", which does not belong here"}},
    {"sentinelServersConfig:\n  sentinelAddresses: [\"redis://h:1\"]\n  mastername: m\n", RLOCK_INVALID,
     {"no masterName", "line 3 has the unknown key \"mastername\" (did you mean \"masterName\"?)"}},
    {"threads: 3\nsingelServerConfig:\n  address: redis://h:1\n", RLOCK_INVALID, {"no server is named",
     "line 2 has the unknown key \"singelServerConfig\" (did you mean \"singleServerConfig\"?)"}},

    {SINGLE "nameMapper: !<com.example.Tenants> {}\n", RLOCK_UNSUPPORTED, {"yaml:3: nameMapper", "\"Tenants\""}},
    {SINGLE "nameMapper: !<com.example.Tenants> {prefix: a}\n", RLOCK_UNSUPPORTED, {"yaml:3: nameMapper", "name_prefix"}},
    {SINGLE "nameMapper: !<com.example.PrefixMapper> {prefix: a, suffix: b}\n", RLOCK_UNSUPPORTED,
     {"yaml:3: nameMapper", "{prefix:"}},
    {SINGLE "nameMapper: !<com.example.PrefixMapper> {}\n", RLOCK_UNSUPPORTED, {"yaml:3: nameMapper", "PrefixMapper"}},
    {SINGLE "nameMapper: a\n", RLOCK_UNSUPPORTED, {"yaml:3: nameMapper", "name_prefix"}},
    {SINGLE "  nameMapper: !<com.example.Tenants> {}\n", RLOCK_UNSUPPORTED, {"yaml:3: nameMapper", "Tenants"}},
    {SINGLE "commandMapper: !<com.example.Renamed> {}\n", RLOCK_UNSUPPORTED, {"yaml:3: commandMapper", "Renamed"}},
    {SINGLE "<<: 3\n", RLOCK_INVALID, {"yaml:3: ", "<<"}},
    {SINGLE "a: &a\n  <<: *a\n<<: *a\n", RLOCK_INVALID, {"yaml:", "too many"}},
};

Test(yaml, each_wrong_file_is_refused_with_file_line_and_key)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rlock_config before = config;
        rlock_status status = load_text(bad[i].text);
        const char *said = rlock_last_error();
        cr_expect(status == bad[i].status, "%s: %s\n%s", rlock_strstatus(status), said, bad[i].text);
        for (size_t j = 0; j < 2; j++)
            cr_expect(strstr(said, bad[i].words[j]), "`%s` does not say \"%s\":\n%s", said, bad[i].words[j], bad[i].text);
        cr_expect(!strstr(said, "SECRET") && !strstr(said, "CRET"), "the password is told: %s", said);
        cr_expect(memcmp(&before, &config, sizeof config) == 0, "the config was changed by\n%s", bad[i].text);
    }
}

Test(yaml, what_is_no_readable_file_is_refused_by_name)
{
    assert_status(rlock_config_load_yaml(&config, NULL), RLOCK_INVALID);
    assert_error("NULL");
    assert_status(rlock_config_load_yaml(NULL, "x"), RLOCK_INVALID);
    assert_error("rlock_config_init");
    assert_status(rlock_config_load_yaml(&config, "/no/such/file.yaml"), RLOCK_INVALID);
    cr_assert(strstr(rlock_last_error(), "/no/such/file.yaml") && strstr(rlock_last_error(), strerror(ENOENT)));
    assert_status(rlock_config_load_yaml(&config, scratch_folder()), RLOCK_INVALID);
    cr_assert(strstr(rlock_last_error(), strerror(EISDIR)), "%s", rlock_last_error());
    assert_status(rlock_config_load_yaml(&config, "/dev/zero"), RLOCK_INVALID);
    assert_error("64 kilobytes");
    assert_status(rlock_config_load_yaml(&config, "/dev/null"), RLOCK_INVALID);
    assert_error("empty");
}

/* An older program has nowhere to put the addresses. */
Test(yaml, a_config_that_is_too_short_for_a_file_is_refused)
{
    (rlock_config_init)(&config);
    assert_status(load_text(SINGLE), RLOCK_INVALID);
    assert_error("rlock_config_init_size");
    rlock_config_init(&config);
}

/* ---- natMapper ---- */

static const struct {
    const char *line, *nat_map;
} mappers[] = {
    {"natMapper: !<org.redisson.config.HostPortNatMapper> {hostsPortMap: {\"172.18.0.1:7000\": \"127.0.0.1:7001\"}}",
     "172.18.0.1:7000=127.0.0.1:7001"},
    {"natMapper: !!org.redisson.config.HostPortNatMapper {hostsPortMap: {\"a:1\": \"b:2\", \"c:3\": \"d:4\"}}", "a:1=b:2,c:3=d:4"},
    {"natMapper: {class: org.redisson.config.HostPortNatMapper, hostsPortMap: {\"a:1\": \"b:2\"}}", "a:1=b:2"},
    {"natMapper: !<org.redisson.config.HostNatMapper> {hostsMap: {172.18.0.1: 127.0.0.1, a: b}}", "172.18.0.1=127.0.0.1,a=b"},
    {"natMapper: !<org.redisson.config.HostNatMapper> {hostsMap: {\"fd00::1\": \"[::1]\"}}", "[fd00::1]=[::1]"},
    {"natMapper: !<org.redisson.config.HostPortNatMapper> {hostsPortMap: {\"fd00::1:7\": \"[::1]:8\"}}", "[fd00::1]:7=[::1]:8"},
    {"natMapper: !<org.redisson.config.DefaultNatMapper> {}", NULL},
    {"natMap: {\"a:1\": \"b:2\"}", "a:1=b:2"},
    {"natMap: {}", ""},
    {"natMap:", NULL},
    {"natMapper: null", NULL},
};

Test(yaml, nat_mappers_of_redissons_own_are_followed)
{
    for (size_t i = 0; i < sizeof mappers / sizeof *mappers; i++) {
        char text[400];
        snprintf(text, sizeof text, CLUSTER_OF "  %s\n", mappers[i].line);
        load(text);
        assert_no_warnings();
        assert_text(config.nat_map, mappers[i].nat_map);
        rli_settings settings;
        assert_ok(rli_settings_make(&settings, &config));
        rli_settings_free(&settings);
        rlock_config_free(&config);
    }
}

/* The program knows what a class of its own does. */
Test(yaml, nat_map_of_the_program_stands_for_a_mapper_that_cannot_be_followed_alone)
{
    config.nat_map = "a=b";
    load(CLUSTER_OF "  natMapper: !<com.example.Docker> {}\n");
    assert_no_warnings();
    assert_text(config.nat_map, "a=b");
    load(CLUSTER_OF "  natMap: {\"c:1\": \"d:2\"}\n");
    assert_text(config.nat_map, "c:1=d:2");
}

/* ---- What is ignored with a warning ---- */

static const struct {
    const char *text;
    const char *warning; /* the words of the only one */
} told[] = {
    {SINGLE "colour: red\n", "yaml:3: unknown key \"colour\""},
    {SINGLE "  tiemout: 3\n", "yaml:3: unknown key \"tiemout\" is ignored (did you mean \"timeout\"?)"},
    {SINGLE "localHandOver: true\n", "yaml:3: the key \"localHandOver\" is not one of Redisson's and is ignored in a file; set it"},
    {SINGLE "lockWatchdogTimout: 3\n", "did you mean \"lockWatchdogTimeout\""},
    {SINGLE "lock-watchdog-timeout: 3\n", "unknown key \"lock-watchdog-timeout\" is ignored (did you mean \"lockWatchdogTimeout\"?)"},
    {SINGLE "LOCKWATCHDOGTIMEOUT: 3\n", "did you mean \"lockWatchdogTimeout\""},
    {SINGLE "timeout: 3\n", "yaml:3: the key \"timeout\" does not belong here and is ignored; its place is "
     "singleServerConfig"},
    {SINGLE "  masterName: m\n", "\"masterName\" does not belong here and is ignored; its place is sentinelServersConfig"},
    {SINGLE "  threads: 3\n", "\"threads\" does not belong here and is ignored; its place is the top level"},
    {SINGLE "\"password:SECRET\": 1\n", "unknown key \"password…\""},
    {SINGLE "  timeout: 5\n  timeout: 6\n", "yaml:4: timeout is given twice"},
    {SINGLE "  connectionPoolSize: 250\n", "yaml:3: connectionPoolSize is 250; rlock uses 64, the most"},
    {SINGLE "  retryAttempts: 2147483647\n", "yaml:3: retryAttempts is 2147483647; rlock uses 1000, the most"},
    {SINGLE "lockWatchdogBatchSize: 5000\n", "yaml:3: lockWatchdogBatchSize is 5000; rlock uses 1000, the most"},
    {SINGLE "credentialsResolver: !<com.example.Vault> {}\n", "yaml:3: credentialsResolver is the Java class \"Vault\""},
    {SINGLE "clusterServersConfig: {nodeAddresses: [\"redis://h:2\"]}\n", "yaml:3: clusterServersConfig is ignored"},
    {SINGLE "sslTruststore: file:/a\n", "the ssl settings are not used"},
    {"singleServerConfig:\n  address: redis://h:1/2\n", "yaml:2: address: the text after host and port is ignored"},
    {"clusterServersConfig:\n  nodeAddresses: [\"redis://h:1\", \"redis://u:SECRET@h:1\"]\n", "yaml:2: clusterServersConfig "
     "has the address h:1 twice"},
    {"clusterServersConfig:\n  nodeAddresses: [\"redis://h:1\"]\n"
     "  natMapper: !<com.example.Docker> {}\n", "yaml:3: natMapper is the Java class \"Docker\""},
    {"replicatedServersConfig:\n  nodeAddresses: [\"redis://h:1\"]\n  natMap: {}\n", "\"natMap\" does not belong here"},
    {SINGLE "  clientName: ${RLOCK_TEST_UNSET}\n", "yaml:3: ${RLOCK_TEST_UNSET} is not set"},
    {SINGLE "  password: SECRET${RLOCK_TEST_UNSET:-}\n", "yaml:3: ${RLOCK_TEST_UNSET:-} has an empty default"},
    {"sentinelServersConfig:\n  masterName: m\n  sentinelAddresses: [\"redis://h:1\"]\n  sentinelsDiscovery: false\n",
     "yaml:4: sentinelsDiscovery is false, which has no effect here"},
};

Test(yaml, what_cannot_be_followed_is_told_once_and_never_with_a_password)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        load(told[i].text);
        const char *warnings = rlock_config_warnings(&config);
        cr_expect(strstr(warnings, told[i].warning), "\"%s\" is not in:\n%s%s", told[i].warning, warnings, told[i].text);
        const char *end = strchr(warnings, '\n');
        cr_expect(end && !end[1], "not one line:\n%s", warnings);
        cr_expect(!strstr(warnings, "SECRET"), "%s", warnings);
        rlock_config_free(&config);
        assert_no_warnings();
    }
}

/* ---- Values ---- */

Test(yaml, numbers_are_read_as_java_reads_them)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"3000", 3000}, {"\"3000\"", 3000}, {"'3000'", 3000}, {"3_000", 3000}, {"+3000", 3000},
                 {"0xBB8", 3000}, {"05670", 3000}, {"0b11", 3}, {"!!int 7", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, SINGLE "  timeout: %s\n", cases[i].text);
        load(text);
        cr_assert(config.timeout_ms == cases[i].ms, "%s is %lld", cases[i].text, (long long)config.timeout_ms);
    }
}

Test(yaml, flags_are_read_as_java_reads_them)
{
    static const char *const on[] = {"true", "True", "TRUE", "yes", "Yes", "on", "ON", "\"true\""};
    static const char *const off[] = {"false", "False", "no", "NO", "off", "'false'"};
    char text[200];
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        config.check_lock_synced_slaves = false;
        snprintf(text, sizeof text, SINGLE "checkLockSyncedSlaves: %s\n", on[i]);
        load(text);
        cr_assert(config.check_lock_synced_slaves, "%s", on[i]);
    }
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        config.check_lock_synced_slaves = true;
        snprintf(text, sizeof text, SINGLE "checkLockSyncedSlaves: %s\n", off[i]);
        load(text);
        cr_assert(!config.check_lock_synced_slaves, "%s", off[i]);
    }
}

Test(yaml, texts_that_look_like_something_else_stay_texts)
{
    load(SINGLE "password: 0123\nusername: \"null\"\n");
    assert_text(config.password, "0123");
    assert_text(config.username, "null");
    load(SINGLE "password: yes\nusername: |\n  a\n");
    assert_text(config.password, "yes");
    assert_text(config.username, "a\n");
}

Test(yaml, each_delay_strategy_gives_the_bounds_of_the_pauses)
{
    static const struct {
        const char *text;
        int64_t base_ms, max_ms;
    } cases[] = {
        {"!<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S, maxDelay: PT2S}", 1000, 2000},
        {"!!org.redisson.config.EqualJitterDelay {baseDelay: \"PT0.5S\", maxDelay: PT1M30.25S}", 500, 90250},
        {"!<org.redisson.config.FullJitterDelay> {baseDelay: \"pt0,2s\", maxDelay: PT1H}", 200, 3600000},
        {"!<org.redisson.config.DecorrelatedJitterDelay> {maxDelay: P1D, baseDelay: PT0S}", 0, 86400000},
        {"!<org.redisson.config.ConstantDelay> {delay: PT3S}", 3000, 3000},
        {"!<org.redisson.config.EqualJitterDelay> {}", 100, 1000},
        {"!<org.redisson.config.ConstantDelay> {}", 100, 100},
        {"{class: org.redisson.config.ConstantDelay, delay: PT0.001S}", 1, 1},
        {"{class: org.redisson.config.ConstantDelay, delay: PT0.123456789S}", 123, 123},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, SINGLE "  retryDelay: %s\n  retryInterval: 77\n", cases[i].text);
        load(text);
        assert_no_warnings();
        cr_assert(config.retry_base_delay_ms == cases[i].base_ms, "%s", cases[i].text);
        cr_assert(config.retry_max_delay_ms == cases[i].max_ms, "%s", cases[i].text);
    }
}

/* As Redisson's RedisURI has it: not as a URL of ours. */
Test(yaml, addresses_are_read_as_redisson_reads_them)
{
    static const struct {
        const char *address, *url;
    } cases[] = {
        {"redis://h:1", "redis://h:1"},
        {"redis://h:1/", "redis://h:1"},
        {"valkey://h:1", "redis://h:1"},
        {"valkeys://h:1", "rediss://h:1"},
        {"redis://secret@h:1", "redis://:secret@h:1"},
        {"redis://:secret@h:1", "redis://:secret@h:1"},
        {"redis://user:a:b@h:1", "redis://user:a%3Ab@h:1"},
        {"redis://us%40er:p%2Bq+r@h:1", "redis://us%40er:p%2Bq%20r@h:1"},
        {"redis://::1:6379", "redis://[::1]:6379"},
        {"redis://[::1]:6379", "redis://[::1]:6379"},
        {"redis://u:p@fe80::1:7", "redis://u:p@[fe80::1]:7"},
        {"redis://ööööööööööööööööö@h:1", "redis://:%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6"
                                              "%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6@h:1"},
        {"redis+uds:///run/my redis.sock", "unix:///run/my%20redis.sock"},
        {"valkey+uds:///s", "unix:///s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        rli_settings settings;
        snprintf(text, sizeof text, "singleServerConfig:\n  address: \"%s\"\n", cases[i].address);
        load(text);
        assert_addresses(cases[i].url);
        assert_ok(rli_settings_make(&settings, &config));
        rli_settings_free(&settings);
    }
}

Test(yaml, a_mapper_with_prefix_in_its_name_gives_the_prefix)
{
    load(SINGLE "nameMapper: !<com.example.PrefixNameMapper> {prefix: \"shop:\"}\n");
    assert_text(config.name_prefix, "shop:");
    rlock_config_free(&config);
    load(SINGLE "  nameMapper: !!com.example.NamePrefix {prefix: 7}\n");
    assert_text(config.name_prefix, "7");
}

/* The program knows what its Java class does. */
Test(yaml, a_prefix_of_the_program_stands_for_any_mapper)
{
    config.name_prefix = "mine:";
    load(SINGLE "nameMapper: !<com.example.Tenants> {region: north}\n");
    assert_text(config.name_prefix, "mine:");
}

/* Redisson's order: what moved to the top goes before the section, but its default does not. */
Test(yaml, the_top_goes_before_the_section_where_both_have_a_setting)
{
    load("username: t\n" SINGLE "  username: s\n  password: s\n  sslVerificationMode: NONE\n  sslTruststorePassword: s\n"
         "  keepAlive: true\n  tcpKeepAliveIdle: 5\n  tcpKeepAliveCount: 0\n"
         "password: null\nsslVerificationMode: STRICT\nsslTruststorePassword: t\n"
         "tcpKeepAlive: false\ntcpKeepAliveIdle: 7\ntcpKeepAliveCount: 8\n");
    assert_no_warnings();
    assert_text(config.username, "t");
    assert_text(config.password, "s");
    assert_text(config.ssl_truststore_password, "t");
    cr_assert(config.ssl_verification_mode == RLOCK_SSL_NONE);
    cr_assert(config.tcp_keep_alive && config.tcp_keep_alive_idle_s == 5 && config.tcp_keep_alive_count == 8);
    load(SINGLE "  sslVerificationMode: NONE\nsslVerificationMode: CA_ONLY\n");
    cr_assert(config.ssl_verification_mode == RLOCK_SSL_CA_ONLY);
}

Test(yaml, of_two_sections_redissons_first_counts)
{
    load("clusterServersConfig: {nodeAddresses: [\"redis://c:1\"]}\nsentinelServersConfig: null\n" SINGLE);
    assert_addresses("redis://h:1");
}

Test(yaml, merged_mappings_give_what_is_not_said_beside_them)
{
    load("singleServerConfig:\n  address: &a redis://h:1\n  timeout: 5\n  <<: [{timeout: 6, retryAttempts: 7}, "
         "{retryAttempts: 8, database: 9}]\n");
    assert_no_warnings();
    cr_assert(config.timeout_ms == 5 && config.retry_attempts == 7 && config.database == 9);
}

/* ---- The environment ---- */

/* The line looks right in the file. */
Test(yaml, value_from_the_environment_may_break_the_file)
{
    setenv("RLOCK_TEST_A", "a: b", 1);
    assert_status(load_text(SINGLE "  password: ${RLOCK_TEST_A}\n"), RLOCK_INVALID);
    assert_error("redisson.yaml:3: this is not valid YAML: ", "; what stands for ${NAME} is read as YAML, so it may need quotes");
    load(SINGLE "  password: \"${RLOCK_TEST_A}\"\n");
    assert_text(config.password, "a: b");
}

Test(yaml, names_in_braces_are_taken_from_the_environment)
{
    static const struct {
        const char *text, *value; /* as clientName */
    } cases[] = {
        {"${RLOCK_TEST_A}", "one"},
        {"x${RLOCK_TEST_A}y${RLOCK_TEST_A}z", "xoneyonez"},
        {"${RLOCK_TEST_A:-two}", "one"},
        {"${RLOCK_TEST_UNSET:-two}", "two"},
        {"${RLOCK_TEST_UNSET:-a:1}", "a:1"},
        {"${RLOCK_TEST_UNSET:-a-b}", "a-b"},
        {"${rlock.test.unset:-dots}", "dots"},
        {"q${RLOCK_TEST_EMPTY:-two}", "q"},
        {"${RLOCK_TEST_UNSET}", "${RLOCK_TEST_UNSET}"},
        {"${RLOCK_TEST_UNSET:-}", "${RLOCK_TEST_UNSET:-}"},
        {"${RLOCK_TEST_UNSET:-a:-b}", "${RLOCK_TEST_UNSET:-a:-b}"},
        {"${RLOCK_TEST-A}", "${RLOCK_TEST-A}"},
        {"${}", "${}"},
        {"$RLOCK_TEST_A", "$RLOCK_TEST_A"},
        {"$${RLOCK_TEST_A}", "$one"},
        {"${RLOCK_TEST_A", "${RLOCK_TEST_A"},
        {"${RLOCK_TEST_UNSET:-${RLOCK_TEST_A}}", "${RLOCK_TEST_A}"},
    };
    setenv("RLOCK_TEST_A", "one", 1);
    setenv("RLOCK_TEST_EMPTY", "", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, SINGLE "  clientName: '%s'\n", cases[i].text);
        load(text);
        assert_text(config.client_name, cases[i].value);
    }
    setenv("RLOCK_TEST_A", "redis://e:7", 1);
    load("singleServerConfig: {address: \"${RLOCK_TEST_A}\", timeout: ${RLOCK_TEST_UNSET:-77}}");
    assert_addresses("redis://e:7");
    cr_assert(config.timeout_ms == 77);
}

/* ---- Whose memory it is ---- */

Test(yaml, what_the_program_set_stays_where_the_file_says_nothing)
{
    config.address = "redis://old:1";
    config.password = "mine";
    config.client_name = "mine";
    config.timeout_ms = 5;
    load(SINGLE "  clientName: theirs\npassword: null\n");
    assert_addresses("redis://h:1");
    assert_text(config.password, "mine");
    assert_text(config.client_name, "theirs");
    cr_assert(config.timeout_ms == 5);
}

/* One that is set by name: a program may take all but the server from the file. */
Test(yaml, an_address_of_the_program_replaces_those_of_the_file)
{
    rli_settings settings;
    load("clusterServersConfig: {nodeAddresses: [\"redis://c:1\", \"redis://c:2\"], clientName: theirs}\n");
    assert_ok(rlock_config_set(&config, "address", "redis://h:7"));
    assert_ok(rli_settings_make(&settings, &config));
    cr_assert(settings.mode == RLI_SINGLE && settings.address_count == 1);
    assert_text(settings.addresses[0].text, "h:7");
    assert_text(settings.client_name, "theirs");
    rli_settings_free(&settings);
}

Test(yaml, of_what_is_given_twice_one_counts_alone)
{
    load("clusterServersConfig:\n  nodeAddresses: [\"redis://a:1\"]\n  nodeAddresses: [\"redis://b:1\"]\n");
    assert_addresses("redis-cluster://b:1");
    load(SINGLE "  password: theirs\npassword: ours\n");
    assert_text(config.password, "ours");
    load(SINGLE "masterSlaveServersConfig: {masterAddress: \"redis://m:1\"}\n");
    assert_addresses("redis-master-slave://m:1");
}

Test(yaml, a_text_that_is_null_is_not_set)
{
    load(SINGLE "  clientName: null\n  password: ~\n");
    assert_no_warnings();
    cr_assert(!config.client_name && !config.password);
}

/* Read or refused. */
Test(yaml, no_file_stays_open)
{
    int before = dup(0);
    close(before);
    load(SINGLE);
    assert_status(rlock_config_load_yaml(&config, "/"), RLOCK_INVALID);
    int after = dup(0);
    close(after);
    cr_assert(before == after);
}

Test(yaml, two_files_add_up)
{
    load(SINGLE "  clientName: first\ncolour: red\n");
    const char *name = config.client_name;
    load("singleServerConfig:\n  address: redis://h:2\n  database: 3\nshape: round\n");
    assert_addresses("redis://h:2");
    assert_text(name, "first");
    cr_assert(config.client_name == name && config.database == 3);
    const char *warnings = rlock_config_warnings(&config);
    cr_assert(strstr(warnings, "colour") && strstr(warnings, "shape"), "%s", warnings);
}

Test(yaml, after_the_free_the_config_is_new_and_what_was_made_of_it_goes_on)
{
    rli_settings settings;
    load(SINGLE "  clientName: \"me\"\n  database: 3\n");
    assert_ok(rli_settings_make(&settings, &config));
    rlock_config_free(&config);
    cr_assert(!config.addresses && !config.client_name && !config.owned && config.database == 0);
    assert_text(settings.client_name, "me");
    assert_text(settings.addresses[0].host, "h");
    rli_settings_free(&settings);
}

/* As if they were not there: an empty text would allow no protocol at all. */
Test(yaml, empty_lists_of_protocols_and_ciphers_set_nothing)
{
    load(SINGLE "sslProtocols: []\nsslCiphers: []\n");
    cr_assert(!config.ssl_protocols && !config.ssl_ciphers);
    rlock_config_free(&config);
}

/* ---- Files that were damaged ---- */

/* All settings with secrets, which no message may show. */
static const char whole[] =
    "sentinelServersConfig:\n"
    "  sentinelAddresses: [\"rediss://user:SECRET@10.0.0.1:26379\", \"rediss://SECRET@[::1]:26379\"]\n"
    "  masterName: m\n"
    "  sentinelUsername: u\n"
    "  sentinelPassword: SECRET\n"
    "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT1S, maxDelay: PT2S}\n"
    "  timeout: ${RLOCK_TEST_UNSET:-3000}\n"
    "  retryAttempts: 0x3\n"
    "  <<: &more {database: 2, connectionPoolSize: 500}\n"
    "password: 'SECRET'\n"
    "sslKeystore: file:/a%20b\n"
    "sslKeystorePassword: \"SECRET\"\n"
    "sslProtocols:\n"
    "- TLSv1.3\n"
    "nameMapper: !<a.PrefixMapper> {prefix: \"a:\"}\n"
    "other: *more\n";

/* Loads `length` bytes, whatever is in them: every outcome is good that says why, and no secret. */
static void load_damaged(const char *text, size_t length)
{
    remove(path_of("damaged.yaml")); /* one that is cut and written again goes to the disk at once, thousands of times */
    FILE *file = fopen(path_of("damaged.yaml"), "we");
    cr_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    rlock_status status = rlock_config_load_yaml(&config, path_of("damaged.yaml"));
    const char *said = status == RLOCK_OK ? rlock_config_warnings(&config) : rlock_last_error();
    cr_assert(!strstr(said, "SECRET"), "the secret is told: %s\n%.*s", said, (int)length, text);
    cr_assert(status == RLOCK_OK || strstr(said, "damaged.yaml"), "%s", said);
    if (status == RLOCK_OK) {
        rli_settings settings;
        if (rli_settings_make(&settings, &config) == RLOCK_OK)
            rli_settings_free(&settings);
        else
            cr_assert(!strstr(rlock_last_error(), "SECRET"), "the secret is told: %s", rlock_last_error());
    }
    rlock_config_free(&config);
}

Test(yaml, the_whole_file_is_good)
{
    load(whole);
    rli_settings settings;
    assert_ok(rli_settings_make(&settings, &config));
    rli_settings_free(&settings);
}

Test(yaml, a_file_that_ends_anywhere_is_read_or_refused)
{
    for (size_t length = 0; length < sizeof whole; length++)
        load_damaged(whole, length);
}

Test(yaml, a_file_with_any_byte_changed_is_read_or_refused, .lasts = 11)
{
    static const char others[] = {'\0', '\n', ' ', ':', '"', '\'', '{', '[', ',', '&', '*', '!', '%', '$', '@', '/', '-', '\xff'};
    char text[sizeof whole];
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        for (size_t j = 0; j < sizeof others; j++) {
            memcpy(text, whole, sizeof whole);
            text[i] = others[j];
            load_damaged(text, sizeof whole - 1);
        }
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, whole, sizeof whole);
            text[i] = (char)(text[i] ^ (1 << bit));
            load_damaged(text, sizeof whole - 1);
        }
    }
}

/* Neither the depth of a file nor what its aliases unfold to is walked to the end. */
Test(yaml, a_file_that_nests_or_unfolds_without_end_is_refused)
{
    static const char *const pieces[] = {"[", "{", "- ", "? ", "{a: "};
    static char text[64 << 10];
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = strlen(pieces[i]), size = 0;
        for (; size + length < sizeof text; size += length)
            memcpy(text + size, pieces[i], length);
        text[size] = 0;
        assert_status(load_text(text), RLOCK_INVALID);
        assert_error("yaml:1: more than 100");
    }
    size_t size = (size_t)sprintf(text, "singleServerConfig:\n  address: redis://h:1\n  <<: &m0 {database: 1}\n");
    for (int level = 1; level < 12; level++) {
        size += (size_t)sprintf(text + size, "m%d: &m%d {<<: [", level, level);
        for (int i = 0; i < 50; i++)
            size += (size_t)sprintf(text + size, "%s*m%d", i ? ", " : "", level - 1);
        size += (size_t)sprintf(text + size, "]}\n");
    }
    sprintf(text + size, "<<: *m11\n");
    assert_status(load_text(text), RLOCK_INVALID);
    assert_error("too many");
    /* A chain takes the stack of the thread, which may be small. */
    size = (size_t)sprintf(text, "singleServerConfig:\n  address: redis://h:1\nm0: &m0 {threads: 1}\n");
    for (int level = 1; level < 50; level++)
        size += (size_t)sprintf(text + size, "m%d: &m%d {<<: *m%d}\n", level, level, level - 1);
    sprintf(text + size, "<<: *m49\n");
    assert_status(load_text(text), RLOCK_INVALID);
    assert_error("too many");
}

Test(yaml, a_file_with_any_line_left_out_or_twice_is_read_or_refused)
{
    char text[2 * sizeof whole];
    for (const char *line = whole; *line;) {
        const char *next = strchr(line, '\n') + 1;
        size_t before = (size_t)(line - whole), length = (size_t)(next - line);
        memcpy(text, whole, before);
        strcpy(text + before, next);
        load_damaged(text, strlen(text));
        memcpy(text, whole, before + length);
        strcpy(text + before + length, line);
        load_damaged(text, strlen(text));
        line = next;
    }
}

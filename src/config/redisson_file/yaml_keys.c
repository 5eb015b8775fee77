/* YAML keys: the keys of Redisson's configuration file, 3.x and 4.x up to 4.7, and what each means here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redisson_file/yaml_keys.h"

#include <string.h>

#define TOP          RLI_AT_TOP
#define SINGLE       RLI_IN_SINGLE
#define SENTINEL     RLI_IN_SENTINEL
#define CLUSTER      RLI_IN_CLUSTER
#define MASTER_SLAVE RLI_IN_MASTER_SLAVE
#define REPLICATED   RLI_IN_REPLICATED
#define SEVERAL      (SENTINEL | CLUSTER | MASTER_SLAVE | REPLICATED)
#define SECTIONS     (SINGLE | SEVERAL)
#define ANYWHERE     (TOP | SECTIONS) /* moved to the top level in 4.0, still read in the sections */

static const rli_yaml_key keys[] = {
    {"singleServerConfig", TOP, RLI_USE_SECTION, NULL, false},
    {"sentinelServersConfig", TOP, RLI_USE_SECTION, NULL, false},
    {"clusterServersConfig", TOP, RLI_USE_SECTION, NULL, false},
    {"masterSlaveServersConfig", TOP, RLI_USE_SECTION, NULL, false},
    {"replicatedServersConfig", TOP, RLI_USE_SECTION, NULL, false},
    {"elasticacheServersConfig", TOP, RLI_USE_SECTION, NULL, false}, /* Redisson 3.x's name of it */

    {"lockWatchdogTimeout", TOP, RLI_USE_FIELD, NULL, false},
    {"lockWatchdogBatchSize", TOP, RLI_USE_CAPPED, NULL, false},
    {"fairLockWaitTimeout", TOP, RLI_USE_FIELD, NULL, false},
    {"checkLockSyncedSlaves", TOP, RLI_USE_FIELD, NULL, false},
    {"slavesSyncTimeout", TOP, RLI_USE_FIELD, NULL, false},

    {"username", ANYWHERE, RLI_USE_USER, NULL, true},
    {"password", ANYWHERE, RLI_USE_USER, NULL, true},
    {"nameMapper", ANYWHERE, RLI_USE_PREFIX, NULL, true},
    {"commandMapper", ANYWHERE, RLI_USE_JAVA_NEEDED, NULL, true},
    {"credentialsResolver", ANYWHERE, RLI_USE_JAVA, NULL, true},
    {"sslVerificationMode", ANYWHERE, RLI_USE_VERIFICATION, NULL, true},
    {"sslEnableEndpointIdentification", SECTIONS, RLI_USE_ENDPOINT, "sslVerificationMode", false},
    {"sslTruststore", ANYWHERE, RLI_USE_FILE, NULL, true},
    {"sslTruststorePassword", ANYWHERE, RLI_USE_FIELD, NULL, true},
    {"sslKeystore", ANYWHERE, RLI_USE_FILE, NULL, true},
    {"sslKeystorePassword", ANYWHERE, RLI_USE_FIELD, NULL, true},
    {"sslProtocols", ANYWHERE, RLI_USE_LIST, NULL, true},
    {"sslCiphers", ANYWHERE, RLI_USE_LIST, NULL, true},
    {"sslKeystoreType", ANYWHERE, RLI_USE_NOT, NULL, true}, /* the library detects the type from the file */
    {"sslProvider", ANYWHERE, RLI_USE_NOT, NULL, true},
    {"sslTrustManagerFactory", ANYWHERE, RLI_USE_JAVA, NULL, true},
    {"sslKeyManagerFactory", ANYWHERE, RLI_USE_JAVA, NULL, true},
    {"tcpKeepAlive", TOP, RLI_USE_FIELD, NULL, false},
    {"keepAlive", SECTIONS, RLI_USE_NONZERO, "tcpKeepAlive", false},
    {"tcpKeepAliveCount", ANYWHERE, RLI_USE_NONZERO, NULL, false},
    {"tcpKeepAliveIdle", ANYWHERE, RLI_USE_NONZERO, NULL, false},
    {"tcpKeepAliveInterval", ANYWHERE, RLI_USE_NONZERO, NULL, false},
    {"tcpUserTimeout", ANYWHERE, RLI_USE_NONZERO, NULL, false},
    {"tcpNoDelay", ANYWHERE, RLI_USE_NOT, NULL, false}, /* TCP_NODELAY is always set here */

    {"timeout", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"connectTimeout", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"subscriptionTimeout", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"retryAttempts", SECTIONS, RLI_USE_CAPPED, NULL, false},
    {"retryDelay", SECTIONS, RLI_USE_DELAY, NULL, false},
    {"retryInterval", SECTIONS, RLI_USE_INTERVAL, NULL, false},
    {"clientName", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"pingConnectionInterval", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"dnsMonitoringInterval", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"database", SECTIONS, RLI_USE_FIELD, NULL, false},
    {"connectionPoolSize", SINGLE, RLI_USE_CAPPED, NULL, false},
    {"masterConnectionPoolSize", SEVERAL, RLI_USE_CAPPED, "connectionPoolSize", false},

    {"address", SINGLE, RLI_USE_ADDRESS, NULL, false},
    {"sentinelAddresses", SENTINEL, RLI_USE_ADDRESSES, NULL, false},
    {"nodeAddresses", CLUSTER | REPLICATED, RLI_USE_ADDRESSES, NULL, false},
    {"masterAddress", MASTER_SLAVE, RLI_USE_ADDRESS, NULL, false},
    {"slaveAddresses", MASTER_SLAVE, RLI_USE_ADDRESSES, NULL, false},

    {"masterName", SENTINEL, RLI_USE_FIELD, NULL, false},
    {"sentinelUsername", SENTINEL, RLI_USE_FIELD, NULL, false},
    {"sentinelPassword", SENTINEL, RLI_USE_FIELD, NULL, false},
    {"scanInterval", SENTINEL | CLUSTER | REPLICATED, RLI_USE_FIELD, NULL, false},
    {"shardedSubscriptionMode", CLUSTER, RLI_USE_FIELD, NULL, false},
    {"natMapper", SENTINEL | CLUSTER | REPLICATED, RLI_USE_NAT, NULL, false},
    {"natMap", SENTINEL | CLUSTER, RLI_USE_NAT, NULL, false},

    {"lazyInitialization", TOP, RLI_USE_FIELD, NULL, false},
    {"sentinelsDiscovery", SENTINEL, RLI_USE_DISCOVERY, NULL, false},

    /* Settings of Redisson PRO. A password that is encrypted is refused where it occurs. */
    {"secretKey", TOP, RLI_USE_NOT, NULL, false},
    {"registrationKey", TOP, RLI_USE_NOT, NULL, false},

    {"codec", TOP, RLI_USE_CODEC, NULL, false},

    /* Settings that concern Java's threads, connections, and reads from replicas. */
    {"threads", TOP, RLI_USE_NOT, NULL, false},
    {"nettyThreads", TOP, RLI_USE_NOT, NULL, false},
    {"executor", TOP, RLI_USE_NOT, NULL, false},
    {"nettyExecutor", TOP, RLI_USE_NOT, NULL, false},
    {"eventLoopGroup", TOP, RLI_USE_NOT, NULL, false},
    {"nettyHook", TOP, RLI_USE_NOT, NULL, false},
    {"connectionListener", TOP, RLI_USE_NOT, NULL, false},
    {"addressResolverGroupFactory", TOP, RLI_USE_NOT, NULL, false},
    {"transportMode", TOP, RLI_USE_NOT, NULL, false},
    {"useLinuxNativeEpoll", TOP, RLI_USE_NOT, NULL, false},
    {"referenceEnabled", TOP, RLI_USE_NOT, NULL, false},
    {"redissonReferenceEnabled", TOP, RLI_USE_NOT, NULL, false},
    {"referenceCodecProvider", TOP, RLI_USE_NOT, NULL, false},
    {"useThreadClassLoader", TOP, RLI_USE_NOT, NULL, false},
    {"useScriptCache", TOP, RLI_USE_NOT, NULL, false},
    {"protocol", TOP, RLI_USE_NOT, NULL, false},
    {"valkeyCapabilities", TOP, RLI_USE_NOT, NULL, false},
    {"keepPubSubOrder", TOP, RLI_USE_NOT, NULL, false},
    {"reliableTopicWatchdogTimeout", TOP, RLI_USE_NOT, NULL, false},
    {"minCleanUpDelay", TOP, RLI_USE_NOT, NULL, false},
    {"maxCleanUpDelay", TOP, RLI_USE_NOT, NULL, false},
    {"cleanUpKeysAmount", TOP, RLI_USE_NOT, NULL, false},

    {"idleConnectionTimeout", SECTIONS, RLI_USE_NOT, NULL, false},
    {"reconnectionDelay", SECTIONS, RLI_USE_NOT, NULL, false},
    {"reconnectionTimeout", SECTIONS, RLI_USE_NOT, NULL, false},
    {"failedAttempts", SECTIONS, RLI_USE_NOT, NULL, false},
    {"pingTimeout", SECTIONS, RLI_USE_NOT, NULL, false},
    {"subscriptionsPerConnection", SECTIONS, RLI_USE_NOT, NULL, false},
    {"connectionMinimumIdleSize", SINGLE, RLI_USE_NOT, NULL, false},
    {"subscriptionConnectionMinimumIdleSize", SECTIONS, RLI_USE_NOT, NULL, false},
    {"subscriptionConnectionPoolSize", SECTIONS, RLI_USE_NOT, NULL, false},
    {"dnsMonitoring", SINGLE, RLI_USE_NOT, NULL, false},
    {"dnsMonitoringTimes", SECTIONS, RLI_USE_NOT, NULL, false},

    {"loadBalancer", SEVERAL, RLI_USE_NOT, NULL, false},
    {"readMode", SEVERAL, RLI_USE_NOT, NULL, false},
    {"subscriptionMode", SEVERAL, RLI_USE_NOT, NULL, false},
    {"fallbackLoadingToMaster", SEVERAL, RLI_USE_NOT, NULL, false},
    {"failedSlaveReconnectionInterval", SEVERAL, RLI_USE_NOT, NULL, false},
    {"failedSlaveCheckInterval", SEVERAL, RLI_USE_NOT, NULL, false},
    {"failedSlaveNodeDetector", SEVERAL, RLI_USE_NOT, NULL, false},
    {"masterConnectionMinimumIdleSize", SEVERAL, RLI_USE_NOT, NULL, false},
    {"slaveConnectionMinimumIdleSize", SEVERAL, RLI_USE_NOT, NULL, false},
    {"slaveConnectionPoolSize", SEVERAL, RLI_USE_NOT, NULL, false},
    {"slaveSubscriptionConnectionMinimumIdleSize", SEVERAL, RLI_USE_NOT, NULL, false},
    {"slaveSubscriptionConnectionPoolSize", SEVERAL, RLI_USE_NOT, NULL, false},
    {"checkSentinelsList", SENTINEL, RLI_USE_NOT, NULL, false},
    {"checkSlaveStatusWithSyncing", SENTINEL, RLI_USE_NOT, NULL, false},
    {"checkSlotsCoverage", CLUSTER, RLI_USE_NOT, NULL, false},
    {"checkMasterLinkStatus", CLUSTER, RLI_USE_NOT, NULL, false},
    {"monitorIPChanges", REPLICATED, RLI_USE_NOT, NULL, false},
};

_Static_assert(sizeof keys / sizeof *keys <= RLI_YAML_KEYS_MAX, "readers have room for each");

const rli_yaml_key *rli_yaml_key_at(size_t i)
{
    return i < sizeof keys / sizeof *keys ? &keys[i] : NULL;
}

const char *rli_yaml_key_name(size_t i)
{
    return i < sizeof keys / sizeof *keys ? keys[i].name : NULL;
}

const rli_yaml_key *rli_yaml_key_find(unsigned where, const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if ((keys[i].where & where) && strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

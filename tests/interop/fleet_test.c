/* Java's Redisson on the fixtures' fleets, by the configuration files that they write: what the tests of
 * both implementations on clusters, sentinels and replicas rest on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/java.h"
#include "tests/support/certificates.h"
#include "tests/support/cluster.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/support/test.h"

#include <string.h>

TestSuite(java_fleet, .init = java_begin);

/* Java holds the lock where the test looks for it, and gives it back. */
static void assert_locks_at(server *at, const char *name)
{
    java_lock("t1", name);
    cr_assert(server_integer(at, "HLEN %s", name) == 1);
    java_unlock("t1", name);
    cr_assert(server_integer(at, "EXISTS %s", name) == 0);
}

Test(java_fleet, cluster_takes_its_locks_and_publishes_to_the_shard)
{
    cluster *own = cluster_start(3, 1, NULL);
    java_open_file(cluster_yaml(own, "scanInterval: 500\n", NULL));
    char channel[128];
    for (int node = 0; node < 3; node++) {
        const char *name = cluster_key(own, node, "order:");
        snprintf(channel, sizeof channel, "redisson_lock__channel:{%s}", name);
        cluster_listen(own, channel);
        assert_locks_at(cluster_node(own, node), name);
        cr_assert(cluster_heard(own, channel, "0", 5000), "no message on %s", channel);
    }
    agent_end(java);
    cluster_stop(own);
}

Test(java_fleet, cluster_goes_on_after_a_failover, .lasts = 17)
{
    cluster *own = cluster_start(3, 1, NULL);
    java_open_file(cluster_yaml(own, "scanInterval: 500\n", NULL));
    const char *name = cluster_key(own, 0, "order:");
    assert_locks_at(cluster_node(own, 0), name);
    server_kill(cluster_node(own, 0));
    cr_assert(cluster_await_takeover(own, cluster_slot(name), 0, 30000) == 3);
    assert_locks_at(cluster_node(own, 3), name);
    agent_end(java);
    cluster_stop(own);
}

Test(java_fleet, sentinels_lead_to_the_new_master)
{
    sentinel *own = sentinel_start(&(sentinel_plan){
        .server_args = ARGS("--requirepass", "secret"), .sentinel_args = ARGS("--requirepass", "other")});
    java_open_file(sentinel_yaml(own, "password: \"secret\"\nsentinelPassword: \"other\"\n", NULL));
    assert_locks_at(sentinel_server(own, 0), "order");
    server_kill(sentinel_server(own, 0));
    int next = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_assert(next > 0);
    assert_locks_at(sentinel_server(own, next), "order");
    agent_end(java);
    sentinel_stop(own);
}

Test(java_fleet, replicas_are_known_by_either_configuration)
{
    fleet *own = fleet_start(2, NULL);
    java_open_file(fleet_master_slave_yaml(own, NULL, "lockWatchdogTimeout: 5000\n"));
    assert_locks_at(fleet_node(own, 0), "order");
    java_open_file(fleet_replicated_yaml(own, NULL, NULL));
    assert_locks_at(fleet_node(own, 0), "order");
    agent_end(java);
    fleet_stop(own);
}

/* The trust store and the key store that the certificates write are Java's, too. */
Test(java_fleet, tls_is_trusted_by_the_trust_store_and_by_nothing_less)
{
    texts kept = {0};
    const char *const *args = certificates_args(&kept, CERTIFICATE_SERVER, "yes", ARGS("--requirepass", "secret"));
    const char *stores = texts_add(
        &kept,
        "sslTruststore: \"file:%s\"\nsslTruststorePassword: \"" CERTIFICATES_PASSWORD "\"\n"
        "sslKeystore: \"file:%s\"\nsslKeystorePassword: \"" CERTIFICATES_PASSWORD "\"\n",
        certificate_trust_store(CERTIFICATE_AUTHORITY), certificate_key_store(CERTIFICATE_CLIENT));
    cluster *own = cluster_start(3, 0, args);
    java_open_file(cluster_yaml(own, "password: \"secret\"\n", stores));
    const char *name = cluster_key(own, 1, "order:");
    assert_locks_at(cluster_node(own, 1), name);
    const answer *refused = agent_try_file(java, cluster_yaml(own, "password: \"secret\"\nretryAttempts: 0\n", NULL));
    cr_assert(refused->threw, "Java trusts a certificate that nobody has vouched for");
    agent_end(java);
    cluster_stop(own);
    texts_free(&kept);
}

/* TLS between several servers and us: every node, and every sentinel, shows a certificate. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/certificates.h"
#include "tests/support/cluster.h"
#include "tests/support/sentinel.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

TestSuite(tls);

static texts kept;

static void lock_once(rlock_client *client, const char *name)
{
    rlock *lock = rlock_get_lock(client, name);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
}

Test(tls, every_node_of_a_cluster_is_reached)
{
    cluster *nodes = cluster_start(3, 0, certificates_args(&kept, CERTIFICATE_SERVER, "yes", NULL));
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, texts_add(&kept, "rediss-cluster://%s?sslTruststore=%s&sslKeystore=%s&"
                                                   "sslKeystorePassword=%s", cluster_hosts(nodes),
                                                   certificate_file(CERTIFICATE_AUTHORITY),
                                                   certificate_key_store(CERTIFICATE_CLIENT), CERTIFICATES_PASSWORD)));
    for (int i = 0; i < 3; i++)
        lock_once(client, cluster_key(nodes, i, "order"));
    rlock_client_close(client);
    client = NULL;
    assert_status(rlock_client_open(&client, texts_add(&kept, "rediss-cluster://%s", cluster_hosts(nodes))), RLOCK_SERVER);
    assert_error("rlock test authority");
    cluster_stop(nodes);
    texts_free(&kept);
}

Test(tls, sentinels_and_each_master_they_name_are_reached)
{
    const char *const *args = certificates_args(&kept, CERTIFICATE_SERVER, "no", NULL);
    sentinel *watched = sentinel_start(&(sentinel_plan){.server_args = args, .sentinel_args = args});
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, texts_add(&kept, "rediss-sentinel://%s?masterName=mymaster&sslTruststore=%s",
                                                   sentinel_hosts(watched), certificate_file(CERTIFICATE_AUTHORITY))));
    lock_once(client, "order");
    cr_assert(sentinel_fail_over(watched) >= 0);
    lock_once(client, "order");
    rlock_client_close(client);
    sentinel_stop(watched);
    texts_free(&kept);
}

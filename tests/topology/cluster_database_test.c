/* A database other than 0 in a cluster: Valkey 9 has them, others say so. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shards.h"

#include <stdlib.h>
#include <string.h>

TestSuite(cluster_database, .fini = shards_close);

/* cluster-databases, as Valkey has it from 9.0 on. */
static bool server_has_databases(void)
{
    server *one = server_start();
    redisReply *setting = server_command(one, "CONFIG GET cluster-databases");
    bool has = setting->elements == 2;
    freeReplyObject(setting);
    server_stop(one);
    return has;
}

Test(cluster_database, other_than_0_is_refused_by_a_server_without_them_with_what_to_do)
{
    if (server_has_databases())
        cr_skip_test("this server has them");
    shards_start(MASTERS, 0, NULL);
    refused_at(cluster_url_with(shards.cluster, "database=2"), RLOCK_SERVER, "SELECT is not allowed in cluster mode",
               "database at 0", NULL);
    shards_client("database=0");
}

Test(cluster_database, other_than_0_has_locks_of_its_own_where_the_server_has_them)
{
    if (!server_has_databases())
        cr_skip_test("this server has none");
    shards_start(MASTERS, 0, ARGS("--cluster-databases", "4"));
    rlock_client *second = shards_client("database=2"), *first = shards_client(NULL);
    for (int node = 0; node < MASTERS; node++) {
        const char *name = cluster_key(shards.cluster, node, "numbered:");
        rlock *lock = lock_of(second, name), *same_name = lock_of(first, name);
        assert_ok(rlock_lock(lock));
        char *keys = server_text(cluster_node(shards.cluster, node), "INFO keyspace");
        cr_assert(strstr(keys, "db2:keys=1") && !strstr(keys, "db0:"), "%s", keys);
        free(keys);
        assert_ok(rlock_try_lock(same_name, 0, RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(same_name));
        assert_ok(rlock_unlock(lock));
    }
    refused_at(cluster_url_with(shards.cluster, "database=4"), RLOCK_SERVER, "database", "out of range", NULL);
}

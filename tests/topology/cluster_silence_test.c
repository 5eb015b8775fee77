/* Nodes of a cluster that say nothing: each time one is asked that costs a second, so others are asked instead. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/fronts.h"
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/shards.h"

#include <stdio.h>
#include <string.h>

#define SOON_MS 60000
#define SILENT 3
#define LOOKS 40

static impostor *silent[SILENT];

static void close_all(void)
{
    shards_close();
    fronts_end();
    for (int i = 0; i < SILENT; i++)
        impostor_stop(silent[i]);
}

TestSuite(cluster_silence, .fini = close_all);

static int64_t looks(void)
{
    int64_t all = 0;
    for (int node = 0; node < MASTERS; node++)
        all += server_times(cluster_node(shards.cluster, node), "cluster|slots");
    return all;
}

static void await_looks(int64_t number)
{
    int64_t before = looks();
    for (int64_t end_ms = limit_end_ms(SOON_MS); looks() < before + number; pass_ms(5))
        cr_assert(now_ms() < end_ms, "only %d looks", (int)(looks() - before));
}

/* Notes who connects. */
static bool say_nothing(impostor_peer *peer, const char *request)
{
    if (!*request)
        impostor_note(peer->of, 0, 1);
    return true;
}

static int64_t connects(void)
{
    int64_t all = 0;
    for (int i = 0; i < SILENT; i++)
        all += impostor_noted(silent[i], 0);
    return all;
}

/* They come before the others in the configuration, and are no nodes of the cluster (any more). */
Test(cluster_silence, of_configured_addresses_delays_no_look_once_the_cluster_is_known)
{
    char url[600] = "redis-cluster://";
    for (int i = 0; i < SILENT; i++) {
        silent[i] = impostor_start(say_nothing, NULL);
        snprintf(url + strlen(url), sizeof url - strlen(url), "127.0.0.1:%d,", impostor_port(silent[i]));
    }
    shards_start(MASTERS, 0, NULL);
    snprintf(url + strlen(url), sizeof url - strlen(url), "127.0.0.1:%d?" PATIENT "&scanInterval=20",
             server_port(cluster_node(shards.cluster, 0)));
    rlock_client *client = shards_client_at(url);
    rlock *lock = lock_of(client, "order");
    for (int i = 0; i < SILENT; i++) /* it may notice later */
        cr_assert(impostor_await(silent[i], 0, 1, SOON_MS), "number %d was not asked to open", i);
    cr_assert(connects() == SILENT, "they were asked %d times to open", (int)connects());
    await_looks(LOOKS);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(connects() == SILENT, "they were asked %d times more", (int)connects() - SILENT);
}

/* A master whose answers do not come any more is not asked in each round. */
Test(cluster_silence, of_a_master_delays_few_looks)
{
    if (!shards_will_go_by_slot())
        cr_skip_test("nodes cannot announce another port before Redis 7.0");
    fronts_begin();
    shards_open_with(0, NULL, PATIENT "&scanInterval=20&pingConnectionInterval=0");
    proxy *front = front_of(cluster_node(shards.cluster, 1));
    shards_close_client(shards.other);
    proxy_pass(front, true, false);
    int before = proxy_accepted(front);
    await_looks(LOOKS);
    int times = proxy_accepted(front) - before; /* each time on another connection, as the one before was given up */
    cr_assert(times <= LOOKS / 4, "it was asked %d times while others were asked %d times", times, LOOKS);
    proxy_pass(front, true, true);
}

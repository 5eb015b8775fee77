/* Addresses that a cluster names: however many there are in the course of time, there are threads and descriptors for those
 * that it has now. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/names.h"
#include "tests/topology/support/shards.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

TestSuite(cluster_addresses, .fini = shards_close);

#define SOON_MS 30000

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    cr_assert(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void await_at_most(int tasks, int fds)
{
    for (int64_t end_ms = limit_end_ms(SOON_MS); tasks_named("rlock-") > tasks || descriptors() > fds; pass_ms(5))
        cr_assert(now_ms() < end_ms, "%d threads and %d descriptors, instead of %d and %d", tasks_named("rlock-"),
                  descriptors(), tasks, fds);
}

/* A waiter subscribes there, a holder renews, a request goes there. */
static void use(rlock *held, rlock *wanted, actor *waiter)
{
    assert_ok(rlock_try_lock(held, SOON_MS, RLOCK_WATCHDOG));
    actor_begin_try(waiter, wanted, SOON_MS, RLOCK_WATCHDOG);
    cr_assert(shards_wait_channels_at(0, 1, SOON_MS), "it does not subscribe");
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, wanted));
}

#define CHANGES 20

/* As of a node that a container platform starts elsewhere each time. */
Test(cluster_addresses, that_change_leave_no_threads_and_no_descriptors_behind)
{
    shards_start(2, 0, NULL);
    server *node = cluster_node(shards.cluster, 0);
    if (!shards_go_by_slot())
        cr_skip_test("nodes have names from Redis 7.0 on");
    cluster_each(shards.cluster, "CONFIG SET cluster-announce-hostname both" NAMES_OF_NODES);
    cluster_each(shards.cluster, "CONFIG SET cluster-preferred-endpoint-type hostname");
    rlock_client *client = shards_client(PATIENT "&scanInterval=20&lockWatchdogTimeout=3000");
    const char *key = cluster_key(shards.cluster, 0, "changing:");
    rlock *held = lock_of(client, key), *wanted = lock_of(client, key);
    actor *waiter = actor_start();
    int tasks = 0, fds = 0;
    for (int i = 0; i < CHANGES; i++) {
        char name[64];
        snprintf(name, sizeof name, "n%d" NAMES_OF_NODES, i);
        freeReplyObject(server_command(node, "CONFIG SET cluster-announce-hostname %s", name));
        cr_assert(name_await(name, SOON_MS), "the address is not used");
        use(held, wanted, waiter);
        if (i == 2) { /* the first two are the configured one's, and the one before */
            tasks = tasks_named("rlock-");
            fds = descriptors();
        }
    }
    /* A connection may have been under way to be made, or not, when they were counted. */
    await_at_most(tasks + CHANGES / 4, fds + CHANGES / 4);
    actor_end(waiter);
}

/* --- hostile nodes --- */

enum { LOOKS, REDIRECTS }; /* notes */

static int port_of(const impostor_peer *peer)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    getsockname(peer->fd, (struct sockaddr *)&own, &size);
    return ntohs(own.sin_port);
}

/* `number` masters, of which each look names others, share the slots; "" instead of a name: itself, for all. */
static bool say_map(impostor_peer *peer, int number, const char *name)
{
    char text[256];
    bool said = true;
    snprintf(text, sizeof text, "*%d\r\n", number);
    said = impostor_say(peer, text);
    for (int i = 0; i < number && said; i++) {
        char host[64] = "";
        if (*name)
            snprintf(host, sizeof host, "%s%d-%d" NAMES_OF_NODES, name, (int)impostor_noted(peer->of, LOOKS), i);
        int first = CLUSTER_SLOTS * i / number, last = CLUSTER_SLOTS * (i + 1) / number - 1;
        snprintf(text, sizeof text, "*3\r\n:%d\r\n:%d\r\n*2\r\n$%zu\r\n%s\r\n:%d\r\n", first, last, strlen(host), host,
                 port_of(peer));
        said = impostor_say(peer, text);
    }
    return said;
}

/* What a cluster's node is asked besides; the map is said by `tell`. */
static bool answer_as_node(impostor_peer *peer, const char *request, bool (*tell)(impostor_peer *))
{
    if (strstr(request, "CLUSTER\r\n$4\r\nINFO"))
        return impostor_say_bulk(peer, "cluster_state:ok\r\ncluster_current_epoch:1\r\n");
    if (strstr(request, "CLUSTER\r\n$5\r\nSLOTS")) {
        impostor_note(peer->of, LOOKS, 1);
        return tell(peer);
    }
    if (strstr(request, "SHARDNUMSUB"))
        return impostor_say(peer, "*0\r\n");
    return impostor_answer(peer, request);
}

static bool tell_five_others(impostor_peer *peer)
{
    return say_map(peer, 5, "m");
}

static bool be_restless(impostor_peer *peer, const char *request)
{
    return answer_as_node(peer, request, tell_five_others);
}

static bool tell_itself(impostor_peer *peer)
{
    return say_map(peer, 1, "");
}

/* Every lock is elsewhere, and there it is elsewhere again. */
static bool send_on(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "EVAL"))
        return answer_as_node(peer, request, tell_itself);
    char moved[128];
    impostor_note(peer->of, REDIRECTS, 1);
    snprintf(moved, sizeof moved, "-MOVED 1 r%d" NAMES_OF_NODES ":%d\r\n", (int)impostor_noted(peer->of, REDIRECTS),
             port_of(peer));
    return impostor_say(peer, moved);
}

static bool tell_too_many(impostor_peer *peer)
{
    return say_map(peer, 3000, "t");
}

static bool be_many(impostor_peer *peer, const char *request)
{
    return answer_as_node(peer, request, tell_too_many);
}

static impostor *hostile;

static void close_hostile(void)
{
    clients_close();
    impostor_stop(hostile);
    hostile = NULL;
}

TestSuite(cluster_hostile, .fini = close_hostile);

static const char *hostile_url(const char *query)
{
    static char url[400];
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?%s", impostor_port(hostile), query);
    return url;
}

#define HASTY "timeout=1000&connectTimeout=1000&slavesSyncTimeout=100&retryBaseDelay=5&retryMaxDelay=10&scanInterval=1"

/* Five new masters with each look; each is used. */
Test(cluster_hostile, nodes_that_name_new_masters_all_the_time_gain_no_threads, .lasts = 13)
{
    hostile = impostor_start(be_restless, NULL);
    rlock_client *client = client_at("%s", hostile_url(HASTY "&retryAttempts=1000"));
    rlock *locks[8];
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "lock-%d", i);
        locks[i] = lock_of(client, name);
    }
    for (int64_t end_ms = limit_end_ms(2 * SOON_MS); impostor_noted(hostile, LOOKS) < 150;) {
        for (int i = 0; i < 8; i++) {
            /* Again if its master goes meanwhile, for as long as it may wait; without a wait that is the HASTY second. */
            assert_ok(rlock_try_lock(locks[i], SOON_MS, 60000));
            rlock_unlock(locks[i]); /* of which the impostor knows nothing */
        }
        cr_assert(now_ms() < end_ms, "%d looks", (int)impostor_noted(hostile, LOOKS));
        cr_assert(tasks_named("rlock-") < 60, "%d threads", tasks_named("rlock-"));
    }
}

static rlock_status try_for_long(void *lock)
{
    return rlock_try_lock(lock, SOON_MS, 60000);
}

/* Eight threads that are sent on and on. */
Test(cluster_hostile, redirects_without_end_gain_no_threads)
{
    hostile = impostor_start(send_on, NULL);
    rlock_client *client = client_at("%s", hostile_url(HASTY "&retryAttempts=200"));
    int tasks = tasks_named("rlock-"), fds = descriptors() + 2;
    actor *actors[8];
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "lock-%d", i);
        actors[i] = actor_start();
        actor_begin(actors[i], try_for_long, lock_of(client, name));
    }
    cr_assert(impostor_await(hostile, REDIRECTS, 1000, 2 * SOON_MS), "%d redirects", (int)impostor_noted(hostile, REDIRECTS));
    cr_assert(tasks_named("rlock-") < 200, "%d threads", tasks_named("rlock-"));
    for (int i = 0; i < 8; i++) {
        assert_status(actor_finish(actors[i], 2 * SOON_MS), RLOCK_UNAVAILABLE);
        actor_end(actors[i]);
    }
    /* Since then the client may have started its watchdog, its guard of timeouts and, if an acquire is in doubt, its
     * connector; and the impostor itself has been used. */
    await_at_most(tasks + 3, fds + 16);
}

Test(cluster_hostile, map_with_more_servers_than_may_be_is_refused)
{
    hostile = impostor_start(be_many, NULL);
    refused_at(hostile_url(HASTY), RLOCK_SERVER, "more than 1024", NULL);
}

/* --- maps that are none --- */

/* All slots, and then one of them once more. */
static bool be_two_at_a_slot(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "CLUSTER\r\n$5\r\nSLOTS"))
        return answer_as_node(peer, request, NULL);
    char map[200];
    snprintf(map, sizeof map,
             "*2\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:%d\r\n"
             "*3\r\n:7\r\n:7\r\n*2\r\n$0\r\n\r\n:%d\r\n", port_of(peer), port_of(peer));
    return impostor_say(peer, map);
}

static bool be_upside_down(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "CLUSTER\r\n$5\r\nSLOTS"))
        return answer_as_node(peer, request, NULL);
    char map[100];
    snprintf(map, sizeof map, "*1\r\n*3\r\n:9\r\n:7\r\n*2\r\n$0\r\n\r\n:%d\r\n", port_of(peer));
    return impostor_say(peer, map);
}

Test(cluster_hostile, map_with_a_slot_at_two_masters_is_refused)
{
    hostile = impostor_start(be_two_at_a_slot, NULL);
    refused_at(hostile_url(HASTY), RLOCK_SERVER, "gave an unexpected answer to CLUSTER SLOTS", NULL);
}

Test(cluster_hostile, map_with_a_range_that_ends_before_it_begins_is_refused)
{
    hostile = impostor_start(be_upside_down, NULL);
    refused_at(hostile_url(HASTY), RLOCK_SERVER, "gave an unexpected answer to CLUSTER SLOTS", NULL);
}

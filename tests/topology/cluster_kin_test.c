/* Kin: whether a node's map is of the cluster that was known before. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/clients.h"

#include <stdio.h>
#include <string.h>

#define SOON_MS 30000

/* A node's notes: what it answers, and how often it was asked. Its map holds two shards; of the second, one slot, which
 * no name here has. */
enum { FIRST_PORT, SECOND_PORT, STRANGER_PORT, SAYS, MAPS, SCRIPTS };
/* Values of SAYS: which masters its map has. Of another first one, the address is the stranger's: under its old name,
 * the master would have moved. */
enum { TWO_MASTERS, ANOTHER_FIRST, ANOTHER_ALTOGETHER };

static impostor *first, *second, *stranger;

static void close_all(void)
{
    clients_close();
    impostor_stop(first);
    impostor_stop(second);
    impostor_stop(stranger);
}

TestSuite(cluster_kin, .fini = close_all);

static bool say_server(impostor_peer *peer, int port_note, char name)
{
    char text[100];
    snprintf(text, sizeof text, "*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$1\r\n%c\r\n", (int)impostor_noted(peer->of, port_note), name);
    return impostor_say(peer, text);
}

/* The replicas are at addresses where nobody answers. */
static bool say_replicas(impostor_peer *peer)
{
    return impostor_say(peer, "*3\r\n$9\r\n127.0.0.1\r\n:1\r\n$1\r\nr\r\n") &&
           impostor_say(peer, "*3\r\n$9\r\n127.0.0.1\r\n:2\r\n$1\r\ns\r\n");
}

static bool say_map(impostor_peer *peer)
{
    static const char names[][2] = {"ab", "xb", "xy"};
    const int says = (int)impostor_noted(peer->of, SAYS);
    const int first_port = says == TWO_MASTERS ? FIRST_PORT : STRANGER_PORT;
    impostor_note(peer->of, MAPS, 1);
    return impostor_say(peer, "*2\r\n*5\r\n:0\r\n:16382\r\n") && say_server(peer, first_port, names[says][0]) &&
           say_replicas(peer) && impostor_say(peer, "*3\r\n:16383\r\n:16383\r\n") &&
           say_server(peer, SECOND_PORT, names[says][1]);
}

static bool serve(impostor_peer *peer, const char *request)
{
    if (strstr(request, "CLUSTER\r\n$4\r\nINFO"))
        return impostor_say_bulk(peer, "cluster_state:ok\r\ncluster_current_epoch:1\r\n");
    if (strstr(request, "CLUSTER\r\n$5\r\nSLOTS"))
        return say_map(peer);
    if (strstr(request, "SHARDNUMSUB"))
        return impostor_say(peer, "*0\r\n");
    if (strstr(request, "EVALSHA"))
        impostor_note(peer->of, SCRIPTS, 1);
    return impostor_answer(peer, request);
}

static void set_up(impostor *node)
{
    impostor_note(node, FIRST_PORT, impostor_port(first));
    impostor_note(node, SECOND_PORT, impostor_port(second));
    impostor_note(node, STRANGER_PORT, impostor_port(stranger));
}

/* From some moment on, the second master names another one where the first is, as `says` has it; the first still names
 * itself. */
static void assert_not_believed(int says)
{
    first = impostor_start(serve, NULL);
    second = impostor_start(serve, NULL);
    stranger = impostor_start(serve, NULL);
    set_up(first);
    set_up(second);
    rlock *lock = lock_of(client_at("redis-cluster://127.0.0.1:%d?scanInterval=20", impostor_port(first)), "order");
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
    cr_assert(impostor_await(second, MAPS, 1, SOON_MS), "the client does not ask it");
    impostor_note(second, SAYS, says);
    /* Each look asks the next node, so there would be times between two in which the second is believed. */
    for (int64_t end_ms = limit_end_ms(SOON_MS), most = impostor_noted(second, MAPS) + 20;
         impostor_noted(second, MAPS) < most;) {
        assert_ok(rlock_try_lock(lock, 0, SOON_MS));
        cr_assert(now_ms() < end_ms, "the client does not ask it");
    }
    cr_assert(impostor_noted(stranger, SCRIPTS) == 0, "a stranger was asked for a lock");
}

/* Half of its masters are no majority. */
Test(cluster_kin, is_no_cluster_that_has_half_of_the_masters)
{
    assert_not_believed(ANOTHER_FIRST);
}

/* They may be replicas of any cluster's by now. */
Test(cluster_kin, is_no_cluster_that_has_only_replicas_in_common)
{
    assert_not_believed(ANOTHER_ALTOGETHER);
}

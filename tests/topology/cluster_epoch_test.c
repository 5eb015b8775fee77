/* A cluster's nodes that know of different failovers: whose map counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/clients.h"

#include <stdio.h>
#include <string.h>

#define SOON_MS 30000

/* A node's notes: what it knows, how often it was asked for its epoch, and how many scripts it was to run. */
enum { EPOCH, KNOWS_NEW, LEARNS, ASKED, SCRIPTS, FORMER_PORT, NEW_PORT, WITNESS_PORT };

/* The former master, the one that a failover has made, and the master of other slots. */
static impostor *former, *new, *witness;

static void close_all(void)
{
    clients_close();
    impostor_stop(former);
    impostor_stop(new);
    impostor_stop(witness);
}

TestSuite(cluster_epoch, .fini = close_all);

static bool say_node(impostor_peer *peer, int port_note)
{
    char text[160];
    snprintf(text, sizeof text, "*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$40\r\n%040d\r\n", (int)impostor_noted(peer->of, port_note),
             port_note);
    return impostor_say(peer, text);
}

static bool say_map(impostor_peer *peer)
{
    bool knows = impostor_noted(peer->of, KNOWS_NEW);
    return impostor_say(peer, "*2\r\n*4\r\n:0\r\n:16379\r\n") && say_node(peer, knows ? NEW_PORT : FORMER_PORT) &&
           say_node(peer, knows ? FORMER_PORT : NEW_PORT) && impostor_say(peer, "*3\r\n:16380\r\n:16383\r\n") &&
           say_node(peer, WITNESS_PORT);
}

static void learn(impostor *node)
{
    impostor_note(node, KNOWS_NEW, 1);
    impostor_note(node, EPOCH, 1);
}

static bool say_condition(impostor_peer *peer)
{
    char text[80];
    snprintf(text, sizeof text, "cluster_state:ok\r\ncluster_current_epoch:%d\r\n", (int)impostor_noted(peer->of, EPOCH));
    bool said = impostor_say_bulk(peer, text);
    if (impostor_noted(peer->of, LEARNS)) { /* before it is asked for the map */
        impostor_note(peer->of, LEARNS, -1);
        learn(peer->of);
    }
    impostor_note(peer->of, ASKED, 1);
    return said;
}

static bool be_node(impostor_peer *peer, const char *request)
{
    if (strstr(request, "CLUSTER\r\n$4\r\nINFO"))
        return say_condition(peer);
    if (strstr(request, "CLUSTER\r\n$5\r\nSLOTS"))
        return say_map(peer);
    if (strstr(request, "EVAL"))
        impostor_note(peer->of, SCRIPTS, 1);
    return impostor_answer(peer, request);
}

static void start_all(void)
{
    impostor **nodes[] = {&former, &new, &witness};
    for (int i = 0; i < 3; i++)
        *nodes[i] = impostor_start(be_node, NULL);
    for (int i = 0; i < 3; i++) {
        impostor_note(*nodes[i], EPOCH, 4);
        for (int k = 0; k < 3; k++)
            impostor_note(*nodes[i], FORMER_PORT + k, impostor_port(*nodes[k]));
    }
    learn(new);
}

static int64_t asked_in_all(void)
{
    return impostor_noted(former, ASKED) + impostor_noted(new, ASKED) + impostor_noted(witness, ASKED);
}

/* Nobody else whom the client asks knows of it: the former master answers as before. */
Test(cluster_epoch, of_a_failover_between_two_questions_is_believed_at_once)
{
    start_all();
    rlock_client *client = client_at("redis-cluster://127.0.0.1:%d,127.0.0.1:%d?shardedSubscriptionMode=OFF&scanInterval=50",
                                     impostor_port(former), impostor_port(witness));
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 1 && impostor_noted(new, SCRIPTS) == 0);
    impostor_note(witness, LEARNS, 1);
    cr_assert(impostor_await(witness, KNOWS_NEW, 1, SOON_MS), "the client does not ask it");
    int64_t asked = asked_in_all();
    while (asked_in_all() < asked + 8) /* one to three a look */
        pass_ms(1);
    assert_ok(rlock_try_lock(lock_of(client, "other"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 1, "the former master was asked for a lock");
    cr_assert(impostor_noted(new, SCRIPTS) == 1);
}

Test(cluster_epoch, of_a_failover_while_the_client_is_opened_is_believed)
{
    start_all();
    impostor_note(witness, LEARNS, 1);
    rlock_client *client = client_at("redis-cluster://127.0.0.1:%d?shardedSubscriptionMode=OFF", impostor_port(witness));
    assert_ok(rlock_try_lock(lock_of(client, "order"), 0, SOON_MS));
    cr_assert(impostor_noted(former, SCRIPTS) == 0 && impostor_noted(new, SCRIPTS) == 1);
}

/* It says nothing against what others have told: the former master, which has missed the failover, stays out. */
Test(cluster_epoch, is_kept_when_a_node_does_not_tell_its_own)
{
    start_all();
    learn(witness);
    rlock_client *client = client_at("redis-cluster://127.0.0.1:%d?shardedSubscriptionMode=OFF&scanInterval=50&retryAttempts=0",
                                     impostor_port(witness));
    rlock *lock = lock_of(client, "order");
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
    impostor_note(new, EPOCH, -impostor_noted(new, EPOCH));
    impostor_note(witness, EPOCH, -impostor_noted(witness, EPOCH));
    cr_assert(impostor_await(new, ASKED, impostor_noted(new, ASKED) + 4, SOON_MS), "the client does not ask it");
    impostor_stop(new);
    impostor_stop(witness);
    new = witness = NULL;
    cr_assert(impostor_await(former, ASKED, impostor_noted(former, ASKED) + 3, SOON_MS), "the client does not ask it");
    rlock_status acquired = rlock_try_lock(lock_of(client, "other"), 0, SOON_MS);
    cr_assert(acquired == RLOCK_UNAVAILABLE && impostor_noted(former, SCRIPTS) == 0, "the former master was asked for a lock");
}

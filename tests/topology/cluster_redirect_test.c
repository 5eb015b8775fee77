/* Redirects: what else a client concludes from one, and whose it follows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shards.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define SOON_MS 30000

TestSuite(cluster_redirect, .fini = shards_close);

static int64_t maps_asked_for(void)
{
    int64_t all = 0;
    for (int node = 0; node < MASTERS; node++)
        all += server_times(cluster_node(shards.cluster, node), "cluster|slots");
    return all;
}

static void cycle(rlock *lock)
{
    assert_ok(rlock_try_lock(lock, 0, 20000));
    assert_ok(rlock_unlock(lock));
}

/* No look is due for a day; the first request that is redirected is reason for one. */
Test(cluster_redirect, of_one_slot_has_the_client_look_where_the_others_are)
{
    shards_start(MASTERS, 0, NULL);
    rlock_client *client = shards_client(PATIENT "&scanInterval=86400000&pingConnectionInterval=0");
    const char *first = cluster_key(shards.cluster, 0, "first:"), *second = cluster_key(shards.cluster, 0, "second:");
    rlock *one = lock_of(client, first), *other = lock_of(client, second);
    cr_assert(cluster_slot(first) != cluster_slot(second));
    cycle(one);
    cycle(other);
    cluster_move(shards.cluster, cluster_slot(first), 1);
    cluster_move(shards.cluster, cluster_slot(second), 2);
    int64_t maps = maps_asked_for();
    cycle(one);
    for (int64_t end_ms = limit_end_ms(SOON_MS); maps_asked_for() == maps; pass_ms(2))
        cr_assert(now_ms() < end_ms, "the client does not look");
    cycle(other);
}

/* --- by whom --- */

enum { CONNECTIONS, REDIRECTED }; /* notes */

/* Where the next one listens. */
typedef struct chain {
    int port;
} chain;

static impostor *owner, *helper, *thief;
static chain to_helper, to_thief;

static void close_impostors(void)
{
    clients_close();
    impostor_stop(owner);
    impostor_stop(helper);
    impostor_stop(thief);
}

TestSuite(cluster_redirect_by, .fini = close_impostors);

static bool count_connections(impostor_peer *peer, const char *request)
{
    if (!*request)
        impostor_note(peer->of, CONNECTIONS, 1);
    return impostor_answer(peer, request);
}

static bool redirect(impostor_peer *peer, const char *how)
{
    char answer[64];
    const chain *next = peer->context;
    impostor_note(peer->of, REDIRECTED, 1);
    snprintf(answer, sizeof answer, "-%s 1 127.0.0.1:%d\r\n", how, next->port);
    return impostor_say(peer, answer);
}

/* It imports a slot, as the owner says, and has no say in whose the slot is. */
static bool say_moved(impostor_peer *peer, const char *request)
{
    return strstr(request, "EVALSHA") ? redirect(peer, "MOVED") : impostor_answer(peer, request);
}

static bool say_port(impostor_peer *peer)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    char port[16];
    getsockname(peer->fd, (struct sockaddr *)&own, &size);
    snprintf(port, sizeof port, "%d\r\n", ntohs(own.sin_port));
    return impostor_say(peer, port);
}

/* Serves all slots; sends a request on, or answers it. */
static bool serve(impostor_peer *peer, const char *request, bool sends_on)
{
    if (strstr(request, "CLUSTER\r\n$4\r\nINFO"))
        return impostor_say_bulk(peer, "cluster_state:ok\r\ncluster_current_epoch:1\r\n");
    if (strstr(request, "CLUSTER\r\n$5\r\nSLOTS"))
        return impostor_say(peer, "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$1\r\n?\r\n:") && say_port(peer);
    if (strstr(request, "SHARDNUMSUB"))
        return impostor_say(peer, "*0\r\n");
    if (strstr(request, "EVALSHA") && sends_on)
        return redirect(peer, "ASK");
    return impostor_answer(peer, request);
}

/* The first request is sent on. */
static bool ask_once(impostor_peer *peer, const char *request)
{
    return serve(peer, request, impostor_noted(peer->of, REDIRECTED) == 0);
}

/* What is told by a node that a key has gone ahead to leads nowhere: the slot is another's. */
Test(cluster_redirect_by, a_node_that_does_not_serve_the_slot_is_not_followed)
{
    thief = impostor_start(count_connections, NULL);
    to_thief.port = impostor_port(thief);
    helper = impostor_start(say_moved, &to_thief);
    to_helper.port = impostor_port(helper);
    owner = impostor_start(ask_once, &to_helper);
    rlock *lock = lock_of(client_at("redis-cluster://:secret@127.0.0.1:%d?" PATIENT, impostor_port(owner)), "order");
    assert_ok(rlock_try_lock(lock, 0, 20000));
    cr_assert(impostor_noted(owner, REDIRECTED) == 1 && impostor_noted(helper, REDIRECTED) == 1);
    cr_assert(impostor_noted(thief, CONNECTIONS) == 0, "it was connected to, and told the password");
}

/* --- how often --- */

#define REFUSALS 7
enum { REFUSED = REDIRECTED + 1 };

static bool ask_always(impostor_peer *peer, const char *request)
{
    return serve(peer, request, true);
}

static bool refuse_some(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "EVALSHA") || impostor_noted(peer->of, REFUSED) == REFUSALS)
        return impostor_answer(peer, request);
    impostor_note(peer->of, REFUSED, 1);
    return impostor_say(peer, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
}

/* While a slot moves, both its nodes refuse what needs several keys. Each attempt asks both. */
Test(cluster_redirect_by, the_owner_is_followed_at_each_attempt)
{
    helper = impostor_start(refuse_some, NULL);
    to_helper.port = impostor_port(helper);
    owner = impostor_start(ask_always, &to_helper);
    rlock *lock = lock_of(client_at("redis-cluster://127.0.0.1:%d?retryAttempts=%d&retryBaseDelay=1&retryMaxDelay=2",
                                    impostor_port(owner), REFUSALS), "order");
    assert_ok(rlock_try_lock(lock, 0, 20000));
    cr_assert(impostor_noted(owner, REDIRECTED) == REFUSALS + 1);
}

/* Serves all slots, and sends on to itself what it is asked. */
static bool lead_in_a_circle(impostor_peer *peer, const char *request)
{
    return strstr(request, "EVALSHA") ? impostor_say(peer, "-MOVED 1 127.0.0.1:") && say_port(peer)
                                      : serve(peer, request, false);
}

/* The attempts have their pauses nevertheless, in which the nodes may agree. */
Test(cluster_redirect_by, nodes_in_a_circle_is_asked_for_again_after_a_pause)
{
    owner = impostor_start(lead_in_a_circle, NULL);
    rlock *lock = lock_of(client_at("redis-cluster://127.0.0.1:%d?retryAttempts=2&retryBaseDelay=400&retryMaxDelay=400",
                                    impostor_port(owner)), "order");
    int64_t since_ms = now_ms();
    assert_status(rlock_try_lock(lock, 0, 20000), RLOCK_UNAVAILABLE);
    assert_error("\"order\"", "MOVED", "CLUSTER SLOTS", "3 attempts");
    cr_assert(now_ms() - since_ms >= 400); /* half of each delay is certain */
}

/* --- who is not in the map --- */

enum { LOOKS = REDIRECTED + 1, HELD, GO };

static bool ask_once_and_count(impostor_peer *peer, const char *request)
{
    if (strstr(request, "CLUSTER\r\n$5\r\nSLOTS"))
        impostor_note(peer->of, LOOKS, 1);
    return ask_once(peer, request);
}

/* Takes its time: until it is told to go on. */
static bool take_permit(impostor_peer *peer, const char *request)
{
    if (!strstr(request, "EVALSHA"))
        return impostor_answer(peer, request);
    impostor_note(peer->of, HELD, 1);
    return impostor_await(peer->of, GO, 1, SOON_MS) && impostor_say(peer, ":1\r\n");
}

/* It is asked, and its answer waited for, though looks at the map meanwhile name the owner alone. */
Test(cluster_redirect_by, the_owner_to_a_node_that_no_map_names_is_followed_to_the_end)
{
    helper = impostor_start(take_permit, NULL);
    to_helper.port = impostor_port(helper);
    owner = impostor_start(ask_once_and_count, &to_helper);
    rlock_client *client = client_at("redis-cluster://127.0.0.1:%d?timeout=60000&scanInterval=20", impostor_port(owner));
    actor *taker = actor_start();
    taking wanted = {.semaphore = semaphore_of(client, "permits"), .permits = 1};
    actor_begin(taker, take, &wanted);
    cr_assert(impostor_await(helper, HELD, 1, SOON_MS), "the other is not asked");
    int64_t looks = impostor_noted(owner, LOOKS);
    cr_assert(impostor_await(owner, LOOKS, looks + 5, SOON_MS), "the client does not look");
    impostor_note(helper, GO, 1);
    assert_ok(actor_finish(taker, SOON_MS));
    actor_end(taker);
}

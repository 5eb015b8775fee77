/* A sentinel that says too much: the client keeps its threads, its descriptors and its questions in bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/topology/support/clients.h"

#include <stdio.h>
#include <string.h>

#define NAMED   1000
#define SOON_MS 30000

enum { LOOKS, MESSAGES, ROUNDS, LISTENERS }; /* notes */

static impostor *sentinel, *master;

static void close_all(void)
{
    clients_close();
    impostor_stop(sentinel);
    impostor_stop(master);
}

TestSuite(sentinel_many, .fini = close_all);

static bool be_master(impostor_peer *peer, const char *request)
{
    if (strstr(request, "\r\nROLE\r\n"))
        return impostor_say(peer, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
    return impostor_answer(peer, request);
}

static bool name_others(impostor_peer *peer)
{
    char text[128];
    snprintf(text, sizeof text, "*%d\r\n", NAMED);
    bool taken = impostor_say(peer, text);
    for (int i = 0; i < NAMED && taken; i++) {
        snprintf(text, sizeof text, "127.1.%d.%d", i / 200, 1 + i % 200);
        taken = impostor_say(peer, "*4\r\n$2\r\nip\r\n") && impostor_say_bulk(peer, text) &&
                impostor_say(peer, "$4\r\nport\r\n$5\r\n26379\r\n");
    }
    return taken;
}

static bool watch(impostor_peer *peer, const char *request)
{
    char port[16];
    snprintf(port, sizeof port, "%d", *(const int *)peer->context);
    if (strstr(request, "GET-MASTER-ADDR"))
        return impostor_say(peer, "*2\r\n$9\r\n127.0.0.1\r\n") && impostor_say_bulk(peer, port);
    if (strstr(request, "SENTINELS")) {
        impostor_note(peer->of, LOOKS, 1);
        return name_others(peer);
    }
    if (strstr(request, "MASTER"))
        return impostor_say(peer, "*2\r\n$12\r\nconfig-epoch\r\n$1\r\n1\r\n");
    return impostor_answer(peer, request);
}

/* A lock of a client whose sentinel answers so. */
static rlock *lock_behind(impostor_fn *answers, const char *query)
{
    static int port;
    master = impostor_start(be_master, NULL);
    port = impostor_port(master);
    sentinel = impostor_start(answers, &port);
    return lock_of(
        client_at("redis-sentinel://127.0.0.1:%d?masterName=m&timeout=1000%s", impostor_port(sentinel), query),
        "order");
}

Test(sentinel_many, others_are_not_all_listened_to)
{
    rlock *lock = lock_behind(watch, "&scanInterval=20&connectTimeout=100");
    cr_assert(impostor_await(sentinel, LOOKS, 5, SOON_MS), "the client does not look");
    cr_assert(tasks_named("rlock-") < 100, "%d threads", tasks_named("rlock-"));
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
}

/* Names, each time, 60 others that were never named before. All are itself: its address, with more zeros. */
static bool name_strangers(impostor_peer *peer, const char *request)
{
    static int named;
    char text[300];
    impostor_note(peer->of, LISTENERS, strstr(request, "\r\nSUBSCRIBE\r\n") != NULL);
    if (!strstr(request, "SENTINELS"))
        return watch(peer, request);
    impostor_note(peer->of, LOOKS, 1);
    bool taken = impostor_say(peer, "*60\r\n");
    for (int i = 0; i < 60 && taken; i++, named++) {
        snprintf(text, sizeof text, "127.0.%0*d.%0*d", 1 + named / 100, 0, 2 + named % 100, 1);
        taken = impostor_say(peer, "*4\r\n$2\r\nip\r\n") && impostor_say_bulk(peer, text);
        snprintf(text, sizeof text, "%d", port_held(peer->fd));
        taken = taken && impostor_say(peer, "$4\r\nport\r\n") && impostor_say_bulk(peer, text);
    }
    return taken;
}

/* Each confirmation of a subscription begins a round, which meets others. */
Test(sentinel_many, strangers_are_not_met_without_end)
{
    int64_t since_ms = now_ms();
    rlock *lock = lock_behind(name_strangers, "&scanInterval=100");
    cr_assert(impostor_await(sentinel, LOOKS, 20, SOON_MS), "the client does not look");
    int64_t most = 1 + 32 * (1 + (now_ms() - since_ms) / 5000), listeners = impostor_noted(sentinel, LISTENERS);
    cr_assert(listeners > 1 && listeners <= most, "%lld connections to listen", (long long)listeners);
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
}

/* It publishes a switch, and another one, without end. */
static bool publish_switches(impostor_peer *peer, const char *request)
{
    static const char message[] = "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$1\r\nm\r\n";
    if (strstr(request, "SENTINELS"))
        return impostor_say(peer, "*0\r\n");
    if (strstr(request, "GET-MASTER-ADDR"))
        impostor_note(peer->of, ROUNDS, 1);
    if (!strstr(request, "SUBSCRIBE"))
        return watch(peer, request);
    bool taken = impostor_answer(peer, request);
    for (; taken; pass_ms(5)) { /* a round is over by then */
        taken = impostor_say(peer, message);
        impostor_note(peer->of, MESSAGES, 1);
    }
    return false;
}

Test(sentinel_many, switches_are_not_all_looked_into)
{
    rlock *lock = lock_behind(publish_switches, "");
    cr_assert(impostor_await(sentinel, MESSAGES, 1, SOON_MS), "the client does not listen");
    int64_t since_ms = now_ms(), rounds = impostor_noted(sentinel, ROUNDS);
    cr_assert(impostor_await(sentinel, ROUNDS, rounds + 21, SOON_MS), "the client does not look");
    cr_assert(now_ms() - since_ms >= 19 * 20, "21 rounds in %lld ms", (long long)(now_ms() - since_ms));
    assert_ok(rlock_try_lock(lock, 0, SOON_MS));
}

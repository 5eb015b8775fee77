/* A new master that a sentinel announces while a server that is gone keeps the client waiting: the client asks it at once,
 * and tells what was lost with the former one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

TestSuite(announced_master);

#define NAME "order"
#define SOON_MS 50
#define NEVER_MS 3600000
#define ANSWER_MS 5 /* of a sentinel that chats */

/* Notes of each server: it answers nothing any more; what it was asked meanwhile. Of a sentinel: the second master is the
 * present one, and it says so; the port of the other sentinel; it goes on saying so, and takes its time to answer. */
enum { SILENT, ASKED, SWITCHED, OTHER, CHATS };

static impostor *masters[2], *sentinels[2];
static int ports[2]; /* of the masters */
static rlock_client *client;
static rlock *lock;
static losses told;

/* False: it is silent. */
static bool speaks(impostor_peer *peer)
{
    if (impostor_noted(peer->of, SILENT) == 0)
        return true;
    impostor_note(peer->of, ASKED, 1);
    impostor_await(peer->of, SILENT, 2, NEVER_MS);
    return false;
}

/* --- the masters; the second one has no locks --- */

static bool is_look(const char *request)
{
    for (int mode = 0; mode < RLI_PUBSUB_MODES; mode++) {
        if (strstr(request, rli_script_lock_look.sha1[mode]))
            return true;
    }
    return false;
}

static bool serve(impostor_peer *peer, const char *request)
{
    if (!speaks(peer))
        return false;
    return is_look(request) ? impostor_say(peer, peer->context) : impostor_answer(peer, request);
}

/* --- the sentinels --- */

static bool announce_once(impostor_peer *peer)
{
    return impostor_say(peer, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n") && impostor_say_bulk(peer, "mymaster");
}

static bool announce(impostor_peer *peer)
{
    if (!impostor_await(peer->of, SWITCHED, 1, NEVER_MS) || !announce_once(peer))
        return false;
    while (impostor_noted(peer->of, CHATS) > 0) {
        pass_ms(1);
        if (!announce_once(peer))
            return false;
    }
    return impostor_await(peer->of, SILENT, 2, NEVER_MS);
}

static bool watch(impostor_peer *peer, const char *request)
{
    char text[200];
    if (strstr(request, "SUBSCRIBE"))
        return impostor_answer(peer, request) && announce(peer);
    if (!speaks(peer))
        return false;
    if (impostor_noted(peer->of, CHATS) > 0)
        pass_ms(ANSWER_MS);
    bool switched = impostor_noted(peer->of, SWITCHED) > 0;
    if (strstr(request, "GET-MASTER-ADDR")) {
        snprintf(text, sizeof text, "%d", ports[switched]);
        return impostor_say(peer, "*2\r\n$9\r\n127.0.0.1\r\n") && impostor_say_bulk(peer, text);
    }
    if (strstr(request, "SENTINELS")) {
        snprintf(text, sizeof text, "%lld", (long long)impostor_noted(peer->of, OTHER));
        return impostor_say(peer, "*1\r\n*4\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$4\r\nport\r\n") &&
               impostor_say_bulk(peer, text);
    }
    if (strstr(request, "MASTER"))
        return impostor_say(peer, "*2\r\n$12\r\nconfig-epoch\r\n$1\r\n") && impostor_say(peer, switched ? "2\r\n" : "1\r\n");
    return impostor_answer(peer, request);
}

/* --- the client --- */

static void begin(void)
{
    char url[300];
    masters[0] = impostor_start(serve, "*1\r\n:3600000\r\n");
    masters[1] = impostor_start(serve, "*1\r\n:-2\r\n");
    for (int i = 0; i < 2; i++)
        ports[i] = impostor_port(masters[i]);
    for (int i = 0; i < 2; i++)
        sentinels[i] = impostor_start(watch, NULL);
    for (int i = 0; i < 2; i++)
        impostor_note(sentinels[i], OTHER, impostor_port(sentinels[1 - i]));
    snprintf(url, sizeof url,
             "redis-sentinel://127.0.0.1:%d,127.0.0.1:%d/?masterName=mymaster&lossTracking=true&pingConnectionInterval=0&"
             "lockWatchdogTimeout=3600000",
             impostor_port(sentinels[0]), impostor_port(sentinels[1]));
    assert_ok(rlock_client_open(&client, url));
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    lock = rlock_get_lock(client, NAME);
    assert_ok(rlock_lock(lock));
    pass_ms(1500); /* it is old */
}

static void end(void)
{
    rlock_free(lock);
    rlock_client_close(client);
    for (int i = 0; i < 2; i++) {
        impostor_stop(sentinels[i]);
        impostor_stop(masters[i]);
    }
}

static void silence(impostor *server)
{
    impostor_note(server, SILENT, 1);
    cr_assert(impostor_await(server, ASKED, 1, 20000), "it is not asked");
}

/* That sentinel announces the second master. */
static void assert_followed(impostor *sentinel)
{
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0);
    impostor_note(sentinel, SWITCHED, 1);
    losses_await(&told, 1, SOON_MS);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
}

/* However long the silence lasts by then. */
static const int64_t after_ms[] = {1, 130, 290, 730, 950, 1010, 1470, 2620, 4830, 5170, 5900, 7350, 12340};
#define TIMES (sizeof after_ms / sizeof *after_ms)

static void follow_from_silence(int announcer)
{
    for (size_t i = 0; i < TIMES; i++) {
        begin();
        silence(masters[0]);
        pass_ms(after_ms[i]);
        assert_followed(sentinels[announcer]);
        end();
    }
}

Test(announced_master, is_asked_while_the_former_one_is_silent)
{
    follow_from_silence(0);
}

Test(announced_master, that_another_sentinel_announces_is_asked_while_the_former_one_is_silent)
{
    follow_from_silence(1);
}

Test(announced_master, is_asked_while_a_sentinel_is_silent)
{
    for (size_t i = 0; i < TIMES; i++) {
        begin();
        silence(sentinels[0]);
        pass_ms(after_ms[i]);
        assert_followed(sentinels[1]);
        end();
    }
}

/* They were on one machine. */
Test(announced_master, is_asked_while_the_former_one_and_a_sentinel_are_silent)
{
    for (size_t i = 0; i < TIMES; i++) {
        begin();
        silence(masters[0]);
        silence(sentinels[0]);
        pass_ms(after_ms[i]);
        assert_followed(sentinels[1]);
        end();
    }
}

/* As when many masters fail over at the same time, of which the sentinels publish each. */
Test(announced_master, is_followed_while_announcements_come_faster_than_answers)
{
    begin();
    impostor_note(sentinels[0], CHATS, 1);
    impostor_note(sentinels[0], SWITCHED, 1);
    losses_await(&told, 1, 20 * ANSWER_MS);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
    end();
}

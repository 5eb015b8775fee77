/* A server that turns connections away, because it has too many or is in protected mode: that passes, and no request has
 * run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

TestSuite(no_room, .fini = stage_close);

#define NAME "order"
#define PASSWORD "secret"
#define PATIENT "retryAttempts=1000&retryBaseDelay=5&retryMaxDelay=10"
#define QUICK "retryAttempts=2&retryBaseDelay=5&retryMaxDelay=10"

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

/* With the password. Static text. */
static const char *url_at(int port, const char *query)
{
    static char url[256];
    snprintf(url, sizeof url, "redis://:" PASSWORD "@127.0.0.1:%d?%s", port, query);
    return url;
}

static rlock_client *open_client(const char *query)
{
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, url_at(server_port(stage.server), query)));
    return client;
}

static void start(bool password)
{
    stage.server = server_start_with(password ? (const char *const[]){"--requirepass", PASSWORD, NULL} : NULL);
}

/* The fixture's connection is the only one that stays. */
static void fill(void)
{
    say("CONFIG SET maxclients 1");
    say("CLIENT KILL TYPE normal SKIPME yes");
}

static void make_room(void)
{
    say("CONFIG SET maxclients 1000");
}

static void await_rejections(int64_t count)
{
    int64_t until_ms = limit_end_ms(20000);
    while (server_info(stage.server, "rejected_connections") < count)
        cr_assert(now_ms() < until_ms, "it does not ask again");
}

static void assert_turned_away(const char *url, const char *words)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    cr_assert(status == RLOCK_UNAVAILABLE && !client, "%s: %s", rlock_strstatus(status), rlock_last_error());
    assert_error(words);
}

Test(no_room, is_why_a_client_does_not_open)
{
    start(false);
    fill();
    assert_turned_away(server_url(stage.server), "max number of clients");
    assert_turned_away(server_tcp_url(stage.server), "max number of clients");
}

/* The first part of the greeting to be answered is then AUTH: it is no password that was wrong. */
Test(no_room, is_not_taken_for_a_wrong_password)
{
    start(true);
    fill();
    assert_turned_away(url_at(server_port(stage.server), ""), "max number of clients");
}

/* The connection is gone, and the server has no room for another one until later. */
Test(no_room, is_waited_for_by_an_unlock)
{
    start(true);
    rlock_client *client = open_client(PATIENT);
    rlock *lock = lock_of(client, NAME);
    actor *owner = actor_start();
    assert_ok(actor_lock(owner, lock));
    fill();
    int64_t before = server_info(stage.server, "rejected_connections");
    actor_begin_unlock(owner, lock);
    await_rejections(before + 3);
    make_room();
    assert_ok(actor_finish(owner, 20000));
    assert_no_keys();
    actor_end(owner);
    rlock_client_close(client);
}

/* Load asks for a second connection, which the server refuses. The first is there for all. */
Test(no_room, for_another_connection_fails_no_call)
{
    start(true);
    rlock_client *client = open_client("retryAttempts=0");
    actor *owners[8];
    say("CONFIG SET maxclients 1");
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "order-%d", i);
        owners[i] = actor_start();
        actor_begin_try(owners[i], lock_of(client, name), 0, 30000);
    }
    for (int i = 0; i < 8; i++) {
        assert_ok(actor_finish(owners[i], 20000));
        actor_end(owners[i]);
    }
    make_room();
    rlock_client_close(client);
}

/* These must not run twice; they have not run once. */
Test(no_room, is_no_doubt_about_what_has_run)
{
    start(true);
    rlock_client *client = open_client(QUICK);
    rlock_semaphore *semaphore = semaphore_of(client, "permits");
    int permits = 0;
    assert_ok(rlock_semaphore_add_permits(semaphore, 3));
    fill();
    assert_status(rlock_semaphore_release(semaphore, 1), RLOCK_UNAVAILABLE);
    assert_status(rlock_force_unlock(lock_of(client, NAME), NULL), RLOCK_UNAVAILABLE);
    make_room();
    assert_ok(rlock_semaphore_available_permits(semaphore, &permits));
    cr_assert(permits == 3, "%d", permits);
    rlock_client_close(client);
}

/* --- servers that say so in other words --- */

static bool refuse_info(impostor_peer *peer, const char *request)
{
    return strstr(request, "INFO") ? impostor_say(peer, peer->context) : impostor_answer(peer, request);
}

static rlock_status open_without_info(const char *answer)
{
    rlock_client *client = NULL;
    impostor *refusing = impostor_start(refuse_info, answer);
    rlock_status status = rlock_client_open(&client, impostor_url(refusing, "timeout=20000"));
    rlock_client_close(client);
    impostor_stop(refusing);
    return status;
}

/* An ACL may forbid INFO, and a configuration rename it. */
Test(no_room, is_not_what_a_server_without_INFO_says)
{
    assert_ok(open_without_info("-NOPERM this user has no permissions to run the 'info' command\r\n"));
    assert_ok(open_without_info("-ERR unknown command 'INFO', with args beginning with: 'server' \r\n"));
    assert_status(open_without_info("-ERR the pool has no server left\r\n"), RLOCK_UNAVAILABLE);
    assert_error("the pool has no server left");
}

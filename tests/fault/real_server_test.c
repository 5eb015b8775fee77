/* Refusals that the model of a server does not know: a script that does not end, a command that is not there, protected
 * mode. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/impostor.h"
#include "tests/fault/support/pipelines.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"

#include <stdio.h>
#include <string.h>

#define NAME "order"

TestSuite(busy_server, .init = scene_watchdog, .fini = scene_close);

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

static void await_busy(void)
{
    for (bool busy = false; !busy;) {
        redisReply *reply = server_command(stage.server, "PING");
        busy = reply->type == REDIS_REPLY_ERROR;
        freeReplyObject(reply);
    }
}

/* A script of somebody else runs and runs; the server answers BUSY meanwhile. That passes. */
Test(busy_server, is_asked_again)
{
    rlock_client *client = scene_client("retryAttempts=1000&retryBaseDelay=50&retryMaxDelay=500&timeout=60000");
    rlock *lock = lock_of(client, NAME);
    actor *caller = actor_start();
    say("CONFIG SET lua-time-limit 50");
    redisContext *busy = redisConnectUnix(server_socket(stage.server));
    cr_assert(busy && !busy->err);
    redisAppendCommand(busy, "EVAL %s 0", "while true do end");
    int done = 0;
    while (!done)
        redisBufferWrite(busy, &done);
    await_busy();
    rlock_client *another = NULL;
    assert_status(rlock_client_open(&another, server_url_with(stage.server, "retryAttempts=0")), RLOCK_UNAVAILABLE);
    assert_error("SCRIPT KILL ends it");
    int rule = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    actor_begin_lock(caller, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 3, 5000), "not asked again");
    say("SCRIPT KILL");
    assert_ok(actor_finish(caller, 5000));
    cr_assert(actor_hold_count(caller, lock) == 1);
    assert_ok(actor_unlock(caller, lock));
    actor_end(caller);
    redisFree(busy);
}

static bool deny(impostor_peer *peer, const char *request)
{
    (void)request;
    impostor_say(peer, "-DENIED Redis is running in protected mode because protected mode is enabled and no password is "
                       "set for the default user.\r\n");
    return false;
}

static void assert_turned_away(const char *url)
{
    rlock_client *client = NULL;
    rlock_status status = rlock_client_open(&client, url);
    cr_assert(status == RLOCK_UNAVAILABLE && !client, "%s: %s", rlock_strstatus(status), rlock_last_error());
    assert_error("protected mode");
}

Test(protected_server, turns_clients_away)
{
    impostor *denying = impostor_start(deny, NULL);
    char url[256];
    snprintf(url, sizeof url, "redis://:secret@127.0.0.1:%d?timeout=20000", impostor_port(denying));
    assert_turned_away(impostor_url(denying, "timeout=20000"));
    assert_turned_away(url);
    impostor_stop(denying);
}

static void open_without_wait(void)
{
    pipelines_open(1, (const char *const[]){"--rename-command", "WAIT", "", NULL});
}

Test(synced_pipeline_without_wait, does_without_it, .init = open_without_wait, .fini = pipelines_close)
{
    for (int i = 0; i < 3; i++) {
        pipeline_call call = pipeline_ask(&pipelines.synced, "INCR", "n", NULL);
        assert_synced(&call, i == 0 ? "1" : i == 1 ? "2" : "3", RLI_REPLICA_ACK_REFUSED);
    }
    cr_assert(server_info(pipelines.master, "total_error_replies") == 1, "WAIT was sent again");
}

/* rlock doctor: what is wrong with a server, what that means for locks, and the exit status. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/rights.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_doctor, .init = stage_open, .fini = stage_close);

static void set(const char *name, const char *value)
{
    redisReply *reply = server_command(stage.server, "CONFIG SET %s %s", name, value);
    cr_assert(reply && reply->type != REDIS_REPLY_ERROR, "%s: %s", name, reply ? reply->str : "");
    freeReplyObject(reply);
}

/* Exits with `status`; a line begins with `begin`, and has `words` in it. */
static void assert_found(const char *url, const char *const *arguments, int status, const char *begin,
                         const char *words)
{
    outcome found = command_outcome(url, arguments);
    cr_assert(found.status == status, "%d instead of %d: %s%s", found.status, status, found.out, found.err);
    cr_assert_str_eq(found.err, "");
    bool seen = false;
    char *whole = strdup(found.out);
    for (char *line = strtok(found.out, "\n"); line; line = strtok(NULL, "\n"))
        seen = seen || (strncmp(line, begin, strlen(begin)) == 0 && strstr(line, words));
    cr_assert(seen, "no line \"%s… %s…\" in\n%s", begin, words, whole);
    free(whole);
    outcome_free(&found);
}

static void assert_doctor(int status, const char *begin, const char *words)
{
    assert_found(server_url(stage.server), COMMAND("doctor"), status, begin, words);
}

/* And leaves nothing behind. */
Test(command_doctor, finds_no_problem_with_a_server_that_has_none)
{
    assert_doctor(0, "ok: ", "version: ");
    assert_doctor(0, "ok: ", "no memory limit");
    assert_doctor(0, "ok: ", "clock: agrees");
    assert_doctor(0, "ok: ", "output buffers: room");
    assert_doctor(0, "ok: ", "trial of lock: acquired, renewed, waited for, released");
    assert_doctor(0, "ok: ", "trial of fair: acquired");
    assert_doctor(0, "ok: ", "trial of read: acquired");
    assert_doctor(0, "ok: ", "trial of write: acquired");
    assert_doctor(0, "note: ", "replicas: none");
    assert_no_keys();
}

Test(command_doctor, eviction_of_held_locks_is_a_problem)
{
    set("maxmemory", "1gb");
    set("maxmemory-policy", "volatile-lru");
    assert_doctor(1, "problem: ", "eviction: maxmemory-policy is volatile-lru: when memory is short");
    set("maxmemory-policy", "noeviction");
    assert_doctor(0, "ok: ", "noeviction");
}

Test(command_doctor, warning_is_a_problem_with_strict_alone)
{
    set("save", "");
    assert_doctor(0, "warning: ", "persistence: none: a restart loses all locks");
    assert_found(server_url(stage.server), COMMAND("doctor", "--strict"), 1, "warning: ", "persistence: none");
    set("save", "3600 1");
    assert_doctor(0, "warning: ", "persistence: snapshots only");
}

Test(command_doctor, json_says_the_same)
{
    char begin[200];
    set("save", "");
    snprintf(begin, sizeof begin, "{\"severity\":\"warning\",\"where\":\"%s\",\"subject\":\"persistence\",\"text\":\"none: a ",
             strstr(server_url(stage.server), "://") + 3);
    assert_found(server_url(stage.server), COMMAND("doctor", "--json"), 0, begin, "tokens\"}");
    assert_found(server_url(stage.server), COMMAND("doctor", "--json", "--strict"), 1,
                 "{\"severity\":\"ok\",\"where\":\"locks\",\"subject\":\"trial of write\",", "\"acquired, renewed, waited for, released\"}");
}

Test(command_doctor, small_limit_of_messages_is_a_warning)
{
    set("client-output-buffer-limit", "pubsub 65536 8192 60");
    assert_doctor(0, "warning: ", "messages are limited to 8192 bytes");
}

Test(command_doctor, a_replica_is_a_problem)
{
    freeReplyObject(server_command(stage.server, "REPLICAOF 127.0.0.1 1"));
    assert_doctor(1, "problem: ", "replicas: this server is one itself");
    freeReplyObject(server_command(stage.server, "REPLICAOF NO ONE"));
}

/* The server refuses each lock then, and the trial meets that, too. */
Test(command_doctor, too_few_replicas_are_a_problem, .lasts = 24)
{
    set("min-replicas-to-write", "1");
    assert_doctor(1, "problem: ", "replicas: 0 of them follow closely, and min-replicas-to-write is 1");
    assert_doctor(1, "problem: ", "trial of lock: could not acquire: ");
}

/* A user who may lock and no more: what could not be asked is a note, and that locks work is found out. */
Test(command_doctor, rights_are_tried)
{
    char url[256];
    rights_give(stage.server, RIGHTS);
    snprintf(url, sizeof url, "redis://locks:secret@127.0.0.1:%d", server_port(stage.server));
    assert_found(url, COMMAND("doctor", "app:"), 0, "ok: ", "trial of fair: acquired, renewed, waited for, released");
    assert_found(url, COMMAND("doctor", "app:"), 0, "note: ", "settings: unknown: the server gave no usable answer to INFO");
    assert_found(url, COMMAND("doctor", "app:"), 0, "note: ", "output buffers: unknown: the server gave no usable answer to CONFIG GET");
    assert_found(url, COMMAND("doctor"), 1, "problem: ", "trial of lock: could not acquire: ");
    assert_found(url, COMMAND("doctor"), 1, "problem: ", "that the user may use: rlock doctor NAME");
    freeReplyObject(server_command(stage.server, "ACL SETUSER locks -exists"));
    assert_found(url, COMMAND("doctor", "app:"), 1, "problem: ", "trial of lock: could not renew: ");
    freeReplyObject(server_command(stage.server, "ACL SETUSER locks +exists -zrange"));
    assert_found(url, COMMAND("doctor", "app:"), 1, "problem: ", "trial of fair: could not acquire: ");
    freeReplyObject(server_command(stage.server, "ACL SETUSER locks +zrange -zadd"));
    assert_found(url, COMMAND("doctor", "app:"), 1, "problem: ", "trial of fair: a wait failed: ");
    assert_found(url, COMMAND("doctor", "app:"), 1, "ok: ", "trial of lock: acquired");
    freeReplyObject(server_command(stage.server, "ACL SETUSER locks resetchannels"));
    assert_found(url, COMMAND("doctor", "app:"), 1, "problem: ", "trial of lock: "); /* to wait, or else to publish */
    assert_no_keys();
}

/* The wait goes on until the other owner has tried to subscribe, however far away the server is. */
Test(command_doctor, rights_are_tried_on_a_server_far_away)
{
    char url[256];
    proxy *between = proxy_start_port(stage.server);
    rights_give(stage.server, RIGHTS);
    freeReplyObject(server_command(stage.server, "ACL SETUSER locks resetchannels"));
    proxy_add(between, &(proxy_rule){.act = PROXY_DELAY, .text = "EVAL", .amount = 200});
    snprintf(url, sizeof url, "redis://locks:secret@127.0.0.1:%d", proxy_port(between));
    assert_found(url, COMMAND("doctor", "app:"), 1, "problem: ", "trial of lock: a wait failed: ");
    proxy_stop(between);
}

/* The other owner's leave and a question after the wait take longer than an acquisition: no reason to wait until the lock's
 * lease is over. */
Test(command_doctor, locks_are_tried_on_a_server_far_away)
{
    char url[256];
    proxy *between = proxy_start_port(stage.server);
    proxy_add(between, &(proxy_rule){.act = PROXY_DELAY, .text = "EVAL", .amount = 20});
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy_port(between));
    assert_found(url, COMMAND("doctor"), 0, "ok: ", "trial of lock: acquired, renewed, waited for, released");
    assert_found(url, COMMAND("doctor"), 0, "ok: ", "trial of fair: acquired, renewed, waited for, released");
    proxy_stop(between);
}

/* As servers that others run for their users do. */
Test(command_doctor, command_that_the_server_has_not_is_no_matter_of_the_user)
{
    server *managed = server_start_with((const char *const[]){"--appendonly", "yes", "--appendfsync", "no",
                                                              "--rename-command", "CONFIG", "", NULL});
    const char *url = server_url(managed);
    assert_found(url, COMMAND("doctor"), 0, "note: ",
                 "persistence: append-only file; how often it is synced is unknown: the server gave no usable answer to "
                 "CONFIG GET (no right to it, or no such command?)");
    assert_found(url, COMMAND("doctor"), 0, "note: ", "output buffers: unknown: the server gave no usable answer to CONFIG GET");
    server_stop(managed);
}

Test(command_doctor, no_server_is_told_with_69)
{
    outcome found = command_outcome("unix:///no/server/here", COMMAND("doctor"));
    cr_assert(found.status == 69, "%d", found.status);
    cr_assert(strstr(found.err, "/no/server/here"), "%s", found.err);
    outcome_free(&found);
}

/* In the trial of the fair lock, whose waiters stand in a queue that nothing else would ever remove. The last trial does
 * not begin: however late the signal comes, rlock has not ended without it. */
Test(command_doctor, leaves_nothing_when_a_signal_ends_it)
{
    proxy *between = proxy_start(stage.server);
    char url[256];
    snprintf(url, sizeof url, "unix://%s", proxy_socket(between));
    proxy_add(between, &(proxy_rule){.act = PROXY_HOLD_REQUEST, .text = "rlock:doctor:", .and_text = ":write"});
    for (int asked = 1; asked < 6; asked++) {
        int rule = proxy_add(between, &(proxy_rule){.act = PROXY_NOTE, .text = ":fair"});
        command *c = command_start(url, COMMAND("doctor"));
        cr_assert(proxy_await(between, rule, PROXY_SEEN, asked, 20000));
        command_signal(c, SIGINT);
        int status = command_wait(c, 20000);
        cr_assert(status == 128 + SIGINT, "%d: %s%s", status, command_err(c), command_out(c));
        assert_no_keys();
        proxy_release(between, rule);
        command_free(c);
    }
    proxy_stop(between);
}

/* While it is stopped its lease ends, and who waits in the trial takes the lock: not two owners at the same time. */
Test(command_doctor, does_not_blame_the_server_for_a_lease_that_ended_while_it_was_stopped, .lasts = 40)
{
    proxy *between = proxy_start(stage.server);
    char url[256];
    snprintf(url, sizeof url, "unix://%s", proxy_socket(between));
    int asked = proxy_add(between, &(proxy_rule){.act = PROXY_NOTE, .text = "SUBSCRIBE", .and_text = ":lock"});
    command *c = command_start(url, COMMAND("doctor", "order"));
    cr_assert(proxy_await(between, asked, PROXY_ANSWERED, 1, 20000));
    command_signal(c, SIGSTOP);
    for (bool held = true; held; pass_ms(100)) {
        redisReply *keys = server_command(stage.server, "KEYS order*:lock");
        held = keys->elements > 0;
        freeReplyObject(keys);
    }
    command_signal(c, SIGCONT);
    int status = command_wait(c, 20000);
    cr_assert(!strstr(command_out(c), "two owners held"), "%d: %s%s", status, command_out(c), command_err(c));
    command_free(c);
    proxy_stop(between);
}

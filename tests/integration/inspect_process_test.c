/* From an owner in the server to its process: by the names of connections. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(inspect_process, .init = stage_open, .fini = stage_close);

#define NAME "order"

static rlock_inspection *look(rlock_client *client)
{
    rlock_inspection *seen = NULL;
    assert_ok(rlock_inspect(client, NAME, &seen));
    assert_ok(rlock_inspect_processes(client, NAME, seen));
    return seen;
}

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

static rlock_client *client_over_tcp(const char *user, const char *query)
{
    char url[256];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://%s127.0.0.1:%d?%s", user, server_port(stage.server), query);
    assert_ok(rlock_client_open(&client, url));
    return client;
}

Test(inspect_process, of_the_holder_is_found)
{
    char host[256] = "";
    rlock_client *client = client_over_tcp("", "");
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    rlock_inspection *seen = look(stage.other);
    cr_assert(seen->holder_count == 1 && seen->process_count == 1);
    const rlock_process *process = rlock_inspection_process(seen, seen->holders[0].owner);
    gethostname(host, sizeof host - 1);
    cr_assert(process && process->pid == getpid(), "%lld", process ? (long long)process->pid : -1);
    cr_assert_str_eq(process->host, host);
    cr_assert_str_eq(process->client, rlock_client_id(client));
    cr_assert(strncmp(process->address, "127.0.0.1:", 10) == 0, "%s", process->address);
    rlock_inspection_free(seen);
    rlock_client_close(client);
}

/* Each of them once, however many connections it has. */
Test(inspect_process, of_each_reader_is_found_once)
{
    rlock_client *clients[] = {stage.client, stage.other};
    for (int i = 0; i < 2; i++) {
        rlock_read_write_lock *pair = rlock_get_read_write_lock(clients[i], NAME);
        assert_ok(rlock_lock(stage_keep(rlock_read_lock(pair))));
        rlock_read_write_lock_free(pair);
    }
    rlock_inspection *seen = look(stage.client);
    cr_assert(seen->holder_count == 2 && seen->process_count == 2, "%zu of %zu", seen->process_count, seen->holder_count);
    for (int i = 0; i < 2; i++) {
        const rlock_process *process = rlock_inspection_process(seen, seen->holders[i].owner);
        cr_assert(process && process->pid == getpid());
    }
    cr_assert(!rlock_inspection_process(seen, "another:1") && !rlock_inspection_process(NULL, "another:1"));
    rlock_inspection_free(seen);
}

static void assert_not_found(const char *query)
{
    rlock_client *client = client_over_tcp("", query);
    assert_ok(rlock_lock(lock_of(client, NAME)));
    rlock_inspection *seen = look(stage.other);
    cr_assert(seen->holder_count == 1 && seen->process_count == 0);
    rlock_inspection_free(seen);
    char *list = server_text(stage.server, "CLIENT LIST");
    cr_assert(!strstr(list, rlock_client_id(client)), "%s", list);
    free(list);
    assert_ok(rlock_unlock(lock_of(client, NAME)));
    rlock_client_close(client);
}

/* The program's own name goes before it, as in Redisson; an empty one is none. */
Test(inspect_process, with_a_client_name_is_not_found)
{
    assert_not_found("clientName=billing");
    assert_not_found("clientName=");
}

/* The rights of docs/security.md, without those to name a connection and to list all. */
Test(inspect_process, is_left_out_where_an_acl_forbids_it)
{
    say("ACL SETUSER plain on >secret ~* &* +@all -client|setname");
    say("ACL SETUSER blind on >secret ~* &* +@all -client|list");
    rlock_client *plain = client_over_tcp("plain:secret@", ""), *blind = client_over_tcp("blind:secret@", "");
    rlock *lock = lock_of(plain, NAME);
    assert_ok(rlock_lock(lock));
    rlock_inspection *seen = look(stage.other);
    cr_assert(seen->holder_count == 1 && seen->process_count == 0);
    assert_status(rlock_inspect_processes(blind, NAME, seen), RLOCK_SERVER);
    assert_error("CLIENT LIST", "client|list");
    cr_assert(seen->process_count == 0);
    rlock_inspection_free(seen);
    assert_ok(rlock_unlock(lock));
    rlock_client_close(plain);
    rlock_client_close(blind);
}

Test(inspect_process, of_bad_input_is_refused)
{
    rlock_inspection *seen = NULL;
    assert_ok(rlock_inspect(stage.client, NAME, &seen));
    assert_status(rlock_inspect_processes(NULL, NAME, seen), RLOCK_INVALID);
    assert_status(rlock_inspect_processes(stage.client, NULL, seen), RLOCK_INVALID);
    assert_status(rlock_inspect_processes(stage.client, NAME, NULL), RLOCK_INVALID);
    assert_error("inspection must not be NULL");
    rlock_inspection_free(seen);
}

/* The fixture's fleets and sentinels: what they say of masters is what other tests believe. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

TestSuite(sentinel_fixture);

/* A replica that stands still confirms nothing, and catches up when it goes on. */
Test(sentinel_fixture, frozen_replica_confirms_no_wait)
{
    int64_t since_ms = now_ms();
    fleet *own = fleet_start(2, NULL);
    cr_log_info("a master and 2 replicas were up after %lld ms", (long long)(now_ms() - since_ms));
    server *master = fleet_node(own, 0);
    freeReplyObject(server_command(master, "SET key 1"));
    cr_assert(server_integer(master, "WAIT 2 30000") == 2, "a replica does not count yet");
    server_freeze(fleet_node(own, 1));
    freeReplyObject(server_command(master, "SET key 2"));
    cr_assert(server_integer(master, "WAIT 2 100") == 1);
    server_thaw(fleet_node(own, 1));
    cr_assert(server_integer(master, "WAIT 2 10000") == 2);
    fleet_stop(own);
}

Test(sentinel_fixture, promoted_replica_is_the_others_master)
{
    fleet *own = fleet_start(2, (const char *const[]){"--requirepass", "secret", NULL});
    server_kill(fleet_node(own, 0));
    fleet_promote(own, 1);
    freeReplyObject(server_command(fleet_node(own, 1), "SET key 1"));
    cr_assert(server_integer(fleet_node(own, 1), "WAIT 1 10000") == 1);
    redisReply *reply = server_command(fleet_node(own, 2), "SET key 2");
    cr_assert(reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "READONLY", 8) == 0);
    freeReplyObject(reply);
    fleet_stop(own);
}

Test(sentinel_fixture, killed_master_is_replaced_and_comes_back_as_a_replica)
{
    int64_t since_ms = now_ms();
    sentinel *own = sentinel_start(NULL);
    cr_log_info("a master, 2 replicas, 3 sentinels were up after %lld ms", (long long)(now_ms() - since_ms));
    cr_assert(sentinel_master(own) == 0 && sentinel_size(own) == 3);
    freeReplyObject(server_command(sentinel_server(own, 0), "SET key 1"));
    cr_assert(server_integer(sentinel_server(own, 0), "WAIT 2 10000") == 2);
    since_ms = now_ms();
    server_kill(sentinel_server(own, 0));
    int next = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_log_info("replaced %lld ms after the kill", (long long)(now_ms() - since_ms));
    cr_assert(next == 1 || next == 2);
    cr_assert(server_integer(sentinel_server(own, next), "INCR key") == 2);
    sentinel_rejoin(own, 0);
    cr_assert(server_integer(sentinel_server(own, 0), "GET key") == 2);
    sentinel_stop(own);
}

/* What was frozen comes back believing that it is the master, and is put right. */
Test(sentinel_fixture, frozen_master_is_replaced_and_becomes_a_replica_once_thawed, .lasts = 8)
{
    sentinel *own = sentinel_start(NULL);
    int64_t since_ms = now_ms();
    server_freeze(sentinel_server(own, 0));
    int next = sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS);
    cr_log_info("replaced %lld ms after the freeze", (long long)(now_ms() - since_ms));
    cr_assert(next > 0);
    server_thaw(sentinel_server(own, 0));
    cr_assert(fleet_wait_in_step(sentinel_fleet(own), 0, 30000));
    sentinel_stop(own);
}

/* The sentinel ends all connections of a server whose role it changes; the ear listens again. */
Test(sentinel_fixture, forced_failover_swaps_master_and_replica_and_back)
{
    sentinel *own = sentinel_start(&(sentinel_plan){.replicas = 1, .sentinels = 1});
    server_listen(sentinel_server(own, 1));
    int64_t since_ms = now_ms();
    cr_assert(sentinel_fail_over(own) == 1);
    cr_log_info("failed over in %lld ms", (long long)(now_ms() - since_ms));
    for (int64_t end_ms = limit_end_ms(10000); server_integer(sentinel_server(own, 1), "PUBLISH news new") == 0; pass_ms(1))
        cr_assert(now_ms() < end_ms, "nobody listens");
    cr_assert(server_heard(sentinel_server(own, 1), "news", "new", 5000));
    cr_assert(sentinel_fail_over(own) == 0);
    sentinel_stop(own);
}

Test(sentinel_fixture, passwords_of_servers_and_of_sentinels_differ)
{
    sentinel *own = sentinel_start(&(sentinel_plan){
        .server_args = (const char *const[]){"--requirepass", "secret", NULL},
        .sentinel_args = (const char *const[]){"--requirepass", "other", NULL},
    });
    redisContext *context = redisConnect("127.0.0.1", server_port(sentinel_node(own, 0)));
    redisReply *reply = redisCommand(context, "SENTINEL MASTERS");
    cr_assert(reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOAUTH", 6) == 0);
    freeReplyObject(reply);
    redisFree(context);
    server_kill(sentinel_server(own, 0));
    cr_assert(sentinel_await_switch(own, 0, SENTINEL_FAILOVER_MS) > 0);
    sentinel_stop(own);
}

/* Sentinels and replicas come as a user of their own. */
Test(sentinel_fixture, sentinels_and_replicas_may_be_an_acl_user)
{
    sentinel *own = sentinel_start(&(sentinel_plan){
        .replicas = 1,
        .server_args = (const char *const[]){"--user", "watcher", "on", ">seen", "~*", "&*", "+@all", "--masteruser",
                                             "watcher", "--masterauth", "seen", NULL},
        .config = "sentinel auth-user " SENTINEL_MASTER " watcher\nsentinel auth-pass " SENTINEL_MASTER " seen\n",
    });
    char *users = server_text(sentinel_server(own, 0), "CLIENT LIST");
    cr_assert(strstr(users, "user=watcher") != NULL, "nobody came as watcher:\n%s", users);
    free(users);
    cr_assert(sentinel_fail_over(own) == 1);
    sentinel_stop(own);
}

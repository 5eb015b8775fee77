/* The fixture's cluster: what it says of nodes, slots and messages is what other tests believe. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cluster_fixture);

/* The error that a node answers with, "" if it is none; to be freed. */
static char *error_of(redisReply *reply)
{
    char *error = strdup(reply->type == REDIS_REPLY_ERROR ? reply->str : "");
    freeReplyObject(reply);
    return error;
}

static void assert_refused(redisReply *reply, const char *start)
{
    char *error = error_of(reply);
    cr_assert(*error && strncmp(error, start, strlen(start)) == 0, "answered \"%s\", expected %s", error, start);
    free(error);
}

Test(cluster_fixture, serves_each_slot_at_the_node_that_it_names)
{
    int64_t since_ms = now_ms();
    cluster *own = cluster_start(3, 1, NULL);
    cr_log_info("a cluster of 3 + 3 was up after %lld ms", (long long)(now_ms() - since_ms));
    cr_assert(cluster_size(own) == 6);
    static const char *const keys[] = {"order:1", "{order}:2", "a{}b", "", "x{y{z}}"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cr_assert(server_integer(cluster_node(own, 0), "CLUSTER KEYSLOT %s", keys[i]) == cluster_slot(keys[i]));
    for (int node = 0; node < 3; node++) {
        const char *key = cluster_key(own, node, "order:");
        cr_assert(cluster_serving(own, key) == node && cluster_replica_of(own, node) == 3 + node);
        freeReplyObject(server_command(cluster_at(own, key), "SET %s %d", key, node));
        cr_assert(server_integer(cluster_node(own, node), "GET %s", key) == node);
        assert_refused(server_command(cluster_node(own, (node + 1) % 3), "GET %s", key), "MOVED");
        cr_assert(strstr(cluster_url(own), "redis-cluster://127.0.0.1:") == cluster_url(own));
    }
    cluster_stop(own);
}

Test(cluster_fixture, replica_takes_over_from_a_killed_and_from_a_frozen_master, .lasts = 20)
{
    cluster *own = cluster_start(3, 1, NULL);
    const char *first = cluster_key(own, 0, "a"), *second = cluster_key(own, 1, "b");
    freeReplyObject(server_command(cluster_node(own, 0), "SET %s kept", first));
    cr_assert(server_integer(cluster_node(own, 0), "WAIT 1 10000") == 1);

    int64_t since_ms = now_ms();
    server_kill(cluster_node(own, 0));
    cr_assert(cluster_await_takeover(own, cluster_slot(first), 0, 30000) == 3);
    cr_log_info("taken over %lld ms after the kill", (long long)(now_ms() - since_ms));
    char *value = server_text(cluster_at(own, first), "GET %s", first);
    cr_assert_str_eq(value, "kept");
    free(value);

    since_ms = now_ms();
    server_freeze(cluster_node(own, 1));
    cr_assert(cluster_await_takeover(own, cluster_slot(second), 1, 30000) == 4);
    cr_log_info("taken over %lld ms after the freeze", (long long)(now_ms() - since_ms));
    server_thaw(cluster_node(own, 1));
    server_restart(cluster_node(own, 0));
    cr_assert(cluster_await_settled(own, 30000));
    cr_assert(cluster_serving(own, first) == 3 && cluster_serving(own, second) == 4);
    cr_assert(cluster_replica_of(own, 3) == 0 && cluster_replica_of(own, 4) == 1);
    cluster_stop(own);
}

/* A master steps down for its own replica alone: one that does not know it yet lets the order pass in silence. */
Test(cluster_fixture, every_node_knows_whose_replica_each_one_is)
{
    cluster *own = cluster_start(3, 1, NULL);
    char *ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = server_text(cluster_node(own, i), "CLUSTER MYID");
    for (int i = 0; i < 6; i++) {
        char *nodes = server_text(cluster_node(own, i), "CLUSTER NODES");
        for (int replica = 3; replica < 6; replica++) {
            char of[64] = "";
            const char *line = strstr(nodes, ids[replica]); /* nobody follows a replica: no other line names it */
            cr_assert(line && sscanf(line, "%*s %*s %*s %63s", of) == 1, "node %d does not know node %d", i, replica);
            cr_expect_str_eq(of, ids[replica - 3], "node %d does not know whose replica node %d is", i, replica);
        }
        free(nodes);
    }
    for (int i = 0; i < 6; i++)
        free(ids[i]);
    cluster_stop(own);
}

Test(cluster_fixture, promoted_replica_serves_and_the_old_master_follows_it)
{
    cluster *own = cluster_start(3, 1, NULL);
    const char *key = cluster_key(own, 2, "c");
    int64_t since_ms = now_ms();
    cluster_promote(own, 5);
    cr_log_info("promoted within %lld ms", (long long)(now_ms() - since_ms));
    cr_assert(cluster_serving(own, key) == 5 && cluster_replica_of(own, 5) == 2);
    cluster_stop(own);
}

/* Each step of a slot's way shows what clients are answered there. */
Test(cluster_fixture, slot_on_the_move_answers_ask_and_try_again_and_then_moved)
{
    cluster *own = cluster_start(3, 0, NULL);
    const char *tag = cluster_key(own, 0, "t");
    int slot = cluster_slot(tag);
    server *from = cluster_node(own, 0), *to = cluster_node(own, 1);
    freeReplyObject(server_command(from, "MSET {%s}1 a {%s}2 b {%s}3 c", tag, tag, tag));

    cluster_move_begin(own, slot, 1);
    char key[64];
    snprintf(key, sizeof key, "{%s}1", tag);
    cluster_move_key(own, key);
    assert_refused(server_command(from, "GET %s", key), "ASK");
    /* Redis before 7.0 has the other node say so. */
    assert_refused(server_command(from, "MGET {%s}1 {%s}2", tag, tag), server_knows(from, "SSUBSCRIBE") ? "TRYAGAIN" : "ASK");
    assert_refused(server_command(to, "GET %s", key), "MOVED");
    freeReplyObject(server_command(to, "ASKING"));
    char *value = server_text(to, "GET %s", key);
    cr_assert_str_eq(value, "a");
    free(value);

    cluster_move_keys(own, slot);
    cluster_move_end(own, slot);
    assert_refused(server_command(from, "GET %s", key), "MOVED");
    cr_assert(server_integer(to, "EXISTS {%s}1 {%s}2 {%s}3", tag, tag, tag) == 3);
    cr_assert(cluster_serving_slot(own, slot) == 1);
    cluster_move(own, slot, 2);
    cr_assert(server_integer(cluster_at(own, key), "EXISTS {%s}1 {%s}2 {%s}3", tag, tag, tag) == 3);
    cluster_stop(own);
}

Test(cluster_fixture, uncovered_slot_takes_the_cluster_down_only_where_all_are_required)
{
    cluster *strict = cluster_start(3, 0, NULL);
    const char *key = cluster_key(strict, 0, "k");
    cluster_uncover(strict, cluster_slot(key));
    cr_assert(cluster_serving(strict, key) == -1);
    const char *other = cluster_key(strict, 1, "o");
    assert_refused(server_command(cluster_node(strict, 1), "GET %s", other), "CLUSTERDOWN");
    cluster_cover(strict, cluster_slot(key), 0);
    freeReplyObject(server_command(cluster_at(strict, key), "GET %s", key));
    cluster_stop(strict);

    cluster *lax = cluster_start(3, 0, (const char *const[]){"--cluster-require-full-coverage", "no", NULL});
    key = cluster_key(lax, 0, "k");
    other = cluster_key(lax, 1, "o");
    cluster_uncover(lax, cluster_slot(key));
    assert_refused(server_command(cluster_node(lax, 0), "GET %s", key), "CLUSTERDOWN");
    cr_assert(server_text(cluster_node(lax, 1), "GET %s", other) == NULL);
    cluster_stop(lax);
}

Test(cluster_fixture, ear_hears_sharded_and_plain_messages_and_follows_when_asked_again)
{
    cluster *own = cluster_start(3, 0, NULL);
    const char *channel = cluster_key(own, 0, "channel");
    if (!server_knows(cluster_node(own, 0), "SSUBSCRIBE"))
        cr_skip_test("Redis before 7.0 has no messages of shards");
    cluster_listen(own, channel);
    cr_assert(cluster_wait_subscribers(own, channel, 1, 5000));
    cr_assert(server_integer(cluster_node(own, 0), "SPUBLISH %s sharded", channel) == 1);
    freeReplyObject(server_command(cluster_node(own, 2), "PUBLISH %s plain", channel));
    cr_assert(cluster_heard(own, channel, "sharded", 5000));
    cr_assert(cluster_heard(own, channel, "plain", 5000));
    cr_assert(!cluster_heard(own, channel, "shard", 0));
    cluster_move(own, cluster_slot(channel), 1);
    cluster_listen(own, channel);
    cr_assert(server_integer(cluster_node(own, 1), "SPUBLISH %s moved", channel) == 1);
    cr_assert(cluster_heard(own, channel, "moved", 5000));
    cluster_stop(own);
}

Test(cluster_fixture, nodes_with_a_password_replicate_and_hand_slots_over)
{
    cluster *own = cluster_start(2, 1, (const char *const[]){"--requirepass", "secret", NULL});
    const char *key = cluster_key(own, 0, "k");
    freeReplyObject(server_command(cluster_at(own, key), "SET %s v", key));
    cr_assert(server_integer(cluster_at(own, key), "WAIT 1 10000") == 1);
    cluster_move(own, cluster_slot(key), 1);
    cr_assert(server_integer(cluster_node(own, 1), "EXISTS %s", key) == 1);
    cluster_each(own, "ACL SETUSER worker on >word ~* +@all");
    for (int i = 0; i < cluster_size(own); i++)
        cr_assert(server_integer(cluster_node(own, i), "ACL DELUSER worker") == 1);
    cluster_stop(own);
}

/* The node that left knows nobody and serves nothing, until it founds a cluster of its own, or joins again. */
Test(cluster_fixture, node_leaves_founds_a_cluster_and_joins_another, .lasts = 17)
{
    cluster *own = cluster_start(3, 0, NULL);
    const char *key = cluster_key(own, 2, "order:");
    cluster_leave(own, 2, 0);
    cr_assert(cluster_serving(own, key) == 0);
    assert_refused(server_command(cluster_node(own, 2), "GET %s", key), "CLUSTERDOWN");
    assert_refused(server_command(cluster_node(own, 1), "GET %s", key), "MOVED");
    cluster_found(own, 2);
    freeReplyObject(server_command(cluster_node(own, 2), "SET %s other", key));
    cr_assert(server_integer(cluster_node(own, 2), "EXISTS %s", key) == 1);
    cr_assert(server_integer(cluster_node(own, 0), "EXISTS %s", key) == 0);
    cluster_stop(own);

    own = cluster_start(3, 0, NULL);
    key = cluster_key(own, 2, "order:");
    cluster_leave(own, 2, 0);
    cluster_join(own, 2);
    cluster_move(own, cluster_slot(key), 2);
    cr_assert(cluster_serving(own, key) == 2);
    cluster_stop(own);
}

/* Of a killed node's cluster the others make a new one, of which each serves a part. */
Test(cluster_fixture, nodes_make_a_new_cluster_with_new_names, .lasts = 8)
{
    cluster *own = cluster_start(3, 1, NULL);
    char *before = server_text(cluster_node(own, 0), "CLUSTER MYID");
    freeReplyObject(server_command(cluster_at(own, "order"), "SET order 1"));
    server_kill(cluster_node(own, 1));
    cluster_remake(own);
    char *after = server_text(cluster_node(own, 0), "CLUSTER MYID");
    cr_assert(strcmp(before, after) != 0);
    for (int node = 0; node < 6; node++) {
        if (node != 1)
            cr_assert(cluster_serving(own, cluster_key(own, node, "order:")) == node);
    }
    cr_assert(server_integer(cluster_at(own, "order"), "EXISTS order") == 0);
    free(before);
    free(after);
    cluster_stop(own);
}

/* rlock_examine: asks all masters about their version, settings and state. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/inspect.h>

#include "base/error.h"
#include "client/client.h"
#include "locks/inspect/servers.h"
#include "net/reply.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Compares the clocks. An instant that no clock would show is as good as none. */
static rlock_status read_clock(rlock_server *server, rli_node *node, rli_operation *op)
{
    redisReply *reply;
    int64_t before_us = wall_us(), s, us;
    rlock_status status = rli_servers_ask(node, op, (const char *const[]){"TIME", NULL}, &reply);
    if (status != RLOCK_OK)
        return status;
    int64_t error_us = (wall_us() - before_us) / 2;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && rli_reply_integer(reply->element[0], &s) &&
        rli_reply_integer(reply->element[1], &us) && s >= 0 && s < INT64_C(1) << 40 && us >= 0 && us < 1000000) {
        server->clock_ahead_ms = (s * 1000000 + us - before_us - error_us) / 1000;
        server->clock_error_ms = error_us / 1000 + 1;
    }
    freeReplyObject(reply);
    return RLOCK_OK;
}

/* The text of INFO; *info is NULL if the server refused it. */
static rlock_status read_info(char **info, rli_node *node, rli_operation *op)
{
    redisReply *reply;
    rlock_status status = rli_servers_ask(node, op, (const char *const[]){"INFO", NULL}, &reply);
    if (status != RLOCK_OK)
        return status;
    if (reply->type == REDIS_REPLY_STRING && !(*info = strdup(reply->str)))
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for the answer to INFO");
    freeReplyObject(reply);
    return status;
}

/* Writes one setting, if the server tells it. */
static rlock_status read_setting(FILE *out, const char *name, rli_node *node, rli_operation *op)
{
    redisReply *reply;
    rlock_status status = rli_servers_ask(node, op, (const char *const[]){"CONFIG", "GET", name, NULL}, &reply);
    if (status != RLOCK_OK)
        return status;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && reply->element[1]->type == REDIS_REPLY_STRING)
        fprintf(out, "%s:%s\n", name, reply->element[1]->str);
    freeReplyObject(reply);
    return RLOCK_OK;
}

static rlock_status read_settings(char **settings, rli_node *node, rli_operation *op)
{
    static const char *const names[] = {"maxmemory-policy",
                                        "save",
                                        "appendonly",
                                        "appendfsync",
                                        "min-replicas-to-write",
                                        "stop-writes-on-bgsave-error",
                                        "client-output-buffer-limit"};
    size_t length;
    FILE *out = open_memstream(settings, &length);
    rlock_status status = out ? RLOCK_OK : RLOCK_NO_MEMORY;
    for (size_t i = 0; status == RLOCK_OK && i < sizeof names / sizeof *names; i++)
        status = read_setting(out, names[i], node, op);
    bool failed = out && ferror(out);
    if (out && (fclose(out) != 0 || failed) && status == RLOCK_OK)
        status = RLOCK_NO_MEMORY;
    return status == RLOCK_NO_MEMORY ? rli_fail(RLOCK_NO_MEMORY, "out of memory for a server's settings") : status;
}

/* Writes where one sentinel says that the master is. One that does not answer is no failure. */
static void write_sentinel(FILE *out, rli_node *sentinel, const char *master_name, rli_operation *op)
{
    redisReply *reply;
    const char *const words[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name, NULL};
    fputs(sentinel->address.text, out);
    if (rli_servers_ask(sentinel, op, words, &reply) == RLOCK_OK) {
        if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && reply->element[0]->str &&
            reply->element[1]->str)
            fprintf(out, " %s %s", reply->element[0]->str, reply->element[1]->str);
        freeReplyObject(reply);
    }
    fputc('\n', out);
}

/* *sentinels stays NULL where there are none. */
static rlock_status read_sentinels(char **sentinels, rli_topology *topology, rli_operation *op)
{
    size_t length;
    if (topology->settings->mode != RLI_SENTINEL)
        return RLOCK_OK;
    FILE *out = open_memstream(sentinels, &length);
    for (rli_node *node = NULL; out && (node = rli_nodes_next_of_all(&topology->sentinels, node));) {
        if (rli_nodes_is_current(&topology->sentinels, node) && rli_topology_ref(topology, node)) {
            write_sentinel(out, node, topology->settings->master_name, op);
            rli_node_unref(node);
        }
    }
    bool failed = !out || ferror(out);
    if ((out && fclose(out) != 0) || failed)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for what the sentinels say");
    return RLOCK_OK;
}

static rlock_status examine(rli_node *node, const char *sentinels, rli_operation *op, rlock_server_fn *fn, void *arg)
{
    char *info = NULL, *settings = NULL;
    rlock_server server = {
        .size = sizeof server, .address = node->address.text, .clock_ahead_ms = RLOCK_NO_CLOCK, .sentinels = sentinels};
    rlock_status status = read_info(&info, node, op);
    if (status == RLOCK_OK)
        status = read_settings(&settings, node, op);
    if (status == RLOCK_OK)
        status = read_clock(&server, node, op);
    server.info = info;
    server.settings = settings;
    if (status == RLOCK_OK)
        fn(&server, arg);
    free(info);
    free(settings);
    return rli_gate_is_forked(op->gate) ? rli_gate_check(op->gate) : status;
}

rlock_status rlock_examine(rlock_client *client, rlock_server_fn *fn, void *arg)
{
    rlock_status status = rli_client_check(client);
    rli_operation op;
    rli_servers servers;
    char *sentinels = NULL;
    if (status == RLOCK_OK && !fn)
        status = rli_fail(RLOCK_INVALID, "the function for the servers must not be NULL");
    if (status == RLOCK_OK)
        status = rli_operation_begin(&op, &client->gate, NULL);
    if (status != RLOCK_OK)
        return status;
    status = rli_servers_list(&servers, &client->topology, &op);
    if (status == RLOCK_OK)
        status = read_sentinels(&sentinels, &client->topology, &op);
    for (size_t i = 0; status == RLOCK_OK && i < servers.count; i++)
        status = examine(servers.all[i], sentinels, &op, fn, arg);
    free(sentinels);
    rli_servers_clear(&servers);
    rli_operation_end(&op);
    return status;
}

/* Sentinels: they say which server is the master now, and publish it when another becomes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWITCHED "+switch-master"

/* A sentinel whose messages wake the topology's thread. */
typedef struct heard {
    struct heard *next;
    rli_node *sentinel;
    rli_channel *channel;
    rli_listener listener;
} heard;

/* What a sentinel says of the master. */
typedef struct saying {
    char host[256];
    int port;
    uint64_t epoch; /* raised by each failover: who knows a lower one has not heard of the last */
} saying;

static const char *field(const redisReply *fields, const char *name)
{
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        if (fields->element[i]->str && fields->element[i + 1]->str && strcmp(fields->element[i]->str, name) == 0)
            return fields->element[i + 1]->str;
    }
    return NULL;
}

/* A sentinel's words, when it will not say. */
static void refused(const rli_topology *topology, const rli_node *sentinel, const redisReply *reply)
{
    const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer that no sentinel gives";
    if (strstr(text, "No such master"))
        rli_fail(RLOCK_SERVER, "the sentinel at %s watches no master named \"%s\"; check masterName (it is the name "
                 "after \"sentinel monitor\" in its configuration)", sentinel->address.text, topology->settings->master_name);
    else if (strncmp(text, "NOAUTH", 6) == 0)
        rli_fail(RLOCK_SERVER, "the sentinel at %s wants a password: set sentinelPassword (%s)", sentinel->address.text, text);
    else if (strstr(text, "unknown command"))
        rli_fail(RLOCK_SERVER, "the server at %s is no sentinel: %.150s", sentinel->address.text, text);
    else
        rli_fail(RLOCK_SERVER, "the sentinel at %s refused: %.150s", sentinel->address.text, text);
}

static rlock_status ask(rli_topology *topology, rli_caller *caller, rli_node *sentinel, saying *said)
{
    redisReply *reply;
    rlock_status status = rli_topology_ask(topology, caller, sentinel, (const char *const[]){
        "SENTINEL", "MASTER", topology->settings->master_name, NULL}, &reply);
    if (status != RLOCK_OK)
        return status;
    bool told = reply->type == REDIS_REPLY_ARRAY;
    const char *host = told ? field(reply, "ip") : NULL, *port = told ? field(reply, "port") : NULL;
    const char *epoch = told ? field(reply, "config-epoch") : NULL;
    if (host && port) {
        snprintf(said->host, sizeof said->host, "%s", host);
        said->port = atoi(port);
        said->epoch = epoch ? strtoull(epoch, NULL, 10) : 0;
    } else {
        refused(topology, sentinel, reply);
    }
    freeReplyObject(reply);
    return host && port ? RLOCK_OK : RLOCK_SERVER;
}

/* Who is told of later need not be configured. */
static void meet_others(rli_topology *topology, rli_caller *caller, rli_node *sentinel)
{
    redisReply *reply;
    rli_topology_ask(topology, caller, sentinel, (const char *const[]){
        "SENTINEL", "SENTINELS", topology->settings->master_name, NULL}, &reply);
    for (size_t i = 0; reply && reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        const char *host = field(reply->element[i], "ip"), *port = field(reply->element[i], "port");
        if (host && *host && port)
            rli_topology_meet(topology, &topology->sentinels, host, strlen(host), atoi(port), &sentinel->address);
    }
    if (reply)
        freeReplyObject(reply);
}

static void listen_to(rli_topology *topology, rli_node *sentinel)
{
    heard *own = topology->heard;
    while (own && own->sentinel != sentinel)
        own = own->next;
    if (own || !(own = calloc(1, sizeof *own)))
        return;
    if (rli_subscriber_join(&sentinel->subscriber, SWITCHED, strlen(SWITCHED), &own->channel) != RLOCK_OK) {
        free(own);
        return;
    }
    own->sentinel = sentinel;
    own->next = topology->heard;
    topology->heard = own;
    rli_channel_listen(&sentinel->subscriber, own->channel, &own->listener, &topology->parker);
}

/* What a sentinel says is true when that server agrees: it may not know yet that it is the master. */
static rlock_status follow(rli_topology *topology, rli_caller *caller, const saying *said)
{
    rli_node *node = rli_topology_meet(topology, &topology->nodes, said->host, strlen(said->host), said->port, NULL);
    bool master = false;
    if (!node)
        return RLOCK_NO_MEMORY;
    rlock_status status = rli_topology_ask_role(topology, caller, node, &master);
    if (status != RLOCK_OK)
        return status;
    if (!master)
        return rli_fail(RLOCK_UNAVAILABLE, "the sentinels say that %s is the master, but it is a replica yet",
                        node->address.text);
    topology->epoch = said->epoch;
    rli_topology_serve(topology, 0, 0, node);
    return RLOCK_OK;
}

static rlock_status meet_configured(rli_topology *topology)
{
    const rli_settings *settings = topology->settings;
    for (size_t i = 0; i < settings->address_count; i++) {
        const rli_address *address = &settings->addresses[i];
        if (!rli_topology_meet(topology, &topology->sentinels, address->host, strlen(address->host), address->port,
                               address))
            return RLOCK_NO_MEMORY;
    }
    return RLOCK_OK;
}

static rlock_status look(rli_topology *topology, rli_caller *caller)
{
    saying newest = {.port = 0};
    int sentinels = 0, answered = 0;
    rlock_status status = atomic_load(&topology->sentinels) ? RLOCK_OK : meet_configured(topology);
    if (status != RLOCK_OK)
        return status;
    rlock_status trouble = RLOCK_UNAVAILABLE;
    for (rli_node *sentinel = atomic_load(&topology->sentinels); sentinel; sentinel = atomic_load(&sentinel->next)) {
        saying said;
        sentinels++;
        status = ask(topology, caller, sentinel, &said);
        if (status == RLOCK_SERVER)
            trouble = status;
        if (status != RLOCK_OK)
            continue;
        if (answered++ == 0)
            meet_others(topology, caller, sentinel);
        listen_to(topology, sentinel);
        if (newest.port == 0 || said.epoch > newest.epoch)
            newest = said;
        /* Somebody who knows more than all before is enough; so is anybody while nothing is wrong. */
        if (said.epoch > topology->epoch || (said.epoch == topology->epoch && !topology->troubled))
            break;
    }
    if (answered == 0) {
        char why[300];
        snprintf(why, sizeof why, "%.299s", rlock_last_error());
        return rli_fail(trouble, trouble == RLOCK_SERVER ? "%s" : "none of the sentinels answers: %s", why);
    }
    /* A few that know less than was known before are cut off from the others, or were all set up anew. */
    if (newest.epoch < topology->epoch && 2 * answered <= sentinels)
        return rli_fail(RLOCK_UNAVAILABLE, "the sentinels that answer have not heard of the last failover");
    return follow(topology, caller, &newest);
}

static bool has_heard(rli_topology *topology)
{
    bool any = false;
    for (heard *own = topology->heard; own; own = own->next)
        any |= rli_listener_take(&own->sentinel->subscriber, &own->listener);
    return any;
}

static void end(rli_topology *topology)
{
    for (heard *own = topology->heard, *next; own; own = next) {
        next = own->next;
        rli_channel_unlisten(&own->sentinel->subscriber, own->channel, &own->listener);
        rli_subscriber_leave(&own->sentinel->subscriber, own->channel);
        free(own);
    }
    topology->heard = NULL;
}

static int64_t interval_ms(const rli_settings *settings)
{
    return settings->scan_interval_ms;
}

const rli_scout rli_scout_sentinel = {.look = look, .interval_ms = interval_ms, .has_heard = has_heard, .end = end};

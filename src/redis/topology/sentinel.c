/* Sentinels: they say which server is the master now, and publish it when another becomes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "clock.h"
#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWITCHED "+switch-master"

/* A sentinel whose messages wake the topology's thread. All are listened to: one that is cut off, or that
 * waits for the last replica, has nothing to tell while the others have. */
typedef struct heard {
    struct heard *next;
    rli_node *sentinel;
    rli_channel *channel;
    rli_listener listener;
    int64_t mute_until_ms; /* it did not answer: until then it is asked only when nobody else does */
} heard;

#define MUTE_MS 5000

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
        rli_fail(RLOCK_SERVER, "the server at %s is no sentinel, as redis-sentinel:// wants (their port is mostly 26379): %.150s",
                 sentinel->address.text, text);
    else
        rli_fail(RLOCK_SERVER, "the sentinel at %s refused: %.150s", sentinel->address.text, text);
}

/* One question to a sentinel. RLOCK_OK: *reply, an array. */
static rlock_status question(rli_topology *topology, rli_caller *caller, rli_node *sentinel, const char *what,
                             redisReply **reply)
{
    rlock_status status = rli_topology_ask(topology, caller, sentinel, (const char *const[]){
        "SENTINEL", what, topology->settings->master_name, NULL}, reply);
    if (status != RLOCK_OK || (*reply)->type == REDIS_REPLY_ARRAY)
        return status;
    refused(topology, sentinel, *reply);
    freeReplyObject(*reply);
    return RLOCK_SERVER;
}

/* The epoch is in MASTER's answer. The address there is the former master's until every replica follows the
 * new one; GET-MASTER-ADDR-BY-NAME tells the new one as soon as it is a master. It is asked second: an
 * address newer than its epoch does no harm, an older one would seem to be the latest. */
static rlock_status ask(rli_topology *topology, rli_caller *caller, rli_node *sentinel, saying *said)
{
    redisReply *reply;
    rlock_status status = question(topology, caller, sentinel, "MASTER", &reply);
    if (status != RLOCK_OK)
        return status;
    const char *epoch = field(reply, "config-epoch");
    said->epoch = epoch ? strtoull(epoch, NULL, 10) : 0;
    freeReplyObject(reply);
    status = question(topology, caller, sentinel, "GET-MASTER-ADDR-BY-NAME", &reply);
    if (status != RLOCK_OK)
        return status;
    bool told = reply->elements == 2 && reply->element[0]->str && reply->element[1]->str;
    if (told) {
        snprintf(said->host, sizeof said->host, "%s", reply->element[0]->str);
        said->port = atoi(reply->element[1]->str);
    } else {
        refused(topology, sentinel, reply);
    }
    freeReplyObject(reply);
    return told ? RLOCK_OK : RLOCK_SERVER;
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

static heard *heard_of(const rli_topology *topology, const rli_node *sentinel)
{
    heard *own = topology->heard;
    while (own && own->sentinel != sentinel)
        own = own->next;
    return own;
}

static void listen_to(rli_topology *topology, rli_node *sentinel)
{
    heard *own = heard_of(topology, sentinel);
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
    if (status != RLOCK_OK) {
        char why[300];
        snprintf(why, sizeof why, "%.299s", rlock_last_error());
        return rli_fail(status, "%s; the sentinels name it as the master of \"%.60s\"", why,
                        topology->settings->master_name);
    }
    if (!master)
        return rli_fail(RLOCK_UNAVAILABLE, "the sentinels name %s as the master of \"%.60s\", but it says that it is a "
                        "replica: try again when their failover is over, or see SENTINEL MASTER and that server's "
                        "REPLICAOF", node->address.text, topology->settings->master_name);
    topology->epoch = said->epoch;
    rli_topology_serve(topology, 0, 0, node);
    return RLOCK_OK;
}

/* A machine that is gone costs a second each time: often that which the master was on. */
static bool is_mute(const rli_topology *topology, const rli_node *sentinel)
{
    const heard *own = heard_of(topology, sentinel);
    return own && own->mute_until_ms > rli_now_ms();
}

static void note_answer(rli_topology *topology, const rli_node *sentinel, rlock_status status)
{
    heard *own = heard_of(topology, sentinel);
    if (own)
        own->mute_until_ms = status == RLOCK_UNAVAILABLE ? rli_after_ms(MUTE_MS) : 0;
}

/* Asks one after the other until one knows enough; `mute`: those that are mute, else those that are not. How
 * many answered; *newest: what the one said that has heard of most failovers. None: *trouble is why, and `why`. */
static int ask_around(rli_topology *topology, rli_caller *caller, bool mute, saying *newest, rlock_status *trouble,
                      char why[300])
{
    int answered = 0;
    for (rli_node *sentinel = atomic_load(&topology->sentinels); sentinel; sentinel = atomic_load(&sentinel->next)) {
        saying said;
        if (is_mute(topology, sentinel) != mute)
            continue;
        rlock_status status = ask(topology, caller, sentinel, &said);
        note_answer(topology, sentinel, status);
        if (status != RLOCK_OK && *trouble == RLOCK_UNAVAILABLE) { /* what one says outweighs that another is silent */
            *trouble = status;
            snprintf(why, 300, "%.299s", rlock_last_error());
        }
        if (status != RLOCK_OK)
            continue;
        if (answered++ == 0)
            meet_others(topology, caller, sentinel);
        if (answered == 1 || said.epoch > newest->epoch)
            *newest = said;
        /* Somebody who knows more than all before is enough; so is anybody while nothing is wrong. */
        if (said.epoch > topology->epoch || (said.epoch == topology->epoch && !topology->troubled))
            break;
    }
    return answered;
}

static int count(const rli_topology *topology)
{
    int sentinels = 0;
    for (rli_node *sentinel = atomic_load(&topology->sentinels); sentinel; sentinel = atomic_load(&sentinel->next))
        sentinels++;
    return sentinels;
}

static rlock_status look(rli_topology *topology, rli_caller *caller)
{
    rlock_status status = atomic_load(&topology->sentinels) ? RLOCK_OK : rli_topology_meet_configured(topology, &topology->sentinels);
    if (status != RLOCK_OK)
        return status;
    saying newest;
    char why[300] = "";
    status = RLOCK_UNAVAILABLE;
    int answered = ask_around(topology, caller, false, &newest, &status, why);
    if (answered == 0)
        answered = ask_around(topology, caller, true, &newest, &status, why);
    if (answered == 0)
        return rli_fail(status, status == RLOCK_UNAVAILABLE ? "none of the sentinels answers: %s" : "%s", why);
    for (rli_node *sentinel = atomic_load(&topology->sentinels); sentinel; sentinel = atomic_load(&sentinel->next))
        listen_to(topology, sentinel);
    /* A few that know less than was known before are cut off from the others, or were all set up anew. */
    if (newest.epoch < topology->epoch && 2 * answered <= count(topology))
        return rli_fail(RLOCK_UNAVAILABLE, "the sentinels that answer have not heard of the last failover");
    return follow(topology, caller, &newest);
}

/* What one of them has published, the others may not know yet: all are asked then. So they are when one can
 * be heard (again), which may have been cut off until now. */
static bool has_heard(rli_topology *topology)
{
    bool any = false;
    for (heard *own = topology->heard; own; own = own->next)
        any |= rli_listener_take(&own->sentinel->subscriber, &own->listener);
    topology->troubled |= any;
    return any;
}

static void end(rli_topology *topology)
{
    for (heard *own = topology->heard, *next; own; own = next) {
        next = own->next;
        rli_channel_unlisten(&own->sentinel->subscriber, own->channel, &own->listener);
        rli_subscriber_leave(&own->sentinel->subscriber, own->channel, false);
        free(own);
    }
    topology->heard = NULL;
}

static int64_t interval_ms(const rli_settings *settings)
{
    return settings->scan_interval_ms;
}

const rli_scout rli_scout_sentinel = {.look = look, .interval_ms = interval_ms, .has_heard = has_heard, .end = end};

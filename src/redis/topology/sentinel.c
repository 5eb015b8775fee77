/* Discovery by sentinels: they know which server is the master now, and publish each change. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/topology/topology.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/host_port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWITCHED "+switch-master"

/* How many others a sentinel may name. Each is listened to, with a connection and a thread. */
#define SENTINELS_MOST 32
/* Within this time so many are met at most. For the confirmation of the subscription at each begins a round: a sentinel
 * that names others each time that it is asked would keep the rounds going, one after the other. */
#define MEETING_MS 5000

/* A sentinel whose messages wake the topology's thread. The discovery listens to all sentinels: one that is cut off,
 * or that waits for the last replica, publishes nothing while others do. */
typedef struct heard {
    struct heard *next;
    rli_node *sentinel;
    rli_channel *channel;
    rli_listener listener;
    bool spoke; /* since it was last asked */
} heard;

/* A sentinel's answer about the master. */
typedef struct saying {
    char host[RLI_SENTINEL_HOST];
    int port;
    uint64_t epoch; /* raised by each failover: a sentinel with a lower one does not know about the last failover */
    rli_node *by;   /* the sentinel */
} saying;

static const char *field(const redisReply *fields, const char *name)
{
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        if (fields->element[i]->str && fields->element[i + 1]->str && strcmp(fields->element[i]->str, name) == 0)
            return fields->element[i + 1]->str;
    }
    return NULL;
}

/* Sets the error message when a sentinel refuses to answer. */
static void refused(const rli_topology *topology, const rli_node *sentinel, const redisReply *reply)
{
    const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "an unexpected reply";
    if (strstr(text, "No such master"))
        rli_fail(RLOCK_SERVER,
                 "the sentinel at %s watches no master named \"%s\"; check masterName (it is the name "
                 "after \"sentinel monitor\" in its configuration)",
                 sentinel->address.text, topology->settings->master_name);
    else if (strncmp(text, "NOAUTH", 6) == 0)
        rli_fail(RLOCK_SERVER, "the sentinel at %s requires a password: set sentinelPassword (%s)",
                 sentinel->address.text, text);
    else if (strstr(text, "unknown command"))
        rli_fail(
            RLOCK_SERVER,
            "the server at %s is not a sentinel, but redis-sentinel:// needs sentinels (usually at port 26379): %.150s",
            sentinel->address.text, text);
    else
        rli_fail(RLOCK_SERVER, "the sentinel at %s refused: %.150s", sentinel->address.text, text);
}

/* Sends `SENTINEL what master_name`. RLOCK_OK: *reply is an array; the caller frees it. */
static rlock_status question(rli_topology *topology, rli_operation *op, rli_node *sentinel, const char *what,
                             redisReply **reply)
{
    rlock_status status = rli_topology_ask(
        topology, op, sentinel, (const char *const[]){"SENTINEL", what, topology->settings->master_name, NULL}, reply);
    if (status != RLOCK_OK || (*reply)->type == REDIS_REPLY_ARRAY)
        return status;
    refused(topology, sentinel, *reply);
    freeReplyObject(*reply);
    return RLOCK_SERVER;
}

static rlock_status ask_epoch(rli_topology *topology, rli_operation *op, rli_node *sentinel, uint64_t *epoch)
{
    redisReply *reply;
    rlock_status status = question(topology, op, sentinel, "MASTER", &reply);
    if (status != RLOCK_OK)
        return status;
    const char *text = field(reply, "config-epoch");
    *epoch = text ? strtoull(text, NULL, 10) : 0;
    freeReplyObject(reply);
    return RLOCK_OK;
}

static rlock_status ask_address(rli_topology *topology, rli_operation *op, rli_node *sentinel, saying *said)
{
    redisReply *reply;
    rlock_status status = question(topology, op, sentinel, "GET-MASTER-ADDR-BY-NAME", &reply);
    if (status != RLOCK_OK)
        return status;
    bool told = reply->elements == 2 && reply->element[0]->str && reply->element[1]->str;
    if (told) {
        snprintf(said->host, sizeof said->host, "%s", reply->element[0]->str);
        said->port = rli_port_read(reply->element[1]->str, strlen(reply->element[1]->str));
    } else {
        refused(topology, sentinel, reply);
    }
    freeReplyObject(reply);
    return told ? RLOCK_OK : RLOCK_SERVER;
}

/* Asks a sentinel for epoch and address of the master. The epoch comes from MASTER. The address there is the former
 * master's until all replicas follow the new one, whereas GET-MASTER-ADDR-BY-NAME gives the new address as soon as it
 * is the master. The epoch is asked for before and after it: an address that is newer than its epoch would be given up
 * for the former one, and one that is older would be believed. If a failover comes between, the sentinel is asked
 * again. */
static rlock_status ask(rli_topology *topology, rli_operation *op, rli_node *sentinel, saying *said)
{
    uint64_t before;
    rlock_status status = ask_epoch(topology, op, sentinel, &before);
    said->by = sentinel;
    for (int asked = 0; status == RLOCK_OK && asked < RLI_TOPOLOGY_ASKED_MOST; asked++) {
        status = ask_address(topology, op, sentinel, said);
        if (status == RLOCK_OK)
            status = ask_epoch(topology, op, sentinel, &said->epoch);
        if (status != RLOCK_OK || said->epoch == before)
            return status;
        before = said->epoch;
    }
    return status == RLOCK_OK ? rli_topology_keeps_changing(sentinel) : status;
}

static bool is_heard(const rli_topology *topology, const rli_node *sentinel)
{
    const heard *own = topology->heard;
    while (own && own->sentinel != sentinel)
        own = own->next;
    return own != NULL;
}

/* Whether a sentinel that another one names belongs in the list. */
static bool is_welcome(rli_topology *topology, const rli_node *sentinel)
{
    return rli_nodes_is_current(&topology->sentinels, sentinel) || is_heard(topology, sentinel) ||
           rli_allowance_take(&topology->meetings, SENTINELS_MOST, MEETING_MS);
}

/* Replaces the list of sentinels by this one and those that it knows. */
static void meet_others(rli_topology *topology, rli_operation *op, rli_node *sentinel)
{
    redisReply *reply;
    if (question(topology, op, sentinel, "SENTINELS", &reply) != RLOCK_OK)
        return;
    rli_topology_begin_naming(topology, &topology->sentinels);
    rli_topology_name(topology, &topology->sentinels, sentinel);
    for (size_t i = 0; i < reply->elements && i < SENTINELS_MOST; i++) {
        const redisReply *other = reply->element[i];
        const char *host = other->type == REDIS_REPLY_ARRAY ? field(other, "ip") : NULL;
        const char *port = host ? field(other, "port") : NULL;
        rli_node *node;
        if (port && *host &&
            rli_topology_meet(topology, &topology->sentinels, host, strlen(host), rli_port_read(port, strlen(port)),
                              &sentinel->address, &node) == RLOCK_OK &&
            is_welcome(topology, node))
            rli_topology_name(topology, &topology->sentinels, node);
    }
    freeReplyObject(reply);
}

static void listen_to(rli_topology *topology, rli_node *sentinel)
{
    heard *own = is_heard(topology, sentinel) ? NULL : calloc(1, sizeof *own);
    if (!own)
        return;
    if (rli_subscriber_join(&sentinel->subscriber, SWITCHED, strlen(SWITCHED), &own->channel) != RLOCK_OK) {
        free(own);
        return;
    }
    own->sentinel = sentinel;
    own->next = topology->heard;
    topology->heard = own;
    rli_channel_listen(&sentinel->subscriber, own->channel, &own->listener, &topology->parker, 0);
    rli_channel_end_waits(&sentinel->subscriber, &own->listener, topology->news);
}

/* Stops listening to one sentinel and removes it from the list. */
static void stop_listening(heard **own)
{
    heard *gone = *own;
    *own = gone->next;
    rli_channel_unlisten(&gone->sentinel->subscriber, gone->channel, &gone->listener);
    rli_subscriber_leave(&gone->sentinel->subscriber, gone->channel, RLI_LEAVE_AT_ONCE);
    free(gone);
}

/* Listens to all sentinels in the list, and to no others. */
static void listen_to_all(rli_topology *topology)
{
    for (heard **own = &topology->heard; *own;) {
        if (rli_nodes_is_current(&topology->sentinels, (*own)->sentinel))
            own = &(*own)->next;
        else
            stop_listening(own);
    }
    for (rli_node *sentinel = NULL; (sentinel = rli_nodes_next(&topology->sentinels, sentinel));) {
        if (rli_nodes_is_current(&topology->sentinels, sentinel))
            listen_to(topology, sentinel);
    }
}

static bool is_at(const saying *said, const char *host, int port)
{
    return said->port == port && strcmp(said->host, host) == 0;
}

/* Whether it names the master that was followed last. Also if none was. */
static bool names_present(const rli_topology *topology, const saying *said)
{
    return topology->master_port == 0 || is_at(said, topology->master_host, topology->master_port);
}

static rlock_status check_address(const rli_topology *topology, const saying *said)
{
    if (rli_nodes_may_be_at(said->host, strlen(said->host), said->port))
        return RLOCK_OK;
    char shown[RLI_NAME_SHOWN];
    return rli_fail(
        RLOCK_SERVER,
        "the sentinel at %s says that the master \"%.60s\" is at host \"%s\", port %d, which is no address; check "
        "SENTINEL MASTER there",
        said->by->address.text, topology->settings->master_name, rli_show_name(said->host, shown), said->port);
}

/* Believes a sentinel only if the server that it names confirms its role: that server may not know yet that it is the
 * master. */
static rlock_status follow(rli_topology *topology, rli_operation *op, const saying *said)
{
    rli_node *node;
    bool master = false;
    rlock_status status = check_address(topology, said);
    if (status == RLOCK_OK)
        status = rli_topology_meet(topology, &topology->nodes, said->host, strlen(said->host), said->port, NULL, &node);
    if (status != RLOCK_OK)
        return status;
    rli_topology_begin_naming(topology, &topology->nodes);
    rli_topology_name(topology, &topology->nodes, node);
    if (rli_topology_server_of(topology, 0) != node)
        rli_topology_ignore_news(op); /* they may be about this very master */
    status = rli_topology_ask_role(topology, op, node, &master);
    if (status != RLOCK_OK) {
        char why[300];
        snprintf(why, sizeof why, "%.299s", rlock_last_error());
        return rli_fail(status, "%s; the sentinels name it as the master of \"%.60s\"", why,
                        topology->settings->master_name);
    }
    if (!master)
        return rli_fail(RLOCK_UNAVAILABLE,
                        "the sentinels name %s as the master of \"%.60s\", but it says that it is a "
                        "replica: try again when their failover is over, or see SENTINEL MASTER and that server's "
                        "REPLICAOF",
                        node->address.text, topology->settings->master_name);
    topology->epoch = said->epoch;
    memcpy(topology->master_host, said->host, sizeof said->host);
    topology->master_port = said->port;
    rli_topology_set_server(topology, 0, 0, node);
    return RLOCK_OK;
}

/* How many addresses the sentinels may name in one round; others are not counted. */
#define ADDRESSES_MOST 8

/* The results of one round so far. */
typedef struct survey {
    /* The answers with the highest epoch: each address once, and how many sentinels named it. */
    saying said[ADDRESSES_MOST];
    int votes[ADDRESSES_MOST], addresses;
    int answered, known;  /* how many sentinels answered; how many are known */
    rlock_status trouble; /* status of a failed answer */
    char why[300];
} survey;

/* Whether one answer suffices: it has a higher epoch than was known before, or the same one and the same master while
 * nothing is wrong. */
static bool is_enough(const rli_topology *topology, const saying *said)
{
    return said->epoch > topology->epoch ||
           (said->epoch == topology->epoch && !topology->troubled && names_present(topology, said));
}

static void count(survey *found, const saying *said)
{
    int i = 0;
    if (found->addresses > 0 && said->epoch < found->said[0].epoch)
        return;
    if (found->addresses > 0 && said->epoch > found->said[0].epoch)
        found->addresses = 0;
    while (i < found->addresses && !is_at(said, found->said[i].host, found->said[i].port))
        i++;
    if (i == ADDRESSES_MOST)
        return;
    if (i == found->addresses) {
        found->said[i] = *said;
        found->votes[i] = 0;
        found->addresses++;
    }
    found->votes[i]++;
}

/* Returns what most of those say that know the last failover. They agree, unless somebody has set them up for different
 * masters. Among as many votes each, the present master wins: two that disagree must not lead the client to and fro. */
static const saying *elect(const rli_topology *topology, const survey *found)
{
    int best = 0;
    for (int i = 1; i < found->addresses; i++) {
        bool wins = found->votes[i] > found->votes[best] ||
                    (found->votes[i] == found->votes[best] && names_present(topology, &found->said[i]) &&
                     !names_present(topology, &found->said[best]));
        best = wins ? i : best;
    }
    return &found->said[best];
}

/* Asks one sentinel. True: its answer suffices. */
static bool ask_one(rli_topology *topology, rli_operation *op, rli_node *sentinel, survey *found)
{
    saying said;
    sentinel->look = topology->looks;
    rlock_status status = ask(topology, op, sentinel, &said);
    if (!rli_topology_ended_by_news(op))
        rli_topology_note_answer(sentinel, status);
    if (status != RLOCK_OK &&
        found->trouble == RLOCK_UNAVAILABLE) { /* a refusal tells more than another sentinel's silence */
        found->trouble = status;
        snprintf(found->why, sizeof found->why, "%.299s", rlock_last_error());
    }
    if (status != RLOCK_OK)
        return false;
    found->answered++;
    count(found, &said);
    return is_enough(topology, &said);
}

/* Asks the sentinels in turn until one answer suffices. `mute`: all that were not asked yet, else not those that did
 * not answer lately. */
static void ask_those(rli_topology *topology, rli_operation *op, bool mute, survey *found)
{
    for (rli_node *sentinel = NULL;
         !rli_topology_ended_by_news(op) && (sentinel = rli_nodes_next(&topology->sentinels, sentinel));) {
        if (rli_nodes_is_current(&topology->sentinels, sentinel) && (mute || !rli_topology_is_mute(sentinel)) &&
            sentinel->look != topology->looks && ask_one(topology, op, sentinel, found))
            return;
    }
}

/* Asks those that have just spoken, before another one, which may not answer any more. True: an answer suffices. */
static bool ask_speakers(rli_topology *topology, rli_operation *op, survey *found)
{
    bool enough = false;
    for (heard *own = topology->heard; own; own = own->next) {
        bool asks = own->spoke && !enough && rli_channel_is_confirmed(&own->sentinel->subscriber, own->channel);
        own->spoke = false;
        if (asks)
            enough = ask_one(topology, op, own->sentinel, found);
    }
    return enough;
}

static int count_known(const rli_topology *topology)
{
    int known = 0;
    for (const rli_node *sentinel = NULL; (sentinel = rli_nodes_next(&topology->sentinels, sentinel));)
        known += rli_nodes_is_current(&topology->sentinels, sentinel);
    return known;
}

/* Whether the sentinel reaches as many others as a failover needs; one that is cut off does not. */
static bool has_quorum(rli_topology *topology, rli_operation *op, rli_node *sentinel)
{
    redisReply *reply;
    rlock_status status = rli_topology_ask(
        topology, op, sentinel, (const char *const[]){"SENTINEL", "CKQUORUM", topology->settings->master_name, NULL},
        &reply);
    bool has = status == RLOCK_OK && reply->type == REDIS_REPLY_STATUS;
    if (reply)
        freeReplyObject(reply);
    return has;
}

/* The sentinels tell each other of a failover every two seconds, so for some time most of them may know of none. */
#define FORMER_MS 5000

/* Whether what was elected leads back to a former master, or without a failover to another one, and is not to be
 * believed: those that answered may be cut off from the others, or set up for another master. They are believed if the
 * sentinels were set up anew: either most of them say so, for a while if they do not know of the last failover, or no
 * former one has answered for long and the answer comes from a sentinel with a quorum. */
static bool is_doubtful(rli_topology *topology, rli_operation *op, const survey *found, const saying *elected)
{
    bool former = elected->epoch < topology->epoch;
    int votes = former ? found->answered : found->votes[elected - found->said];
    bool most = 2 * votes > found->known;
    if (elected->epoch > topology->epoch || (!former && (names_present(topology, elected) || most)))
        return false;
    bool for_long = rli_topology_disbelieved_for_long(topology);
    if (former && most)
        return !rli_topology_lasts(topology, &topology->former, FORMER_MS);
    return !for_long || !has_quorum(topology, op, elected->by);
}

static rlock_status doubt(const rli_topology *topology, const saying *elected)
{
    char shown[RLI_NAME_SHOWN];
    if (elected->epoch < topology->epoch)
        return rli_fail(RLOCK_UNAVAILABLE, "the sentinels that answer do not know of the last failover");
    return rli_fail(RLOCK_UNAVAILABLE,
                    "the sentinel at %s names another master of \"%.60s\" than was used so far, without a failover: "
                    "\"%s\", port %d; check that all sentinels monitor the same one",
                    elected->by->address.text, topology->settings->master_name, rli_show_name(elected->host, shown),
                    elected->port);
}

static rlock_status look(rli_topology *topology, rli_operation *op)
{
    bool first = !rli_nodes_next(&topology->sentinels, NULL);
    rlock_status status = first ? rli_topology_meet_all_configured(topology, &topology->sentinels) : RLOCK_OK;
    if (status != RLOCK_OK)
        return status;
    survey found = {.trouble = RLOCK_UNAVAILABLE, .known = count_known(topology)};
    rli_topology_heed_news(topology, op);
    if (!ask_speakers(topology, op, &found))
        ask_those(topology, op, false, &found);
    if (found.answered == 0)
        ask_those(topology, op, true, &found);
    if (found.answered == 0)
        return rli_fail(found.trouble, found.trouble == RLOCK_UNAVAILABLE ? "none of the sentinels answers: %s" : "%s",
                        found.why);
    const saying *elected = elect(topology, &found);
    if (is_doubtful(topology, op, &found, elected))
        return doubt(topology, elected);
    meet_others(topology, op, elected->by);
    listen_to_all(topology);
    return follow(topology, op, elected);
}

static bool take_all(rli_topology *topology)
{
    bool any = false;
    for (heard *own = topology->heard; own; own = own->next) {
        bool spoke = rli_listener_take(&own->sentinel->subscriber, &own->listener, NULL);
        own->spoke |= spoke;
        any |= spoke;
    }
    return any;
}

/* Whether a sentinel has published a switch, or has become reachable again after it may have been cut off. The other
 * sentinels may not know of the switch yet, so `troubled` makes the round ask all of them. */
static bool has_heard(rli_topology *topology)
{
    bool any = false;
    do {
        rli_cancel_rearm(topology->news);
        any |= take_all(topology);
    } while (rli_cancel_fired(topology->news)); /* by one that it has taken, or has not */
    topology->troubled |= any;
    return any;
}

static void end(rli_topology *topology)
{
    while (topology->heard)
        stop_listening(&topology->heard);
    rlock_cancel_free(topology->news);
}

static int64_t interval_ms(const rli_settings *settings)
{
    return settings->scan_interval_ms;
}

const rli_discovery rli_discovery_sentinel = {
    .look = look, .interval_ms = interval_ms, .has_heard = has_heard, .end = end};

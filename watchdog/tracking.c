/* Tracking: has each server report changes of the keys that are read on the background connection. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog/tracking.h"

#include "base/clock.h"
#include "base/error.h"
#include "net/reply.h"
#include "watchdog/clean_up.h"

#include <stdio.h>
#include <string.h>

/* The pause after a failure, which doubles up to the longest. */
#define PAUSE_MS         250
#define LONGEST_PAUSE_MS 10000
/* How long a refusal holds. A new connection for messages ends it, too. */
#define REFUSED_MS 300000

/* What a tend has found out of all servers. */
typedef struct tending {
    rli_watchdog *watchdog;
    bool on;              /* tracking is switched on */
    int64_t answer_by_ms; /* when to give up waiting for a server */
    rlock_tracking state; /* the worst of all servers */
    char why[200];
    int64_t retry_ms;
    bool reported; /* some server reported that all keys may have changed */
} tending;

static void note(tending *tend, rlock_tracking state)
{
    /* from better to worse */
    static const int rank[] = {[RLOCK_TRACKING_IDLE] = 0,
                               [RLOCK_TRACKING_ON] = 1,
                               [RLOCK_TRACKING_CONNECTING] = 2,
                               [RLOCK_TRACKING_REFUSED] = 3};
    if (rank[state] <= rank[tend->state])
        return;
    tend->state = state;
    if (state != RLOCK_TRACKING_ON)
        snprintf(tend->why, sizeof tend->why, "%.199s", rlock_last_error());
}

static void reread(rli_tracking *tracking, rli_reread which)
{
    if ((int)which > tracking->reread)
        tracking->reread = (int)which;
}

/* --- one command --- */

/* Sends a CLIENT TRACKING command. RLOCK_OK; RLOCK_SERVER: the server refused, for good; RLOCK_UNAVAILABLE: not now. */
static rlock_status command(const tending *tend, rli_node *node, const char *const words[], size_t count)
{
    rli_operation op;
    rli_answer answer = {0};
    size_t lengths[6];
    rlock_status status = rli_watchdog_begin(tend->watchdog, &op);
    if (status != RLOCK_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        lengths[i] = strlen(words[i]);
    op.deadline_ms = tend->answer_by_ms;
    rli_outcome outcome = rli_pipeline_call(&node->background, &op,
                                            &(rli_command){.count = count, .words = words, .lengths = lengths},
                                            node->background.settings->timeout_ms, &answer);
    rli_operation_end(&op);
    if (outcome != RLI_ANSWERED)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer CLIENT TRACKING", node->address.text);
    const redisReply *reply = answer.reply;
    if (reply->type == REDIS_REPLY_ERROR) {
        /* The connection for messages may have ended just now. */
        bool passes = rli_reply_action_of(reply) != RLI_REFUSED || strstr(reply->str, "does not exist");
        status = rli_fail(passes ? RLOCK_UNAVAILABLE : RLOCK_SERVER, "Redis at %s refused CLIENT TRACKING: %.120s",
                          node->address.text, reply->str);
    }
    freeReplyObject(answer.reply);
    return status;
}

static rlock_status switch_on(const tending *tend, rli_node *node, uint64_t id)
{
    char redirect[RLI_DECIMAL];
    rli_decimal((int64_t)id, redirect);
    const char *const words[] = {"CLIENT", "TRACKING", "ON", "REDIRECT", redirect, "NOLOOP"};
    return command(tend, node, words, sizeof words / sizeof *words);
}

static void switch_off(const tending *tend, rli_node *node)
{
    const char *const words[] = {"CLIENT", "TRACKING", "OFF"};
    uint64_t run_id;
    if (node->tracking.redirect && rli_pipeline_serial(&node->background, &run_id) == node->tracking.serial)
        (void)command(tend, node, words, sizeof words / sizeof *words);
}

/* --- one server --- */

static void fail(tending *tend, rli_tracking *tracking, rlock_status status)
{
    tracking->redirect = 0;
    tracking->refused = status == RLOCK_SERVER;
    tracking->pause_ms = tracking->pause_ms ? rli_earlier(tracking->pause_ms * 2, LONGEST_PAUSE_MS) : PAUSE_MS;
    tracking->retry_ms = rli_after_ms(tracking->refused ? REFUSED_MS : tracking->pause_ms);
    tend->retry_ms = rli_earlier(tend->retry_ms, tracking->retry_ms);
    note(tend, tracking->refused ? RLOCK_TRACKING_REFUSED : RLOCK_TRACKING_CONNECTING);
}

/* Ensures that there is a background connection. *serial and *run_id: as for rli_pipeline_serial. */
static rlock_status connect_to(const tending *tend, rli_node *node, uint64_t *serial, uint64_t *run_id)
{
    rlock_status status = RLOCK_OK;
    *serial = rli_pipeline_serial(&node->background, run_id);
    if (*serial)
        return RLOCK_OK;
    rli_operation op;
    status = rli_watchdog_begin(tend->watchdog, &op);
    if (status != RLOCK_OK)
        return status;
    op.deadline_ms = tend->answer_by_ms;
    status = rli_pipeline_connect(&node->background, &op);
    rli_operation_end(&op);
    *serial = rli_pipeline_serial(&node->background, run_id);
    return status != RLOCK_OK || *serial
               ? status
               : rli_fail(RLOCK_UNAVAILABLE, "Redis at %s ended the connection", node->address.text);
}

/* The server tracks what is read on that connection from now on. */
static void succeed(tending *tend, rli_node *node, uint64_t id, uint64_t serial)
{
    rli_tracking *tracking = &node->tracking;
    tracking->redirect = id;
    tracking->serial = serial;
    tracking->refused = false;
    tracking->retry_ms = tracking->pause_ms = 0;
    reread(tracking, RLI_REREAD_OLD);
    rli_shared_socket *socket = rli_pipeline_share(&node->background);
    if (socket) /* else it is watched already, or memory is short: then its end shows at the next renewal */
        rli_subscriber_watch(&node->subscriber, socket);
    note(tend, RLOCK_TRACKING_ON);
}

/* Has the server track, if it does not yet. */
static void begin(tending *tend, rli_node *node)
{
    rli_tracking *tracking = &node->tracking;
    uint64_t id, run_id, serial, own_run_id, serial_after;
    rlock_status status = rli_subscriber_track(&node->subscriber, &id, &run_id);
    if (status == RLOCK_OK && !id) { /* not connected yet; the subscriber says when it is */
        tracking->redirect = 0;
        rli_fail(RLOCK_UNAVAILABLE, "Redis at %s: connecting for invalidation messages", node->address.text);
        note(tend, RLOCK_TRACKING_CONNECTING);
        return;
    }
    if (status == RLOCK_OK)
        status = connect_to(tend, node, &serial, &own_run_id);
    if (status == RLOCK_OK && id == tracking->redirect && serial == tracking->serial) {
        note(tend, RLOCK_TRACKING_ON);
        return;
    }
    /* To another server, the number means another connection. */
    if (status == RLOCK_OK && run_id && own_run_id && run_id != own_run_id)
        status = rli_fail(RLOCK_UNAVAILABLE, "connections to Redis at %s lead to different servers",
                          node->address.text);
    if (status == RLOCK_OK)
        status = switch_on(tend, node, id);
    serial_after = rli_pipeline_serial(&node->background, &own_run_id);
    if (status == RLOCK_OK && serial_after != serial)
        status = rli_fail(RLOCK_UNAVAILABLE, "the connection to Redis at %s has ended", node->address.text);
    if (status == RLOCK_OK)
        succeed(tend, node, id, serial);
    else
        fail(tend, tracking, status);
}

static void end(const tending *tend, rli_node *node, bool there)
{
    if (there)
        switch_off(tend, node);
    rli_subscriber_untrack(&node->subscriber);
    node->tracking.redirect = node->tracking.serial = 0;
    node->tracking.refused = node->tracking.wanted = false;
    node->tracking.retry_ms = node->tracking.pause_ms = 0;
}

/* `there`: the node is in service and referenced. */
static void tend_node(tending *tend, rli_node *node, bool there)
{
    rli_tracking *tracking = &node->tracking;
    bool flushed = atomic_exchange(&node->subscriber.flushed, false);
    tend->reported |= flushed;
    if (flushed)
        reread(tracking, RLI_REREAD_OLD);
    if (atomic_exchange(&tracking->gained, false) && tend->watchdog->engine->settings->loss_tracking)
        reread(tracking, RLI_REREAD_ALL);
    if (!tracking->wanted)
        return;
    if (!tend->on || !there || !rli_topology_serves_anything(tend->watchdog->engine->topology, node)) {
        end(tend, node, there);
    } else if (rli_now_ms() < tracking->retry_ms && !tracking->refused) {
        tend->retry_ms = rli_earlier(tend->retry_ms, tracking->retry_ms);
        note(tend, RLOCK_TRACKING_CONNECTING);
    } else {
        begin(tend, node);
    }
}

/* --- all servers --- */

void rli_tracking_tend(rli_watchdog *watchdog)
{
    rli_engine *engine = watchdog->engine;
    rli_topology *topology = engine->topology;
    rli_watch *watch = &engine->watch;
    bool rereads = watch->overflowed || watch->rereads;
    tending tend = {.watchdog = watchdog,
                    .on = watch->on,
                    .answer_by_ms = rli_clean_up_answer_by(watchdog),
                    .state = RLOCK_TRACKING_IDLE,
                    .retry_ms = RLI_NEVER};
    watch->round.reports |= watch->overflowed;
    watch->changed = watch->overflowed = watch->rereads = false;
    rli_engine_unlock(engine);
    for (rli_node *node = NULL; (node = rli_nodes_next_of_all(&topology->nodes, node));) {
        bool there = rli_topology_ref(topology, node);
        if (rereads && there)
            reread(&node->tracking, RLI_REREAD_OLD);
        tend_node(&tend, node, there);
        if (there)
            rli_node_unref(node);
    }
    rli_engine_lock(engine);
    watch->retry_ms = tend.retry_ms;
    watch->round.reports |= tend.reported;
    if (!watch->on)
        return;
    watch->state = tend.state;
    memcpy(watch->why, tend.why, sizeof watch->why);
}

bool rli_tracking_want(rli_engine *engine, rli_node *node)
{
    if (!node || !engine->watch.on)
        return false;
    if (!node->tracking.wanted) {
        node->tracking.wanted = true;
        engine->watch.changed = true;
        rli_watch_expect(engine, rli_now_ms());
    }
    return node->tracking.redirect && node->tracking.serial;
}

void rli_tracking_check(rli_engine *engine, rli_node *node)
{
    uint64_t run_id;
    if (!node->tracking.redirect || rli_pipeline_serial(&node->background, &run_id) == node->tracking.serial)
        return;
    engine->watch.changed = true;
    rli_watch_expect(engine, rli_now_ms());
}

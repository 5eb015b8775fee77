/* Call: sends a script until it is answered or its attempts are used up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/call.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/random.h"
#include "redis/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- stages --- */

static const bool legal[RLI_CALL_STAGES][RLI_CALL_STAGES] = {
    [RLI_CALL_NEW] = {[RLI_CALL_BY_HASH] = true, [RLI_CALL_BY_TEXT] = true, [RLI_CALL_TRIED] = true},
    /* to RLI_CALL_BY_TEXT: the server does not know the script */
    [RLI_CALL_BY_HASH] = {[RLI_CALL_BY_TEXT] = true, [RLI_CALL_TRIED] = true},
    [RLI_CALL_BY_TEXT] = {[RLI_CALL_TRIED] = true},
    [RLI_CALL_TRIED] = {[RLI_CALL_BY_HASH] = true, /* another attempt, at once */
                        [RLI_CALL_BY_TEXT] = true,
                        [RLI_CALL_TRIED] = true, /* another attempt, which was not even sent */
                        [RLI_CALL_PAUSING] = true,
                        [RLI_CALL_ENDED] = true},
    [RLI_CALL_PAUSING] = {[RLI_CALL_BY_HASH] = true,
                          [RLI_CALL_BY_TEXT] = true,
                          [RLI_CALL_TRIED] = true,
                          [RLI_CALL_ENDED] = true}, /* cancelled, or closed */
};

static void become(rli_call_progress *run, rli_call_stage stage)
{
    rli_check(legal[run->stage][stage]);
    run->stage = stage;
}

/* --- one attempt --- */

/* The number of redirects that a call follows at once. Then it pauses, as after a failure. */
#define REDIRECTS 5

static rli_pipeline *pipeline_to(const rli_call *call, rli_call_progress *run)
{
    if (call->background)
        return &run->node->background;
    if (call->synced && atomic_load_explicit(&run->node->replicas, memory_order_relaxed) > 0)
        return &run->node->synced;
    return rli_route_to(run->route, run->node);
}

static rli_pubsub_mode pubsub_mode(const rli_call_progress *run)
{
    return atomic_load_explicit(&run->topology->pubsub_mode, memory_order_relaxed);
}

/* The attempt sends the script's text: its caller wants that, or the server does not know the script, because it has
 * not run there yet, the server has restarted, or SCRIPT FLUSH removed it. */
static void begin_text(rli_call *call, rli_call_progress *run)
{
    run->text = rli_script_text(call->script, pubsub_mode(run), &run->length);
    if (run->text) {
        become(run, RLI_CALL_BY_TEXT);
        return;
    }
    run->outcome = RLI_UNSENT;
    run->answer = (rli_answer){.status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a script")};
    become(run, RLI_CALL_TRIED);
}

static void begin_attempt(rli_call *call, rli_call_progress *run)
{
    run->began_ms = run->done == 0 ? call->sent_ms : rli_now_ms();
    run->pause.version = atomic_load(&run->topology->version);
    rli_node_unref(run->node);
    run->asking = run->redirected != NULL;
    run->node = run->asking ? run->redirected : rli_topology_ref_server(run->topology, run->slot);
    run->redirected = NULL;
    run->answer = (rli_answer){.status = RLOCK_UNAVAILABLE};
    run->outcome = RLI_UNSENT;
    if (!run->node) {
        rli_topology_fail_unserved(run->topology, run->slot, call->key);
        become(run, RLI_CALL_TRIED);
        return;
    }
    run->pipeline = pipeline_to(call, run);
    run->drops = atomic_load(&run->pipeline->drops);
    if (call->once)
        rli_pipeline_refresh(run->pipeline, 0);
    if (call->by_text)
        begin_text(call, run);
    else
        become(run, RLI_CALL_BY_HASH);
}

/* Has a thread connect the pipeline of a request that has none. */
static rli_outcome connect_for(rli_call_progress *run)
{
    rlock_status status = rli_connector_connect(&run->topology->connector, run->node, run->pipeline,
                                                run->request.connects, RLI_NEVER);
    if (status == RLOCK_OK)
        return RLI_UNDER_WAY;
    rli_async_request_withdraw(&run->request, run->pipeline, run->op);
    run->answer.status = status;
    return RLI_UNSENT;
}

static int64_t timeout_of(const rli_call_progress *run)
{
    return rli_operation_timeout_ms(run->op, run->topology->settings->timeout_ms);
}

/* Sends the request, or goes on with it. */
static rli_outcome send(rli_call *call, rli_call_progress *run)
{
    const char *sha1 = call->script->sha1[pubsub_mode(run)];
    if (run->stage == RLI_CALL_BY_TEXT)
        rli_call_name_script(call, "EVAL", run->text, run->length);
    else
        rli_call_name_script(call, "EVALSHA", sha1, sizeof call->script->sha1[0] - 1);
    int64_t timeout_ms = call->timeout_ms ? call->timeout_ms : timeout_of(run);
    const rli_command command = {.count = call->count,
                                 .words = call->words,
                                 .lengths = call->lengths,
                                 .asking = run->asking,
                                 .witness = call->witness,
                                 .impatient = !call->timeout_ms && timeout_ms < run->topology->settings->timeout_ms,
                                 .only_run_id = call->only_run_id};
    if (!rli_operation_is_async(run->op))
        return rli_pipeline_call(run->pipeline, run->op, &command, timeout_ms, &run->answer);
    rli_outcome outcome = rli_async_request_step(&run->request, run->pipeline, run->op, &command, timeout_ms,
                                                 &run->answer);
    bool connects = outcome == RLI_UNDER_WAY && run->request.stage == RLI_REQUEST_CONNECTING;
    return connects ? connect_for(run) : outcome;
}

/* Returns false when the operation must wait for the outcome. */
static bool attempt(rli_call *call, rli_call_progress *run)
{
    while (run->stage == RLI_CALL_BY_HASH || run->stage == RLI_CALL_BY_TEXT) {
        run->outcome = send(call, run);
        if (run->outcome == RLI_UNDER_WAY)
            return false;
        free(run->text);
        run->text = NULL;
        if (run->stage == RLI_CALL_BY_HASH && run->outcome == RLI_ANSWERED &&
            rli_reply_action_of(run->answer.reply) == RLI_LOAD) {
            freeReplyObject(run->answer.reply);
            run->answer = (rli_answer){.status = RLOCK_UNAVAILABLE};
            begin_text(call, run);
        } else {
            become(run, RLI_CALL_TRIED);
        }
    }
    return true;
}

/* --- results --- */

/* Notes whether the attempt was sent and not answered. */
static void note_unanswered(rli_call *call, rli_call_progress *run)
{
    if (run->outcome == RLI_ANSWERED || run->outcome == RLI_UNSENT || !run->answer.left)
        return;
    call->unanswered++;
    if (run->first_run_id == 0)
        run->first_run_id = call->run_id = run->answer.run_id;
    if (run->answer.run_id == 0 || run->answer.run_id != run->first_run_id)
        call->same_run = false;
}

static void take(rli_call *call, const rli_call_progress *run)
{
    call->reply = run->answer.reply;
    call->run_id = run->answer.run_id;
    if (call->learns)
        rli_node_note_script(run->node, call->script);
    call->same_run = call->same_run && (!call->unanswered || run->answer.run_id == run->first_run_id);
    call->unconfirmed = run->answer.synced == 0;
    /* check whether that many replicas still exist */
    if (run->answer.synced >= 0 && run->answer.synced < run->answer.asked)
        rli_topology_suspect(run->topology);
}

/* Whether another node can be asked at once. */
static bool redirect(rli_call_progress *run, rli_reply_action action)
{
    rli_host_port to;
    if (run->topology->slot_count == 1 || !rli_reply_redirect(run->answer.reply, &to))
        return false;
    bool followed = action == RLI_MOVED
                        ? rli_topology_follow_moved(run->topology, run->slot, run->node, to.host, to.length, to.port)
                        : rli_topology_follow_ask(run->topology, run->slot, run->node, to.host, to.length, to.port,
                                                  &run->redirected);
    return followed && ++run->redirects <= REDIRECTS;
}

static rlock_status say_where(const rli_call *call, const rli_call_progress *run)
{
    char shown[RLI_NAME_SHOWN], said[RLI_ERROR_TEXT];
    return rli_fail(RLOCK_SERVER,
                    "Redis at %s sent on what was asked for \"%s\" to where it was not answered either: %s; see "
                    "CLUSTER SLOTS at each of the nodes",
                    run->node->address.text, rli_show_name(call->key ? call->key : "", shown),
                    rli_reply_error_text(run->answer.reply, NULL, said));
}

/* Keeps the message for the case that a later attempt has no time left: it says more than that nothing was answered. */
static void note_refusal(rli_call_progress *run)
{
    free(run->refusal);
    run->refusal = strdup(rlock_last_error());
}

/* Judges an error that is not the script's own answer, and frees the reply. False: it is final, and *status says
 * why. */
static bool judge_error(rli_call *call, rli_call_progress *run, rlock_status *status, bool *at_once)
{
    rli_reply_action action = rli_reply_action_of(run->answer.reply);
    run->action = action;
    call->broke_off = call->broke_off || rli_reply_aborted_script(run->answer.reply);
    call->refusal = rli_refusal_of(run->answer.reply);
    *at_once = (action == RLI_MOVED || action == RLI_ASK) && redirect(run, action);
    bool redirected = (action == RLI_MOVED || action == RLI_ASK) && run->topology->slot_count > 1;
    *status = redirected ? say_where(call, run) : rli_reply_refusal(run->answer.reply, call->key ? call->key : "");
    freeReplyObject(run->answer.reply);
    if (action == RLI_MOVED || action == RLI_ASK)
        return redirected;
    if (action == RLI_LATER || action == RLI_DEMOTED)
        note_refusal(run);
    if (action == RLI_DEMOTED) /* the node's host name may lead to another server by now */
        rli_node_renew(run->node);
    return action == RLI_LATER || action == RLI_DEMOTED;
}

static int attempts_of(const rli_call *call, const rli_call_progress *run)
{
    const rlock_call_options *own = run->op->call_options;
    if (call->attempts)
        return call->attempts;
    return own && own->retry_attempts >= 0 ? (int)own->retry_attempts + 1 : run->topology->settings->retry_attempts + 1;
}

/* Whether another attempt may follow a failed one. */
static bool worth_another(const rli_call *call, const rli_call_progress *run)
{
    int attempts = attempts_of(call, run);
    if (run->outcome == RLI_ABANDONED || run->done >= attempts || rli_now_ms() >= rli_operation_attempts_until(run->op))
        return false;
    if (run->outcome == RLI_UNSENT)
        return run->answer.status == RLOCK_UNAVAILABLE;
    return run->outcome == RLI_ANSWERED || !call->once || !run->answer.left;
}

static rlock_status no_answer(const rli_call_progress *run, const char *why)
{
    const char *word = run->done == 1 ? "attempt" : "attempts", *address = run->node ? run->node->address.text : "";
    if (run->outcome == RLI_TIMED_OUT)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer within %lld ms (%d %s)", address,
                        (long long)timeout_of(run), run->done, word);
    if (run->outcome == RLI_DISCONNECTED && run->answer.garbled)
        return rli_fail(RLOCK_UNAVAILABLE,
                        "Redis at %s sent %s; check for a proxy between, or another program on that port (%d %s)",
                        address, run->answer.garbled, run->done, word);
    if (run->outcome == RLI_DISCONNECTED)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s closed the connection before it answered (%d %s)", address,
                        run->done, word);
    if (run->outcome == RLI_ABANDONED)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer in the time given (%d %s)", address, run->done,
                        word);
    return rli_fail(RLOCK_UNAVAILABLE, "%.380s (%d %s)", why, run->done, word);
}

static rlock_status unavailable(const rli_call_progress *run, const char *why)
{
    rlock_status status = no_answer(run, why);
    if (run->outcome == RLI_ANSWERED || !run->refusal)
        return status;
    char last[200];
    snprintf(last, sizeof last, "%.199s", rlock_last_error());
    return rli_fail(status, "%s; an earlier attempt was refused: %.280s", last, run->refusal);
}

static rlock_status failed(const rli_call *call, const rli_call_progress *run)
{
    if (run->outcome == RLI_UNSENT && run->answer.status != RLOCK_UNAVAILABLE)
        return run->answer.status;
    if (call->once && call->unanswered)
        return rli_fail(RLOCK_UNKNOWN,
                        "Redis at %s got the request, but its reply was lost; check the state before you repeat the "
                        "call",
                        run->node->address.text);
    /* A fired token also ends the wait for a connection, whose error then says only that there is none. */
    bool gave_up = run->outcome == RLI_ABANDONED || run->outcome == RLI_UNSENT;
    rlock_status ended = gave_up ? rli_operation_check(run->op) : RLOCK_OK;
    if (ended != RLOCK_OK)
        return ended;
    char why[400];
    snprintf(why, sizeof why, "%.399s", rlock_last_error());
    if (run->outcome == RLI_ANSWERED && run->action == RLI_DEMOTED) /* and no other master was found */
        return rli_fail_text(RLOCK_SERVER, why);
    return unavailable(run, why);
}

/* --- pauses between attempts --- */

/* Redisson's EqualJitterDelay: the delay doubles, half of it is fixed and half random, so that callers that failed
 * together do not retry together. */
static int64_t pause_ms(const rli_settings *settings, const rlock_call_options *own, int done)
{
    if (own && own->retry_interval_ms >= 0)
        return own->retry_interval_ms;
    int64_t delay = settings->retry_base_delay_ms;
    for (int i = 0; i < done && delay < settings->retry_max_delay_ms; i++)
        delay *= 2;
    if (delay > settings->retry_max_delay_ms)
        delay = settings->retry_max_delay_ms;
    return delay / 2 + rli_random_up_to(delay / 2);
}

rli_pause rli_pause_begin(const rli_topology *topology, const rli_operation *op, int done)
{
    int64_t until_ms = rli_after_ms(pause_ms(topology->settings, op->call_options, done - 1));
    return (rli_pause){.until_ms = rli_earlier(until_ms, rli_operation_attempts_until(op)),
                       .version = atomic_load(&topology->version)};
}

rlock_status rli_pause_wait(const rli_pause *pause, rli_topology *topology, rli_operation *op)
{
    unsigned version = pause->version;
    rlock_status status;
    do {
        if (!rli_topology_await_change(topology, op, version, pause->until_ms))
            return RLI_WAITING;
        version = atomic_load(&topology->version);
        status = rli_operation_check(op);
    } while (pause->whole && status == RLOCK_OK && rli_now_ms() < pause->until_ms);
    return status;
}

/* --- attempts until it is answered --- */

/* Whether the node was taken out of service after it was chosen, so that another one serves the slot. */
static bool is_gone(rli_call_progress *run)
{
    return run->outcome == RLI_UNSENT && run->node && !atomic_load(&run->node->in_service) &&
           ++run->redirects <= REDIRECTS;
}

static bool could_not_connect(const rli_call_progress *run)
{
    return run->outcome == RLI_UNSENT && run->node && run->answer.status == RLOCK_UNAVAILABLE;
}

/* Whether its connection was dropped while it was being made: another call has heard that the server is a replica. */
static bool was_dropped(const rli_call_progress *run)
{
    return could_not_connect(run) && atomic_load(&run->pipeline->drops) != run->drops;
}

/* If the connection of this name cannot be made, and another one to the same server is there, leads the name to that.
 * A server that has no room for more connections refuses them at once. */
static bool has_other_connection(const rli_call_progress *run)
{
    return could_not_connect(run) && run->pipeline == rli_route_to(run->route, run->node) &&
           rli_route_leave(run->route, run->node, run->pipeline);
}

/* Whether it connects anew, and most of the attempt's time is left for that. */
static bool connects_anew(rli_call_progress *run)
{
    return (was_dropped(run) || has_other_connection(run)) && rli_now_ms() - run->began_ms < timeout_of(run) / 2 &&
           ++run->redirects <= REDIRECTS;
}

/* A connection that broke once says nothing about the server: retry at once. */
static bool broke_once(const rli_call_progress *run)
{
    return run->outcome == RLI_DISCONNECTED && run->done == 1;
}

/* Whether the call ends before it would pause, because its server is down. Where no server is known, one may be found
 * in the meantime. */
static bool needs_no_pause(const rli_call_progress *run)
{
    return run->op->others_stand_in && run->node && run->outcome != RLI_ANSWERED && !broke_once(run);
}

/* Prepares for another attempt after a failed one. If the topology has changed since that began, there is no pause. */
static void begin_pause(rli_call_progress *run)
{
    if (broke_once(run))
        return;
    unsigned version = run->pause.version;
    bool in_a_circle = run->redirects > REDIRECTS;
    run->redirects = 0;
    run->pause = rli_pause_begin(run->topology, run->op, run->done);
    run->pause.version = version;
    run->pause.whole = in_a_circle; /* in which the topology changes with each redirect, to no avail */
    become(run, RLI_CALL_PAUSING);
}

/* Judges an attempt. Returns true when the call has ended, with its status. */
static bool judge(rli_call *call, rli_call_progress *run, rlock_status *status)
{
    bool at_once = false;
    /* An attempt that was refused or never sent has set no PTTL, so the time counts from a later one. */
    if (!call->unanswered && run->outcome != RLI_UNSENT)
        call->sent_ms = run->answer.sent_ms;
    *status = RLOCK_OK;
    if (run->outcome == RLI_ANSWERED && run->answer.reply->type != REDIS_REPLY_ERROR) {
        take(call, run);
        return true;
    }
    if (run->outcome == RLI_ANSWERED && !judge_error(call, run, status, &at_once))
        return true;
    note_unanswered(call, run);
    if (at_once || is_gone(run) || connects_anew(run))
        return false; /* this does not count as a failed attempt */
    if (run->outcome != RLI_ABANDONED)
        rli_topology_suspect(run->topology);
    if (call->failed_ms == RLI_NEVER)
        call->failed_ms = run->began_ms;
    run->done++;
    if (!worth_another(call, run) || needs_no_pause(run)) {
        *status = failed(call, run);
        return true;
    }
    begin_pause(run);
    return false;
}

/* Waits for the first search of a client that was opened lazily. False: call it again. */
static bool await_server(rli_call_progress *run)
{
    bool waits = run->op->turn.joined; /* since an earlier call */
    return (!waits && rli_topology_server_of(run->topology, run->slot)) ||
           rli_topology_await_look(run->topology, run->op, rli_operation_attempts_until(run->op));
}

/* Returns RLI_WAITING, or the status of the call. */
static rlock_status go(rli_call *call, rli_call_progress *run)
{
    if (run->stage == RLI_CALL_NEW && !await_server(run))
        return RLI_WAITING;
    for (;;) {
        rlock_status status = run->stage == RLI_CALL_PAUSING ? rli_pause_wait(&run->pause, run->topology, run->op)
                                                             : RLOCK_OK;
        if (status != RLOCK_OK)
            return status;
        if (run->stage != RLI_CALL_BY_HASH && run->stage != RLI_CALL_BY_TEXT)
            begin_attempt(call, run);
        if (!attempt(call, run))
            return RLI_WAITING;
        if (judge(call, run, &status))
            return status;
    }
}

rlock_status rli_call_run(rli_call *call, rli_topology *topology, rli_operation *op, rli_route *route)
{
    rli_call_progress *run = &call->progress;
    if (call->no_memory)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    if (run->stage == RLI_CALL_NEW) {
        call->sent_ms = rli_now_ms();
        run->op = op;
        run->topology = topology;
        run->route = route ? route : &run->any;
        run->slot = rli_topology_slot(topology, call->key, call->key_length);
    }
    rlock_status status = go(call, run);
    if (status == RLI_WAITING)
        return status;
    become(run, RLI_CALL_ENDED);
    free(run->refusal);
    rli_node_unref(run->node);
    rli_node_unref(run->redirected);
    return status;
}

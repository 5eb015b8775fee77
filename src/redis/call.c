/* A call: one script, sent until it is answered or its attempts are used up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/call.h"

#include "base/error.h"
#include "base/random.h"
#include "net/reply.h"
#include "redis/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- arguments --- */

static void start(rli_call *call)
{
    memset(call, 0, offsetof(rli_call, inline_words)); /* the rest is written before it is read */
    call->failed_ms = RLI_NEVER;
    call->same_run = true;
    call->words = call->inline_words;
    call->lengths = call->inline_lengths;
    call->capacity = RLI_CALL_INLINE + 2;
}

void rli_call_script(rli_call *call, const rli_script *script, int keys)
{
    start(call);
    call->script = script;
    call->count = 2; /* EVALSHA and the SHA1, or EVAL and the text */
    rli_call_add_number(call, keys);
}

static bool make_room(rli_call *call)
{
    size_t capacity = call->capacity * 2;
    const char **words = malloc(capacity * sizeof *words);
    size_t *lengths = malloc(capacity * sizeof *lengths);
    if (!words || !lengths) {
        free(words);
        free(lengths);
        return false;
    }
    memcpy(words, call->words, call->count * sizeof *words);
    memcpy(lengths, call->lengths, call->count * sizeof *lengths);
    if (call->words != call->inline_words) {
        free(call->words);
        free(call->lengths);
    }
    call->words = words;
    call->lengths = lengths;
    call->capacity = capacity;
    return true;
}

void rli_call_add(rli_call *call, const char *word, size_t length)
{
    if (call->count == call->capacity && !make_room(call)) {
        call->no_memory = true;
        return;
    }
    if (call->count == 3) {
        call->key = word;
        call->key_length = length;
    }
    call->words[call->count] = word;
    call->lengths[call->count++] = length;
}

void rli_call_add_text(rli_call *call, const char *text)
{
    rli_call_add(call, text, strlen(text));
}

void rli_call_add_number(rli_call *call, int64_t number)
{
    char *text = call->numbers[call->number_count++];
    size_t length = rli_decimal(number, text);
    rli_call_add(call, text, length);
}

void rli_call_clear(rli_call *call)
{
    if (call->words != call->inline_words) {
        free(call->words);
        free(call->lengths);
    }
    if (call->reply)
        freeReplyObject(call->reply);
    call->reply = NULL;
    rli_node_unref(call->node);
    call->node = NULL;
}

/* --- one attempt --- */

/* The number of redirects that a call follows at once. After that it pauses before each, as after a failure. */
#define REDIRECTS 5

/* A call under way: its latest attempt, and what is known of earlier ones. */
typedef struct call_state {
    rli_call *call;
    rli_operation *op;
    rli_topology *topology;
    rli_route *route;
    unsigned slot;
    rli_node *redirected; /* referenced; the node to send the next attempt to instead of the slot's owner; NULL: none */
    int redirects;
    uint64_t first_run; /* server run that got the first unanswered attempt; 0: none, or unknown */
    rli_node *node;     /* referenced; the node of the latest attempt; NULL: no node serves the slot */
    bool asking;        /* the latest attempt went to a node that an ASK redirect named */
    rli_outcome outcome;
    rli_answer answer;
    rli_reply_action advice; /* about the answer, if it is an error */
} call_state;

static rli_pipeline *pipeline_to(call_state *run, rli_node *node)
{
    if (run->call->background)
        return &node->background;
    if (run->call->synced && atomic_load_explicit(&node->replicas, memory_order_relaxed) > 0)
        return &node->synced;
    return rli_route_to(run->route, node);
}

static void name_script(rli_call *call, const char *word, const char *script, size_t length)
{
    call->words[0] = word;
    call->lengths[0] = strlen(word);
    call->words[1] = script;
    call->lengths[1] = length;
}

static void send_once(call_state *run, rli_pipeline *pipeline, const char *word, const char *script, size_t length)
{
    rli_call *call = run->call;
    name_script(call, word, script, length);
    int64_t timeout_ms = call->timeout_ms ? call->timeout_ms : pipeline->settings->timeout_ms;
    rli_command command = {.count = call->count,
                           .words = call->words,
                           .lengths = call->lengths,
                           .asking = run->asking,
                           .witness = call->witness};
    run->outcome = rli_pipeline_call(pipeline, run->op, &command, timeout_ms, &run->answer);
}

static void send_whole(call_state *run, rli_pipeline *pipeline, rli_pubsub_mode pubsub_mode)
{
    size_t length;
    char *text = rli_script_text(run->call->script, pubsub_mode, &length);
    if (text) {
        send_once(run, pipeline, "EVAL", text, length);
        free(text);
        return;
    }
    run->outcome = RLI_UNSENT;
    run->answer = (rli_answer){.status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a script")};
}

/* Sends the SHA1, then the text if the server does not know the script: it has not run there yet, or the server has
 * restarted, or SCRIPT FLUSH removed it. */
static void attempt(call_state *run)
{
    rli_node_unref(run->node);
    run->asking = run->redirected != NULL;
    run->node = run->asking ? run->redirected : rli_topology_ref_server(run->topology, run->slot);
    run->redirected = NULL;
    run->answer = (rli_answer){.status = RLOCK_UNAVAILABLE};
    run->outcome = RLI_UNSENT;
    if (!run->node) {
        char shown[RLI_NAME_SHOWN];
        rli_fail(RLOCK_UNAVAILABLE, "no node of the cluster serves slot %u, which \"%s\" belongs to; see CLUSTER SLOTS",
                 run->slot, rli_show_name(run->call->key, shown));
        return;
    }
    rli_pipeline *pipeline = pipeline_to(run, run->node);
    if (run->call->once)
        rli_pipeline_refresh(pipeline, 0);
    rli_pubsub_mode pubsub_mode = atomic_load_explicit(&run->topology->pubsub_mode, memory_order_relaxed);
    if (run->call->whole) {
        send_whole(run, pipeline, pubsub_mode);
        return;
    }
    const char *sha1 = run->call->script->sha1[pubsub_mode];
    send_once(run, pipeline, "EVALSHA", sha1, sizeof run->call->script->sha1[pubsub_mode] - 1);
    if (run->outcome == RLI_ANSWERED && rli_reply_action_of(run->answer.reply) == RLI_LOAD) {
        freeReplyObject(run->answer.reply);
        send_whole(run, pipeline, pubsub_mode);
    }
}

/* --- posting: sending without waiting for the answer --- */

rli_pipeline *rli_call_pipeline_to_post(rli_call *call, rli_topology *topology, rli_route *route)
{
    rli_node_unref(call->node);
    rli_node *node = rli_topology_ref_server(topology, rli_topology_slot(topology, call->key, call->key_length));
    call->node = node;
    if (call->no_memory || !node || atomic_load_explicit(&node->replicas, memory_order_relaxed) > 0 ||
        !rli_node_has_script(node, call->script))
        return NULL;
    return rli_route_to(route, node);
}

bool rli_call_post(rli_call *call, const rli_topology *topology, rli_pipeline *pipeline, struct rli_pending *slot,
                   uint64_t *run)
{
    rli_pubsub_mode pubsub_mode = atomic_load_explicit(&topology->pubsub_mode, memory_order_relaxed);
    name_script(call, "EVALSHA", call->script->sha1[pubsub_mode], sizeof call->script->sha1[0] - 1);
    const rli_command command = {.count = call->count, .words = call->words, .lengths = call->lengths};
    rli_pipeline_refresh(pipeline, RLI_PIPELINE_IDLE_MS);
    return rli_pipeline_post(pipeline, &command, slot, run);
}

/* --- results --- */

/* Notes that an attempt was sent and not answered. */
static void note_unanswered(call_state *run)
{
    rli_call *call = run->call;
    call->unanswered++;
    if (run->first_run == 0)
        run->first_run = call->run = run->answer.run;
    if (run->answer.run == 0 || run->answer.run != run->first_run)
        call->same_run = false;
}

static void take(call_state *run)
{
    rli_call *call = run->call;
    call->reply = run->answer.reply;
    call->run = run->answer.run;
    if (call->learns)
        rli_node_note_script(run->node, call->script);
    call->same_run = call->same_run && (!call->unanswered || run->answer.run == run->first_run);
    call->unconfirmed = run->answer.synced == 0;
    /* check whether that many replicas still exist */
    if (run->answer.synced >= 0 && run->answer.synced < run->answer.asked)
        rli_topology_suspect(run->topology);
}

/* Whether another node can be asked at once. */
static bool redirect(call_state *run, rli_reply_action advice)
{
    rli_host_port to;
    if (run->topology->slot_count == 1 || !rli_reply_redirect(run->answer.reply, &to))
        return false;
    bool followed = advice == RLI_MOVED
                        ? rli_topology_follow_moved(run->topology, run->slot, run->node, to.host, to.length, to.port)
                        : rli_topology_follow_ask(run->topology, run->slot, run->node, to.host, to.length, to.port,
                                                  &run->redirected);
    return followed && ++run->redirects <= REDIRECTS;
}

/* Judges an error that is not the script's own answer. False: it is final, and *status says why. */
static bool may_ask_again(call_state *run, rlock_status *status, bool *at_once)
{
    rli_reply_action advice = rli_reply_action_of(run->answer.reply);
    run->advice = advice;
    run->call->broke_off = run->call->broke_off || rli_reply_aborted_script(run->answer.reply);
    *at_once = (advice == RLI_MOVED || advice == RLI_ASK) && redirect(run, advice);
    *status = rli_reply_refusal(run->answer.reply, run->call->key ? run->call->key : "");
    freeReplyObject(run->answer.reply);
    if (advice == RLI_MOVED || advice == RLI_ASK)
        return run->topology->slot_count > 1;
    if (advice == RLI_DEMOTED) /* the node's host name may lead to another server by now */
        rli_node_renew(run->node);
    return advice == RLI_LATER || advice == RLI_DEMOTED;
}

/* Whether another attempt may follow a failed one. */
static bool worth_another(const call_state *run, int done, int attempts)
{
    if (run->outcome == RLI_ABANDONED || done >= attempts || rli_now_ms() >= rli_operation_attempts_until(run->op))
        return false;
    if (run->outcome == RLI_UNSENT)
        return run->answer.status == RLOCK_UNAVAILABLE;
    return run->outcome == RLI_ANSWERED || !run->call->once || !run->answer.left;
}

static rlock_status unavailable(const call_state *run, int done, const char *why)
{
    const char *word = done == 1 ? "attempt" : "attempts", *address = run->node ? run->node->address.text : "";
    if (run->outcome == RLI_TIMED_OUT)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer within %lld ms (%d %s)", address,
                        (long long)run->topology->settings->timeout_ms, done, word);
    if (run->outcome == RLI_DISCONNECTED && run->answer.garbled)
        return rli_fail(RLOCK_UNAVAILABLE,
                        "Redis at %s sent %s; is there a proxy between, or another program on that "
                        "port? (%d %s)",
                        address, run->answer.garbled, done, word);
    if (run->outcome == RLI_DISCONNECTED)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s closed the connection before it answered (%d %s)", address,
                        done, word);
    if (run->outcome == RLI_ABANDONED)
        return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s did not answer in the time given (%d %s)", address, done, word);
    return rli_fail(RLOCK_UNAVAILABLE, "%.380s (%d %s)", why, done, word);
}

static rlock_status failed(const call_state *run, int done)
{
    if (run->outcome == RLI_UNSENT && run->answer.status != RLOCK_UNAVAILABLE)
        return run->answer.status;
    if (run->call->once && run->call->unanswered)
        return rli_fail(RLOCK_UNKNOWN,
                        "Redis at %s got the request, but its answer was lost; check the state before you repeat it",
                        run->node->address.text);
    /* A token ends the making of a connection, too, which then says that there is none. */
    bool gave_up = run->outcome == RLI_ABANDONED || run->outcome == RLI_UNSENT;
    rlock_status ended = gave_up ? rli_operation_check(run->op) : RLOCK_OK;
    if (ended != RLOCK_OK)
        return ended;
    char why[400];
    snprintf(why, sizeof why, "%.399s", rlock_last_error());
    if (run->outcome == RLI_ANSWERED && run->advice == RLI_DEMOTED) /* and no other master was found */
        return rli_fail_text(RLOCK_SERVER, why);
    return unavailable(run, done, why);
}

/* --- attempts until it is answered --- */

/* Redisson's EqualJitterDelay: the delay doubles, half of it is fixed and half random, so that callers that failed
 * together do not retry together. */
static int64_t pause_ms(const rli_settings *settings, int done)
{
    int64_t delay = settings->retry_base_delay_ms;
    for (int i = 0; i < done && delay < settings->retry_max_delay_ms; i++)
        delay *= 2;
    if (delay > settings->retry_max_delay_ms)
        delay = settings->retry_max_delay_ms;
    return delay / 2 + rli_random_up_to(delay / 2);
}

/* Sleeps until the pause is over, or the topology changes. */
static rlock_status pause(rli_topology *topology, rli_operation *op, int done, unsigned version)
{
    int64_t until_ms = rli_earlier(rli_after_ms(pause_ms(topology->settings, done - 1)),
                                   rli_operation_attempts_until(op));
    rli_topology_await_change(topology, op, version, until_ms);
    return rli_operation_check(op);
}

/* Waits until another attempt makes sense. */
static rlock_status rest(call_state *run, int done, unsigned version)
{
    /* A connection that broke once says nothing about the server: retry at once. */
    if (run->outcome == RLI_DISCONNECTED && done == 1)
        return RLOCK_OK;
    return pause(run->topology, run->op, done, version);
}

rlock_status rli_call_rest(rli_topology *topology, rli_operation *op, int done)
{
    return pause(topology, op, done, atomic_load(&topology->version));
}

/* Whether the node was taken out of service after it was chosen, so that another one serves the slot. */
static bool is_gone(call_state *run)
{
    return run->outcome == RLI_UNSENT && run->node && !atomic_load(&run->node->in_service) &&
           ++run->redirects <= REDIRECTS;
}

/* What is to be done after an attempt. */
typedef enum next { DONE, AT_ONCE, AFTER_FAILURE } next;

/* Makes an attempt. DONE: *status is the result of the call. AT_ONCE: another attempt follows, and this one does not
 * count as failed. */
static next next_after_attempt(call_state *run, rlock_status *status)
{
    rli_call *call = run->call;
    bool at_once = false;
    *status = RLOCK_OK;
    attempt(run);
    /* An attempt that was refused or never sent has set no PTTL, so the time counts from a later one. */
    if (!call->unanswered && run->outcome != RLI_UNSENT)
        call->sent_ms = run->answer.sent_ms;
    if (run->outcome == RLI_ANSWERED && run->answer.reply->type != REDIS_REPLY_ERROR) {
        take(run);
        return DONE;
    }
    if (run->outcome == RLI_ANSWERED && !may_ask_again(run, status, &at_once))
        return DONE;
    if (run->outcome != RLI_ANSWERED && run->outcome != RLI_UNSENT && run->answer.left)
        note_unanswered(run);
    return at_once || is_gone(run) ? AT_ONCE : AFTER_FAILURE;
}

static rlock_status go(call_state *run)
{
    rli_call *call = run->call;
    int attempts = call->attempts ? call->attempts : run->topology->settings->retry_attempts + 1;
    for (int done = 1;; done++) {
        int64_t began_ms = done == 1 ? call->sent_ms : rli_now_ms();
        unsigned version = atomic_load(&run->topology->version);
        rlock_status status;
        next what = next_after_attempt(run, &status);
        if (what == DONE)
            return status;
        if (what == AT_ONCE) {
            done--;
            continue;
        }
        if (run->outcome != RLI_ABANDONED)
            rli_topology_suspect(run->topology);
        if (call->failed_ms == RLI_NEVER)
            call->failed_ms = began_ms;
        if (!worth_another(run, done, attempts))
            return failed(run, done);
        rlock_status ended = rest(run, done, version);
        if (ended != RLOCK_OK)
            return ended;
    }
}

rlock_status rli_call_run(rli_call *call, rli_topology *topology, rli_operation *op, rli_route *route)
{
    rli_route any = {NULL};
    call_state run = {.call = call, .op = op, .topology = topology, .route = route ? route : &any};
    call->sent_ms = rli_now_ms();
    if (call->no_memory)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
    run.slot = rli_topology_slot(run.topology, call->key, call->key_length);
    rlock_status status = go(&run);
    rli_node_unref(run.node);
    rli_node_unref(run.redirected);
    return status;
}

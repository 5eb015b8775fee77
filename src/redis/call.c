/* A call: one script, sent until it is answered or its attempts are used up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/call.h"

#include "base/error.h"
#include "redis/topology/topology.h"

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

void rli_call_name_script(rli_call *call, const char *command, const char *script, size_t length)
{
    call->words[0] = command;
    call->lengths[0] = strlen(command);
    call->words[1] = script;
    call->lengths[1] = length;
}

/* --- posting: sending without waiting for the answer --- */

rli_pipeline *rli_call_pipeline_to_post(rli_call *call, rli_topology *topology, rli_route *route)
{
    rli_node_unref(call->node);
    rli_node *node = rli_topology_ref_server_for(topology, call->key, call->key_length);
    call->node = node;
    if (call->no_memory || !node || atomic_load_explicit(&node->replicas, memory_order_relaxed) > 0 ||
        !rli_node_has_script(node, call->script))
        return NULL;
    return rli_route_to(route, node);
}

bool rli_call_post(rli_call *call, const rli_topology *topology, rli_pipeline *pipeline, struct rli_pending *slot,
                   uint64_t *run_id)
{
    rli_pubsub_mode pubsub_mode = atomic_load_explicit(&topology->pubsub_mode, memory_order_relaxed);
    rli_call_name_script(call, "EVALSHA", call->script->sha1[pubsub_mode], sizeof call->script->sha1[0] - 1);
    const rli_command command = {.count = call->count, .words = call->words, .lengths = call->lengths};
    rli_pipeline_refresh(pipeline, RLI_PIPELINE_IDLE_MS);
    return rli_pipeline_post(pipeline, &command, slot, run_id);
}

/* Fair lock, Redisson's RFairLock: a reentrant lock whose waiters queue on the server in FIFO order, each with a
 * channel of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"
#include "net/reply.h"

/* Starts a call with the keys that all fair scripts take. */
static void start(rli_call *call, const rli_script *script, const rli_names *names)
{
    rli_call_script(call, script, 4);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->keys[0], names->key_lengths[0]);
    rli_call_add(call, names->keys[1], names->key_lengths[1]);
    rli_call_add(call, names->channel, names->channel_length);
}

static void acquire(rli_call *call, const rli_request *request)
{
    start(call, &rli_script_fair_acquire, request->names);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_call_add_text(call, request->replaced);
    rli_call_add_number(call, request->wait_ms);
    rli_call_add_text(call, request->unheard);
    rli_call_add_number(call, request->place_ms);
    if (request->expects_offer)
        rli_call_add_text(call, "1");
}

static void release(rli_call *call, const rli_request *request)
{
    start(call, &rli_script_fair_release, request->names);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_text(call, request->unheard);
    rli_call_add_text(call, request->successor ? request->successor : "");
    rli_call_add_number(call, request->successor_lease_ms);
    rli_call_add_number(call, request->successor_place_ms);
    rli_call_add_text(call, request->calm ? request->calm : "");
}

static void give_up(rli_call *call, const rli_request *request)
{
    start(call, &rli_script_fair_give_up, request->names);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->place_ms);
    rli_call_add_number(call, request->returns_offer);
}

static void force(rli_call *call, const rli_names *names)
{
    start(call, &rli_script_fair_force, names);
    call->once = true;
}

/* Reads { number, unheard head or "" }. Returns false when the reply is not of that form. */
static bool read_head(const redisReply *reply, int64_t *number, const char **unheard)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || !rli_reply_integer(reply->element[0], number) ||
        reply->element[1]->type != REDIS_REPLY_STRING)
        return false;
    *unheard = reply->element[1]->len ? reply->element[1]->str : NULL;
    return true;
}

static rli_acquire_result parse_acquire(const redisReply *reply)
{
    rli_acquire_result verdict = {.grant = RLI_DENIED};
    if (reply->type != REDIS_REPLY_ARRAY)
        return rli_reentrant_parse_acquire(reply);
    verdict.free = true;
    if (!read_head(reply, &verdict.pttl_ms, &verdict.unheard))
        verdict.grant = RLI_GRANT_MALFORMED;
    return verdict;
}

static rli_release_outcome parse_release(const redisReply *reply, const char **unheard)
{
    int64_t freed = 0;
    *unheard = NULL;
    if (reply->type != REDIS_REPLY_ARRAY)
        return rli_reentrant_parse_release(reply, unheard);
    if (!read_head(reply, &freed, unheard))
        return RLI_RELEASE_MALFORMED;
    return freed ? RLI_RELEASED : RLI_NOT_HELD;
}

#define FAIR                                                                                                           \
    .naming = {.what = "lock",                                                                                         \
               .channel_prefix = RLI_LOCK_CHANNEL,                                                                     \
               .key_prefixes = {"redisson_lock_queue", "redisson_lock_timeout"}},                                      \
    .renew = &rli_script_lock_renew, .look = &rli_script_lock_look, .queueing = RLI_ON_SERVER, .acquire = acquire,     \
    .release = release, .force = force, .state = rli_reentrant_state, .give_up = give_up,                              \
    .parse_acquire = parse_acquire, .parse_release = parse_release, .parse_handoff = rli_reentrant_parse_handoff

const rli_kind rli_kind_fair = {.name = "fair", FAIR};
const rli_kind rli_kind_non_reentrant_fair = {.name = "fair", FAIR, .non_reentrant = true};

/* Reentrant lock, Redisson's RLock: a hash with one field, the hold count of its owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kind.h"
#include "net/reply.h"

void rli_reentrant_add_replaced(rli_call *call, const rli_request *request)
{
    rli_call_add_text(call, request->replaced);
    if ((*request->replaced || request->registered_ms) && request->names->channel)
        rli_call_add(call, request->names->channel, request->names->channel_length);
    if (request->registered_ms)
        rli_call_add_number(call, request->registered_ms);
    if (request->registered_ms && request->registers)
        rli_call_add_number(call, request->since_us);
}

void rli_start_acquire(rli_call *call, const rli_request *request, const rli_script *script)
{
    rli_call_script(call, script, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->lease_ms);
    rli_call_add_number(call, request->count);
    rli_reentrant_add_replaced(call, request);
}

void rli_reentrant_acquire(rli_call *call, const rli_request *request)
{
    rli_start_acquire(call, request, &rli_script_lock_acquire);
}

/* The answer of a handoff when the successor holds the lock. */
#define HANDED_OFF      2
#define SUCCESSOR_HOLDS 3       /* an earlier attempt handed it over */
#define OFFERED         4       /* to a waiter of another client */
#define LEFT_TO_OTHERS  5       /* freed for listeners of other libraries */
#define HEARD_MAX       1000000 /* caps the reported number of subscribers */

static void hand_over(rli_call *call, const rli_request *request)
{
    const rli_names *names = request->names;
    rli_call_script(call, &rli_script_lock_handoff, request->successor_counter ? 2 : 1);
    rli_call_add(call, names->name, names->length);
    if (request->successor_counter)
        rli_call_add(call, request->successor_counter, request->successor_counter_length);
    rli_call_add(call, names->channel, names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_text(call, request->successor);
    rli_call_add_number(call, request->successor_lease_ms);
    if (request->listening == RLI_COUNTS_NOBODY)
        rli_call_add_text(call, "");
    else
        rli_call_add_number(call, request->listening);
    if (request->successor_registered_ms)
        rli_call_add_number(call, request->successor_registered_ms);
    else
        rli_call_add_text(call, "");
    if (request->successor_registers)
        rli_call_add_number(call, request->successor_since_us);
    else
        rli_call_add_text(call, "");
}

void rli_start_release(rli_call *call, const rli_request *request, const rli_script *script)
{
    rli_call_script(call, script, 1);
    rli_call_add(call, request->names->name, request->names->length);
    rli_call_add(call, request->names->channel, request->names->channel_length);
    rli_call_add_text(call, request->owner);
    rli_call_add_number(call, request->count);
    rli_call_add_number(call, request->lease_ms);
    if (request->registered_ms)
        rli_call_add_number(call, request->registered_ms);
}

void rli_reentrant_give_up(rli_call *call, const rli_request *request)
{
    rli_request release = *request;
    release.count = 0;
    rli_start_release(call, &release, &rli_script_lock_release);
}

void rli_reentrant_release(rli_call *call, const rli_request *request)
{
    if (request->successor)
        hand_over(call, request);
    else
        rli_start_release(call, request, &rli_script_lock_release);
}

void rli_start_force(rli_call *call, const rli_names *names, const rli_script *script)
{
    rli_call_script(call, script, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add(call, names->channel, names->channel_length);
    call->once = true;
}

void rli_reentrant_force(rli_call *call, const rli_names *names)
{
    rli_start_force(call, names, &rli_script_lock_force);
}

void rli_start_state(rli_call *call, const rli_names *names, const char *owner, const rli_script *script)
{
    rli_call_script(call, script, 1);
    rli_call_add(call, names->name, names->length);
    rli_call_add_text(call, owner);
}

void rli_reentrant_state(rli_call *call, const rli_names *names, const char *owner)
{
    rli_start_state(call, names, owner, &rli_script_lock_state);
}

/* Reads { PTTL, registrants before it, foreign, since }. */
static rli_acquire_result parse_registered(const redisReply *reply)
{
    rli_acquire_result verdict = {.grant = RLI_DENIED, .registered = true};
    int64_t foreign = 0;
    if (!rli_reply_integer(reply->element[0], &verdict.pttl_ms) ||
        !rli_reply_integer(reply->element[1], &verdict.before) || !rli_reply_integer(reply->element[2], &foreign) ||
        !rli_reply_integer(reply->element[3], &verdict.since_us) || verdict.pttl_ms < -1 || verdict.before < 0 ||
        verdict.since_us <= 0)
        verdict.grant = RLI_GRANT_MALFORMED;
    verdict.foreign = foreign != 0;
    return verdict;
}

rli_acquire_result rli_reentrant_parse_acquire(const redisReply *reply)
{
    int64_t pttl_ms = 0;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 4)
        return parse_registered(reply);
    if (rli_reply_is_nil(reply))
        return (rli_acquire_result){.grant = RLI_GRANTED};
    if (!rli_reply_integer(reply, &pttl_ms) || pttl_ms < -3 || pttl_ms == -2)
        return (rli_acquire_result){.grant = RLI_GRANT_MALFORMED};
    if (pttl_ms == -3)
        return (rli_acquire_result){.grant = RLI_OUTER_LOST};
    return (rli_acquire_result){.grant = RLI_DENIED, .pttl_ms = pttl_ms};
}

/* Returns whether the reply is { answer, token }. */
static bool with_token(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
}

rli_release_outcome rli_reentrant_parse_release(const redisReply *reply, const char **unheard)
{
    int64_t how = 0;
    *unheard = NULL;
    if (rli_reply_is_nil(reply))
        return RLI_NOT_HELD;
    if (!rli_reply_integer(with_token(reply) ? reply->element[0] : reply, &how))
        return RLI_RELEASE_MALFORMED;
    return how == SUCCESSOR_HOLDS ? RLI_NOT_HELD : RLI_RELEASED;
}

rli_acquire_result rli_reentrant_parse_handoff(const redisReply *reply)
{
    int64_t how = HANDED_OFF + SUCCESSOR_HOLDS, token = 0;
    bool fenced = with_token(reply);
    if (!rli_reply_integer(fenced ? reply->element[0] : reply, &how) ||
        (fenced && (!rli_reply_integer(reply->element[1], &token) || token <= 0)))
        return (rli_acquire_result){.grant = RLI_DENIED};
    bool is_held = how == HANDED_OFF || how == SUCCESSOR_HOLDS;
    return (rli_acquire_result){.grant = is_held ? RLI_GRANTED : RLI_DENIED,
                                .token = (uint64_t)token,
                                .free = how <= 0 || how == LEFT_TO_OTHERS,
                                .registered = how == OFFERED || how == LEFT_TO_OTHERS,
                                .heard = how > 0            ? 0
                                         : how < -HEARD_MAX ? HEARD_MAX
                                                            : (int)-how};
}

const rli_kind rli_kind_reentrant = {
    .name = "lock",
    .naming = {.what = "lock", .channel_prefix = RLI_LOCK_CHANNEL},
    .renew = &rli_script_lock_renew,
    .look = &rli_script_lock_look,
    .registers = true,
    .acquire = rli_reentrant_acquire,
    .release = rli_reentrant_release,
    .force = rli_reentrant_force,
    .state = rli_reentrant_state,
    .give_up = rli_reentrant_give_up,
    .parse_acquire = rli_reentrant_parse_acquire,
    .parse_release = rli_reentrant_parse_release,
    .parse_handoff = rli_reentrant_parse_handoff,
};

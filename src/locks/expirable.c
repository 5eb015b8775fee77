/* Expirable: existence, time to live and name of a semaphore or latch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "client/client.h"
#include "config/call_options.h"
#include "locks/object_call.h"
#include "locks/permit_semaphore.h"
#include "net/reply.h"
#include "redis/topology/topology.h"

#include <rlock/async.h>
#include <rlock/object.h>
#include <stdlib.h>
#include <string.h>

#define WHAT         "semaphore or latch"
#define EPOCH_MAX_MS INT64_C(253402300799999) /* the end of the year 9999 */

static rlock_status check(const rlock_object *object)
{
    return rli_object_check(object, WHAT);
}

rlock_status rlock_object_set_call_options(rlock_object *object, const rlock_call_options *options)
{
    rlock_status status = check(object);
    return status == RLOCK_OK ? rli_call_options_read(&object->call_options, options, &object->client->settings, true)
                              : status;
}

/* --- asking --- */

static void put_name(rli_call *call, const rli_object_call *asked)
{
    rli_call_script(call, asked->script, 1);
    rli_call_add(call, asked->object->names.name, asked->object->names.length);
}

static rlock_status read_state(const rli_object_call *asked, const rli_call *call, int64_t *left_ms, int64_t *end_ms)
{
    const redisReply *reply = call->reply;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || !rli_reply_integer(reply->element[0], left_ms) ||
        !rli_reply_integer(reply->element[1], end_ms) || *left_ms < -2 || *end_ms < -2)
        return rli_reply_unexpected(reply, asked->object->names.name);
    return RLOCK_OK;
}

static rlock_status read_exists(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t left_ms, end_ms;
    rlock_status status = read_state(asked, call, &left_ms, &end_ms);
    if (status == RLOCK_OK)
        *answer = left_ms != -2;
    return status;
}

static rlock_status read_left(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t left_ms, end_ms;
    rlock_status status = read_state(asked, call, &left_ms, &end_ms);
    if (status == RLOCK_OK)
        *answer = left_ms;
    return status;
}

static rlock_status read_end(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t left_ms, end_ms;
    rlock_status status = read_state(asked, call, &left_ms, &end_ms);
    if (status == RLOCK_OK)
        *answer = end_ms;
    return status;
}

typedef rlock_status read_fn(const rli_object_call *asked, const rli_call *call, int64_t *answer);

static rli_object_call question(rlock_object *object, read_fn *read)
{
    return (rli_object_call){.object = object, .script = &rli_script_object_state, .put = put_name, .read = read};
}

static rlock_status ask(rlock_object *object, read_fn *read, const void *place, const char *what, int64_t *answer)
{
    rlock_status status = rli_object_check_place(object, WHAT, place, what);
    if (status != RLOCK_OK)
        return status;
    rli_object_call asked = question(object, read);
    return rli_object_call_run(&asked, answer);
}

static rlock_status ask_async(rlock_object *object, read_fn *read, rlock_result_fn *fn, void *arg)
{
    rlock_status status = check(object);
    if (status != RLOCK_OK)
        return status;
    rli_object_call asked = question(object, read);
    return rli_object_call_async(&asked, fn, arg);
}

rlock_status rlock_object_exists(rlock_object *object, bool *exists)
{
    int64_t answer;
    rlock_status status = ask(object, read_exists, exists, "whether it exists", &answer);
    if (status == RLOCK_OK)
        *exists = answer;
    return status;
}

rlock_status rlock_object_exists_async(rlock_object *object, rlock_result_fn *fn, void *arg)
{
    return ask_async(object, read_exists, fn, arg);
}

rlock_status rlock_object_remain_time_to_live(rlock_object *object, int64_t *ms)
{
    return ask(object, read_left, ms, "the time to live", ms);
}

rlock_status rlock_object_remain_time_to_live_async(rlock_object *object, rlock_result_fn *fn, void *arg)
{
    return ask_async(object, read_left, fn, arg);
}

rlock_status rlock_object_get_expire_time(rlock_object *object, int64_t *epoch_ms)
{
    return ask(object, read_end, epoch_ms, "the time of its end", epoch_ms);
}

rlock_status rlock_object_get_expire_time_async(rlock_object *object, rlock_result_fn *fn, void *arg)
{
    return ask_async(object, read_end, fn, arg);
}

/* --- time to live --- */

static void put_keys(rli_call *call, const rli_object_call *asked)
{
    const rli_names *names = &asked->object->names;
    rli_call_script(call, asked->script, names->keys[0] ? 2 : 1);
    rli_call_add(call, names->name, names->length);
    if (names->keys[0])
        rli_call_add(call, names->keys[0], names->key_lengths[0]);
}

static void put_expiry(rli_call *call, const rli_object_call *asked)
{
    const rli_object *object = asked->object;
    put_keys(call, asked);
    rli_object_put_numbers(call, asked);
    if (rli_object_opens(object))
        rli_call_add(call, object->names.channel, object->names.channel_length);
    else
        rli_call_add_text(call, "");
}

static rlock_status prepare_expiry(rli_object_call *asked, rlock_object *object, int64_t value, bool absolute,
                                   rlock_expire_when when)
{
    int64_t most = absolute ? EPOCH_MAX_MS : RLOCK_LEASE_MAX_MS;
    rlock_status status = check(object);
    if (status == RLOCK_OK && (value < 1 || value > most))
        status = rli_fail(RLOCK_INVALID, "%s of %lld ms; it must be from 1 to %lld",
                          absolute ? "an end" : "a time to live", (long long)value, (long long)most);
    if (status == RLOCK_OK && (when < RLOCK_EXPIRE_ALWAYS || when > RLOCK_EXPIRE_IF_LESS))
        status = rli_fail(RLOCK_INVALID, "%d is no rlock_expire_when", (int)when);
    if (status != RLOCK_OK)
        return status;
    *asked = (rli_object_call){.object = object,
                               .script = &rli_script_object_expire,
                               .put = put_expiry,
                               .read = rli_object_read_flag,
                               .once = true,
                               .numbers = {value, absolute, (int64_t)when},
                               .number_count = 3};
    return RLOCK_OK;
}

rlock_status rlock_object_expire(rlock_object *object, int64_t ttl_ms, rlock_expire_when when, bool *set)
{
    rli_object_call asked;
    rlock_status status = prepare_expiry(&asked, object, ttl_ms, false, when);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, set) : status;
}

rlock_status rlock_object_expire_async(rlock_object *object, int64_t ttl_ms, rlock_expire_when when,
                                       rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_expiry(&asked, object, ttl_ms, false, when);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_object_expire_at(rlock_object *object, int64_t epoch_ms, rlock_expire_when when, bool *set)
{
    rli_object_call asked;
    rlock_status status = prepare_expiry(&asked, object, epoch_ms, true, when);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, set) : status;
}

rlock_status rlock_object_expire_at_async(rlock_object *object, int64_t epoch_ms, rlock_expire_when when,
                                          rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_expiry(&asked, object, epoch_ms, true, when);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

static rlock_status prepare_clear(rli_object_call *asked, rlock_object *object)
{
    rlock_status status = check(object);
    if (status == RLOCK_OK)
        *asked = (rli_object_call){.object = object,
                                   .script = &rli_script_object_clear_expire,
                                   .put = put_keys,
                                   .read = rli_object_read_flag,
                                   .once = true};
    return status;
}

rlock_status rlock_object_clear_expire(rlock_object *object, bool *cleared)
{
    rli_object_call asked;
    rlock_status status = prepare_clear(&asked, object);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, cleared) : status;
}

rlock_status rlock_object_clear_expire_async(rlock_object *object, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_clear(&asked, object);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

/* --- name --- */

/* asked->ids has the new names, each with its end: of the counter, of the permits ("": none) and of the channel. */
static void put_rename(rli_call *call, const rli_object_call *asked)
{
    const rli_names *old = &asked->object->names;
    const char *name = asked->ids, *permits = name + strlen(name) + 1, *channel = permits + strlen(permits) + 1;
    rli_call_script(call, asked->script, *permits ? 4 : 2);
    rli_call_add(call, old->name, old->length);
    rli_call_add_text(call, name);
    if (*permits) {
        rli_call_add(call, old->keys[0], old->key_lengths[0]);
        rli_call_add_text(call, permits);
    }
    rli_object_put_numbers(call, asked);
    rli_call_add_text(call, channel);
    rli_call_add_text(call, rli_object_opens(asked->object) ? old->channel : "");
}

static rlock_status read_renamed(const rli_object_call *asked, const rli_call *call, int64_t *answer)
{
    int64_t said;
    char shown[RLI_NAME_SHOWN];
    rlock_status status = rli_object_read_number(asked, call, &said);
    if (status == RLOCK_OK && said < 0)
        return rli_fail(RLOCK_INVALID, "%s \"%s\" does not exist, so it cannot be renamed", asked->object->what,
                        rli_show_name(asked->object->names.name, shown));
    if (status == RLOCK_OK)
        *answer = said == 1;
    return status;
}

/* One text of all new names. NULL: out of memory. */
static char *joined(const rli_names *names)
{
    char *all = malloc(names->length + names->key_lengths[0] + names->channel_length + 3), *at = all;
    if (!all)
        return NULL;
    memcpy(at, names->name, names->length + 1);
    at += names->length + 1;
    memcpy(at, names->keys[0] ? names->keys[0] : "", names->key_lengths[0] + 1);
    at += names->key_lengths[0] + 1;
    memcpy(at, names->channel, names->channel_length + 1);
    return all;
}

/* In a cluster one script can use both names only if they are in one slot. And it can publish to a sharded channel only
 * in that slot; a latch's channel has braces around the whole name. */
static rlock_status check_slots(const rlock_object *object, const rli_names *names)
{
    rli_topology *topology = &object->client->topology;
    char shown[RLI_NAME_SHOWN];
    bool sharded = atomic_load(&topology->pubsub_mode) == RLI_SHARDED;
    unsigned slot = rli_topology_slot(topology, names->name, names->length);
    if (object->client->settings.mode != RLI_CLUSTER ||
        (slot == rli_topology_slot(topology, object->names.name, object->names.length) &&
         (!sharded || slot == rli_topology_slot(topology, names->channel, names->channel_length))))
        return RLOCK_OK;
    return rli_fail(RLOCK_INVALID,
                    "%s \"%s\" cannot get a name that is in another slot of the cluster: put the same part of both "
                    "names between { and }, as in a{b}c",
                    object->what, rli_show_name(object->names.name, shown));
}

static rlock_status prepare_rename(rli_object_call *asked, rlock_object *object, const char *name, bool only_absent)
{
    rli_names names;
    rlock_status status = check(object);
    if (status == RLOCK_OK)
        status = rli_names_make(&names, &object->client->settings, name, object->naming);
    if (status != RLOCK_OK)
        return status;
    status = check_slots(object, &names);
    char *ids = status == RLOCK_OK ? joined(&names) : NULL;
    if (status == RLOCK_OK && !ids)
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a name of %zu bytes", names.length);
    rli_names_free(&names);
    *asked = (rli_object_call){.object = object,
                               .script = &rli_script_object_rename,
                               .put = put_rename,
                               .read = read_renamed,
                               .once = true,
                               .numbers = {only_absent},
                               .number_count = 1,
                               .ids = ids};
    return status;
}

rlock_status rlock_object_rename(rlock_object *object, const char *name)
{
    rli_object_call asked;
    rlock_status status = prepare_rename(&asked, object, name, false);
    return status == RLOCK_OK ? rli_object_call_run(&asked, NULL) : status;
}

rlock_status rlock_object_rename_async(rlock_object *object, const char *name, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_rename(&asked, object, name, false);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

rlock_status rlock_object_rename_if_absent(rlock_object *object, const char *name, bool *renamed)
{
    rli_object_call asked;
    rlock_status status = prepare_rename(&asked, object, name, true);
    return status == RLOCK_OK ? rli_object_call_run_flag(&asked, renamed) : status;
}

rlock_status rlock_object_rename_if_absent_async(rlock_object *object, const char *name, rlock_result_fn *fn, void *arg)
{
    rli_object_call asked;
    rlock_status status = prepare_rename(&asked, object, name, true);
    return status == RLOCK_OK ? rli_object_call_async(&asked, fn, arg) : status;
}

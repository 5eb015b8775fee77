/* Commands of sorted sets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/zranges.h"

#include <math.h>

static const entry *member_of(const sim_value *zset, text member)
{
    return zset ? table_find(&zset->zset.scores, member) : NULL;
}

/* --- ZADD --- */

typedef struct add_options {
    bool only_new, only_old, greater, less, changed, increases;
    bool keeps_sign; /* of zero */
    int first; /* word of the first score */
} add_options;

static bool read_add_options(sim_call *call, add_options *options)
{
    *options = (add_options){.first = 2, .keeps_sign = call->server->settings.version < SIM_REDIS_7_0};
    for (; options->first < call->count; options->first++) {
        text word = call->words[options->first];
        if (text_is_word(word, "nx"))
            options->only_new = true;
        else if (text_is_word(word, "xx"))
            options->only_old = true;
        else if (text_is_word(word, "gt"))
            options->greater = true;
        else if (text_is_word(word, "lt"))
            options->less = true;
        else if (text_is_word(word, "ch"))
            options->changed = true;
        else if (text_is_word(word, "incr"))
            options->increases = true;
        else
            break;
    }
    int words = call->count - options->first;
    if (words % 2 || !words)
        say_syntax_error(call);
    else if (options->only_new && options->only_old)
        say_error(call, "ERR XX and NX options at the same time are not compatible");
    else if ((options->greater && options->less) || (options->only_new && (options->greater || options->less)))
        say_error(call, "ERR GT, LT, and/or NX options at the same time are not compatible");
    else if (options->increases && words > 2)
        say_error(call, "ERR INCR option supports a single increment-element pair");
    else
        return true;
    return false;
}

typedef enum add_outcome { ADDED_NOT, ADDED_SAME, ADDED_CHANGED, ADDED_NEW, ADDED_NO_NUMBER } add_outcome;

static add_outcome add_member(sim_value *zset, const add_options *options, text member, double *score)
{
    const entry *old = member_of(zset, member);
    if (!old) {
        if (options->only_old)
            return ADDED_NOT;
        zset_set(zset, member, options->keeps_sign ? *score : *score + 0.0);
        return ADDED_NEW;
    }
    if (options->only_new)
        return ADDED_NOT;
    if (options->increases)
        *score += old->score;
    if (isnan(*score))
        return ADDED_NO_NUMBER;
    if ((options->less && *score >= old->score) || (options->greater && *score <= old->score))
        return ADDED_NOT;
    if (*score == old->score)
        return ADDED_SAME;
    zset_set(zset, member, options->keeps_sign ? *score : *score + 0.0);
    return ADDED_CHANGED;
}

static void add_all(sim_call *call, const add_options *options)
{
    sim_value *zset;
    double score = 0;
    int64_t counts[ADDED_NO_NUMBER + 1] = {0};
    for (int i = options->first; i < call->count; i += 2) {
        if (!word_score(call, i, &score))
            return;
    }
    if (!key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    if (!zset && !options->only_old)
        zset = key_make(call, call->words[1], VALUE_ZSET);
    for (int i = options->first; zset && i < call->count; i += 2) {
        text_number(call->words[i], &score);
        add_outcome added = add_member(zset, options, call->words[i + 1], &score);
        counts[added]++;
        if (added == ADDED_NO_NUMBER) {
            say_error(call, "ERR resulting score is not a number (NaN)");
            return;
        }
    }
    if (counts[ADDED_NEW] + counts[ADDED_CHANGED])
        key_changed(call, call->words[1]);
    if (!options->increases)
        say_integer(call, counts[ADDED_NEW] + (options->changed ? counts[ADDED_CHANGED] : 0));
    else if (counts[ADDED_NEW] + counts[ADDED_CHANGED] + counts[ADDED_SAME])
        say_score(call, score);
    else
        say_nil(call);
}

static void run_zadd(sim_call *call)
{
    add_options options;
    if (read_add_options(call, &options))
        add_all(call, &options);
}

static void run_zincrby(sim_call *call)
{
    add_all(call, &(add_options){.increases = true, .first = 2,
                                 .keeps_sign = call->server->settings.version < SIM_REDIS_7_0});
}

/* --- looking and removing --- */

static void run_zrem(sim_call *call)
{
    sim_value *zset;
    int64_t removed = 0;
    if (!key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    for (int i = 2; zset && i < call->count; i++)
        removed += zset_remove(zset, call->words[i]);
    if (removed) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], zset);
    }
    say_integer(call, removed);
}

static void say_score_of(sim_call *call, const sim_value *zset, text member)
{
    const entry *found = member_of(zset, member);
    if (found)
        say_score(call, found->score);
    else
        say_nil(call);
}

static void run_zscore(sim_call *call)
{
    sim_value *zset;
    if (key_of(call, call->words[1], VALUE_ZSET, &zset))
        say_score_of(call, zset, call->words[2]);
}

static void run_zmscore(sim_call *call)
{
    sim_value *zset;
    if (!key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    say_array(call, (size_t)call->count - 2);
    for (int i = 2; i < call->count; i++)
        say_score_of(call, zset, call->words[i]);
}

static void run_zcard(sim_call *call)
{
    sim_value *zset;
    if (key_of(call, call->words[1], VALUE_ZSET, &zset))
        say_integer(call, zset ? (int64_t)zset->zset.scores.count : 0);
}

static void run_zcount(sim_call *call)
{
    sim_value *zset;
    zbounds bounds;
    if (!zbounds_read(call, 2, 3, &bounds) || !key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    zspan span = zspan_in(zset, &bounds);
    say_integer(call, (int64_t)(span.end - span.first));
}

static void say_rank(sim_call *call, bool backwards)
{
    sim_value *zset;
    if (!key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    const entry *found = member_of(zset, call->words[2]);
    size_t rank = found ? zset_rank(zset, found) : 0;
    if (found)
        say_integer(call, (int64_t)(backwards ? zset->zset.scores.count - 1 - rank : rank));
    else
        say_nil(call);
}

static void run_zrank(sim_call *call)
{
    say_rank(call, false);
}

static void run_zrevrank(sim_call *call)
{
    say_rank(call, true);
}

static void remove_span(sim_call *call, sim_value *zset, zspan span)
{
    size_t removed = span.end - span.first;
    for (size_t i = 0; i < removed; i++)
        zset_remove(zset, entry_name(zset->zset.order[span.first]));
    if (removed) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], zset);
    }
    say_integer(call, (int64_t)removed);
}

static void run_zremrangebyrank(sim_call *call)
{
    sim_value *zset;
    int64_t from, to;
    if (word_integer(call, 2, &from) && word_integer(call, 3, &to) && key_of(call, call->words[1], VALUE_ZSET, &zset))
        remove_span(call, zset, zspan_by_rank(zset, from, to));
}

static void run_zremrangebyscore(sim_call *call)
{
    sim_value *zset;
    zbounds bounds;
    if (zbounds_read(call, 2, 3, &bounds) && key_of(call, call->words[1], VALUE_ZSET, &zset))
        remove_span(call, zset, zspan_in(zset, &bounds));
}

static void pop(sim_call *call, bool highest)
{
    sim_value *zset;
    int64_t count = 1;
    if (call->count > 3) {
        say_syntax_error(call);
        return;
    }
    bool old = call->server->settings.version < SIM_REDIS_7_0;
    if (old && call->count == 3 && !word_integer(call, 2, &count))
        return;
    count = old && count < 0 ? 0 : count;
    if (old && !count) {
        say_array(call, 0);
        return;
    }
    if (!old && call->count == 3 && (!text_integer(call->words[2], &count) || count < 0)) {
        say_error(call, "ERR value is out of range, must be positive");
        return;
    }
    if (!key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    int64_t size = zset ? (int64_t)zset->zset.scores.count : 0;
    count = count < size ? count : size;
    say_array(call, (size_t)count * 2);
    for (int64_t i = 0; i < count; i++) {
        const entry *member = zset->zset.order[highest ? zset->zset.scores.count - 1 : 0];
        say_text(call, entry_name(member));
        say_score(call, member->score);
        zset_remove(zset, entry_name(member));
    }
    if (count) {
        key_changed(call, call->words[1]);
        key_delete_empty(call, call->words[1], zset);
    }
}

static void run_zpopmin(sim_call *call)
{
    pop(call, false);
}

static void run_zpopmax(sim_call *call)
{
    pop(call, true);
}

#define WRITES (COMMAND_WRITE | COMMAND_MEMORY)


const sim_command zset_commands[] = {
    {"zadd", run_zadd, -4, WRITES, 1, 1, 1, 0},
    {"zincrby", run_zincrby, 4, WRITES, 1, 1, 1, 0},
    {"zrem", run_zrem, -3, COMMAND_WRITE, 1, 1, 1, 0},
    {"zscore", run_zscore, 3, 0, 1, 1, 1, 0},
    {"zmscore", run_zmscore, -3, 0, 1, 1, 1, 0},
    {"zcard", run_zcard, 2, 0, 1, 1, 1, 0},
    {"zcount", run_zcount, 4, 0, 1, 1, 1, 0},
    {"zrank", run_zrank, 3, 0, 1, 1, 1, 0},
    {"zrevrank", run_zrevrank, 3, 0, 1, 1, 1, 0},
    {"zrange", run_zrange, -4, 0, 1, 1, 1, 0},
    {"zrevrange", run_zrevrange, -4, 0, 1, 1, 1, 0},
    {"zrangebyscore", run_zrangebyscore, -4, 0, 1, 1, 1, 0},
    {"zrevrangebyscore", run_zrevrangebyscore, -4, 0, 1, 1, 1, 0},
    {"zremrangebyrank", run_zremrangebyrank, 4, COMMAND_WRITE, 1, 1, 1, 0},
    {"zremrangebyscore", run_zremrangebyscore, 4, COMMAND_WRITE, 1, 1, 1, 0},
    {"zpopmin", run_zpopmin, -2, COMMAND_WRITE, 1, 1, 1, 0},
    {"zpopmax", run_zpopmax, -2, COMMAND_WRITE, 1, 1, 1, 0},
    {"zunionstore", run_zunionstore, -4, WRITES | COMMAND_NUMBERED, 2, 1, 1, 0},
    {"zinterstore", run_zinterstore, -4, WRITES | COMMAND_NUMBERED, 2, 1, 1, 0},
    {0},
};

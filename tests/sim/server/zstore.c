/* Sums and intersections of sorted sets and sets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/answer.h"
#include "tests/sim/server/command.h"
#include "tests/sim/server/memory.h"
#include "tests/sim/server/zranges.h"

#include <math.h>

typedef enum sum { SUM, LEAST, MOST } sum;

typedef struct zsource {
    const sim_value *value; /* NULL: there is none */
    double weight;
} zsource;

static double summed(sum how, double one, double other)
{
    if (how == SUM)
        return isnan(one + other) ? 0 : one + other;
    return how == LEAST ? (one < other ? one : other) : one > other ? one : other;
}

static double weighed(double score, double weight)
{
    return isnan(score * weight) ? 0 : score * weight;
}

static const table *members_of(const zsource *source)
{
    return source->value->type == VALUE_SET ? &source->value->members : &source->value->zset.scores;
}

static double score_in(const zsource *source, const entry *member)
{
    return weighed(source->value->type == VALUE_SET ? 1 : member->score, source->weight);
}

static void unite(sim_value *result, const zsource *sources, int count, sum how)
{
    for (int i = 0; i < count; i++) {
        if (!sources[i].value)
            continue;
        const table *members = members_of(&sources[i]);
        for (const entry *one = table_next(members, NULL); one; one = table_next(members, one)) {
            const entry *old = table_find(&result->zset.scores, entry_name(one));
            double score = score_in(&sources[i], one);
            zset_set(result, entry_name(one), old ? summed(how, old->score, score) : score);
        }
    }
}

static void intersect(sim_value *result, const zsource *sources, int count, sum how)
{
    for (int i = 0; i < count; i++) {
        if (!sources[i].value)
            return;
    }
    const table *members = members_of(sources);
    for (const entry *one = table_next(members, NULL); one; one = table_next(members, one)) {
        double score = score_in(sources, one);
        bool everywhere = true;
        for (int i = 1; i < count && everywhere; i++) {
            const entry *other = table_find(members_of(&sources[i]), entry_name(one));
            everywhere = other != NULL;
            if (other)
                score = summed(how, score, score_in(&sources[i], other));
        }
        if (everywhere)
            zset_set(result, entry_name(one), score);
    }
}

static bool read_sources(sim_call *call, zsource *sources, int count)
{
    for (int i = 0; i < count; i++) {
        sources[i] = (zsource){key_find(call, call->words[3 + i]), 1};
        if (sources[i].value && sources[i].value->type != VALUE_ZSET && sources[i].value->type != VALUE_SET) {
            say_wrong_type(call);
            return false;
        }
    }
    return true;
}

static bool read_options(sim_call *call, zsource *sources, int count, sum *how)
{
    for (int i = 3 + count; i < call->count; i++) {
        if (text_is_word(call->words[i], "weights") && call->count - i > count) {
            for (int k = 0; k < count; k++) {
                if (!text_number(call->words[++i], &sources[k].weight)) {
                    say_error(call, "ERR weight value is not a float");
                    return false;
                }
            }
        } else if (text_is_word(call->words[i], "aggregate") && i + 1 < call->count) {
            text word = call->words[++i];
            *how = text_is_word(word, "min") ? LEAST : text_is_word(word, "max") ? MOST : SUM;
            if (*how == SUM && !text_is_word(word, "sum")) {
                say_syntax_error(call);
                return false;
            }
        } else {
            say_syntax_error(call);
            return false;
        }
    }
    return true;
}

static void store(sim_call *call, bool union_)
{
    int64_t count;
    sum how = SUM;
    if (!word_integer(call, 2, &count))
        return;
    if (count < 1) {
        if (call->server->settings.version < SIM_REDIS_7_0)
            say_error(call, "ERR at least 1 input key is needed for %s", call->command->name);
        else
            say_error(call, "ERR at least 1 input key is needed for '%s' command", call->command->name);
        return;
    }
    if (count > call->count - 3) {
        say_syntax_error(call);
        return;
    }
    zsource *sources = sim_resize(NULL, (size_t)count * sizeof *sources);
    if (read_sources(call, sources, (int)count) && read_options(call, sources, (int)count, &how)) {
        sim_value *result = value_make(VALUE_ZSET, order_seed(call->server));
        (union_ ? unite : intersect)(result, sources, (int)count, how);
        for (size_t i = 0; call->server->settings.version >= SIM_REDIS_7_0 && i < result->zset.scores.count; i++)
            result->zset.order[i]->score += 0.0; /* no -0 */
        say_integer(call, (int64_t)result->zset.scores.count);
        if (result->zset.scores.count) {
            key_put(call, call->words[1], result);
        } else {
            key_delete(call, call->words[1]);
            value_free(result);
        }
    }
    sim_free(sources);
}


void run_zunionstore(sim_call *call)
{
    store(call, true);
}

void run_zinterstore(sim_call *call)
{
    store(call, false);
}

/* Ranges of sorted sets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/zranges.h"

static bool read_bound(text word, double *score, bool *left_out)
{
    *left_out = word.length > 0 && *word.at == '(';
    *score = 0; /* no digits at all are 0, too */
    return word.length == *left_out || text_number((text){word.at + *left_out, word.length - *left_out}, score);
}

bool zbounds_read(sim_call *call, int least_word, int most_word, zbounds *bounds)
{
    if (read_bound(call->words[least_word], &bounds->least, &bounds->above) &&
        read_bound(call->words[most_word], &bounds->most, &bounds->below))
        return true;
    say_error(call, "ERR min or max is not a float");
    return false;
}

zspan zspan_in(const sim_value *zset, const zbounds *bounds)
{
    if (!zset)
        return (zspan){0, 0};
    zspan span = {zset_below(zset, bounds->least, bounds->above), zset_below(zset, bounds->most, !bounds->below)};
    return span.first < span.end ? span : (zspan){0, 0};
}

zspan zspan_by_rank(const sim_value *zset, int64_t from, int64_t to)
{
    int64_t size = zset ? (int64_t)zset->zset.scores.count : 0;
    from += from < 0 ? size : 0;
    to += to < 0 ? size : 0;
    from = from < 0 ? 0 : from;
    to = to >= size ? size - 1 : to;
    return from > to ? (zspan){0, 0} : (zspan){(size_t)from, (size_t)to + 1};
}

static void say_span(sim_call *call, const sim_value *zset, zspan span, bool backwards, bool scores)
{
    size_t size = span.end - span.first;
    say_array(call, size * (scores ? 2 : 1));
    for (size_t i = 0; i < size; i++) {
        const entry *member = zset->zset.order[backwards ? span.end - 1 - i : span.first + i];
        say_text(call, entry_name(member));
        if (scores)
            say_score(call, member->score);
    }
}

typedef struct range_words {
    bool by_score, backwards, scores, limited;
    int64_t skip, most;
} range_words;

/* `free`: ZRANGE, whose words may say all that the others' names say. */
static bool read_words(sim_call *call, bool free, range_words *asked)
{
    for (int i = 4; i < call->count; i++) {
        text word = call->words[i];
        if (text_is_word(word, "withscores")) {
            asked->scores = true;
        } else if (text_is_word(word, "limit") && (free || asked->by_score) && i + 2 < call->count) {
            if (!word_integer(call, i + 1, &asked->skip) || !word_integer(call, i + 2, &asked->most))
                return false;
            asked->limited = true;
            i += 2;
        } else if (free && text_is_word(word, "byscore")) {
            asked->by_score = true;
        } else if (free && text_is_word(word, "rev")) {
            asked->backwards = true;
        } else {
            say_syntax_error(call);
            return false;
        }
    }
    if (asked->limited && !asked->by_score) {
        say_error(call, "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
        return false;
    }
    return true;
}

static zspan limited(zspan span, const range_words *asked)
{
    size_t size = span.end - span.first, skip = asked->skip < 0 ? size : (size_t)asked->skip;
    if (asked->skip < 0 || skip >= size)
        return (zspan){0, 0};
    size_t most = asked->most < 0 || (size_t)asked->most > size - skip ? size - skip : (size_t)asked->most;
    if (asked->backwards)
        return (zspan){span.end - skip - most, span.end - skip};
    return (zspan){span.first + skip, span.first + skip + most};
}

static void say_by_score(sim_call *call, const range_words *asked)
{
    sim_value *zset;
    zbounds bounds;
    bool turned = asked->backwards;
    if (!zbounds_read(call, turned ? 3 : 2, turned ? 2 : 3, &bounds) || !key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    zspan span = zspan_in(zset, &bounds);
    say_span(call, zset, asked->limited ? limited(span, asked) : span, turned, asked->scores);
}

static void say_by_rank(sim_call *call, const range_words *asked)
{
    sim_value *zset;
    int64_t from, to;
    if (!word_integer(call, 2, &from) || !word_integer(call, 3, &to) || !key_of(call, call->words[1], VALUE_ZSET, &zset))
        return;
    zspan span = zspan_by_rank(zset, from, to);
    size_t size = zset ? zset->zset.scores.count : 0;
    if (asked->backwards && span.end)
        span = (zspan){size - span.end, size - span.first};
    say_span(call, zset, span, asked->backwards, asked->scores);
}

static void say_range(sim_call *call, bool free, range_words asked)
{
    if (!read_words(call, free, &asked))
        return;
    if (asked.by_score)
        say_by_score(call, &asked);
    else
        say_by_rank(call, &asked);
}

void run_zrange(sim_call *call)
{
    say_range(call, true, (range_words){0});
}

void run_zrevrange(sim_call *call)
{
    say_range(call, false, (range_words){.backwards = true});
}

void run_zrangebyscore(sim_call *call)
{
    say_range(call, false, (range_words){.by_score = true});
}

void run_zrevrangebyscore(sim_call *call)
{
    say_range(call, false, (range_words){.by_score = true, .backwards = true});
}

/* A match: one measurement of the report, so many of our threads beside so many raw ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/match.h"

#include "tests/bench/support/ours.h"
#include "tests/bench/support/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The speed that the library is to have. */
static const struct target {
    const char *kind; /* NULL: any other */
    int threads;
    double ratio;
    int connections;
} targets[] = {{"lock", 1, 0.95, 8}, {"lock", 64, 1.2, 8}, {NULL, 1, 0.9, 8}, {NULL, 8, 0.9, 8}};

typedef struct bench_match {
    bench_redis *redis;
    const bench_options *options;
    bench_report *report;
    const bench_kind *kind;
    int raw_threads, threads, names;
    rlock_client *client;
    bench_ward *wards;      /* one a name */
    void **raw_own, **own;  /* one a thread */
    bench_side *raw, *ours;
} bench_match;

/* --- sides --- */

static void **room(int threads)
{
    void **own = calloc((size_t)threads, sizeof *own);
    if (!own)
        abort();
    return own;
}

static bench_side *new_side(const char *not_named)
{
    bench_side *side = calloc(1, sizeof *side);
    if (!side)
        abort();
    side->not_named = not_named;
    return side;
}

static void row_of(bench_row *row, const char *what, int threads, const bench_side *side, bench_ratio ratio)
{
    double turns = side->turns ? (double)side->turns : 1;
    *row = (bench_row){.what = what, .threads = threads, .per_s = (double)side->turns / side->seconds,
                       .cpu_us = side->cpu_us / turns, .server_us = side->server_us / turns, .ratio = ratio,
                       .connections = side->connections, .p50_us = side->p50_us, .p99_us = side->p99_us};
}

/* Met or missed only where the limits leave no doubt. */
static const char *verdict(const bench_kind *kind, int threads, bench_ratio ratio, int connections)
{
    static char text[96];
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct target *target = &targets[i];
        const char *of = strcmp(kind->name, "lock") == 0 ? kind->name : NULL;
        if (target->threads != threads || (target->kind ? !of : !!of) || ratio.median <= 0)
            continue;
        const char *word = connections > target->connections || ratio.high < target->ratio ? "MISSED"
                           : ratio.low >= target->ratio                                        ? "met"
                                                                                               : "UNDECIDED";
        snprintf(text, sizeof text, "%s: target ≥ %.2f, ≤ %d connections", word,
                 target->ratio, target->connections);
        return text;
    }
    return NULL;
}

/* --- a match --- */

static void set_up(bench_match *match)
{
    match->raw = new_side(OURS_NAME);
    match->ours = new_side(RAW_NAME);
    match->raw_own = room(match->raw_threads);
    match->own = room(match->threads);
    match->wards = calloc((size_t)match->names, sizeof *match->wards);
    if (!match->wards)
        abort();
    match->client = ours_client(match->redis);
    if (match->options->raw) {
        for (int i = 0; i < match->raw_threads; i++)
            match->raw_own[i] = raw_open(match->redis, match->client, match->kind, i);
        match->raw->crew = crew_start(match->raw_threads, raw_turn, match->raw_own);
    }
    if (match->options->ours) {
        for (int i = 0; i < match->threads; i++) {
            char name[64];
            snprintf(name, sizeof name, "bench:our:%d", i % match->names);
            match->own[i] = ours_open(match->client, match->kind, name, &match->wards[i % match->names]);
        }
        match->ours->crew = crew_start(match->threads, ours_turn, match->own);
    }
}

static void clear(bench_match *match)
{
    if (match->raw->crew) {
        crew_stop(match->raw->crew);
        for (int i = 0; i < match->raw_threads; i++)
            raw_close(match->raw_own[i]);
    }
    if (match->ours->crew) {
        crew_stop(match->ours->crew);
        for (int i = 0; i < match->threads; i++)
            ours_close(match->own[i]);
    }
    rlock_client_close(match->client);
    freeReplyObject(redis_ask(match->redis, "FLUSHALL"));
    free(match->raw_own);
    free(match->own);
    free(match->wards);
    free(match->raw);
    free(match->ours);
}

/* What must be true of a run whose figures count. */
static bool check(const bench_match *match)
{
    uint64_t guarded = 0;
    for (int i = 0; i < match->names; i++)
        guarded += match->wards[i].turns;
    long long keys = redis_keys(match->redis);
    if (guarded != match->ours->all_turns)
        fprintf(stderr, "bench: %llu turns were taken, %llu counted under the locks\n",
                (unsigned long long)match->ours->all_turns, (unsigned long long)guarded);
    int objects = (match->raw->crew ? match->raw_threads : 0) + (match->ours->crew ? match->names : 0);
    bool clean = keys == (long long)objects * match->kind->keys_left;
    if (!clean)
        fprintf(stderr, "bench: %lld keys were left behind, not %d\n", keys, objects * match->kind->keys_left);
    /* On names of their own, each acquire and each release has to ask the server. */
    bool asked = match->names != match->threads ||
                 match->ours->scripts >= match->kind->requests * (long long)guarded;
    if (!asked)
        fprintf(stderr, "bench: only %lld scripts ran for %llu turns\n", match->ours->scripts,
                (unsigned long long)guarded);
    return guarded == match->ours->all_turns && clean && asked;
}

/* "rlock pairs", "rlock fair pairs", …: plain locks were there first. */
static const char *what_of(const bench_match *match, const char *side, char what[64])
{
    bool plain = strcmp(match->kind->name, "lock") == 0;
    snprintf(what, 64, "%s %s%spairs", side, plain ? "" : match->kind->name, plain ? "" : " ");
    return what;
}

static void report_match(const bench_match *match, bool together)
{
    bench_row row;
    char what[64];
    bench_ratio one = {1, 1, 1}, none = {0, 0, 0}, ratio = none;
    if (match->raw->crew && match->ours->crew)
        ratio = duel_ratio(match->raw, match->ours, match->options->slices);
    if (match->raw->crew) {
        row_of(&row, together ? "raw pairs, alone" : what_of(match, "raw", what), match->raw_threads, match->raw, one);
        report_row(match->report, &row);
    }
    if (!match->ours->crew)
        return;
    char remark[64];
    row_of(&row, together ? "rlock pairs, one name" : what_of(match, "rlock", what), match->threads, match->ours, ratio);
    if (together)
        snprintf(remark, sizeof remark, "%.0f hand-overs a second",
                 row.per_s * (double)match->wards[0].hand_overs / (double)match->wards[0].turns);
    row.remark = together ? remark : verdict(match->kind, match->threads, ratio, row.connections);
    report_row(match->report, &row);
}

static bool run(bench_match *match, bool together)
{
    set_up(match);
    bool right = duel_fight(match->redis, match->raw, match->ours, match->options->slices, match->options->ms) &&
                 check(match);
    if (right)
        report_match(match, together);
    clear(match);
    return right;
}

bool match_apart(bench_redis *redis, const bench_options *options, bench_report *report, const bench_kind *kind,
                 int threads)
{
    bench_match match = {.redis = redis, .options = options, .report = report, .kind = kind,
                         .raw_threads = threads, .threads = threads, .names = threads};
    return run(&match, false);
}

bool match_together(bench_redis *redis, const bench_options *options, bench_report *report, int threads)
{
    bench_match match = {.redis = redis, .options = options, .report = report, .kind = kind_named("lock"),
                         .raw_threads = 1, .threads = threads, .names = 1};
    return run(&match, true);
}

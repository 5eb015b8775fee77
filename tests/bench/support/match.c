/* A match: one measurement of the report, so many of our threads beside so many raw ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/match.h"

#include "tests/bench/support/ours.h"
#include "tests/bench/support/raw.h"

#include <stdio.h>
#include <stdlib.h>

/* The speed that the library is to have. */
static const struct target {
    int threads;
    double ratio;
    int connections;
} targets[] = {{1, 0.95, 8}, {64, 1.2, 8}};

typedef struct bench_match {
    bench_redis *redis;
    const bench_options *options;
    bench_report *report;
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
static const char *verdict(int threads, bench_ratio ratio, int connections)
{
    static char text[96];
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct target *target = &targets[i];
        if (target->threads != threads || ratio.median <= 0)
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
    match->raw = new_side("ours");
    match->ours = new_side(RAW_NAME);
    match->raw_own = room(match->raw_threads);
    match->own = room(match->threads);
    match->wards = calloc((size_t)match->names, sizeof *match->wards);
    if (!match->wards)
        abort();
    if (match->options->raw) {
        for (int i = 0; i < match->raw_threads; i++)
            match->raw_own[i] = raw_open(match->redis, i);
        match->raw->crew = crew_start(match->raw_threads, raw_pair, match->raw_own);
    }
    if (match->options->ours) {
        match->client = ours_client(match->redis);
        for (int i = 0; i < match->threads; i++) {
            char name[64];
            snprintf(name, sizeof name, "bench:our:%d", i % match->names);
            match->own[i] = ours_open(match->client, name, &match->wards[i % match->names]);
        }
        match->ours->crew = crew_start(match->threads, ours_pair, match->own);
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
        rlock_client_close(match->client);
    }
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
    if (keys != 0)
        fprintf(stderr, "bench: %lld keys were left behind\n", keys);
    /* On names of their own, each lock and each unlock has to ask the server. */
    bool asked = match->names != match->threads || match->ours->scripts >= 2 * (long long)guarded;
    if (!asked)
        fprintf(stderr, "bench: only %lld scripts ran for %llu turns\n", match->ours->scripts,
                (unsigned long long)guarded);
    return guarded == match->ours->all_turns && keys == 0 && asked;
}

static void report_match(const bench_match *match, bool together)
{
    bench_row row;
    bench_ratio one = {1, 1, 1}, none = {0, 0, 0}, ratio = none;
    if (match->raw->crew && match->ours->crew)
        ratio = duel_ratio(match->raw, match->ours, match->options->slices);
    if (match->raw->crew) {
        row_of(&row, together ? "raw pairs, alone" : "raw pairs", match->raw_threads, match->raw, one);
        report_row(match->report, &row);
    }
    if (!match->ours->crew)
        return;
    char remark[64];
    row_of(&row, together ? "rlock pairs, one name" : "rlock pairs", match->threads, match->ours, ratio);
    if (together)
        snprintf(remark, sizeof remark, "%.0f hand-overs a second",
                 row.per_s * (double)match->wards[0].hand_overs / (double)match->wards[0].turns);
    row.remark = together ? remark : verdict(match->threads, ratio, row.connections);
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

bool match_apart(bench_redis *redis, const bench_options *options, bench_report *report, int threads)
{
    bench_match match = {.redis = redis, .options = options, .report = report, .raw_threads = threads,
                         .threads = threads, .names = threads};
    return run(&match, false);
}

bool match_together(bench_redis *redis, const bench_options *options, bench_report *report, int threads)
{
    bench_match match = {.redis = redis, .options = options, .report = report, .raw_threads = 1,
                         .threads = threads, .names = 1};
    return run(&match, true);
}

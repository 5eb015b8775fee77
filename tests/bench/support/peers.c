/* Peers: what a program could lock with instead of rlock, in one contest with it; what counts under contention are the
 * turns that were handed on to another contender. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/peers.h"

#include <stdio.h>
#include <string.h>

#define NAME 64

static bool is_one(const bench_peers *row)
{
    return strcmp(row->names, "one") == 0;
}

static bool has_word(const char *const *words, const char *word)
{
    for (; *words; words++) {
        if (strcmp(*words, word) == 0)
            return true;
    }
    return false;
}

/* Slices of three seconds in all; longer ones where a waiter sleeps for 100 ms and more, or has many before it. On one
 * name they are long beside the time in which its processes have not all begun, and one takes turns alone. */
static void set_slices(bench_side *side, bool one)
{
    static const char *const fast[] = {"rlock", "rlock_async", "hiredis", "postgresql", "memcached", NULL};
    static const char *const slow[] = {"redis-py", "redlock", NULL};
    bool c = has_word(fast, side->who), pauses = has_word(slow, side->who), many = side->processes > 32;
    side->slices = c && !one ? 10 : 1;
    side->ms = one && many ? 600 : one && pauses ? 400 : c && !one ? 20 : 200;
    side->warm_up_ms = c ? 100 : pauses ? 500 : 0;
}

static int choose(const bench_run *bench, const bench_peers *row, bench_side sides[PEERS_MAX],
                  char names[PEERS_MAX][NAME], const bench_peer *of[PEERS_MAX])
{
    int count = 0;
    for (const bench_peer *peer = row->peers; peer < row->peers + PEERS_MAX && peer->who; peer++) {
        if (peer->rest && !bench->all_peers)
            continue;
        snprintf(names[count], NAME, "%s:bench:peers:%s", row->names, peer->who);
        bench_side *side = &sides[count];
        *side = (bench_side){.who = peer->who,
                             .kind = peer->kind  ? peer->kind
                                     : row->kind ? row->kind
                                                 : "lock",
                             .threads = peer->threads ? peer->threads : row->threads,
                             .processes = peer->processes ? peer->processes : row->processes,
                             .names = is_one(row) ? names[count] : row->names,
                             .unix_socket = row->unix_socket,
                             .core = row->core,
                             .confirmed = true};
        set_slices(side, is_one(row));
        of[count++] = peer;
    }
    return count;
}

static bench_result result_of(const bench_peers *row, const bench_side *sides, int count, int index)
{
    const bench_side *side = &sides[index];
    bench_result result = contest_result(sides, count, index, row->what);
    double contenders = side->threads * side->processes, average = (double)side->turns / contenders;
    double turns = server_is_redis(side->server) ? (double)side->turns : (double)side->all_turns;
    result.peer = true;
    result.kind = side->kind;
    result.handed_per_s = median_of(side->handed_per_s, side->done);
    result.wait_p50_us = histogram_quantile_us(&side->waits, 0.5);
    result.wait_p99_us = histogram_quantile_us(&side->waits, 0.99);
    result.longest_us = side->longest_us;
    if (average > 0 && side->most) {
        result.least = (double)side->least / average;
        result.most = (double)side->most / average;
    }
    result.counted = turns > 0 ? (double)side->counted / turns : 0;
    if (index > 0 && !sides[0].out)
        result.ratio_rlock = is_one(row) ? contest_handed_ratio(&sides[0], side) : contest_ratio(&sides[0], side);
    return result;
}

/* What is asked of rlock by itself: that its waits are short beside PostgreSQL's, and that it is frugal. */
static void judge_costs(const bench_peers *row, const bench_side *sides, int count, bench_result *result,
                        char text[TARGET_TEXT])
{
    const bench_side *postgresql = contest_side(sides, count, "postgresql");
    double cpu_us = result->cpu_us + result->server_cpu_us;
    if (row->p99_times <= 0)
        return;
    snprintf(text, TARGET_TEXT, "p99 wait ≤ %g × PostgreSQL's, ≤ %g µs of CPU a pair", row->p99_times, row->cpu_us);
    result->target = text;
    if (!postgresql)
        return;
    double most_us = row->p99_times * histogram_quantile_us(&postgresql->waits, 0.99);
    result->verdict = result->wait_p99_us <= most_us && cpu_us <= row->cpu_us ? VERDICT_MET : VERDICT_MISSED;
}

static void report(bench_run *bench, const bench_peers *row, const bench_side *sides, const bench_peer *const *of,
                   int count)
{
    for (int i = 0; i < count; i++) {
        char text[TARGET_TEXT];
        if (sides[i].out)
            continue;
        bench_result result = result_of(row, sides, count, i);
        if (i == 0)
            judge_costs(row, sides, count, &result, text);
        if (of[i]->times > 0 && !sides[0].out) {
            snprintf(text, sizeof text, "rlock ≥ %g ×", of[i]->times);
            result.target = text;
            result.verdict = result.ratio_rlock.median >= of[i]->times ? VERDICT_MET : VERDICT_MISSED;
        }
        report_row(&bench->report, &result);
    }
}

bool peers_run(bench_run *bench, const bench_peers *row)
{
    static bench_side sides[PEERS_MAX];
    char names[PEERS_MAX][NAME];
    const bench_peer *of[PEERS_MAX];
    int count = choose(bench, row, sides, names, of);
    bool right = contest_run(bench, sides, count, 0);
    if (right)
        report(bench, row, sides, of, count);
    contest_free(sides, count);
    return right;
}

/* A contest: several sides work in turn, slice by slice, so that what drifts on the machine hits all of them;
 * what counts is the median of the ratios of neighbouring slices. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/contest.h"

#include "tests/bench/support/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 120000 /* to a line, beyond the time that it asks to work; a virtual machine may stand still for long */
#define CREW_MS 60000

static bool is_in_c(const char *who)
{
    static const char *const all[] = {"rlock", "rlock_async", "raw", "hiredis", "postgresql", "memcached", NULL};
    for (const char *const *each = all; *each; each++) {
        if (strcmp(*each, who) == 0)
            return true;
    }
    return false;
}

/* Many short slices: where the scheduler puts a thread and the server changes every few 100 ms and doubles or
 * halves the rate of one thread. Raw beside raw, one thread: anywhere from 0.96 to 1.17 with 25 slices of 150 ms,
 * within 6 % with 105 of 20 ms, within 2 % with 630 of 5 ms. A JVM's turn takes up to milliseconds: fewer and
 * longer ones for it. */
static void fill_in(bench_side *side, int blocks)
{
    if (!side->processes)
        side->processes = 1;
    bool c = is_in_c(side->who);
    int threads = side->threads * side->processes;
    if (side->processes > CONTEST_PROCESSES_MAX)
        abort();
    if (!side->slices)
        side->slices = !c ? 1 : threads == 1 ? 42 : threads <= 8 ? 14 : 7;
    if (!side->ms)
        side->ms = !c ? 200 : threads == 1 ? 5 : threads <= 8 ? 10 : 20;
    size_t slices = (size_t)(side->slices * blocks);
    side->per_s = calloc(slices, sizeof *side->per_s);
    side->handed_per_s = calloc(slices, sizeof *side->handed_per_s);
    side->p50s_us = calloc(slices, sizeof *side->p50s_us);
    side->p99s_us = calloc(slices, sizeof *side->p99s_us);
    if (!side->per_s || !side->handed_per_s || !side->p50s_us || !side->p99s_us)
        abort();
}

/* --- one slice --- */

typedef struct slice_sum {
    unsigned long long turns, violations;
    double per_s, handed_per_s, cpu_us, p50_us, p99_us;
} slice_sum;

static bool hear_slice(bench_contestant *contestant, const char *who, int ms, slice_sum *sum)
{
    unsigned long long turns, violations, handed = 0;
    double seconds, cpu_us, p50_us, p99_us;
    const char *line = contestant_hear(contestant, "done", ms + ANSWER_MS);
    if (!line)
        return false;
    if (sscanf(line, "%llu %lf %lf %lf %lf %llu %llu", &turns, &seconds, &cpu_us, &p50_us, &p99_us, &violations,
               &handed) < 6 ||
        seconds <= 0) {
        fprintf(stderr, "bench: %s: not a slice: %s\n", who, line);
        return false;
    }
    sum->turns += turns;
    sum->violations += violations;
    sum->per_s += (double)turns / seconds;
    sum->handed_per_s += (double)handed / seconds;
    sum->cpu_us += cpu_us;
    sum->p50_us = p50_us > sum->p50_us ? p50_us : sum->p50_us;
    sum->p99_us = p99_us > sum->p99_us ? p99_us : sum->p99_us;
    return true;
}

static bool work(bench_side *side, int ms, slice_sum *sum)
{
    bool right = true;
    *sum = (slice_sum){0};
    for (int i = 0; right && i < side->processes; i++)
        right = contestant_tell(side->processes_at[i], "go %d", ms);
    for (int i = 0; right && i < side->processes; i++)
        right = hear_slice(side->processes_at[i], side->who, ms, sum);
    side->violations += sum->violations;
    side->all_turns += sum->turns;
    if (sum->violations)
        fprintf(stderr, "bench: VIOLATION: %s, %s, %d processes of %d threads on %s: two held one lock, %llu times\n",
                side->who, side->kind, side->processes, side->threads, side->names, sum->violations);
    return right && !sum->violations;
}

/* Redis serves several contestants, which work in turn: what it counts is that of one only within its slice. */
static long long count_redis(const bench_side *side)
{
    if (!side->confirmed || !server_is_redis(side->server))
        return 0;
    return server_count(side->server, side->who, side->unix_socket);
}

static bool count_slice(bench_side *side)
{
    slice_sum sum;
    long long counted_before = count_redis(side);
    double server_before_us = server_cpu_us(side->server);
    if (!work(side, side->ms, &sum))
        return false;
    side->server_us += server_cpu_us(side->server) - server_before_us;
    side->counted += count_redis(side) - counted_before;
    side->handed_per_s[side->done] = sum.handed_per_s;
    side->per_s[side->done] = sum.per_s;
    side->p50s_us[side->done] = sum.p50_us;
    side->p99s_us[side->done] = sum.p99_us;
    side->done++;
    side->turns += sum.turns;
    side->cpu_us += sum.cpu_us;
    return true;
}

/* --- all of it --- */

static const char *url_of(const bench_run *bench, const bench_side *side)
{
    const char *url = server_url(side->server, side->unix_socket);
    if (!url)
        abort(); /* a row that asks for what the product has not got */
    return server_is_redis(side->server) && !side->unix_socket && is_in_c(side->who) ? bench->url : url;
}

static bool set_up(bench_run *bench, bench_side *side)
{
    side->out = !contestant_is_there(bench, side->who) || !(side->server = server_of(bench, side->who));
    bool right = true, warm = !side->out;
    const char *url = side->out ? NULL : url_of(bench, side);
    if (!side->out && side->confirmed && !server_is_redis(side->server)) {
        long long counted = server_count(side->server, side->who, side->unix_socket);
        side->counted = -counted;
        right = counted >= 0;
    }
    if (!side->out && side->core)
        server_pin(side->server, side->core - 1);
    for (int i = 0; right && !side->out && i < side->processes; i++) {
        bench_contestant *contestant = contestant_start(bench, side->who, url);
        side->processes_at[i] = contestant;
        if (contestant && side->core)
            family_pin(contestant_pid(contestant), side->core - 1);
        right = contestant && contestant_ask(contestant, CREW_MS, "ok", "crew %s %d %s", side->kind, side->threads,
                                             side->names);
        warm = right && warm && contestant_is_warm(contestant);
    }
    if (!side->warm_up_ms)
        side->warm_up_ms = is_in_c(side->who) ? 50 : warm ? 300 : 3000;
    return right;
}

static const char *ask_stats(bench_contestant *contestant)
{
    return contestant_ask(contestant, ANSWER_MS, "stats", "stats");
}

/* Else it would not be measured what is to be: each turn has to ask the server so often. */
static bool asks_enough(const bench_side *side, double scripts, double turns)
{
    if (scripts >= side->scripts * turns)
        return true;
    fprintf(stderr, "bench: %s, %s: only %.0f scripts ran for %.0f turns\n", side->who, side->kind, scripts, turns);
    return false;
}

/* Works once without being counted, and forgets what that took. */
static bool warm_up(bench_run *bench, bench_side *side)
{
    slice_sum sum = {0};
    long long scripts_before = redis_calls(&bench->redis, "evalsha");
    bool right = side->out || work(side, side->warm_up_ms, &sum);
    long long scripts = redis_calls(&bench->redis, "evalsha") - scripts_before;
    for (int i = 0; right && !side->out && i < side->processes; i++)
        right = ask_stats(side->processes_at[i]);
    return right && asks_enough(side, (double)scripts, (double)sum.turns);
}

static void count_connections(bench_run *bench, bench_side *side)
{
    int connections = 0;
    for (int i = 0; !side->out && i < side->processes; i++) {
        char named[64];
        if (!server_is_redis(side->server)) {
            connections += family_sockets(contestant_pid(side->processes_at[i]));
            continue;
        }
        snprintf(named, sizeof named, "%s-%d", side->who, (int)contestant_pid(side->processes_at[i]));
        connections += redis_connections(&bench->redis, named);
    }
    if (side->connections < connections)
        side->connections = connections;
}

static bool run_block(bench_run *bench, bench_side *sides, int count, int block)
{
    bool right = true;
    int rounds = 0;
    for (int i = 0; i < count; i++)
        rounds = sides[i].slices > rounds ? sides[i].slices : rounds;
    for (int round = 0; right && round < rounds; round++) {
        bool backwards = (block + round) % 2;
        for (int i = 0; right && i < count; i++) {
            bench_side *side = &sides[backwards ? count - 1 - i : i];
            right = side->out || round >= side->slices || count_slice(side);
        }
    }
    for (int i = 0; right && i < count; i++)
        count_connections(bench, &sides[i]);
    return right;
}

static void read_contenders(bench_side *side, const char *text)
{
    for (char *end;; text = end + 1) {
        uint64_t turns = strtoull(text, &end, 10);
        if (end == text)
            return;
        side->least = turns < side->least ? turns : side->least;
        side->most = turns > side->most ? turns : side->most;
        if (*end != ',')
            return;
    }
}

/* What a contestant says of its contenders since the warm-up, which one without such counts leaves out. */
static void read_tallies(bench_side *side, const char *stats)
{
    const char *longest = strstr(stats, " longest_us="), *contenders = strstr(stats, " contenders=");
    const char *waits = strstr(stats, " waits=");
    double longest_us = longest ? strtod(longest + strlen(" longest_us="), NULL) : 0;
    side->longest_us = longest_us > side->longest_us ? longest_us : side->longest_us;
    if (contenders)
        read_contenders(side, contenders + strlen(" contenders="));
    if (waits)
        histogram_read(&side->waits, waits + strlen(" waits="));
}

static bool sum_up(bench_side *side)
{
    side->least = UINT64_MAX;
    for (int i = 0; !side->out && i < side->processes; i++) {
        const char *stats = ask_stats(side->processes_at[i]);
        const char *latencies = stats ? strstr(stats, "latencies=") : NULL;
        if (!stats)
            return false;
        read_tallies(side, stats);
        if (latencies)
            histogram_read(&side->latencies, latencies + strlen("latencies="));
    }
    return true;
}

static void end(bench_side *side)
{
    for (int process = 0; process < side->processes; process++) {
        if (side->processes_at[process])
            contestant_end(side->processes_at[process]);
    }
    if (side->server && side->core)
        server_pin(side->server, -1);
}

/* Else the contestant would have counted locks that its server knows nothing of. */
static bool confirm(bench_side *side)
{
    if (side->out || !side->confirmed)
        return true;
    uint64_t turns = side->turns;
    if (!server_is_redis(side->server)) {
        side->counted += server_count(side->server, side->who, side->unix_socket);
        turns = side->all_turns;
    }
    if (side->counted >= 0 && (uint64_t)side->counted >= turns)
        return true;
    fprintf(stderr, "bench: %s: its server counts %lld of %llu pairs\n", side->who, side->counted,
            (unsigned long long)turns);
    return false;
}

/* Another version's rlock, in the place of raw, does what this version's does. */
static void stand_in(const bench_run *bench, bench_side *sides, int count)
{
    const bench_side *own = contest_side(sides, count, "rlock");
    for (int i = 0; bench->before && own && i < count; i++) {
        if (strcmp(sides[i].who, "raw") == 0)
            sides[i].kind = own->kind;
    }
}

bool contest_run(bench_run *bench, bench_side *sides, int count, int blocks)
{
    bool right = true;
    stand_in(bench, sides, count);
    blocks = blocks ? blocks : CONTEST_BLOCKS;
    for (int i = 0; i < count; i++)
        fill_in(&sides[i], blocks);
    for (int i = 0; right && i < count; i++)
        right = set_up(bench, &sides[i]) && warm_up(bench, &sides[i]);
    for (int block = 0; right && block < blocks; block++)
        right = run_block(bench, sides, count, block);
    for (int i = 0; right && i < count; i++)
        right = sum_up(&sides[i]);
    for (int i = 0; i < count; i++)
        end(&sides[i]);
    for (int i = 0; right && i < count; i++)
        right = confirm(&sides[i]);
    return right;
}

void contest_free(bench_side *sides, int count)
{
    for (int i = 0; i < count; i++) {
        free(sides[i].per_s);
        free(sides[i].handed_per_s);
        free(sides[i].p50s_us);
        free(sides[i].p99s_us);
    }
}

/* --- what came out --- */

static double *of_blocks(const bench_side *side, const double *rates)
{
    int blocks = side->done / side->slices;
    double *means = calloc((size_t)blocks + 1, sizeof *means);
    if (!means)
        abort();
    for (int i = 0; i < blocks * side->slices; i++)
        means[i / side->slices] += rates[i] / side->slices;
    return means;
}

static bench_ratio ratio_of(const bench_side *over, const double *rates, const bench_side *under,
                            const double *other_rates)
{
    if (over->out || under->out)
        return (bench_ratio){0};
    if (over->slices == under->slices)
        return median_ratio(rates, other_rates, over->done);
    double *mine = of_blocks(over, rates), *theirs = of_blocks(under, other_rates);
    bench_ratio ratio = median_ratio(mine, theirs, over->done / over->slices);
    free(mine);
    free(theirs);
    return ratio;
}

bench_ratio contest_ratio(const bench_side *over, const bench_side *under)
{
    return ratio_of(over, over->per_s, under, under->per_s);
}

bench_ratio contest_handed_ratio(const bench_side *over, const bench_side *under)
{
    return ratio_of(over, over->handed_per_s, under, under->handed_per_s);
}

const bench_side *contest_side(const bench_side *sides, int count, const char *who)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(sides[i].who, who) == 0 && !sides[i].out)
            return &sides[i];
    }
    return NULL;
}

bench_result contest_result(const bench_side *sides, int count, int index, const char *what)
{
    const bench_side *side = &sides[index];
    const bench_side *raw = contest_side(sides, count, "raw"), *redisson = contest_side(sides, count, "redisson");
    double turns = side->turns ? (double)side->turns : 1;
    bool merged = side->latencies.total > 0;
    bench_result result = {.what = what,
                           .who = side->who,
                           .threads = side->threads,
                           .processes = side->processes,
                           .per_s = median_of(side->per_s, side->done),
                           .cpu_us = side->cpu_us / turns,
                           .server_cpu_us = side->server_us / turns,
                           .connections = side->connections,
                           .violations = side->violations};
    result.p50_us = merged ? histogram_quantile_us(&side->latencies, 0.5) : median_of(side->p50s_us, side->done);
    result.p99_us = merged ? histogram_quantile_us(&side->latencies, 0.99) : median_of(side->p99s_us, side->done);
    if (raw)
        result.ratio_raw = contest_ratio(side, raw);
    if (redisson)
        result.ratio_redisson = contest_ratio(side, redisson);
    return result;
}

void contest_report(bench_run *bench, const bench_side *sides, int count, const char *what,
                    const bench_target *target)
{
    const bench_side *java = contest_side(sides, count, "redisson");
    bench_result redisson = {0};
    if (java)
        redisson = contest_result(sides, count, (int)(java - sides), what);
    for (int i = 0; i < count; i++) {
        if (sides[i].out)
            continue;
        char text[TARGET_TEXT];
        bench_result result = contest_result(sides, count, i, sides[i].what ? sides[i].what : what);
        const bench_target *own = sides[i].target ? sides[i].target : strcmp(sides[i].who, "rlock") == 0 ? target : NULL;
        if (own)
            target_judge(own, &result, java ? &redisson : NULL, text);
        report_row(&bench->report, &result);
    }
}

bool contest_measure(bench_run *bench, bench_side *sides, int count, const char *what, const bench_target *target)
{
    bool right = contest_run(bench, sides, count, 0);
    if (right)
        contest_report(bench, sides, count, what, target);
    contest_free(sides, count);
    return right;
}

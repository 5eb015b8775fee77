/* The speed of taking and giving back, beside what the same requests cost a program that uses hiredis; of
 * the fair lock beside that of the real Redisson; and what a waiter costs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/match.h"
#include "tests/bench/support/rivals.h"
#include "tests/bench/support/waiting.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define COUNTS_MAX 16

typedef struct thread_counts {
    int length, threads[COUNTS_MAX];
} thread_counts;

typedef struct arguments {
    thread_counts apart, together; /* threads on a name each, and all on one name */
    thread_counts kinds;           /* of other kinds than the plain lock, on a name each */
    bench_options options;
    const char *only; /* words between commas; NULL: all */
    const char *json, *agent, *folder;
} arguments;

static void usage(FILE *to)
{
    fputs("usage: speed [--threads 1,2,8,64] [--together 1,2,8,32] [--kind-threads 1,8] [--slices 201]\n"
          "             [--ms 20] [--only ROWS] [--side raw|ours] [--agent LAUNCHER] [--json FILE] FOLDER\n"
          "Runs a redis-server of its own in FOLDER. --threads 0, --together 0 or --kind-threads 0 leaves that\n"
          "part out. ROWS are words between commas: lock, together, rivals, waiters, or a kind:\n"
          "spin, fenced, non-reentrant, read, write, fair, semaphore, permits, multi.\n"
          "LAUNCHER is that of the interop tests' Java agent, for the rivals.\n",
          to);
}

static thread_counts parse_counts(const char *text)
{
    thread_counts counts = {0};
    while (*text && counts.length < COUNTS_MAX) {
        char *end;
        long count = strtol(text, &end, 10);
        if (end == text || count < 0 || count > 10000) {
            usage(stderr);
            exit(2);
        }
        if (count > 0)
            counts.threads[counts.length++] = (int)count;
        text = *end == ',' ? end + 1 : end;
    }
    return counts;
}

static int parse_number(const char *text, int max)
{
    int number = atoi(text);
    if (number < 1 || number > max) {
        usage(stderr);
        exit(2);
    }
    return number;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

static const char *parse_rows(const char *words)
{
    for (const char *at = words;; at++) {
        size_t length = strcspn(at, ",");
        bool known = is_word(at, length, "together") || is_word(at, length, "rivals") || is_word(at, length, "waiters");
        for (int i = 0; i < kinds_count; i++)
            known = known || is_word(at, length, kinds[i].name);
        if (!known) {
            fprintf(stderr, "bench: there are no rows \"%.*s\"\n", (int)length, at);
            usage(stderr);
            exit(2);
        }
        at += length;
        if (!*at)
            return words;
    }
}

static arguments parse_arguments(int argc, char **argv)
{
    static const struct option known[] = {
        {"threads", required_argument, NULL, 't'}, {"together", required_argument, NULL, 'o'},
        {"kind-threads", required_argument, NULL, 'k'}, {"only", required_argument, NULL, 'y'},
        {"agent", required_argument, NULL, 'a'},
        {"slices", required_argument, NULL, 'n'},  {"ms", required_argument, NULL, 'm'},
        {"side", required_argument, NULL, 's'},    {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    /* Many short slices: where the scheduler puts a thread and the server changes every few 100 ms and
     * doubles or halves the rate of one thread; with 25 slices of 150 ms, raw beside raw came out
     * anywhere from 0.96 to 1.17, with these at 1.00. */
    arguments given = {.apart = {4, {1, 2, 8, 64}}, .together = {4, {1, 2, 8, 32}}, .kinds = {2, {1, 8}},
                       .options = {201, 20, true, true}};
    for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (letter) {
        case 't': given.apart = parse_counts(optarg); break;
        case 'o': given.together = parse_counts(optarg); break;
        case 'k': given.kinds = parse_counts(optarg); break;
        case 'y': given.only = parse_rows(optarg); break;
        case 'a': given.agent = optarg; break;
        case 'n': given.options.slices = parse_number(optarg, DUEL_SLICES_MAX); break;
        case 'm': given.options.ms = parse_number(optarg, 600000); break;
        case 's':
            given.options.raw = strcmp(optarg, "raw") == 0;
            given.options.ours = strcmp(optarg, "ours") == 0;
            break;
        case 'j': given.json = optarg; break;
        case 'h': usage(stdout); exit(0);
        default: usage(stderr); exit(2);
        }
    }
    if (optind != argc - 1 || (!given.options.raw && !given.options.ours)) {
        usage(stderr);
        exit(2);
    }
    given.folder = argv[optind];
    return given;
}

/* Whether these rows are wanted: `word` is one of those of --only, or there are none. */
static bool wanted(const arguments *given, const char *word)
{
    const char *comma = given->only;
    for (const char *at = given->only; comma; at = comma + 1) {
        comma = strchr(at, ',');
        if (is_word(at, strcspn(at, ","), word))
            return true;
    }
    return !given->only;
}

static bool run_apart(bench_redis *redis, const arguments *given, bench_report *report)
{
    bool right = true;
    if (given->apart.length > 0)
        report_heading("Uncontended lock and unlock, each thread on its own name; "
                       "raw: hiredis, one connection a thread");
    for (int i = 0; right && i < given->apart.length; i++)
        right = match_apart(redis, &given->options, report, kind_named("lock"), given->apart.threads[i]);
    return right;
}

static bool run_together(bench_redis *redis, const arguments *given, bench_report *report)
{
    bool right = true;
    if (given->together.length > 0)
        report_heading("Contended: all threads of one process on one name; "
                       "raw: one thread on a name of its own");
    for (int i = 0; right && i < given->together.length; i++)
        right = match_together(redis, &given->options, report, given->together.threads[i]);
    return right;
}

/* The other kinds: fewer slices, as there are so many rows. */
static bool run_kinds(bench_redis *redis, const arguments *given, bench_report *report)
{
    bool right = true, begun = false;
    bench_options options = given->options;
    options.slices = options.slices / 4 > 0 ? options.slices / 4 | 1 : 1;
    for (int kind = 0; right && kind < kinds_count; kind++) {
        if (strcmp(kinds[kind].name, "lock") == 0 || !wanted(given, kinds[kind].name) || !given->kinds.length)
            continue;
        if (!begun)
            report_heading("Uncontended take and release of every other kind, each thread on its own name");
        begun = true;
        for (int i = 0; right && i < given->kinds.length; i++)
            right = match_apart(redis, &options, report, &kinds[kind], given->kinds.threads[i]);
    }
    return right;
}

/* In larger slices: a turn of Redisson's takes up to milliseconds. */
static bool run_rivals(bench_redis *redis, const arguments *given, bench_report *report)
{
    report_heading("Contended: 8 threads of one process on one fair lock, and those of Redisson in a JVM");
    if (given->agent)
        return rivals_measure(redis, report, given->agent, 8, 15, 500);
    puts("SKIPPED: no Java agent was given (--agent).");
    return true;
}

static bool run_waiters(bench_redis *redis, bench_report *report)
{
    bool right = true;
    report_heading("Requests that one waiter sends in a second of waiting");
    for (int kind = 0; right && kind < kinds_count; kind++)
        right = waiting_measure(redis, report, &kinds[kind]);
    return right;
}

static bool run_all(bench_redis *redis, const arguments *given, bench_report *report)
{
    return (!wanted(given, "lock") || run_apart(redis, given, report)) &&
           (!wanted(given, "together") || run_together(redis, given, report)) && run_kinds(redis, given, report) &&
           (!wanted(given, "rivals") || run_rivals(redis, given, report)) &&
           (!wanted(given, "waiters") || run_waiters(redis, report));
}

int main(int argc, char **argv)
{
    arguments given = parse_arguments(argc, argv);
    bench_redis redis;
    bench_report report;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* of the script that cleans up */
    report_open(&report, given.json);
    redis_start(&redis, given.folder);
    printf("%d slices of %d ms a side, interleaved; the ratio is the median of neighbouring slices'.\n",
           given.options.slices, given.options.ms);
    bool right = run_all(&redis, &given, &report);
    report_close(&report);
    redis_stop(&redis);
    return right ? 0 : 1;
}

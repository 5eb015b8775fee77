/* The simulation: runs random plans in a simulated world and looks for what must not be. Closes with one line, N runs, N
 * calls, N faults, N findings, and fails when there is a finding. See usage(). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/search/attempt.h"
#include "tests/sim/search/search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    search_settings search;
    bool one;         /* the seed's run alone */
    const char *plan; /* its runs alone… */
    int seeds;        /* …with so many seeds */
} settings;

static void usage(void)
{
    fprintf(stderr, "usage: run [--seconds N | --processor-seconds N | --runs N] [--jobs N] [--findings N] [--from SEED]   searches\n"
                    "       run --seed SEED [--show]                                    one run\n"
                    "       run --plan FILE [--show] [--seeds N]                        its runs\n"
                    "       with [--shrink SECONDS] for each finding, and [--topology WORD] of a search: single, replicated,\n"
                    "       sentinel or cluster; else each; [--scenarios FOLDER] of plans that a search runs with other seeds, too\n");
    exit(2);
}

static int number(const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || *end || end == text || value < 0 || value > 1000000)
        usage();
    return (int)value;
}

static uint64_t seed_of(const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text)
        usage();
    return value;
}

static topology_kind topology_of(const char *text)
{
    topology_kind kind = SINGLE;
    while (kind < TOPOLOGIES && strcmp(text, topology_word(kind)) != 0)
        kind++;
    if (kind == TOPOLOGIES)
        usage();
    return kind;
}

static settings read_settings(int count, char **words)
{
    settings by = {.search = {.seconds = 60, .jobs = 1, .shrink_seconds = 60, .most_findings = 3, .topology = TOPOLOGIES}};
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        bool takes_value = true;
        if (strcmp(word, "--seconds") == 0)
            by.search.seconds = number(value);
        else if (strcmp(word, "--processor-seconds") == 0)
            by.search.processor_seconds = number(value);
        else if (strcmp(word, "--runs") == 0)
            by.search.runs = number(value);
        else if (strcmp(word, "--jobs") == 0)
            by.search.jobs = number(value);
        else if (strcmp(word, "--shrink") == 0)
            by.search.shrink_seconds = number(value);
        else if (strcmp(word, "--findings") == 0)
            by.search.most_findings = number(value);
        else if (strcmp(word, "--from") == 0)
            by.search.seed = seed_of(value);
        else if (strcmp(word, "--seed") == 0)
            by.search.seed = seed_of(value), by.one = true;
        else if (strcmp(word, "--topology") == 0)
            by.search.topology = topology_of(value);
        else if (strcmp(word, "--scenarios") == 0)
            by.search.scenarios = value;
        else if (strcmp(word, "--plan") == 0)
            by.plan = value;
        else if (strcmp(word, "--seeds") == 0)
            by.seeds = number(value);
        else if (strcmp(word, "--show") == 0)
            by.search.show = true, takes_value = false;
        else
            usage();
        i += takes_value;
    }
    if (by.search.jobs > SEARCH_JOBS)
        by.search.jobs = SEARCH_JOBS;
    return by;
}

int main(int count, char **words)
{
    static plan single;
    settings by = read_settings(count, words);
    totals found = {0};
    attempts_prepare(words);
    attempts_show = by.search.show;
    if (by.plan && !plan_read_file(&single, by.plan))
        return 2;
    if (by.one)
        plan_draw(&single, by.search.seed);
    if (by.plan && by.seeds > 1)
        found = search_around(&by.search, &single, by.seeds);
    else if (by.plan || by.one)
        search_plan(&by.search, &single, &found);
    else
        found = search(&by.search);
    printf("%" PRId64 " s of their time, %" PRId64 " steps, %.1f s of the processor's time\n", found.virtual_ms / 1000,
           found.steps, (double)found.processor_ms / 1000);
    printf("%" PRId64 " runs, %" PRId64 " calls, %" PRId64 " faults, %" PRId64 " findings\n", found.runs, found.calls,
           found.faults, found.findings);
    return found.findings > 0;
}

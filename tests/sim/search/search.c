/* Searching: runs plan after plan, and shows what it finds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/search/search.h"

#include "tests/sim/search/attempt.h"
#include "tests/sim/search/shrink.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Each hundredth run is run twice, and must go the same way. */
#define TWICE 100
/* Each fourth is a scenario with another seed. */
#define KNOWN 4

static void add(totals *to, const run_counts *counts)
{
    to->runs++;
    to->calls += counts->calls;
    to->faults += counts->faults;
    to->steps += counts->steps;
    to->virtual_ms += counts->virtual_ms;
}

static void show(const search_settings *by, plan *of, attempt *found)
{
    uint64_t seed = of->seed; /* shrinking changes the plan's */
    printf("\n=== A finding: SEED=%" PRIu64 "\n%s", seed, by->shrink_seconds ? "" : found->report);
    if (by->shrink_seconds) {
        attempt least = shrink(of, found->gist, by->shrink_seconds);
        printf("%s\n--- the plan, as far as it could be shrunk:\n", least.report);
        free(least.report);
    } else {
        printf("\n--- the plan:\n");
    }
    plan_write(of, stdout);
    printf("SEED=%" PRIu64 "\n", seed); /* again: logs are cut at their front */
    fflush(stdout);
}

static void check_repeats(const plan *of, const attempt *first, totals *to)
{
    attempt again = attempt_run(of);
    if (again.found || again.counts.trace != first->counts.trace) {
        to->findings++;
        printf("\n=== A finding: SEED=%" PRIu64 " does not go the same way twice (%" PRId64 " and %" PRId64
               " steps, traces %016" PRIx64 " and %016" PRIx64 ")\n", of->seed, first->counts.steps, again.counts.steps,
               first->counts.trace, again.counts.trace);
    }
    free(again.report);
}

static void run(const search_settings *by, plan *of, totals *to, bool twice)
{
    attempt first = attempt_run(of);
    add(to, &first.counts);
    if (first.found) {
        to->findings++;
        show(by, of, &first);
    } else if (by->show) {
        printf("%s", first.report);
    } else if (twice) {
        check_repeats(of, &first, to);
    }
    free(first.report);
}

void search_plan(const search_settings *by, plan *of, totals *to)
{
    run(by, of, to, true);
}

totals search_around(const search_settings *by, const plan *of, int seeds)
{
    totals found = {0};
    for (int i = 0; i < seeds && found.findings == 0; i++) {
        static plan one;
        one = *of;
        one.seed += (uint64_t)i;
        run(by, &one, &found, false);
    }
    return found;
}

/* Threads that take turns do so fastest on one processor: one of those that this process may use. */
static void stay_on_one(int job)
{
    cpu_set_t allowed, own;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0)
        return;
    int which = job % CPU_COUNT(&allowed), cpu = -1;
    do
        which -= CPU_ISSET((size_t)++cpu, &allowed) != 0;
    while (which >= 0);
    CPU_ZERO(&own);
    CPU_SET((size_t)cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
}

static int64_t in_ms(const struct timeval *span)
{
    return (int64_t)span->tv_sec * 1000 + span->tv_usec / 1000;
}

/* Of this process and its runs: on a busy machine a second of it takes longer. */
static int64_t processor_ms(void)
{
    struct rusage own, runs;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &runs);
    return in_ms(&own.ru_utime) + in_ms(&own.ru_stime) + in_ms(&runs.ru_utime) + in_ms(&runs.ru_stime);
}

/* `next`: the run that would be the next one, of all. */
static bool is_over(const search_settings *by, int64_t next, time_t until, const totals *so_far)
{
    if (so_far->findings >= by->most_findings)
        return true;
    if (by->runs)
        return next >= by->runs;
    return by->processor_seconds ? so_far->processor_ms >= by->processor_seconds * INT64_C(1000) : time(NULL) >= until;
}

static int is_plan(const struct dirent *file)
{
    size_t length = strlen(file->d_name);
    return length > 5 && strcmp(file->d_name + length - 5, ".plan") == 0;
}

/* One of the scenarios, chosen by the seed. */
static void draw_scenario(const char *folder, uint64_t seed, plan *of)
{
    struct dirent **files;
    char path[4096];
    int count = scandir(folder, &files, is_plan, alphasort);
    if (count < 1) {
        fprintf(stderr, "%s: no plans there\n", folder);
        _exit(2);
    }
    snprintf(path, sizeof path, "%s/%s", folder, files[seed / KNOWN % (uint64_t)count]->d_name);
    if (!plan_read_file(of, path))
        _exit(2);
    of->seed = seed;
    while (count > 0)
        free(files[--count]);
    free(files);
}

static void draw(const search_settings *by, uint64_t seed, plan *to)
{
    if (by->scenarios && seed % KNOWN == 0)
        draw_scenario(by->scenarios, seed, to);
    else
        plan_draw(to, seed);
}

/* Which runs there are depends neither on how fast a process is nor, but for their order, on how many there are. */
static void search_on_one(const search_settings *by, uint64_t first, int job, totals *to)
{
    static plan drawn;
    attempts_begin();
    stay_on_one(job);
    time_t until = time(NULL) + by->seconds;
    for (int64_t i = job; !is_over(by, i, until, to); i += by->jobs) {
        draw(by, first + (uint64_t)i, &drawn);
        if (by->topology == TOPOLOGIES || drawn.topology == by->topology)
            run(by, &drawn, to, i % TWICE == 0);
        to->processor_ms = processor_ms();
    }
}

static uint64_t first_seed(const search_settings *by)
{
    uint64_t seed = by->seed;
    if (!seed && getrandom(&seed, 5, 0) != 5)
        seed = (uint64_t)time(NULL);
    return seed;
}

totals search(const search_settings *by)
{
    totals sum = {0};
    uint64_t first = first_seed(by);
    totals *all = mmap(NULL, SEARCH_JOBS * sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return (totals){.findings = 1};
    printf("seeds from %" PRIu64 " on\n", first);
    fflush(stdout);
    for (int job = 0; job < by->jobs; job++) {
        if (fork() == 0) {
            search_on_one(by, first, job, &all[job]);
            fflush(stdout);
            _exit(0);
        }
    }
    while (wait(NULL) > 0 || errno == EINTR)
        continue;
    for (int job = 0; job < by->jobs; job++) {
        sum.runs += all[job].runs;
        sum.calls += all[job].calls;
        sum.faults += all[job].faults;
        sum.findings += all[job].findings;
        sum.steps += all[job].steps;
        sum.virtual_ms += all[job].virtual_ms;
        sum.processor_ms += all[job].processor_ms;
    }
    munmap(all, SEARCH_JOBS * sizeof *all);
    return sum;
}

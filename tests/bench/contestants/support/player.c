/* A player: what a contestant written in C has to be able to do; all else is here, for all of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/player.h"

#include "tests/bench/contestants/support/claims.h"
#include "tests/bench/contestants/support/crew.h"
#include "tests/bench/contestants/support/tally.h"
#include "tests/bench/contestants/support/trouble.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 100000

typedef struct seat { /* of one thread */
    const bench_player *player;
    void *own;
    bench_claim *claim; /* NULL: its holds are shared */
    uint64_t id;
    bench_tally tally; /* since the last `stats` */
} seat;

static struct {
    bench_crew *crew;
    seat *seats;
    void **own; /* the crew's view of them */
    int threads;
    bench_histogram latencies; /* since the last `stats` */
} table;

static atomic_ullong violations; /* in this slice */

/* --- in the threads --- */

static bool take_turn(void *arg)
{
    seat *at = arg;
    uint64_t asked_ns = tally_now_ns();
    if (!at->player->take(at->own))
        return false;
    tally_wait(&at->tally, tally_now_ns() - asked_ns);
    bool alone = !at->claim || claims_enter(at->claim, at->id);
    at->tally.handed += at->claim && claims_handed(at->claim, at->id);
    if (at->claim && !(claims_leave(at->claim, at->id) && alone))
        atomic_fetch_add(&violations, 1);
    at->tally.turns++;
    return at->player->give(at->own);
}

/* --- the kind "none": turns without a lock, which the check for violations has to catch --- */

static void *join_none(const char *kind, const char *name)
{
    (void)kind;
    (void)name;
    static char something;
    return &something;
}

static bool pass(void *own)
{
    (void)own;
    return true;
}

static void leave_none(void *own)
{
    (void)own;
}

static const bench_player none = {.join = join_none, .take = pass, .give = pass, .leave = leave_none};

/* --- the crew --- */

static void dismiss(void)
{
    if (table.crew)
        crew_stop(table.crew);
    for (int i = 0; i < table.threads; i++)
        table.seats[i].player->leave(table.seats[i].own);
    free(table.seats);
    free(table.own);
    table.crew = NULL;
    table.seats = NULL;
    table.own = NULL;
    table.threads = 0;
}

/* Names that share a word would look like two holders: such a one gets a longer name. */
static void find_name(char name[64], int index)
{
    int length = snprintf(name, 64, "bench:%d:%d", (int)getpid(), index);
    bool taken = true;
    while (taken && length < 60) {
        taken = false;
        for (int i = 0; !taken && i < index; i++)
            taken = table.seats[i].claim == claims_of(name);
        if (taken)
            length += snprintf(name + length, 64 - (size_t)length, "x");
    }
}

static bool seat_one(const bench_player *player, const char *kind, const char *names, int index)
{
    char name[64];
    seat *at = &table.seats[index];
    bool one = strncmp(names, "one:", 4) == 0;
    if (!one)
        find_name(name, index);
    if (strcmp(kind, "none") == 0)
        player = &none;
    void *own = player->join(kind, one ? names + 4 : name);
    if (!own)
        return false;
    *at = (seat){.player = player,
                 .own = own,
                 .claim = one && strcmp(kind, "read") == 0 ? NULL : claims_of(one ? names + 4 : name),
                 .id = claims_id(index)};
    table.own[index] = at;
    table.threads = index + 1;
    return true;
}

static bool gather(const bench_player *player, const char *line)
{
    char kind[64], names[256];
    int threads;
    if (sscanf(line, "crew %63s %d %255s", kind, &threads, names) != 3 || threads < 1 || threads > THREADS_MAX ||
        (strcmp(names, "own") != 0 && strncmp(names, "one:", 4) != 0))
        return trouble("not a crew: %s", line);
    dismiss();
    table.seats = calloc((size_t)threads, sizeof *table.seats);
    table.own = calloc((size_t)threads, sizeof *table.own);
    if (!table.seats || !table.own)
        return trouble("out of memory");
    for (int i = 0; i < threads; i++) {
        if (!seat_one(player, kind, names, i)) {
            dismiss();
            return false;
        }
    }
    table.crew = crew_start(threads, take_turn, table.own);
    table.latencies = (bench_histogram){0};
    return true;
}

/* The first seat's, by the main thread, outside of any slice. */
static bool hold(bool take)
{
    if (table.threads < 1)
        return trouble("there is no crew");
    return (take ? table.seats[0].player->take : table.seats[0].player->give)(table.seats[0].own);
}

/* --- answers --- */

static uint64_t handed(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < table.threads; i++)
        sum += table.seats[i].tally.handed;
    return sum;
}

static void answer_go(const char *line)
{
    int ms;
    if (!table.crew || sscanf(line, "go %d", &ms) != 1 || ms < 1) {
        trouble("nobody to work, or no time: %s", line);
        return;
    }
    static bench_histogram of_slice;
    of_slice = (bench_histogram){0};
    atomic_store(&violations, 0);
    uint64_t handed_before = handed();
    bench_slice slice = crew_work(table.crew, ms);
    crew_latencies(table.crew, &of_slice);
    histogram_merge(&table.latencies, &of_slice);
    if (!*trouble_text())
        printf("done %llu %.9f %.1f %.2f %.2f %llu %llu\n", (unsigned long long)slice.turns, slice.seconds, slice.cpu_us,
               histogram_quantile_us(&of_slice, 0.5), histogram_quantile_us(&of_slice, 0.99),
               (unsigned long long)atomic_load(&violations), (unsigned long long)(handed() - handed_before));
}

static long long rss_bytes(void)
{
    char line[256];
    long long kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "RssAnon: %lld", &kib);
    if (status)
        fclose(status);
    return kib * 1024;
}

static void print_tallies(void)
{
    bench_tally **tallies = calloc((size_t)table.threads + 1, sizeof *tallies);
    if (!tallies)
        abort();
    for (int i = 0; i < table.threads; i++)
        tallies[i] = &table.seats[i].tally;
    tally_print(tallies, table.threads, stdout);
    for (int i = 0; i < table.threads; i++)
        *tallies[i] = (bench_tally){0};
    free(tallies);
}

static void answer_stats(void)
{
    printf("stats rss_bytes=%lld latencies=", rss_bytes());
    histogram_print(&table.latencies, stdout);
    print_tallies();
    putchar('\n');
    table.latencies = (bench_histogram){0};
}

static bool open_up(const bench_player *player, const char *line)
{
    char url[512], path[512];
    if (sscanf(line, "open %511s %511s", url, path) != 2)
        return trouble("not an URL and a file of claims: %s", line);
    if (!claims_map(path))
        return trouble("%s: %s", path, strerror(errno));
    return player->open(url);
}

static void answer(const bench_player *player, const char *line)
{
    trouble_clear();
    if (strncmp(line, "go ", 3) == 0)
        answer_go(line);
    else if (strcmp(line, "stats") == 0)
        answer_stats();
    else if (strncmp(line, "open ", 5) == 0 ? open_up(player, line)
             : strncmp(line, "crew ", 5) == 0 ? gather(player, line)
             : strcmp(line, "take") == 0      ? hold(true)
             : strcmp(line, "give") == 0      ? hold(false)
                                              : trouble("not understood: %s", line))
        puts("ok");
    if (*trouble_text())
        printf("error %s\n", trouble_text());
    fflush(stdout);
}

int player_run(const bench_player *player)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "quit") == 0)
            break;
        answer(player, line);
    }
    dismiss();
    player->close();
    return 0;
}

/* Clients of a hostile server: no answer of it crashes them, every call returns, and everything is given back.
 *
 *   make hostile                           a few seconds for each kind of servers
 *   make SAN=address hostile TIME=600      ten minutes for each
 *   make hostile SEED=42 ARGS='--filter hostile/cluster'    repeats a run whose seed was printed
 *
 * The same seed gives the same calls and the same distortions; which meets which depends on the threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/hostile/loopback.h"
#include "tests/hostile/support/hostile.h"
#include "tests/hostile/support/players.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A call waits for 100 ms at most, and its attempts take 120 ms each, one after the other for each member of a multi
 * lock. The rest is for a machine under load. */
enum { CALL_MS = 60000, CLOSE_MS = 60000, TASKS_MS = 20000 };
enum { GENERATION_MS = 1500, STAY_MS = 100, LOOK_MS = 20, CANCEL_MS = 60 };

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
enum { MOST_LEFT_MB = 8 }; /* when all clients are closed */

/* A sanitizer keeps freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||           \
    __has_feature(thread_sanitizer)
enum { MOST_MEMORY_MB = 3000 };
#else
enum { MOST_MEMORY_MB = 1000 };
#endif

#define QUICK "timeout=120&connectTimeout=120&subscriptionTimeout=120&retryAttempts=1&retryBaseDelay=5&retryMaxDelay=20" \
              "&slavesSyncTimeout=100&scanInterval=150&pingConnectionInterval=150&connectionPoolSize=2"

static struct {
    server *behind;
    hostile *server;
    uint64_t seed;
    dice dice;
    char url[1024];
    long opened, refused, calls, successes;
} stage;

/* --- memory, descriptors and threads --- */

static int files_open(void)
{
    DIR *files = opendir("/proc/self/fd");
    int count = 0;
    cr_assert(files != NULL);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

static long memory_mb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    cr_assert(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) >> 20;
}

/* Allocated memory, without the memory that the allocator keeps for later. A sanitizer's own allocator reports leaks by
 * itself, and this is 0. */
static size_t allocated_mb(void)
{
    struct mallinfo2 now = mallinfo2();
    return (now.uordblks + now.hblkhd) >> 20;
}

static void assert_tasks_ended(void)
{
    int64_t until_ms = limit_end_ms(TASKS_MS);
    while (tasks_named("rlock-") != 0)
        cr_assert(now_ms() < until_ms, "seed %llu: %d threads of the library are left", (unsigned long long)stage.seed,
                  tasks_named("rlock-"));
}

/* --- one generation: two clients, their threads, and the end of all --- */

static const char *number_of(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static const char *url_of_generation(const char *base)
{
    static const char *const words[] = {"false", "true"};
    static const char *const shardings[] = {"AUTO", "ON", "OFF"};
    static const int watchdogs[] = {30, 300, 3000};
    snprintf(stage.url, sizeof stage.url, "%s" QUICK "&unlockWaits=%s&localHandOver=%s&checkLockSyncedSlaves=%s"
             "&shardedSubscriptionMode=%s&lockWatchdogTimeout=%d", base, words[dice_roll(&stage.dice, 2)],
             words[dice_roll(&stage.dice, 2)], words[dice_roll(&stage.dice, 2)], shardings[dice_roll(&stage.dice, 3)],
             watchdogs[dice_roll(&stage.dice, 3)]);
    return stage.url;
}

static void note_loss(const rlock_lost_event *lost, void *arg)
{
    atomic_fetch_add((atomic_long *)arg, (long)strlen(lost->name));
}

/* NULL: the server was not willing. */
static rlock_client *open_client(const char *url)
{
    static atomic_long losses;
    rlock_client *client = NULL;
    int64_t since_ms = now_ms();
    rlock_status status = rlock_client_open(&client, url);
    cr_assert(now_ms() - since_ms < CALL_MS, "seed %llu: a client took %lld ms to open", (unsigned long long)stage.seed,
              (long long)(now_ms() - since_ms));
    cr_assert((status == RLOCK_OK) == (client != NULL));
    cr_assert(status == RLOCK_OK || status == RLOCK_UNAVAILABLE || status == RLOCK_SERVER, "seed %llu: %s, %s",
              (unsigned long long)stage.seed, rlock_strstatus(status), rlock_last_error());
    (client ? &stage.opened : &stage.refused)[0]++;
    rlock_on_lost(client, note_loss, &losses);
    return client;
}

typedef struct closing {
    rlock_client *client;
    event closed;
} closing;

static void *close_client(void *argument)
{
    closing *self = argument;
    rlock_client_close(self->client);
    event_set(&self->closed);
    return NULL;
}

static void assert_closes(rlock_client *client)
{
    pthread_t thread;
    closing under_way = {.client = client};
    event_init(&under_way.closed);
    cr_assert(pthread_create(&thread, NULL, close_client, &under_way) == 0);
    cr_assert(event_wait_ms(&under_way.closed, CLOSE_MS), "seed %llu: a client does not close", (unsigned long long)stage.seed);
    pthread_join(thread, NULL);
    event_destroy(&under_way.closed);
}

static void watch(players *both[2], int64_t until_ms)
{
    while (now_ms() < until_ms) {
        for (int i = 0; i < 2; i++) {
            const char *complaint = both[i] ? players_complaint(both[i], CALL_MS) : NULL;
            cr_assert(!complaint, "seed %llu: %s", (unsigned long long)stage.seed, complaint);
            if (both[i])
                players_cancel(both[i], CANCEL_MS);
        }
        cr_assert(memory_mb() < MOST_MEMORY_MB, "seed %llu: %ld MB of memory", (unsigned long long)stage.seed, memory_mb());
        cr_assert(hostile_is_alive(stage.server), "seed %llu: the hostile server has ended", (unsigned long long)stage.seed);
        pass_ms(LOOK_MS);
    }
}

static void end_players(players *ended)
{
    stage.calls += players_calls(ended);
    stage.successes += players_successes(ended);
    cr_assert(players_end(ended, CALL_MS), "seed %llu: a call does not end: %s", (unsigned long long)stage.seed,
              players_complaint(ended, 0));
}

static void play(const char *base)
{
    rlock_client *clients[2];
    players *both[2] = {NULL};
    for (int i = 0; i < 2; i++) {
        clients[i] = open_client(url_of_generation(base));
        if (clients[i])
            both[i] = players_start(clients[i], stage.seed + (uint64_t)dice_roll(&stage.dice, 1000000));
    }
    if (both[0] || both[1])
        watch(both, now_ms() + GENERATION_MS);
    for (int i = 0; i < 2; i++) {
        if (both[i])
            players_let_stay(both[i]);
    }
    watch(both, now_ms() + STAY_MS);
    for (int i = 0; i < 2; i++) {
        if (both[i]) {
            players_cancel(both[i], 0);
            players_stop(both[i]);
        }
        assert_closes(clients[i]); /* with calls under way in its threads */
        if (both[i])
            end_players(both[i]);
    }
}

/* --- all of them --- */

static void open_stage(void)
{
    const char *seed = number_of("HOSTILE_SEED");
    stage.seed = seed ? strtoull(seed, NULL, 10) : (uint64_t)now_ms() * 2654435761u + (uint64_t)getpid();
    stage.dice = dice_seeded(stage.seed);
    stage.behind = server_start();
    stage.server = hostile_start(stage.behind, stage.seed);
    loopback_leads_to(hostile_listens_at(stage.server));
}

static void close_stage(void)
{
    hostile_stop(stage.server);
    server_stop(stage.behind);
}

TestSuite(hostile, .init = open_stage, .fini = close_stage);

static void survive(const char *title, const char *base)
{
    const char *time = number_of("HOSTILE_TIME");
    int64_t until_ms = now_ms() + 1000 * (time ? strtoll(time, NULL, 10) : 5);
    fprintf(stderr, "hostile/%s: SEED=%llu\n", title, (unsigned long long)stage.seed);
    int files = files_open(), generations = 0;
    for (; now_ms() < until_ms || !stage.calls; generations++) {
        play(base);
        assert_tasks_ended();
        cr_assert(allocated_mb() < MOST_LEFT_MB, "seed %llu: %zu MB of memory are left", (unsigned long long)stage.seed,
                  allocated_mb());
        cr_assert(files_open() == files, "seed %llu: %d files are open, %d were", (unsigned long long)stage.seed, files_open(),
                  files);
    }
    cr_assert(stage.successes > 0, "seed %llu: no call succeeded", (unsigned long long)stage.seed);
    fprintf(stderr, "hostile/%s: %d generations, %ld clients (%ld did not open), %ld calls (%ld RLOCK_OK), %ld answers "
            "(%ld distorted), %ld MB at the end\n", title, generations, stage.opened, stage.refused, stage.calls,
            stage.successes, hostile_answers(stage.server), hostile_distortions(stage.server), memory_mb());
}

/* A URL of the first `count` ports, followed by `rest`. */
static const char *url_of(const char *scheme, int count, const char *rest)
{
    static char url[256];
    const hostile_ports *ports = hostile_listens_at(stage.server);
    int length = snprintf(url, sizeof url, "%s", scheme);
    for (int i = 0; i < count; i++)
        length += snprintf(url + length, sizeof url - (size_t)length, "%s127.0.0.1:%d", i ? "," : "", ports->all[i]);
    snprintf(url + length, sizeof url - (size_t)length, "%s", rest);
    return url;
}

Test(hostile, single)
{
    survive("single", url_of("redis://", 1, "/?"));
}

Test(hostile, single_with_login)
{
    survive("single_with_login", url_of("redis://user:password@", 1, "/3?clientName=hostile&"));
}

Test(hostile, sentinels)
{
    survive("sentinels", url_of("redis-sentinel://", 2, "/?masterName=order&"));
}

Test(hostile, cluster)
{
    survive("cluster", url_of("redis-cluster://", 4, "/?"));
}

Test(hostile, replicated)
{
    survive("replicated", url_of("redis-replicated://", 3, "/?"));
}

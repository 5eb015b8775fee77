/* Many locks held by one client: what each keeps in memory, what renewing them costs, and how long the server's
 * other clients wait for a batch of renewals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/latency.h"
#include "tests/bench/support/usage.h"
#include "tests/bench/support/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 30000 /* the watchdog's by default */
#define THIRD_MS (TIMEOUT_MS / 3)
/* How much later than a third a renewal may come: it is sent with others, and in its turn. */
#define SLACK_MS 500
#define TAKE_MS 90000
#define FEW 100     /* so many are held first… */
#define FEW_MS 6000 /* …and not renewed for so long, while another client may wait for whatever else there is */

typedef struct holding {
    const char *who, *contestant, *url;
    int count;
    /* found */
    double bytes, core, least_pttl_ms; /* bytes a hold; share of a core */
    long missing, shared;              /* keys that are gone in the end; with other than one owner */
    bench_latency beside;              /* of a client of its own */
} holding;

/* --- what is on the server --- */

/* Some keys at a time, so that renewals are not kept waiting by those who look. */
static const char look_script[] =
    "local found = redis.call('scan', ARGV[1], 'count', 200) "
    "local least, shared = 1e15, 0 "
    "for _, key in ipairs(found[2]) do "
    "  local pttl = redis.call('pttl', key) "
    "  if pttl < least then least = pttl end "
    "  if redis.call('hlen', key) ~= 1 then shared = shared + 1 end "
    "end "
    "return { found[1], #found[2], least, shared }";

/* Looks at every key once. */
static void look(bench_redis *redis, holding *self)
{
    char cursor[32] = "0";
    do {
        redisReply *reply = redis_ask(redis, "EVAL %s 0 %s", look_script, cursor);
        snprintf(cursor, sizeof cursor, "%s", reply->element[0]->str);
        if (reply->element[1]->integer > 0 && (double)reply->element[2]->integer < self->least_pttl_ms)
            self->least_pttl_ms = (double)reply->element[2]->integer;
        self->shared += (long)reply->element[3]->integer;
        freeReplyObject(reply);
    } while (strcmp(cursor, "0") != 0);
}

/* Through a period, as what is late is late at some time of it. */
static void look_on(bench_redis *redis, holding *self)
{
    self->least_pttl_ms = TIMEOUT_MS;
    for (double end_s = usage_now_s() + THIRD_MS / 1e3; usage_now_s() < end_s;)
        look(redis, self);
}

/* --- the holder --- */

/* A number that the contestant has under that key in what it says of itself; -1: it has none. */
static double ask_number(bench_contestant *process, const char *key)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s=", key);
    const char *heard = contestant_ask(process, TAKE_MS, "stats", "stats");
    const char *at = heard ? strstr(heard, wanted) : NULL;
    return at ? atof(at + strlen(wanted)) : -1;
}

/* Of the heap where there is one, else of the process. */
static double memory(bench_contestant *process)
{
    double heap = ask_number(process, "heap_bytes");
    return heap >= 0 ? heap : (double)usage_resident_bytes(contestant_pid(process));
}

/* Looking comes first: by its second third a JVM has compiled what renews. */
static void watch(bench_run *bench, bench_contestant *process, holding *self)
{
    pid_t pid = contestant_pid(process);
    look_on(&bench->redis, self);
    double cpu_us = usage_cpu_us(pid), began_s = usage_now_s();
    latency_measure(&bench->redis, &self->beside, THIRD_MS);
    double us = (usage_now_s() - began_s) * 1e6;
    self->core = (usage_cpu_us(pid) - cpu_us) / us;
}

/* NULL: there is none, and it has been said. */
static bench_contestant *start(bench_run *bench, const holding *self)
{
    freeReplyObject(redis_ask(&bench->redis, "FLUSHALL"));
    bench_contestant *process = contestant_start(bench, self->contestant, self->url);
    if (process && contestant_ask(process, TAKE_MS, "ok", "hold %d", FEW))
        return process;
    if (process)
        contestant_end(process);
    return NULL;
}

static bool measure_few(bench_run *bench, holding *self)
{
    bench_contestant *process = start(bench, self);
    if (!process)
        return false;
    latency_measure(&bench->redis, &self->beside, FEW_MS);
    contestant_end(process);
    return true;
}

static bool measure_one(bench_run *bench, holding *self)
{
    bench_contestant *process = start(bench, self);
    bool right = process;
    if (right) {
        double before = memory(process);
        right = contestant_ask(process, TAKE_MS, "ok", "hold %d", self->count);
        self->bytes = right ? (memory(process) - before) / (self->count - FEW) : 0;
    }
    if (right) {
        watch(bench, process, self);
        self->missing = (long)(self->count - redis_keys(&bench->redis));
        right = self->missing == 0 && self->shared == 0 && ask_number(process, "lost") <= 0;
        if (!right)
            fprintf(stderr, "bench: of %d locks of %s %ld are gone, %ld have two owners, %.0f were said to be lost\n",
                    self->count, self->who, self->missing, self->shared, ask_number(process, "lost"));
    }
    if (process)
        contestant_end(process);
    return right;
}

/* --- the report --- */

typedef struct wording {
    char text[8][128];
    int count;
} wording;

static const char *word(wording *words, const holding *self, const char *subject)
{
    char *text = words->text[words->count++];
    snprintf(text, sizeof words->text[0], "%d holds: %s", self->count, subject);
    return text;
}

/* The target is for what the server does; what else runs on the machine may take its core, or the other client's. */
static void report_waits(bench_run *bench, const holding *self, double most_ms)
{
    wording words = {.count = 0};
    bench_value value = {.who = self->who, .processes = 1, .unit = "ms", .most = most_ms};
    value.what = word(&words, self, "longest wait of another client, less time without a core");
    value.value = self->beside.most_with_core_ms;
    value_report(bench, &value);

    value.most = 0;
    value.what = word(&words, self, "longest wait of another client");
    value.value = self->beside.most_ms;
    value_report(bench, &value);
    value.what = word(&words, self, "wait of another client, 99 of 100");
    value.value = self->beside.p99_ms;
    value_report(bench, &value);
}

/* `theirs`: Redisson's, or NULL. Only what is ours has targets. */
static void report_one(bench_run *bench, const holding *self, const holding *theirs)
{
    wording words = {.count = 0};
    bool ours = strcmp(self->who, "rlock") == 0;
    double hundred_thousands = self->count / 1e5;
    bench_value value = {.who = self->who, .processes = 1};

    value.what = word(&words, self, "memory a hold");
    value.value = self->bytes;
    value.unit = "bytes";
    value.most = ours ? 200 : 0;
    value.redisson = theirs ? theirs->bytes : 0;
    value_report(bench, &value);

    value.what = word(&words, self, "CPU of the client, for each 100,000");
    value.value = self->core / hundred_thousands * 100;
    value.unit = "% of a core";
    value.most = ours ? 2 : 0;
    value.redisson = theirs ? theirs->core / (theirs->count / 1e5) * 100 : 0;
    value_report(bench, &value);

    value.redisson = 0;
    value.most = 0;
    value.what = word(&words, self, "CPU of the client, a renewal");
    value.value = self->core * THIRD_MS * 1e3 / self->count;
    value.unit = "µs";
    value.plot = "holds";
    value.x = self->count;
    value_report(bench, &value);

    value.plot = NULL;
    value.what = word(&words, self, "least time to live of all, of 30000");
    value.value = self->least_pttl_ms;
    value.unit = "ms";
    value.most = 0;
    value.least = ours ? TIMEOUT_MS - THIRD_MS - SLACK_MS : 0;
    value_report(bench, &value);

    report_waits(bench, self, ours ? 5 : 0);
}

/* Redisson last: its JVM lives on, and finds out that its locks are gone when it renews them. */
static bool measure(bench_run *bench)
{
    holding ours[] = {{.who = "rlock", .contestant = "holder", .url = bench->url, .count = 100000},
                      {.who = "rlock", .contestant = "holder", .url = bench->url, .count = 1000000}};
    holding few = {.who = "rlock", .contestant = "holder", .url = bench->url, .count = FEW};
    holding theirs = {.who = "redisson", .contestant = "redisson", .url = bench->redis.tcp_url, .count = 100000};
    bool right = contestant_is_there(bench, "holder"), there = contestant_is_there(bench, "redisson");
    right = right && measure_few(bench, &few);
    for (int i = 0; right && i < 2; i++)
        right = measure_one(bench, &ours[i]);
    right = right && (!there || measure_one(bench, &theirs));
    if (right)
        report_waits(bench, &few, 0);
    for (int i = 0; right && i < 2; i++)
        report_one(bench, &ours[i], there ? &theirs : NULL);
    if (right && there)
        report_one(bench, &theirs, NULL);
    return right;
}

extern const bench_row row_holds;
const bench_row row_holds = {
    "holds", "Locks held by one client, each on a name of its own, renewed by the watchdog every third of 30 s",
    measure};

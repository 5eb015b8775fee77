/* Rivals: the fair lock of the library and that of the real Redisson, in turn on one server. Both do the
 * same under it: read a counter in a file, let others run, write it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/rivals.h"

#include "tests/bench/support/java.h"
#include "tests/bench/support/ours.h"

#include <pthread.h>
#include <rlock/rlock.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TARGET 4.0
#define WARM_UP_TURNS 1500 /* for the JVM's compilers as well */
#define THREADS_MAX 64

typedef struct bench_rivals {
    bench_redis *redis;
    bench_java java;
    rlock_client *client;
    rlock *lock;
    int threads;
    int fd; /* the counter */
    char file[64];
    int64_t total;
} bench_rivals;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- our side --- */

/* Whether there was a turn left. */
static bool increment(const bench_rivals *rivals)
{
    int64_t value = rivals->total;
    if (pread(rivals->fd, &value, sizeof value, 0) != sizeof value || value >= rivals->total)
        return false;
    sched_yield();
    value++;
    return pwrite(rivals->fd, &value, sizeof value, 0) == sizeof value;
}

static void *take_turns(void *arg)
{
    const bench_rivals *rivals = arg;
    rlock_status status = RLOCK_OK;
    for (bool more = true; more && status == RLOCK_OK;) {
        if ((status = rlock_lock(rivals->lock)) == RLOCK_OK) {
            more = increment(rivals);
            status = rlock_unlock(rivals->lock);
        }
    }
    if (status == RLOCK_OK)
        return arg;
    fprintf(stderr, "bench: fair lock: %s: %s\n", rlock_strstatus(status), rlock_last_error());
    return NULL;
}

static bool our_turns(bench_rivals *rivals, int64_t *ns)
{
    pthread_t threads[THREADS_MAX];
    int64_t began_ns = now_ns();
    bool right = true;
    for (int i = 0; i < rivals->threads; i++) {
        if (pthread_create(&threads[i], NULL, take_turns, rivals) != 0)
            abort();
    }
    for (int i = 0; i < rivals->threads; i++) {
        void *done;
        pthread_join(threads[i], &done);
        right = right && done;
    }
    *ns = now_ns() - began_ns;
    return right;
}

/* --- both --- */

static long long scripts(bench_redis *redis)
{
    return redis_calls(redis, "evalsha") + redis_calls(redis, "eval");
}

/* So many turns by one side: how many a second. False: one was lost, or a call failed. */
static bool slice(bench_rivals *rivals, bench_side *side, int64_t turns, double *per_s)
{
    bool ours = strcmp(side->not_named, "java") == 0;
    long long scripts_before = scripts(rivals->redis);
    double server_before_us = redis_cpu_us(rivals->redis);
    int64_t zero = 0, counted = -1, ns = 1;
    rivals->total = turns;
    if (pwrite(rivals->fd, &zero, sizeof zero, 0) != sizeof zero)
        return false;
    bool right = ours ? our_turns(rivals, &ns)
                      : java_turns(&rivals->java, "bench:rivals:java", rivals->threads, rivals->file, turns, &ns);
    if (right && (pread(rivals->fd, &counted, sizeof counted, 0) != sizeof counted || counted != turns)) {
        fprintf(stderr, "bench: %lld of %lld turns were counted\n", (long long)counted, (long long)turns);
        right = false;
    }
    *per_s = (double)turns / ((double)ns / 1e9);
    side->turns += (uint64_t)turns;
    side->scripts += scripts(rivals->redis) - scripts_before;
    side->server_us += redis_cpu_us(rivals->redis) - server_before_us;
    side->connections = redis_connections(rivals->redis, side->not_named);
    return right;
}

static int64_t turns_in(double per_s, int ms)
{
    int64_t turns = (int64_t)(per_s * ms / 1000);
    return turns < 50 ? 50 : turns;
}

static bool fight(bench_rivals *rivals, bench_side *java, bench_side *ours, int slices, int ms)
{
    double java_per_s, our_per_s;
    bool right = slice(rivals, java, WARM_UP_TURNS, &java_per_s) && slice(rivals, ours, WARM_UP_TURNS, &our_per_s) &&
                 slice(rivals, java, turns_in(java_per_s, ms), &java_per_s);
    for (int i = 0; right && i < slices; i++) {
        for (int turn = 0; right && turn < 2; turn++) {
            bool us = (i + turn) % 2;
            bench_side *side = us ? ours : java;
            right = slice(rivals, side, turns_in(us ? our_per_s : java_per_s, ms), &side->per_s[i]);
        }
    }
    return right;
}

static double mean(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static bench_row row_of(const char *what, int threads, const bench_side *side, int slices)
{
    return (bench_row){.what = what, .threads = threads, .per_s = mean(side->per_s, slices),
                       .server_us = side->server_us / (double)side->turns, .connections = side->connections};
}

static void report_rivals(bench_report *report, const bench_side *java, const bench_side *ours, int threads, int slices)
{
    char remark[128];
    bench_ratio ratio = duel_ratio(java, ours, slices);
    bench_row row = row_of("redisson fair, one name", threads, java, slices);
    snprintf(remark, sizeof remark, "%.1f scripts a turn", (double)java->scripts / (double)java->turns);
    row.remark = remark;
    report_row(report, &row);
    snprintf(remark, sizeof remark, "%.1f scripts a turn; %.1f (%.1f … %.1f) × Redisson: %s: target ≥ %.0f ×",
             (double)ours->scripts / (double)ours->turns, ratio.median, ratio.low,
             ratio.high, ratio.low >= TARGET ? "met" : ratio.high < TARGET ? "MISSED" : "UNDECIDED", TARGET);
    row = row_of("rlock fair, one name", threads, ours, slices);
    row.ratio_redisson = ratio.median;
    row.remark = remark;
    report_row(report, &row);
}

static bool set_up(bench_rivals *rivals, bench_redis *redis, const char *agent, int threads)
{
    char url[64], named[96];
    *rivals = (bench_rivals){.redis = redis, .threads = threads < THREADS_MAX ? threads : THREADS_MAX};
    rivals->fd = memfd_create("turns", MFD_CLOEXEC);
    snprintf(rivals->file, sizeof rivals->file, "/proc/%d/fd/%d", (int)getpid(), rivals->fd);
    redis_tcp_url(redis, url);
    snprintf(named, sizeof named, "%s?clientName=" OURS_NAME, url);
    if (rlock_client_open(&rivals->client, named) != RLOCK_OK ||
        !(rivals->lock = rlock_get_fair_lock(rivals->client, "bench:rivals:ours"))) {
        fprintf(stderr, "bench: %s\n", rlock_last_error());
        exit(1);
    }
    return java_start(&rivals->java, agent, url);
}

bool rivals_measure(bench_redis *redis, bench_report *report, const char *agent, int threads, int slices, int ms)
{
    bench_rivals rivals;
    bench_side *java = calloc(1, sizeof *java), *ours = calloc(1, sizeof *ours);
    if (!java || !ours)
        abort();
    java->not_named = OURS_NAME;
    ours->not_named = "java"; /* as the agent calls its own */
    bool right = set_up(&rivals, redis, agent, threads) && fight(&rivals, java, ours, slices, ms);
    if (right)
        report_rivals(report, java, ours, rivals.threads, slices);
    java_stop(&rivals.java);
    rlock_free(rivals.lock);
    rlock_client_close(rivals.client);
    close(rivals.fd);
    free(java);
    free(ours);
    freeReplyObject(redis_ask(redis, "FLUSHALL"));
    return right;
}

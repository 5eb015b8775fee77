/* A crew: threads that all take turns at their work for a slice of time, and are parked between
 * slices, so that starting them is not measured. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

typedef struct bench_worker {
    bench_crew *crew;
    pthread_t thread;
    void *own;
    uint64_t turns; /* of this slice; read when all are parked */
    bench_histogram latencies;
} bench_worker;

struct bench_crew {
    crew_turn_fn *turn;
    int threads;
    bench_worker *workers;
    atomic_bool stop, failed;
    pthread_mutex_t mutex;
    pthread_cond_t start, parked;
    /* guarded by the mutex */
    int working;
    unsigned round; /* raised to start a slice */
    bool ending;
    uint64_t ended_ns; /* when the last thread parked */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* --- in the threads --- */

static void take_turns(bench_worker *worker)
{
    bench_crew *crew = worker->crew;
    uint64_t turns = 0, before_ns = now_ns();
    while (!atomic_load_explicit(&crew->stop, memory_order_relaxed)) {
        if (!crew->turn(worker->own)) {
            atomic_store(&crew->failed, true);
            atomic_store(&crew->stop, true);
            break;
        }
        uint64_t after_ns = now_ns();
        histogram_add(&worker->latencies, after_ns - before_ns);
        before_ns = after_ns;
        turns++;
    }
    worker->turns = turns;
}

static void *work(void *arg)
{
    bench_worker *worker = arg;
    bench_crew *crew = worker->crew;
    pthread_mutex_lock(&crew->mutex);
    for (unsigned seen = 0;;) {
        while (crew->round == seen && !crew->ending)
            pthread_cond_wait(&crew->start, &crew->mutex);
        if (crew->ending)
            break;
        seen = crew->round;
        pthread_mutex_unlock(&crew->mutex);
        take_turns(worker);
        pthread_mutex_lock(&crew->mutex);
        if (--crew->working == 0) {
            crew->ended_ns = now_ns();
            pthread_cond_signal(&crew->parked);
        }
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* --- in the main thread --- */

bench_crew *crew_start(int threads, crew_turn_fn *turn, void *const *own)
{
    bench_crew *crew = calloc(1, sizeof *crew);
    bench_worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!crew || !workers)
        abort();
    crew->turn = turn;
    crew->threads = threads;
    crew->workers = workers;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->start, NULL);
    pthread_cond_init(&crew->parked, NULL);
    for (int i = 0; i < threads; i++) {
        workers[i].crew = crew;
        workers[i].own = own[i];
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "bench: no thread %d of %d\n", i + 1, threads);
            exit(1);
        }
    }
    return crew;
}

bench_slice crew_work(bench_crew *crew, int ms)
{
    bench_slice slice = {0};
    struct timespec span = {ms / 1000, (long)(ms % 1000) * 1000000};
    atomic_store(&crew->stop, false);
    double cpu_before_us = cpu_us();
    pthread_mutex_lock(&crew->mutex);
    crew->working = crew->threads;
    crew->round++;
    uint64_t began_ns = now_ns();
    pthread_cond_broadcast(&crew->start);
    pthread_mutex_unlock(&crew->mutex);

    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
    atomic_store(&crew->stop, true);

    pthread_mutex_lock(&crew->mutex);
    while (crew->working > 0)
        pthread_cond_wait(&crew->parked, &crew->mutex);
    slice.seconds = (double)(crew->ended_ns - began_ns) / 1e9;
    pthread_mutex_unlock(&crew->mutex);
    slice.cpu_us = cpu_us() - cpu_before_us;
    slice.failed = atomic_load(&crew->failed);
    for (int i = 0; i < crew->threads; i++)
        slice.turns += crew->workers[i].turns;
    return slice;
}

void crew_latencies(bench_crew *crew, bench_histogram *sum)
{
    for (int i = 0; i < crew->threads; i++) {
        histogram_merge(sum, &crew->workers[i].latencies);
        crew->workers[i].latencies = (bench_histogram){0};
    }
}

void crew_stop(bench_crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->ending = true;
    pthread_cond_broadcast(&crew->start);
    pthread_mutex_unlock(&crew->mutex);
    for (int i = 0; i < crew->threads; i++)
        pthread_join(crew->workers[i].thread, NULL);
    pthread_cond_destroy(&crew->start);
    pthread_cond_destroy(&crew->parked);
    pthread_mutex_destroy(&crew->mutex);
    free(crew->workers);
    free(crew);
}

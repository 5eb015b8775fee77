/* The library as a contestant whose threads all wait for one name. Between slices they go on waiting: who has
 * the lock then keeps it. It answers
 *
 *     open URL CLAIMS    ok
 *     crew N NAME        ok    N threads on small stacks, each parked on a condition variable
 *     wait               waiting BYTES STACK_BYTES    all of them wait for the lock now; how much the resident
 *                              memory of the process has grown since they were parked, and how much of that is
 *                              on their stacks
 *     go MS              done TURNS SECONDS CPU_US VIOLATIONS    the lock goes round for MS
 *     quit               (it exits) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/claims.h"

#include <rlock/rlock.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES 65536

static rlock_client *client;
static rlock *lock;
static bench_claim *claim;

static struct {
    unsigned char *stacks;
    int threads;
    long parked_bytes, parked_stacks; /* resident when all were parked */
} crew;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begin = PTHREAD_COND_INITIALIZER, resume = PTHREAD_COND_INITIALIZER,
                      told = PTHREAD_COND_INITIALIZER;
/* guarded by the mutex */
static int parked, begun;
static bool beginning, holding; /* holding: somebody has the lock and waits to go on */

static atomic_bool going, failed;
static atomic_ulong turns, violations;

/* --- the threads --- */

/* With the lock held, as long as nobody goes. */
static void pause_here(void)
{
    pthread_mutex_lock(&mutex);
    holding = true;
    pthread_cond_signal(&told);
    while (!atomic_load(&going))
        pthread_cond_wait(&resume, &mutex);
    holding = false;
    pthread_mutex_unlock(&mutex);
}

static bool take_turn(uint64_t id)
{
    if (rlock_lock(lock) != RLOCK_OK)
        return false;
    bool alone = claims_enter(claim, id);
    if (!atomic_load_explicit(&going, memory_order_relaxed))
        pause_here();
    atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
    if (!claims_leave(claim, id) || !alone)
        atomic_fetch_add(&violations, 1);
    return rlock_unlock(lock) == RLOCK_OK;
}

static void *work(void *arg)
{
    uint64_t id = claims_id((int)(intptr_t)arg);
    void *volatile some = malloc(64); /* what malloc keeps for a thread is the thread's */
    free(some);
    pthread_mutex_lock(&mutex);
    parked++;
    pthread_cond_signal(&told);
    while (!beginning)
        pthread_cond_wait(&begin, &mutex);
    begun++;
    pthread_mutex_unlock(&mutex);
    while (take_turn(id))
        continue;
    fprintf(stderr, "waiters: %s\n", rlock_last_error());
    atomic_store(&failed, true);
    return NULL;
}

/* --- what they cost --- */

static long resident_bytes(void)
{
    char line[256];
    long kib = 0;
    FILE *sums = fopen("/proc/self/smaps_rollup", "re"); /* exactly, which statm is not */
    while (sums && fgets(line, sizeof line, sums) && sscanf(line, "Rss: %ld", &kib) != 1)
        continue;
    if (!kib)
        abort();
    fclose(sums);
    return kib * 1024;
}

static long stack_bytes(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)crew.threads * STACK_BYTES / page;
    unsigned char *there = malloc(pages);
    long resident = 0;
    if (!there || mincore(crew.stacks, pages * page, there) != 0)
        abort();
    for (size_t i = 0; i < pages; i++)
        resident += there[i] & 1;
    free(there);
    return resident * (long)page;
}

static double cpu_us(void)
{
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (double)cpu.tv_sec * 1e6 + (double)cpu.tv_nsec / 1e3;
}

static void sleep_ms(long ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

/* All threads sleep: nothing of the process ran in a while, but for reading its own times. */
static void await_rest(void)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &after);
    do {
        before = after;
        sleep_ms(100);
        getrusage(RUSAGE_SELF, &after);
    } while (after.ru_nvcsw - before.ru_nvcsw > 10);
}

/* --- answers --- */

static void answer_open(const char *url, const char *claims)
{
    if (!claims_map(claims))
        printf("error %s: %s\n", claims, strerror(errno));
    else if (rlock_client_open(&client, url) != RLOCK_OK)
        printf("error %s\n", rlock_last_error());
    else
        puts("ok");
}

static bool start(int threads)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t bytes = (size_t)threads * STACK_BYTES;
    crew.stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    crew.threads = threads;
    bool right = crew.stacks != MAP_FAILED;
    pthread_attr_init(&attributes);
    for (int i = 0; right && i < threads; i++) {
        pthread_attr_setstack(&attributes, crew.stacks + (size_t)i * STACK_BYTES, STACK_BYTES);
        right = pthread_create(&thread, &attributes, work, (void *)(intptr_t)i) == 0;
    }
    pthread_attr_destroy(&attributes);
    return right;
}

/* The client has locked before, so that what it makes once is there. */
static void answer_crew(int threads, const char *name)
{
    lock = rlock_get_lock(client, name);
    claim = claims_of(name);
    if (!lock || rlock_lock(lock) != RLOCK_OK || rlock_unlock(lock) != RLOCK_OK) {
        printf("error %s\n", rlock_last_error());
        return;
    }
    if (!start(threads)) {
        puts("error no threads");
        return;
    }
    pthread_mutex_lock(&mutex);
    while (parked < threads)
        pthread_cond_wait(&told, &mutex);
    pthread_mutex_unlock(&mutex);
    await_rest();
    (void)stack_bytes(); /* what it needs itself is there from now on */
    crew.parked_stacks = stack_bytes();
    crew.parked_bytes = resident_bytes();
    puts("ok");
}

static void answer_wait(void)
{
    pthread_mutex_lock(&mutex);
    beginning = true;
    pthread_cond_broadcast(&begin);
    while (begun < crew.threads || !holding) {
        pthread_mutex_unlock(&mutex);
        sleep_ms(1);
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    await_rest();
    printf("waiting %ld %ld\n", resident_bytes() - crew.parked_bytes, stack_bytes() - crew.parked_stacks);
}

static void answer_go(int ms)
{
    struct timespec began, ended;
    double cpu_before_us = cpu_us();
    atomic_store(&turns, 0);
    atomic_store(&violations, 0);
    clock_gettime(CLOCK_MONOTONIC, &began);
    pthread_mutex_lock(&mutex);
    atomic_store(&going, true);
    pthread_cond_signal(&resume);
    pthread_mutex_unlock(&mutex);
    sleep_ms(ms);
    pthread_mutex_lock(&mutex);
    atomic_store(&going, false);
    while (!holding && !atomic_load(&failed))
        pthread_cond_wait(&told, &mutex);
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (atomic_load(&failed))
        puts("error a thread could not lock");
    else
        printf("done %lu %.6f %.1f %lu\n", atomic_load(&turns),
               (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9,
               cpu_us() - cpu_before_us, atomic_load(&violations));
}

int main(void)
{
    char line[1024], text[512], path[512];
    int number;
    while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
        if (sscanf(line, "open %511s %511s", text, path) == 2)
            answer_open(text, path);
        else if (client && !lock && sscanf(line, "crew %d %511s", &number, text) == 2 && number > 0)
            answer_crew(number, text);
        else if (crew.threads && strcmp(line, "wait\n") == 0)
            answer_wait();
        else if (beginning && sscanf(line, "go %d", &number) == 1)
            answer_go(number);
        else
            printf("error not understood: %s", line);
        fflush(stdout);
    }
    _exit(0); /* its threads wait on */
}

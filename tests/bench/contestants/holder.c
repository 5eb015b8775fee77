/* The library as a contestant that takes many locks and keeps them. Beside what PROTOCOL.md says it answers
 *
 *     hold N    ok    it holds N locks from now on, on names of their own, renewed by the watchdog
 *     stats     stats lost=…    holds lost since its start
 *
 * and `open` takes no claims: nobody else takes these names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/rlock.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 32
/* One owner for all: the threads may end. */
#define OWNER 1

typedef struct part {
    pthread_t thread;
    int first, end;
    bool right;
} part;

static rlock_client *client;
static int held;
static atomic_long lost;

static void note_lost(const rlock_lost_event *event, void *arg)
{
    (void)event;
    (void)arg;
    atomic_fetch_add(&lost, 1);
}

static void answer_open(const char *url)
{
    if (rlock_client_open(&client, url) != RLOCK_OK) {
        printf("error %s\n", rlock_last_error());
        return;
    }
    rlock_on_lost(client, note_lost, NULL);
    puts("ok");
}

static bool take(int number)
{
    char name[32];
    snprintf(name, sizeof name, "bench:%d:h%d", (int)getpid(), number);
    rlock *lock = rlock_get_lock(client, name);
    rlock *owned = lock ? rlock_for_owner(lock, OWNER) : NULL;
    bool right = owned && rlock_try_lock(owned, 0, RLOCK_WATCHDOG) == RLOCK_OK;
    rlock_free(owned);
    rlock_free(lock);
    return right;
}

static void *take_part(void *arg)
{
    part *own = arg;
    own->right = true;
    for (int i = own->first; own->right && i < own->end; i++)
        own->right = take(i);
    if (!own->right)
        fprintf(stderr, "holds: %s\n", rlock_last_error());
    return NULL;
}

static void answer_hold(int count)
{
    part parts[THREADS];
    bool right = true;
    long more = count - held;
    for (int i = 0; i < THREADS; i++) {
        parts[i].first = held + (int)(more * i / THREADS);
        parts[i].end = held + (int)(more * (i + 1) / THREADS);
        if (pthread_create(&parts[i].thread, NULL, take_part, &parts[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(parts[i].thread, NULL);
        right = right && parts[i].right;
    }
    held = count;
    puts(right ? "ok" : "error a lock was not to be had");
}

int main(void)
{
    char line[1024], url[512];
    int count;
    while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
        if (sscanf(line, "open %511s", url) == 1)
            answer_open(url);
        else if (client && sscanf(line, "hold %d", &count) == 1 && count >= held)
            answer_hold(count);
        else if (strcmp(line, "stats\n") == 0)
            printf("stats lost=%ld\n", atomic_load(&lost));
        else
            printf("error not understood: %s", line);
        fflush(stdout);
    }
    return 0; /* what it holds ends with the server, or when its time does */
}

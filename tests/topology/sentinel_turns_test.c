/* Redisson's own failover test: many short locks, started at a steady pace, while the master ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"
#include "tests/topology/support/clients.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 5        /* tasks… */
#define EVERY_MS 50      /* …in each of these spans */
#define BEFORE 200       /* so many until the master ends… */
#define AFTER  100       /* …and after one that began then has locked */
#define NAMES  100
#define TASKS  4000

/* Redisson's defaults but for the watchdog's, which this does not use. */
static sentinel *own;
static rlock_client *client;

static void open_own(void)
{
    own = sentinel_start(NULL);
    client = client_at("%s", sentinel_url(own));
}

static void close_own(void)
{
    clients_close();
    sentinel_stop(own);
}

TestSuite(sentinel_turns, .init = open_own, .fini = close_own);

typedef struct task {
    pthread_t thread;
    rlock *lock;
    int64_t began_ms, locked_ms, ended_ms;
    rlock_status locked, unlocked;
    char error[200];
} task;

static task tasks[TASKS];
static _Atomic bool failed, again; /* the master ended; a lock was had by who asked after that */

static void *run(void *arg)
{
    task *self = arg;
    bool after = failed;
    self->began_ms = now_ms();
    self->locked = rlock_lock_lease(self->lock, 10000);
    self->locked_ms = now_ms();
    if (after && self->locked == RLOCK_OK)
        again = true;
    if (self->locked == RLOCK_OK)
        self->unlocked = rlock_unlock(self->lock);
    if (self->locked != RLOCK_OK || self->unlocked != RLOCK_OK)
        snprintf(self->error, sizeof self->error, "%s", rlock_last_error());
    self->ended_ms = now_ms();
    return NULL;
}

static void start_some(int *started, int count)
{
    for (int i = 0; i < count; i++, ++*started) {
        cr_assert(*started < TASKS, "no lock was had after the failover");
        cr_assert(pthread_create(&tasks[*started].thread, NULL, run, &tasks[*started]) == 0);
        if (i % AT_ONCE == AT_ONCE - 1)
            pass_ms(EVERY_MS);
    }
}

/* Redisson lets READONLY, WAIT and not-synced errors pass, and a lock that was lost; and after it, all goes well. */
static bool is_excused(rlock_status status)
{
    return status == RLOCK_OK || status == RLOCK_NOT_SYNCED || status == RLOCK_LOST || status == RLOCK_SERVER ||
           status == RLOCK_UNAVAILABLE;
}

Test(sentinel_turns, at_a_steady_pace_go_on_after_a_failover)
{
    for (int i = 0; i < TASKS; i++) {
        char name[20];
        snprintf(name, sizeof name, "lock-%d", i * 7919 % NAMES);
        tasks[i].lock = lock_of(client, name);
    }
    int started = 0;
    start_some(&started, BEFORE);
    int64_t failed_ms = now_ms();
    server_kill(sentinel_server(own, 0));
    failed = true;
    while (!again)
        start_some(&started, AT_ONCE);
    start_some(&started, AFTER);
    int failures[15] = {0};
    int64_t first_ms = 0, longest_ms = 0;
    for (int i = 0; i < started; i++) {
        task *one = &tasks[i];
        cr_assert(pthread_join(one->thread, NULL) == 0);
        cr_assert(is_excused(one->locked) && is_excused(one->unlocked), "task %d: %s", i, one->error);
        failures[one->locked]++;
        failures[one->unlocked] += one->locked == RLOCK_OK && one->unlocked != RLOCK_OK;
        if (one->began_ms > failed_ms && one->locked == RLOCK_OK && (!first_ms || one->locked_ms < first_ms))
            first_ms = one->locked_ms;
        if (one->ended_ms - one->began_ms > longest_ms)
            longest_ms = one->ended_ms - one->began_ms;
    }
    cr_log_info("%d tasks: %d fine, %d unavailable, %d not synced, %d refused, %d lost; first lock %lld ms after the "
                "failure, the longest task took %lld ms", started, failures[RLOCK_OK], failures[RLOCK_UNAVAILABLE],
                failures[RLOCK_NOT_SYNCED], failures[RLOCK_SERVER], failures[RLOCK_LOST],
                (long long)(first_ms - failed_ms), (long long)longest_ms);
    for (int i = started - AFTER; i < started; i++)
        cr_assert(tasks[i].locked == RLOCK_OK && tasks[i].unlocked == RLOCK_OK, "%s", tasks[i].error);
    for (int i = started - AFTER; i < started; i++)
        assert_between(tasks[i].ended_ms - tasks[i].began_ms, 0, at_most_ms(500));
    int master = sentinel_await_switch(own, 0, 10000);
    rlock *last = lock_of(client, "last");
    assert_ok(rlock_lock_lease(last, 10000));
    assert_ok(rlock_unlock(last));
    cr_assert(server_integer(sentinel_server(own, master), "DBSIZE") == 0, "a lock was left behind");
}

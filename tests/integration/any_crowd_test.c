/* Any lock: what the scenarios ask of every kind when many want it at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define KIND_SUITE any_crowd
TestSuite(any_crowd, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* --- 10: crowds that count ---
 * Who holds the lock alone adds to a counter that nothing else protects. Of a lock that many may hold,
 * every second turn is its rival's, which counts; in the others the counter must stand still. */

typedef struct tally {
    atomic_int value, failed, ended; /* atomic for sanitizers alone: read, and later written one higher */
    int turns;
    int64_t hold_ms;
} tally;

typedef struct counting {
    tally *count;
    rlock *lock, *rival;
    int number;
    pthread_t thread;
} counting;

static void hold(const tally *self)
{
    if (self->hold_ms)
        pass_ms(self->hold_ms);
    else
        sched_yield();
}

static void *take_turns(void *arg)
{
    counting *self = arg;
    tally *count = self->count;
    for (int i = 0; i < count->turns; i++) {
        bool looks = self->lock != self->rival && (self->number + i) % 2;
        rlock *lock = looks ? self->lock : self->rival;
        if (rlock_lock(lock) != RLOCK_OK) {
            atomic_fetch_add(&count->failed, 1);
            continue;
        }
        int seen = atomic_load_explicit(&count->value, memory_order_relaxed);
        hold(count);
        if (!looks)
            atomic_store_explicit(&count->value, seen + 1, memory_order_relaxed);
        else if (atomic_load_explicit(&count->value, memory_order_relaxed) != seen)
            atomic_fetch_add(&count->failed, 1);
        if (rlock_unlock(lock) != RLOCK_OK)
            atomic_fetch_add(&count->failed, 1);
    }
    atomic_fetch_add(&count->ended, 1);
    return NULL;
}

static void assert_counts(const kind *of, tally *count, int tasks, rlock_client *(*client)(int))
{
    counting *all = calloc((size_t)tasks, sizeof *all);
    int written = 0;
    cr_assert(all != NULL);
    for (int i = 0; i < tasks; i++) {
        rlock_client *own = client(i);
        all[i] = (counting){count, kind_of(of, own, NAME), NULL, i, 0};
        all[i].rival = of->shared ? rival_of(of, own, NAME) : all[i].lock;
        for (int turn = 0; turn < count->turns; turn++)
            written += !(of->shared && (i + turn) % 2);
    }
    for (int i = 0; i < tasks; i++)
        cr_assert(pthread_create(&all[i].thread, NULL, take_turns, &all[i]) == 0);
    for (int64_t end_ms = limit_end_ms(60000); atomic_load(&count->ended) < tasks && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(atomic_load(&count->ended) == tasks, "%d of %d ended", atomic_load(&count->ended), tasks);
    for (int i = 0; i < tasks; i++)
        pthread_join(all[i].thread, NULL);
    free(all);
    cr_assert(atomic_load(&count->failed) == 0);
    cr_assert(atomic_load(&count->value) == written, "%d, not %d", atomic_load(&count->value), written);
    assert_free_keys(of, NAME);
    cr_assert(wait_no_channels(5000));
}

static rlock_client *the_one(int number)
{
    (void)number;
    return stage.client;
}

static rlock_client *one_each(int number)
{
    (void)number;
    return stage_client(NULL);
}

static rlock_client *one_for_four(int number)
{
    static rlock_client *client;
    if (number % 4 == 0)
        client = stage_client(NULL);
    return client;
}

KIND_TEST(counts_right_with_many_tasks_of_one_client)
{
    static tally all = {.turns = 1};
    assert_counts(of, &all, 15, the_one);
}

/* With 30 clients instead of 100: that many of each kind would take the machine's patience. */
KIND_TEST(counts_right_with_many_clients)
{
    static tally all = {.turns = 1};
    assert_counts(of, &all, 30, one_each);
}

/* Scaled down: 16 tasks on 4 clients, 10 turns of 1 ms each, instead of 16 clients × 100 × 10 ms. */
KIND_TEST(counts_right_in_a_loop_of_several_clients)
{
    static tally all = {.turns = 10, .hold_ms = 1};
    assert_counts(of, &all, 16, one_for_four);
}

/* --- one owner, many threads --- */

typedef struct shared_owner {
    rlock *locks[2]; /* the kind's and its rival, of one owner */
    unsigned seed;
    int granted, odd;
    pthread_t thread;
} shared_owner;

/* What its own owner holds is re-entered, refused to those that can't, or (write under read) waited for. */
static void *take_and_give(void *arg)
{
    shared_owner *self = arg;
    for (int i = 0; i < 150; i++) {
        self->seed = self->seed * 1103515245u + 12345u;
        rlock *lock = self->locks[self->seed >> 20 & 1];
        rlock_status status = rlock_try_lock(lock, self->seed >> 16 & 3, self->seed >> 24 & 1 ? 60000 : RLOCK_WATCHDOG);
        if (status == RLOCK_OK) {
            self->granted++;
            self->odd += rlock_valid_for(lock) == 0;
            if (self->seed >> 28 & 1)
                sched_yield();
            self->odd += rlock_unlock(lock) != RLOCK_OK;
        } else {
            self->odd += status != RLOCK_TIMEOUT && status != RLOCK_ALREADY_HELD;
        }
    }
    return NULL;
}

/* Each hold that one of an owner's threads was given can be given back by it, and nothing is left. */
KIND_TEST(holds_of_an_owners_threads_add_up)
{
    shared_owner threads[5];
    int granted = 0;
    rlock *lock = owned_by(kind_of(of, stage.client, NAME), 7), *rival = owned_by(rival_of(of, stage.client, NAME), 7);
    for (int i = 0; i < 5; i++) {
        threads[i] = (shared_owner){.locks = {lock, rival}, .seed = (unsigned)i * 77777u + 1};
        cr_assert(pthread_create(&threads[i].thread, NULL, take_and_give, &threads[i]) == 0);
    }
    for (int i = 0; i < 5; i++) {
        pthread_join(threads[i].thread, NULL);
        cr_assert(threads[i].odd == 0, "%d odd answers", threads[i].odd);
        granted += threads[i].granted;
    }
    cr_assert(granted > 0);
    assert_free_keys(of, NAME);
}

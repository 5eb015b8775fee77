/* Load: threads that take turns under a few locks, and look whether anybody else is inside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/load.h"

#include "tests/fault/support/scene.h"
#include "tests/support/event.h"
#include "tests/support/sentinel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 8
#define NAMES 3
#define STATUSES 15
#define WAIT_MS (2 * SENTINEL_FAILOVER_MS) /* whatever is done to the servers, who waits for longer starves */

/* Who is inside: until when its hold is valid at least, and in which life of the data it was taken. */
typedef struct inside {
    _Atomic int64_t valid_until_ms; /* 0: not inside */
    atomic_int life;
} inside;

typedef struct spot {
    atomic_int counter; /* atomic for the sanitizers alone: it is read, and later written */
    atomic_int turns;   /* how often it was written */
    inside inside[THREADS];
} spot;

typedef struct member {
    struct load *load;
    int number;
    pthread_t thread;
    rlock *locks[NAMES];
    atomic_int turns;
    atomic_int answers[LOAD_CALLS][STATUSES];
    _Atomic int64_t longest_ms[LOAD_CALLS];
    char errors[LOAD_CALLS][STATUSES][160]; /* the last of each; read when the thread has ended */
} member;

struct load {
    int64_t lease_ms;
    spot guarded[NAMES];
    member members[THREADS];
    atomic_bool stop;
    atomic_int life; /* odd: the data is being lost */
    atomic_int overlaps;
};

static void note(member *self, load_call call, rlock_status status, int64_t since_ms)
{
    int64_t took_ms = now_ms() - since_ms;
    atomic_fetch_add(&self->answers[call][status], 1);
    if (status != RLOCK_OK)
        snprintf(self->errors[call][status], sizeof self->errors[call][status], "%s", rlock_last_error());
    if (took_ms > atomic_load(&self->longest_ms[call]))
        atomic_store(&self->longest_ms[call], took_ms);
}

/* --- one turn --- */

/* Says that it is inside, then looks for others: of two that overlap, one at least sees the other. */
static void look_around(member *self, spot *guarded, rlock *lock, int life)
{
    int64_t moment_ms = now_ms(), valid_ms = rlock_valid_for(lock);
    if (valid_ms == 0)
        return;
    atomic_store(&guarded->inside[self->number].life, life);
    atomic_store(&guarded->inside[self->number].valid_until_ms, moment_ms + valid_ms);
    for (int i = 0; i < THREADS; i++) {
        inside *other = &guarded->inside[i];
        int64_t until_ms = atomic_load(&other->valid_until_ms);
        if (i != self->number && until_ms > now_ms() && atomic_load(&other->life) == life &&
            rlock_valid_for(lock) > 0)
            atomic_fetch_add(&self->load->overlaps, 1);
    }
}

static void work(member *self, spot *guarded, rlock *lock, int life_before)
{
    int life = atomic_load(&self->load->life);
    if (life == life_before && life % 2 == 0)
        look_around(self, guarded, lock, life);
    int before = atomic_load(&guarded->counter);
    if (self->turns % 4 == 0)
        pass_ms(1); /* a section that takes its time */
    else
        sched_yield();
    if (rlock_valid_for(lock) > 0) {
        atomic_store(&guarded->counter, before + 1);
        atomic_fetch_add(&guarded->turns, 1);
    }
    atomic_store(&guarded->inside[self->number].valid_until_ms, 0);
}

/* Takes it up to `depth` times; how often it has it then. */
static int enter(member *self, rlock *lock, int depth)
{
    for (int held = 0; held < depth; held++) {
        int64_t since_ms = now_ms();
        rlock_status status = rlock_try_lock(lock, WAIT_MS, self->load->lease_ms);
        note(self, LOAD_LOCK, status, since_ms);
        if (status != RLOCK_OK)
            return held;
    }
    return depth;
}

static void take_turn(member *self, int name, int depth)
{
    rlock *lock = self->locks[name];
    int life = atomic_load(&self->load->life);
    int held = enter(self, lock, depth);
    if (held == 0)
        return;
    work(self, &self->load->guarded[name], lock, life);
    for (; held > 0; held--) {
        int64_t since_ms = now_ms();
        note(self, LOAD_UNLOCK, rlock_unlock(lock), since_ms);
    }
    atomic_fetch_add(&self->turns, 1);
}

static void *run(void *arg)
{
    member *self = arg;
    for (int turn = 0; !atomic_load(&self->load->stop); turn++)
        take_turn(self, (turn + self->number) % NAMES, turn % 5 == 0 ? 3 : 1);
    return NULL;
}

/* --- for the test --- */

load *load_start(const char *query, int64_t lease_ms)
{
    rlock_client *one = scene_client(query), *other = scene_client(query);
    return load_start_of(one, other, lease_ms);
}

load *load_start_of(rlock_client *client, rlock_client *other, int64_t lease_ms)
{
    static load only; /* a test runs in a process of its own */
    load *self = &only;
    self->lease_ms = lease_ms;
    rlock_client *clients[] = {client, other};
    for (int i = 0; i < THREADS; i++) {
        member *one = &self->members[i];
        one->load = self;
        one->number = i;
        for (int n = 0; n < NAMES; n++) {
            char name[32];
            snprintf(name, sizeof name, "load-%d", n);
            one->locks[n] = lock_of(clients[i % 2], name);
        }
    }
    for (int i = 0; i < THREADS; i++)
        cr_assert(pthread_create(&self->members[i].thread, NULL, run, &self->members[i]) == 0);
    return self;
}

void load_data_lost_soon(load *self)
{
    atomic_fetch_add(&self->life, 1);
}

void load_data_lost(load *self)
{
    atomic_fetch_add(&self->life, 1);
}

void load_await_turns(load *self, int turns, int64_t ms)
{
    int wanted[THREADS];
    for (int i = 0; i < THREADS; i++)
        wanted[i] = atomic_load(&self->members[i].turns) + turns;
    int64_t until_ms = limit_end_ms(ms);
    for (int i = 0; i < THREADS; i++) {
        for (; atomic_load(&self->members[i].turns) < wanted[i]; pass_ms(1))
            cr_assert(now_ms() < until_ms, "thread %d has not had %d turns more after %lld ms", i, turns,
                      (long long)ms);
    }
}

void load_stop(load *self)
{
    atomic_store(&self->stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(self->members[i].thread, NULL);
    int overlaps = atomic_load(&self->overlaps);
    cr_assert(overlaps == 0, "two valid holds overlapped %d times", overlaps);
}

int load_answers(const load *self, load_call call, rlock_status status)
{
    int sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += atomic_load(&self->members[i].answers[call][status]);
    return sum;
}

int64_t load_longest_ms(const load *self, load_call call)
{
    int64_t longest_ms = 0;
    for (int i = 0; i < THREADS; i++) {
        int64_t own_ms = atomic_load(&self->members[i].longest_ms[call]);
        longest_ms = own_ms > longest_ms ? own_ms : longest_ms;
    }
    return longest_ms;
}

static bool is_among(rlock_status status, const rlock_status *list)
{
    for (; *list != RLOCK_OK; list++) {
        if (*list == status)
            return true;
    }
    return status == RLOCK_OK;
}

static const char *an_error(const load *self, load_call call, rlock_status status)
{
    for (int i = 0; i < THREADS; i++) {
        if (*self->members[i].errors[call][status])
            return self->members[i].errors[call][status];
    }
    return "";
}

static void assert_answers(const load *self, load_call call, const rlock_status *also)
{
    for (int i = 0; i < STATUSES; i++) {
        rlock_status status = (rlock_status)i;
        int count = load_answers(self, call, status);
        cr_assert(count == 0 || is_among(status, also), "%d %s answered \"%s\", such as: %s", count,
                  call == LOAD_LOCK ? "locks" : "unlocks", rlock_strstatus(status), an_error(self, call, status));
    }
}

void load_assert_answers(const load *self, const rlock_status *lock_also, const rlock_status *unlock_also)
{
    assert_answers(self, LOAD_LOCK, lock_also);
    assert_answers(self, LOAD_UNLOCK, unlock_also);
}

bool load_counters_exact(const load *self)
{
    for (int n = 0; n < NAMES; n++) {
        if (atomic_load(&self->guarded[n].counter) != atomic_load(&self->guarded[n].turns))
            return false;
    }
    return true;
}

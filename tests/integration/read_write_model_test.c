/* The read-write lock against a model of it: thousands of random calls, each with the answer that it must
 * have; and threads that read, write and step down at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

TestSuite(read_write_model, .init = stage_open, .fini = stage_close);

#define NAME "book"
#define OWNERS 4 /* two of each client */
#define NOBODY (-1)

typedef struct model {
    int writer, writes;  /* whose write holds, and how many */
    int reads[OWNERS];
    rlock *read[OWNERS], *write[OWNERS];
    unsigned seed;
} model;

static unsigned draw(model *self, unsigned below)
{
    self->seed = self->seed * 1103515245u + 12345u;
    return (self->seed >> 16) % below;
}

static int all_reads(const model *self)
{
    int all = 0;
    for (int i = 0; i < OWNERS; i++)
        all += self->reads[i];
    return all;
}

static int64_t some_lease(model *self)
{
    static const int64_t leases_ms[] = {RLOCK_WATCHDOG, 60000, 120000};
    return leases_ms[draw(self, 3)];
}

static void try_read(model *self, int owner)
{
    bool may = self->writer == NOBODY || self->writer == owner;
    assert_status(rlock_try_lock(self->read[owner], 0, some_lease(self)), may ? RLOCK_OK : RLOCK_TIMEOUT);
    self->reads[owner] += may;
}

static void try_write(model *self, int owner)
{
    bool may = self->writer == owner || (self->writer == NOBODY && all_reads(self) == 0);
    assert_status(rlock_try_lock(self->write[owner], 0, some_lease(self)), may ? RLOCK_OK : RLOCK_TIMEOUT);
    if (may) {
        self->writer = owner;
        self->writes++;
    }
}

static void unlock_read(model *self, int owner)
{
    assert_status(rlock_unlock(self->read[owner]), self->reads[owner] ? RLOCK_OK : RLOCK_NOT_OWNER);
    self->reads[owner] -= self->reads[owner] > 0;
}

static void unlock_write(model *self, int owner)
{
    assert_status(rlock_unlock(self->write[owner]), self->writer == owner ? RLOCK_OK : RLOCK_NOT_OWNER);
    if (self->writer == owner && --self->writes == 0)
        self->writer = NOBODY;
}

/* Everything is free then, and each owner is told as often as it holds. */
static void force(model *self, int owner, bool write)
{
    bool was_locked, free_it = write ? self->writer != NOBODY : self->writer == NOBODY && all_reads(self) > 0;
    assert_ok(rlock_force_unlock(write ? self->write[owner] : self->read[owner], &was_locked));
    cr_assert(was_locked == free_it);
    if (!free_it)
        return;
    for (; self->writes > 0; self->writes--)
        assert_status(rlock_unlock(self->write[self->writer]), RLOCK_LOST);
    self->writer = NOBODY;
    for (int i = 0; i < OWNERS; i++) {
        for (; self->reads[i] > 0; self->reads[i]--)
            assert_status(rlock_unlock(self->read[i]), RLOCK_LOST);
    }
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
}

static void check(model *self, int owner)
{
    bool read = false, written = false;
    int reads = -1, writes = -1;
    assert_ok(rlock_is_locked(self->read[owner], &read));
    assert_ok(rlock_is_locked(self->write[owner], &written));
    assert_ok(rlock_get_hold_count(self->read[owner], &reads));
    assert_ok(rlock_get_hold_count(self->write[owner], &writes));
    cr_assert(read == (all_reads(self) > 0) && written == (self->writer != NOBODY));
    cr_assert(reads == self->reads[owner]);
    cr_assert(writes == (self->writer == owner ? self->writes : 0));
    cr_assert((rlock_valid_for(self->read[owner]) > 0) == (reads > 0));
    cr_assert((rlock_valid_for(self->write[owner]) > 0) == (writes > 0));
    if (reads + writes > 0)
        cr_assert(pttl_of(NAME) >= rlock_valid_for(self->read[owner]) &&
                  pttl_of(NAME) >= rlock_valid_for(self->write[owner]), "the key ends before the hold");
}

static void take_steps(model *self, int steps)
{
    self->writer = NOBODY;
    for (int i = 0; i < OWNERS; i++) {
        rlock_client *client = i % 2 ? stage.client : stage.other;
        self->read[i] = owned_by(read_of(client, NAME), i / 2);
        self->write[i] = owned_by(write_of(client, NAME), i / 2);
    }
    for (int i = 0; i < steps; i++) {
        int owner = (int)draw(self, OWNERS);
        unsigned what = draw(self, 100);
        if (what < 27)
            try_read(self, owner);
        else if (what < 50)
            try_write(self, owner);
        else if (what < 75)
            unlock_read(self, owner);
        else if (what < 97)
            unlock_write(self, owner);
        else
            force(self, owner, what == 98);
        check(self, owner);
    }
    for (int i = 0; i < OWNERS; i++) {
        while (self->reads[i])
            unlock_read(self, i);
        while (self->writer == i)
            unlock_write(self, i);
    }
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
}

Test(read_write_model, answers_as_the_model_does)
{
    for (unsigned seed = 1; seed <= 8; seed++) {
        static model one;
        one = (model){.seed = seed};
        take_steps(&one, 400);
    }
}

/* More levels than the bits that say which of them are renewed. */
Test(read_write_model, read_holds_may_be_many)
{
    rlock *read = read_of(stage.client, NAME);
    for (int i = 0; i < 100; i++)
        assert_ok(rlock_try_lock(read, 0, i % 3 ? RLOCK_WATCHDOG : 60000));
    cr_assert(timeouts() == 100);
    for (int i = 99; i >= 0; i--) {
        assert_ok(rlock_unlock(read));
        cr_assert(timeouts() == i);
    }
    assert_no_keys();
}

/* --- at once --- */

typedef struct storm {
    atomic_int readers, writers, wrong, failed, ended;
} storm;

typedef struct member {
    storm *storm;
    rlock *read, *write;
    int number;
    pthread_t thread;
} member;

static void must(storm *self, rlock_status status)
{
    atomic_fetch_add(&self->failed, status != RLOCK_OK);
}

static void write_and_step_down(member *self)
{
    storm *all = self->storm;
    must(all, rlock_lock(self->write));
    atomic_fetch_add(&all->wrong, atomic_fetch_add(&all->writers, 1) != 0 || atomic_load(&all->readers) != 0);
    must(all, rlock_lock(self->read));
    sched_yield();
    atomic_fetch_add(&all->wrong, atomic_load(&all->writers) != 1 || atomic_load(&all->readers) != 0);
    atomic_fetch_sub(&all->writers, 1);
    atomic_fetch_add(&all->readers, 1);
    must(all, rlock_unlock(self->write));
    sched_yield();
    atomic_fetch_add(&all->wrong, atomic_load(&all->writers) != 0);
    atomic_fetch_sub(&all->readers, 1);
    must(all, rlock_unlock(self->read));
}

static void read_twice(member *self)
{
    storm *all = self->storm;
    must(all, rlock_lock(self->read));
    atomic_fetch_add(&all->readers, 1);
    atomic_fetch_add(&all->wrong, atomic_load(&all->writers) != 0);
    must(all, rlock_try_lock(self->read, 0, 60000));
    sched_yield();
    must(all, rlock_unlock(self->read));
    atomic_fetch_add(&all->wrong, atomic_load(&all->writers) != 0);
    atomic_fetch_sub(&all->readers, 1);
    must(all, rlock_unlock(self->read));
}

static void *take_part(void *arg)
{
    member *self = arg;
    for (int i = 0; i < 60; i++) {
        if ((i + self->number) % 3 == 0)
            write_and_step_down(self);
        else
            read_twice(self);
    }
    atomic_fetch_add(&self->storm->ended, 1);
    return NULL;
}

TimedTest(read_write_model, no_reader_is_ever_beside_a_writer)
{
    static storm all;
    static member members[9];
    for (int i = 0; i < 9; i++) {
        rlock_client *client = i % 3 == 0 ? stage.client : i % 3 == 1 ? stage.other : stage_client(NULL);
        members[i] = (member){.storm = &all, .read = read_of(client, NAME), .write = write_of(client, NAME), .number = i};
        cr_assert(pthread_create(&members[i].thread, NULL, take_part, &members[i]) == 0);
    }
    for (int64_t end_ms = limit_end_ms(60000); atomic_load(&all.ended) < 9 && now_ms() < end_ms;)
        pass_ms(1);
    cr_assert(atomic_load(&all.ended) == 9, "%d ended", atomic_load(&all.ended));
    for (int i = 0; i < 9; i++)
        pthread_join(members[i].thread, NULL);
    cr_assert(atomic_load(&all.failed) == 0 && atomic_load(&all.wrong) == 0, "%d failed, %d wrong",
              atomic_load(&all.failed), atomic_load(&all.wrong));
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
}

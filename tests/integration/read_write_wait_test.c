/* Waiting for either side of a read-write lock: who comes in when, and together with whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>

TestSuite(read_write_wait, .init = stage_open, .fini = stage_close);

#define NAME "book"
#define CHANNEL "redisson_rwlock:{book}"

typedef struct crew {
    atomic_int in, failed;
    int64_t hold_ms;
} crew;

typedef struct member {
    crew *crew;
    rlock *lock;
    pthread_t thread;
} member;

static void *read_once(void *arg)
{
    member *self = arg;
    if (rlock_lock(self->lock) != RLOCK_OK) {
        atomic_fetch_add(&self->crew->failed, 1);
        return NULL;
    }
    atomic_fetch_add(&self->crew->in, 1);
    pass_ms(self->crew->hold_ms);
    if (rlock_unlock(self->lock) != RLOCK_OK)
        atomic_fetch_add(&self->crew->failed, 1);
    return NULL;
}

/* 46, with holds of 300 ms instead of 800 ms: all at once, not one after the other. */
TimedTest(read_write_wait, waiting_readers_come_in_together)
{
    static crew all = {.hold_ms = 300};
    static member readers[20];
    rlock *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    for (int i = 0; i < 20; i++) {
        readers[i] = (member){.crew = &all, .lock = read_of(i % 2 ? stage.client : stage.other, NAME)};
        cr_assert(pthread_create(&readers[i].thread, NULL, read_once, &readers[i]) == 0);
    }
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 2, 5000));
    pass_ms(100); /* so that all have asked; those who come later come in anyway */
    cr_assert(atomic_load(&all.in) == 0);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(write));
    for (int i = 0; i < 20; i++)
        pthread_join(readers[i].thread, NULL);
    assert_between(now_ms() - since_ms, 300, at_most_ms(1300));
    cr_assert(atomic_load(&all.in) == 20 && atomic_load(&all.failed) == 0);
    assert_no_keys();
}

/* Somebody has taken its end away (PERSIST). The holder's next renewal gives it another, and then the holder dies: nobody tells
 * the waiter of either. */
TimedTest(read_write_wait, goes_on_when_a_hold_without_an_end_has_got_one)
{
    rlock *locks[] = {write_of(stage.client, NAME), read_of(stage.client, NAME)};
    actor *waiter = actor_start();
    for (int i = 0; i < 2; i++) {
        server_integer(stage.server, "HSET " NAME " mode write " FOREIGN_CLIENT ":1:write 1");
        actor_begin_lock(waiter, locks[i]);
        cr_assert(server_wait_subscribers(stage.server, CHANNEL, 1, 5000));
        cr_assert(!actor_ended(waiter, 100));
        server_integer(stage.server, "PEXPIRE " NAME " 30000");
        assert_ok(actor_finish(waiter, 61000));
        assert_ok(actor_unlock(waiter, locks[i]));
    }
    actor_end(waiter);
}

/* 51, with a lease of 1 s instead of 10 s. */
TimedTest(read_write_wait, readers_come_in_when_the_writers_lease_ends)
{
    rlock *write = write_of(stage.client, NAME), *read = read_of(stage.other, NAME);
    actor *first = actor_start(), *second = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(write, 1000));
    actor_begin_lock(first, read);
    actor_begin_lock(second, read);
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_finish(second, 5000));
    assert_between(actor_ended_at(first) - since_ms, 998, at_most_ms(2000));
    assert_between(actor_ended_at(second) - since_ms, 998, at_most_ms(2000));
    assert_ok(actor_unlock(first, read));
    assert_ok(actor_unlock(second, read));
    actor_end(first);
    actor_end(second);
}

/* Redisson wakes no one there; its readers sleep until the TTL ends or another message comes. */
Test(read_write_wait, stepping_down_wakes_waiting_readers_and_no_writer)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock *their_read = read_of(stage.other, NAME), *their_write = write_of(stage.other, NAME);
    actor *reader = actor_start(), *local = actor_start(), *writer = actor_start();
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    actor_begin_lock(reader, their_read);
    actor_begin_lock(local, read);
    actor_begin_lock(writer, their_write);
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 2, 5000));
    cr_assert(actor_asleep(reader, 5000) && actor_asleep(local, 5000) && actor_asleep(writer, 5000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(write));
    assert_ok(actor_finish(reader, 5000));
    assert_ok(actor_finish(local, 5000));
    assert_between(actor_ended_at(reader) - since_ms, 0, at_most_ms(1000));
    assert_between(actor_ended_at(local) - since_ms, 0, at_most_ms(1000));
    cr_assert(!actor_ended(writer, 50));
    assert_ok(rlock_unlock(read));
    assert_ok(actor_unlock(reader, their_read));
    cr_assert(!actor_ended(writer, 50));
    assert_ok(actor_unlock(local, read));
    assert_ok(actor_finish(writer, 5000));
    assert_ok(actor_unlock(writer, their_write));
    assert_no_keys();
    actor_end(reader);
    actor_end(local);
    actor_end(writer);
}

/* One process's reader leaves, its other reader stays, and its writer waits beside them. */
Test(read_write_wait, waiting_writer_is_woken_by_the_last_reader_alone)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    actor *readers[5], *writer = actor_start();
    for (int i = 0; i < 5; i++) {
        readers[i] = actor_start();
        assert_ok(actor_lock(readers[i], read));
    }
    actor_begin_lock(writer, write);
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 1, 5000));
    for (int i = 0; i < 5; i++) {
        cr_assert(!actor_ended(writer, 10));
        assert_ok(actor_unlock(readers[i], read));
    }
    int64_t since_ms = now_ms();
    assert_ok(actor_finish(writer, 5000));
    assert_between(actor_ended_at(writer) - since_ms, INT64_MIN, at_most_ms(1000));
    assert_ok(actor_unlock(writer, write));
    for (int i = 0; i < 5; i++)
        actor_end(readers[i]);
    actor_end(writer);
}

static void *read_ten_times(void *arg)
{
    member *self = arg;
    for (int i = 0; i < 10; i++)
        read_once(self);
    return NULL;
}

/* 57. */
TimedTest(read_write_wait, readers_come_and_go_under_a_name_with_braces)
{
    static crew all;
    static member readers[10];
    for (int i = 0; i < 10; i++) {
        readers[i] = (member){.crew = &all, .lock = read_of(i % 2 ? stage.client : stage.other, "{test}:abc:key")};
        cr_assert(pthread_create(&readers[i].thread, NULL, read_ten_times, &readers[i]) == 0);
    }
    for (int i = 0; i < 10; i++)
        pthread_join(readers[i].thread, NULL);
    cr_assert(atomic_load(&all.in) == 100 && atomic_load(&all.failed) == 0);
    assert_no_keys();
}

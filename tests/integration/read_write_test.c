/* The read-write lock: which holds go together, and what becomes of them as others come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(read_write, .init = stage_open, .fini = kinds_close, .timeout = 60);

#define NAME "book"
#define CHANNEL "redisson_rwlock:{book}"

static bool is_locked(rlock *lock)
{
    bool locked = false;
    assert_ok(rlock_is_locked(lock, &locked));
    return locked;
}

/* Another process's try. */
static rlock_status try_read(void)
{
    rlock *read = read_of(stage.other, NAME);
    rlock_status status = rlock_try_lock(read, 0, 60000);
    return status == RLOCK_OK ? rlock_unlock(read) : status;
}

static rlock_status try_write(void)
{
    rlock *write = write_of(stage.other, NAME);
    rlock_status status = rlock_try_lock(write, 0, 60000);
    return status == RLOCK_OK ? rlock_unlock(write) : status;
}

/* --- which holds go together --- */

Test(read_write, readers_share_and_shut_the_writer_out)
{
    rlock *mine = read_of(stage.client, NAME), *theirs = read_of(stage.other, NAME);
    actor *another = actor_start();
    assert_ok(rlock_lock(mine));
    assert_ok(rlock_lock(theirs));
    assert_ok(actor_lock(another, mine));
    assert_status(try_write(), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(mine));
    assert_ok(rlock_unlock(theirs));
    assert_status(try_write(), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(another, mine));
    assert_no_keys();
    assert_ok(try_write());
    actor_end(another);
}

/* 42. */
Test(read_write, writer_may_read)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_status(try_read(), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_status(try_read(), RLOCK_TIMEOUT);
    cr_assert(is_locked(write) && rlock_valid_for(write) > 0);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
    assert_ok(try_read());
}

/* 43. */
Test(read_write, writer_that_reads_may_step_down)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock *theirs = read_of(stage.other, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_ok(rlock_unlock(write));
    assert_status(rlock_try_lock(write, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(theirs, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(theirs));
    assert_status(rlock_try_lock(write, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_try_lock(write, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* 44. */
Test(read_write, reader_cannot_step_up)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    assert_status(rlock_try_lock(write, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(rlock_try_lock(write, 100, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* 45, and of the absent lock. */
Test(read_write, each_side_is_locked_while_it_is_held)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    int64_t ms = 0;
    cr_assert(!is_locked(read) && !is_locked(write));
    assert_ok(rlock_lock(write));
    cr_assert(!is_locked(read) && is_locked(write));
    assert_ok(rlock_remain_time_to_live(read, &ms));
    cr_assert(ms == -2);
    assert_ok(rlock_lock(read));
    cr_assert(is_locked(read) && is_locked(write));
    assert_ok(rlock_unlock(write));
    cr_assert(is_locked(read) && !is_locked(write));
    assert_ok(rlock_remain_time_to_live(write, &ms));
    cr_assert(ms == -2);
    assert_ok(rlock_unlock(read));
    cr_assert(!is_locked(read) && !is_locked(write));
}

/* Sides are counted apart, whichever is given back first. */
Test(read_write, holds_of_the_sides_are_counted_apart)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    int reads = 0, writes = 0;
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(write));
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(read));
    for (int i = 0; i < 5; i++) {
        assert_ok(rlock_get_hold_count(read, &reads));
        assert_ok(rlock_get_hold_count(write, &writes));
        cr_assert(reads == 3 - (i + 1) / 2 && writes == 2 - i / 2, "%d reads, %d writes", reads, writes);
        assert_ok(rlock_unlock(i % 2 ? write : read));
    }
    assert_no_keys();
    assert_status(rlock_unlock(read), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(write), RLOCK_NOT_OWNER);
}

/* 55, and the other side's unlock. */
Test(read_write, unlock_of_what_another_reads_is_refused)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    assert_status(rlock_unlock(read_of(stage.other, NAME)), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(write), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(view_of(read, 1)), RLOCK_NOT_OWNER);
    cr_assert(is_locked(read) && timeouts() == 1);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_lock(write));
    assert_status(rlock_unlock(read), RLOCK_NOT_OWNER);
    cr_assert(is_locked(write));
    assert_ok(rlock_unlock(write));
}

/* 54. */
Test(read_write, force_unlock_of_a_side_acts_in_its_mode_alone)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock *force_read = read_of(stage.other, NAME), *force_write = write_of(stage.other, NAME);
    bool was_locked = true;
    assert_ok(rlock_force_unlock(force_read, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_force_unlock(force_write, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_lock(read));
    assert_ok(rlock_force_unlock(force_write, &was_locked));
    cr_assert(!was_locked && is_locked(read));
    assert_ok(rlock_force_unlock(force_read, &was_locked));
    cr_assert(was_locked && !is_locked(read));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_ok(rlock_force_unlock(force_read, &was_locked));
    cr_assert(!was_locked && is_locked(write) && is_locked(read));
    assert_ok(rlock_force_unlock(force_write, &was_locked)); /* and the reads under it */
    cr_assert(was_locked && !is_locked(write) && !is_locked(read));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_status(rlock_unlock(write), RLOCK_LOST);
    assert_ok(try_write());
}

/* What a force unlock of this client does not free is held on. */
Test(read_write, force_unlock_of_the_side_that_is_free_loses_nothing)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    assert_ok(rlock_force_unlock(write, NULL));
    cr_assert(rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_lock(write));
    assert_ok(rlock_force_unlock(read, NULL));
    cr_assert(rlock_valid_for(write) > 0);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* --- who waits --- */

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
Test(read_write, waiting_readers_come_in_together)
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

/* 51, with a lease of 1 s instead of 10 s. */
Test(read_write, readers_come_in_when_the_writers_lease_ends)
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
Test(read_write, stepping_down_wakes_waiting_readers_and_no_writer)
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
Test(read_write, waiting_writer_is_woken_by_the_last_reader_alone)
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

/* --- leases --- */

/* 47, with about a tenth of its times: the lock stands as long as its longest hold. */
Test(read_write, lasts_as_long_as_its_longest_read)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.other, NAME);
    actor *longer = actor_start(), *shorter = actor_start(), *writer = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(actor_try(longer, read, 0, 1500));
    assert_ok(actor_try(shorter, read, 0, 600));
    actor_begin_lock(writer, write);
    pass_ms(280 - (now_ms() - since_ms));
    assert_ok(actor_unlock(shorter, read));
    cr_assert(!actor_ended(writer, 800 - (now_ms() - since_ms)), "a writer beside a reader");
    assert_ok(actor_unlock(longer, read));
    assert_ok(actor_finish(writer, 5000));
    assert_between(actor_ended_at(writer) - since_ms, 800, 1450);
    assert_ok(actor_unlock(writer, write));
    actor_end(longer);
    actor_end(shorter);
    actor_end(writer);
}

/* 48, with a tenth of its times: a read that is given back lengthens nobody's. */
Test(read_write, lasts_no_longer_than_the_reads_that_are_left)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.other, NAME);
    actor *first = actor_start(), *second = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(actor_try(first, read, 0, 1000));
    pass_ms(500);
    assert_ok(actor_try(second, read, 0, 1000));
    assert_ok(actor_unlock(second, read));
    assert_between(pttl_of(NAME), 1, 500);
    assert_ok(rlock_lock(write));
    assert_between(now_ms() - since_ms, 998, 1450);
    assert_status(actor_unlock(first, read), RLOCK_LOST);
    assert_ok(rlock_unlock(write));
    actor_end(first);
    actor_end(second);
}

/* 49, with a tenth of its times. */
Test(read_write, reentered_read_ends_with_the_lease_of_the_outer_one)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(read, 400));
    pass_ms(300);
    assert_ok(rlock_lock_lease(read, 400));
    assert_ok(rlock_unlock(read));
    assert_between(rlock_valid_for(read), 1, 400 - (now_ms() - since_ms) + 2);
    pass_ms(500 - (now_ms() - since_ms));
    cr_assert(rlock_valid_for(read) == 0);
    assert_ok(rlock_try_lock(write, 0, 1000));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* Each hold has its own end: the inner one outlives the outer one here. */
Test(read_write, read_holds_have_leases_of_their_own)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(read, 5000));
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(rlock_lock_lease(read, 1000));
    assert_between(timeout_of(1), 4000, 5000);
    assert_between(timeout_of(2), 59000, 60000);
    assert_between(timeout_of(3), 1, 1000);
    assert_between(pttl_of(NAME), 59000, 60000);
    assert_between(rlock_valid_for(read), 58000, 60000);
    assert_ok(rlock_unlock(read));
    cr_assert(timeout_of(3) == -2);
    assert_ok(rlock_unlock(read));
    cr_assert(timeout_of(2) == -2);
    assert_between(pttl_of(NAME), 4000, 5000);
    assert_between(rlock_valid_for(read), 3900, 5000);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* 50. */
Test(read_write, leases_of_a_reentered_write_add_up)
{
    rlock *write = write_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(write, 10000));
    assert_ok(rlock_lock_lease(write, 1000));
    assert_between(pttl_of(NAME), 11000 - (now_ms() - since_ms) - 2, 11000);
    assert_between(rlock_valid_for(write), 10800 - (now_ms() - since_ms) - 2, 11000);
    assert_status(rlock_try_lock(write_of(stage.other, NAME), 300, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(write));
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* The longest leases there are do not overflow when they add up. */
Test(read_write, longest_leases_add_up_too)
{
    rlock *write = write_of(stage.client, NAME);
    for (int i = 1; i <= 3; i++) {
        assert_ok(rlock_lock_lease(write, RLOCK_LEASE_MAX_MS));
        assert_between(pttl_of(NAME), i * RLOCK_LEASE_MAX_MS - 5000, i * RLOCK_LEASE_MAX_MS);
    }
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* Redisson once cut the TTL with the shorter lease. */
Test(read_write, shorter_read_cuts_no_ttl)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 60000));
    assert_ok(rlock_lock_lease(read, 1000));
    assert_between(pttl_of(NAME), 59000, 60000);
    assert_ok(rlock_unlock(read));
    assert_between(pttl_of(NAME), 59000, 60000);
    assert_ok(rlock_unlock(write));
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(rlock_lock_lease(read_of(stage.other, NAME), 1000));
    assert_between(pttl_of(NAME), 59000, 60000);
    assert_ok(rlock_unlock(read));
    assert_between(pttl_of(NAME), 1, 1000);
}

/* The lock stands no longer than the reads that a writer leaves behind, though its own lease was longer. */
Test(read_write, stepping_down_leaves_the_leases_of_the_reads)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 60000));
    assert_ok(rlock_lock_lease(read, 500));
    assert_ok(rlock_unlock(write));
    assert_between(pttl_of(NAME), 1, 500);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(write_of(stage.other, NAME)));
    assert_between(now_ms() - since_ms, 300, at_most_ms(1500));
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

/* The reads under a write hold have all run out when that is given back: nobody is left. */
Test(read_write, stepping_down_to_reads_that_ended_frees_it)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock *theirs = write_of(stage.other, NAME);
    actor *writer = actor_start();
    assert_ok(rlock_lock_lease(write, 60000));
    assert_ok(rlock_lock_lease(read, 100));
    actor_begin_lock(writer, theirs);
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 1, 5000));
    pass_ms(120);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(write));
    assert_ok(actor_finish(writer, 5000));
    assert_between(actor_ended_at(writer) - since_ms, 0, at_most_ms(1000));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_ok(actor_unlock(writer, theirs));
    assert_no_keys();
    actor_end(writer);
}

/* --- sessions --- */

/* Both holds of an owner have ended by our clock, not yet by the server's: its next write replaces the old
 * one's field alone, and waits for its own old read as any other would; its next read replaces that. */
Test(read_write, next_write_of_its_owner_replaces_one_that_ended)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 100));
    assert_ok(rlock_lock_lease(read, 100));
    redisReply *keys = server_command(stage.server, "KEYS *");
    cr_assert(keys->elements == 2);
    for (size_t i = 0; i < 2; i++)
        cr_assert(server_integer(stage.server, "PEXPIRE %s 60000", keys->element[i]->str) == 1);
    freeReplyObject(keys);
    pass_ms(120);
    cr_assert(is_locked(write));
    assert_status(rlock_try_lock(write, 0, 1000), RLOCK_TIMEOUT);
    cr_assert(!is_locked(write) && is_locked(read));
    assert_ok(try_read());
    assert_between(pttl_of(NAME), 59000, 60000);
    assert_ok(rlock_try_lock(read, 0, 1000));
    assert_ok(rlock_unlock(read));
    assert_no_keys();
    assert_status(rlock_unlock(write), RLOCK_LOST);
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

/* The same, and the read's timeout has passed on the server, too: nobody is in the way. */
Test(read_write, next_write_of_its_owner_replaces_all_that_ended)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 100));
    assert_ok(rlock_lock_lease(read, 100));
    freeReplyObject(server_command(stage.server, "PERSIST %s", NAME));
    pass_ms(120);
    assert_status(try_write(), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(write, 0, 1000));
    assert_ok(rlock_unlock(write));
    assert_no_keys();
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_status(rlock_unlock(write), RLOCK_LOST);
}

/* The second read session under one write hold has another number than the writer: it reads all the same. */
Test(read_write, writer_may_read_again_and_again)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    for (int i = 0; i < 4; i++) {
        assert_ok(rlock_try_lock(read, 0, RLOCK_WATCHDOG));
        assert_ok(rlock_try_lock(read, 0, RLOCK_WATCHDOG));
        cr_assert(timeouts() == 2);
        assert_status(try_read(), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(read));
        assert_ok(rlock_unlock(read));
        cr_assert(timeouts() == 0 && is_locked(write) && !is_locked(read));
    }
    assert_ok(rlock_try_lock(read, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(write));
    assert_ok(try_read());
    assert_status(try_write(), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* A read that was given up on its way, and runs late beside another reader: soon only that one is left. */
Test(read_write, late_read_leaves_other_readers_as_they_were)
{
    rlock *read = read_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_cancel *token = options.cancel = rlock_cancel_new();
    actor *trying = actor_start();
    assert_ok(rlock_lock_lease(read_of(stage.other, NAME), 60000));
    assert_ok(try_read());
    char *before = server_keyspace(stage.server);
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events Eghx"));
    server_listen(stage.server);
    server_freeze(stage.server);
    actor_begin_with(trying, read, &options);
    cr_assert(actor_asleep(trying, 5000));
    rlock_cancel_fire(token);
    assert_status(actor_finish(trying, 5000), RLOCK_CANCELLED);
    server_thaw(stage.server);
    cr_assert(server_heard(stage.server, "__keyevent@0__:hset", NAME, 5000), "it did not run late");
    cr_assert(server_heard(stage.server, "__keyevent@0__:hdel", NAME, 5000), "it was not undone");
    char *after = server_keyspace(stage.server);
    cr_assert(strcmp(before, after) == 0, "was:\n%s\nis:\n%s", before, after);
    assert_between(pttl_of(NAME), 50000, 60000);
    free(before);
    free(after);
    actor_end(trying);
    rlock_cancel_free(token);
}

/* A named owner's two threads are one owner: what one writes, the other may read. */
Test(read_write, named_owner_is_one_on_both_sides)
{
    rlock *read = view_of(read_of(stage.client, NAME), 5), *write = view_of(write_of(stage.client, NAME), 5);
    actor *one = actor_start(), *two = actor_start();
    assert_ok(actor_lock(one, write));
    assert_ok(actor_try(two, read, 0, RLOCK_WATCHDOG));
    assert_status(actor_try(one, view_of(read, 6), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(two, write));
    assert_ok(actor_try(one, view_of(read, 6), 0, RLOCK_WATCHDOG));
    assert_ok(actor_unlock(one, view_of(read, 6)));
    assert_ok(actor_unlock(one, read));
    assert_no_keys();
    actor_end(one);
    actor_end(two);
}

/* 57, and names with braces, colons and a prefix: every key beside its lock, the prefix once. */
Test(read_write, keeps_to_its_names)
{
    static const char *const names[] = {"{test}:abc:key", "a:b:c", "a{b", "x:rwlock_timeout:1"};
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        rlock_client *client = i % 2 ? prefixed : stage.client;
        const char *name = names[i / 2];
        char whole[64], base[80];
        snprintf(whole, sizeof whole, "%s%s", i % 2 ? "shop:" : "", name);
        snprintf(base, sizeof base, strchr(name, '{') ? "%s:%s:" : "{%s}:%s:", whole, rlock_client_id(client));
        rlock *read = read_of(client, name), *write = write_of(client, name);
        assert_ok(rlock_lock(write));
        assert_ok(rlock_lock(read));
        cr_assert(server_integer(stage.server, "HLEN %s", whole) == 3);
        redisReply *keys = server_command(stage.server, "KEYS *%s*", rlock_client_id(client));
        cr_assert(keys->elements == 1 && strncmp(keys->element[0]->str, base, strlen(base)) == 0);
        freeReplyObject(keys);
        assert_ok(rlock_unlock(write));
        assert_ok(rlock_unlock(read));
        assert_no_keys();
    }
}

static void *read_ten_times(void *arg)
{
    member *self = arg;
    for (int i = 0; i < 10; i++)
        read_once(self);
    return NULL;
}

/* 57. */
Test(read_write, readers_come_and_go_under_a_name_with_braces)
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

/* The sides stay valid when the pair is freed. */
Test(read_write, sides_outlive_their_pair)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(stage.client, NAME);
    cr_assert(pair && strcmp(rlock_read_write_lock_name(pair), NAME) == 0);
    rlock *read = rlock_read_lock(pair), *write = rlock_write_lock(pair);
    rlock_read_write_lock_free(pair);
    cr_assert(strcmp(rlock_name(read), NAME) == 0 && strcmp(rlock_name(write), NAME) == 0);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    rlock_free(read);
    rlock_free(write);
    assert_ok(rlock_unlock(read_of(stage.client, NAME)));
    assert_ok(rlock_unlock(write_of(stage.client, NAME)));
    assert_no_keys();
}

/* A write hold with a lease of its own that was forced open elsewhere is not lengthened by a read hold that
 * its owner takes, and that is renewed, beside other readers. */
Test(read_write, reads_lengthen_no_write_that_is_gone)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 500));
    assert_ok(rlock_force_unlock(write_of(stage.other, NAME), NULL));
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(try_read()); /* mode read: others do read */
    cr_assert(rlock_valid_for(write) <= 500, "%lld ms", (long long)rlock_valid_for(write));
    pass_ms(520);
    cr_assert(rlock_valid_for(write) == 0, "both may rely on it: a writer and readers");
    assert_ok(rlock_unlock(read));
    assert_status(rlock_unlock(write), RLOCK_LOST);
}

/* The outer hold's lease ended while the inner one stood: its unlock is in vain. */
Test(read_write, outer_read_may_end_before_the_inner_one)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(read, 100));
    assert_ok(rlock_lock_lease(read, 60000));
    pass_ms(120);
    cr_assert(rlock_valid_for(read) > 50000);
    assert_ok(rlock_unlock(read));
    cr_assert(rlock_valid_for(read) == 0);
    assert_ok(try_write());
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_status(rlock_unlock(read), RLOCK_NOT_OWNER);
    assert_no_keys();
}

/* Leases of a read-write lock: what each hold has, and how long the key stands for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

TestSuite(read_write_lease, .init = stage_open, .fini = stage_close);

#define NAME "book"
#define CHANNEL "redisson_rwlock:{book}"

/* 47, with other times: the lock stands as long as its longest hold. */
TimedTest(read_write_lease, lasts_as_long_as_its_longest_read)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.other, NAME);
    actor *longer = actor_start(), *shorter = actor_start(), *writer = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(actor_try(longer, read, 0, 20000));
    assert_ok(actor_try(shorter, read, 0, 2000));
    actor_begin_lock(writer, write);
    pass_ms(280 - (now_ms() - since_ms));
    assert_ok(actor_unlock(shorter, read));
    cr_assert(!actor_ended(writer, 2200 - (now_ms() - since_ms)), "a writer beside a reader");
    assert_ok(actor_unlock(longer, read));
    assert_ok(actor_finish(writer, 5000));
    assert_between(actor_ended_at(writer) - since_ms, 2200, at_most_ms(4000));
    assert_ok(actor_unlock(writer, write));
    actor_end(longer);
    actor_end(shorter);
    actor_end(writer);
}

/* 48, with a quarter of its times: a read that is given back lengthens nobody's. */
TimedTest(read_write_lease, lasts_no_longer_than_the_reads_that_are_left)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.other, NAME);
    actor *first = actor_start(), *second = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(actor_try(first, read, 0, 2500));
    pass_ms(500);
    assert_ok(actor_try(second, read, 0, 2500));
    assert_ok(actor_unlock(second, read));
    assert_between(pttl_of(NAME), 1, 2000);
    assert_ok(rlock_lock(write));
    assert_between(now_ms() - since_ms, 2498, at_most_ms(2950));
    assert_status(actor_unlock(first, read), RLOCK_LOST);
    assert_ok(rlock_unlock(write));
    actor_end(first);
    actor_end(second);
}

/* A writer that was told of the longer read's end hears that it will be earlier. */
TimedTest(read_write_lease, tells_a_waiting_writer_that_it_ends_earlier)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.other, NAME);
    actor *short_one = actor_start(), *writer = actor_start();
    assert_ok(actor_try(short_one, read, 0, 3000));
    assert_ok(rlock_lock_lease(read, 600000));
    actor_begin_lock(writer, write);
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 1, 10000) && actor_asleep(writer, 10000));
    assert_ok(rlock_unlock(read));
    assert_ok(actor_finish(writer, 30000));
    assert_ok(actor_unlock(writer, write));
    actor_end(short_one);
    actor_end(writer);
}

/* The same when the other reader is a program that is no more: it gives nothing back. */
TimedTest(read_write_lease, tells_a_waiting_writer_that_it_ends_with_the_read_of_one_who_died)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.other, NAME);
    actor *writer = actor_start();
    assert_ok(rlock_lock_lease(read, 600000));
    cr_assert(server_integer(stage.server, "HSET " NAME " " FOREIGN_CLIENT ":1 1") == 1);
    freeReplyObject(server_command(stage.server, "SET {" NAME "}:" FOREIGN_CLIENT ":1:rwlock_timeout:1 1 PX 3000"));
    actor_begin_lock(writer, write);
    cr_assert(server_wait_subscribers(stage.server, CHANNEL, 1, 10000) && actor_asleep(writer, 10000));
    assert_ok(rlock_unlock(read));
    assert_ok(actor_finish(writer, 30000));
    assert_ok(actor_unlock(writer, write));
    actor_end(writer);
}

/* 49, with other times. */
TimedTest(read_write_lease, reentered_read_ends_with_the_lease_of_the_outer_one)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(read, 3000));
    int64_t since_ms = now_ms(); /* the lease began before */
    pass_ms(1000);
    assert_ok(rlock_lock_lease(read, 3000));
    assert_ok(rlock_unlock(read));
    int64_t left_ms = 3000 - (now_ms() - since_ms);
    assert_between(rlock_valid_for(read), 1, left_ms);
    pass_ms(3250 - (now_ms() - since_ms));
    cr_assert(rlock_valid_for(read) == 0);
    assert_ok(rlock_try_lock(write, 0, 60000));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* Each hold has its own end: the inner one outlives the outer one here. */
TimedTest(read_write_lease, read_holds_have_leases_of_their_own)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(read, 5000));
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(rlock_lock_lease(read, 3000));
    assert_between(timeout_of(1), 5000 - at_most_ms(1000), 5000);
    assert_between(timeout_of(2), 60000 - at_most_ms(1000), 60000);
    assert_between(timeout_of(3), 1, 3000);
    assert_between(pttl_of(NAME), 60000 - at_most_ms(1000), 60000);
    assert_between(rlock_valid_for(read), 60000 - at_most_ms(2000), 60000);
    assert_ok(rlock_unlock(read));
    cr_assert(timeout_of(3) == -2);
    assert_ok(rlock_unlock(read));
    cr_assert(timeout_of(2) == -2);
    assert_between(pttl_of(NAME), 5000 - at_most_ms(1000), 5000);
    assert_between(rlock_valid_for(read), 5000 - at_most_ms(1100), 5000);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* The outer hold's lease ended while the inner one stood: its unlock is in vain. */
TimedTest(read_write_lease, outer_read_may_end_before_the_inner_one)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(read, 1700));
    assert_ok(rlock_lock_lease(read, 60000));
    pass_ms(1720);
    cr_assert(rlock_valid_for(read) > 50000);
    assert_ok(rlock_unlock(read));
    cr_assert(rlock_valid_for(read) == 0);
    assert_ok(others_write(NAME));
    assert_status(rlock_unlock(read), RLOCK_LOST);
    assert_status(rlock_unlock(read), RLOCK_NOT_OWNER);
    assert_no_keys();
}

/* 50. */
TimedTest(read_write_lease, leases_of_a_reentered_write_add_up)
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
Test(read_write_lease, longest_leases_add_up_too)
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
TimedTest(read_write_lease, shorter_read_cuts_no_ttl)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 60000));
    assert_ok(rlock_lock_lease(read, 5000));
    assert_between(pttl_of(NAME), 60000 - at_most_ms(1000), 60000);
    assert_ok(rlock_unlock(read));
    assert_between(pttl_of(NAME), 60000 - at_most_ms(1000), 60000);
    assert_ok(rlock_unlock(write));
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(rlock_lock_lease(read_of(stage.other, NAME), 5000));
    assert_between(pttl_of(NAME), 60000 - at_most_ms(1000), 60000);
    assert_ok(rlock_unlock(read));
    assert_between(pttl_of(NAME), 1, 5000);
}

/* The lock stands no longer than the reads that a writer leaves behind, though its own lease was longer. */
TimedTest(read_write_lease, stepping_down_leaves_the_leases_of_the_reads)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 60000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(read, 2000));
    assert_ok(rlock_unlock(write));
    assert_between(pttl_of(NAME), 1, 2000);
    assert_ok(rlock_lock(write_of(stage.other, NAME)));
    assert_between(now_ms() - since_ms, 1998, at_most_ms(3200));
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

/* The reads under a write hold have all run out when that is given back: nobody is left. */
TimedTest(read_write_lease, stepping_down_to_reads_that_ended_frees_it)
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

/* A write hold with a lease of its own that was forced open elsewhere is not lengthened by a read hold that
 * its owner takes, and that is renewed, beside other readers. */
TimedTest(read_write_lease, reads_lengthen_no_write_that_is_gone)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(write, 500));
    assert_ok(rlock_force_unlock(write_of(stage.other, NAME), NULL));
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(others_read(NAME)); /* mode read: others do read */
    cr_assert(rlock_valid_for(write) <= 500, "%lld ms", (long long)rlock_valid_for(write));
    pass_ms(520);
    cr_assert(rlock_valid_for(write) == 0, "both may rely on it: a writer and readers");
    assert_ok(rlock_unlock(read));
    assert_status(rlock_unlock(write), RLOCK_LOST);
}

/* Renewal of read-write locks: every hold's key, as long as it is held and no longer, and nobody else's.
 * The watchdog timeout is QUICK_MS here instead of 30 s. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>

TestSuite(read_write_renewal, .init = stage_quick, .fini = stage_close);

#define NAME "book"
#define THIRD_MS (QUICK_MS / 3)
#define RENEWED_MS (3 * QUICK_MS / 4) /* by then, less than a third is left of what was not renewed */

/* For ms, NAME and the timeout keys of holds 1…n have a third of the timeout left at least, less what the machine
 * was late by. */
static void assert_renewed(int n, int64_t ms)
{
    for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms; pass_ms(5)) {
        assert_between(pttl_of(NAME), THIRD_MS, INT64_MAX);
        for (int i = 1; i <= n; i++)
            assert_between(timeout_of(i), THIRD_MS, INT64_MAX);
    }
}

/* Redisson once renewed the first hold's key alone. */
Test(read_write_renewal, keeps_each_read_hold)
{
    rlock *read = read_of(stage.client, NAME);
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(read));
    assert_renewed(3, RENEWED_MS);
    assert_ok(rlock_unlock(read));
    assert_renewed(2, ROUND_MS);
    cr_assert(timeouts() == 2);
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* Each re-entry has a timeout of its own: it postpones the renewal of no other hold. */
TimedTest(read_write_renewal, keeps_the_outer_read_hold_of_one_who_reads_again_and_again)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    for (int i = 0; i < 6; i++) {
        pass_ms(QUICK_MS / 4);
        assert_ok(rlock_lock(read));
        assert_between(timeout_of(1), THIRD_MS, INT64_MAX);
    }
    for (int i = 0; i < 7; i++)
        assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* 53, with a watchdog timeout of QUICK_MS: under the writer, and after it. */
Test(read_write_renewal, keeps_a_read_under_a_write_and_after_it)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_renewed(1, RENEWED_MS);
    cr_assert(rlock_valid_for(write) > 0 && rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(write));
    assert_renewed(1, RENEWED_MS);
    cr_assert(rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* And the writer, when the read went first. */
Test(read_write_renewal, keeps_a_write_after_its_read)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock(read));
    assert_ok(rlock_unlock(read));
    assert_renewed(0, RENEWED_MS);
    cr_assert(timeouts() == 0);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* Under a re-entered write hold there is more than the watchdog timeout; what is left is renewed. */
Test(read_write_renewal, keeps_a_reentered_write_after_its_inner_hold)
{
    rlock *write = write_of(stage.client, NAME);
    assert_ok(rlock_lock(write));
    assert_ok(rlock_lock_lease(write, 200));
    assert_ok(rlock_unlock(write));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(5))
        cr_assert(pttl_of(NAME) > 0 && rlock_valid_for(write) > 0);
    assert_ok(rlock_unlock(write));
    assert_no_keys();
}

/* --- 52 --- */

typedef struct holding {
    rlock *locks[5];
    pthread_barrier_t *all_in;
    pthread_t thread;
    atomic_int failed;
} holding;

static void *hold_five(void *arg)
{
    holding *self = arg;
    for (int i = 0; i < 5; i++)
        self->failed += rlock_lock(self->locks[i]) != RLOCK_OK;
    pthread_barrier_wait(self->all_in);
    pass_ms(KEPT_MS);
    for (int i = 0; i < 5; i++)
        self->failed += rlock_unlock(self->locks[i]) != RLOCK_OK;
    return NULL;
}

/* 52: 50 readers on 10 threads hold it for longer than the timeout. */
Test(read_write_renewal, keeps_fifty_readers)
{
    static holding threads[10];
    pthread_barrier_t all_in;
    pthread_barrier_init(&all_in, NULL, 10);
    for (int i = 0; i < 10; i++) {
        threads[i].all_in = &all_in;
        for (int n = 0; n < 5; n++)
            threads[i].locks[n] = owned_by(read_of(n % 2 ? stage.client : stage.other, NAME), 5 * i + n);
        cr_assert(pthread_create(&threads[i].thread, NULL, hold_five, &threads[i]) == 0);
    }
    for (int i = 0; i < 10; i++) {
        pthread_join(threads[i].thread, NULL);
        cr_assert(atomic_load(&threads[i].failed) == 0);
    }
    pthread_barrier_destroy(&all_in);
    assert_no_keys();
}

/* --- other clients' holds --- */

/* 56: a client that reads renews its own holds alone, and its release finds only dead ones left. */
Test(read_write_renewal, of_one_client_keeps_no_other_clients_reads)
{
    rlock_client *dead = stage_client(STAGE_QUICK);
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock(read_of(dead, NAME)));
    assert_ok(rlock_lock(read));
    stage_close_client(dead);
    pass_ms(KEPT_MS);
    cr_assert(timeouts() == 1);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
    assert_ok(rlock_try_lock(write_of(stage.other, NAME), 0, 1000));
}

/* 56's second: 20 clients that died with 3 holds each are gone within the timeout. */
Test(read_write_renewal, dead_readers_let_the_writer_in)
{
    int64_t since_ms = now_ms();
    for (int i = 0; i < 20; i++) {
        rlock_client *dead = stage_client(STAGE_QUICK);
        for (int n = 0; n < 3; n++)
            assert_ok(rlock_lock(read_of(dead, NAME)));
        since_ms = now_ms();
        stage_close_client(dead);
    }
    assert_ok(rlock_lock(write_of(stage.client, NAME)));
    assert_between(now_ms() - since_ms, 500, at_most_ms(2 * QUICK_MS));
}

/* Another (Java) reader's renewal sets NAME's PTTL to its own lease, below that of our read. */
Test(read_write_renewal, puts_back_what_another_readers_renewal_cut)
{
    static losses told;
    rlock *read = read_of(stage.client, NAME);
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
    assert_ok(rlock_lock_lease(read, 60000));
    for (int i = 0; i < 3; i++) {
        cr_assert(server_integer(stage.server, "PEXPIRE %s %d", NAME, QUICK_MS) == 1);
        for (int64_t end_ms = limit_end_ms(10000); pttl_of(NAME) < 50000; pass_ms(5))
            cr_assert(now_ms() < end_ms, "the PTTL stays %lld", (long long)pttl_of(NAME));
        assert_between(pttl_of(NAME), 50000, 60000);
        assert_between(timeout_of(1), 50000, 60000);
    }
    assert_between(rlock_valid_for(read), 50000, 60000);
    cr_assert(event_count(&told.came) == 0);
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* The same for an explicit lease around, and inside, holds that are renewed. */
Test(read_write_renewal, puts_back_what_was_cut_from_a_longer_hold)
{
    rlock *read = read_of(stage.client, NAME);
    for (int inner = 0; inner < 2; inner++) {
        assert_ok(inner ? rlock_lock(read) : rlock_lock_lease(read, 60000));
        assert_ok(inner ? rlock_lock_lease(read, 60000) : rlock_lock(read));
        cr_assert(server_integer(stage.server, "PEXPIRE %s %d", NAME, QUICK_MS) == 1);
        for (int64_t end_ms = limit_end_ms(10000); pttl_of(NAME) < 50000; pass_ms(5))
            cr_assert(now_ms() < end_ms, "the PTTL stays %lld", (long long)pttl_of(NAME));
        assert_ok(rlock_unlock(read));
        assert_ok(rlock_unlock(read));
        assert_no_keys();
    }
}

/* Looking after an explicit lease lengthens nothing: it ends when it ends. */
Test(read_write_renewal, lengthens_no_explicit_read_lease)
{
    rlock *read = read_of(stage.client, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(read, ROUND_MS));
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
    assert_between(now_ms() - since_ms, ROUND_MS - 2, ROUND_MS + at_most_ms(900));
    cr_assert(timeouts() == 0);
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

/* --- its end --- */

/* 60, and of writes: nothing is sent once all is unlocked. */
Test(read_write_renewal, ends_with_the_last_unlock)
{
    rlock *sides[] = {read_of(stage.client, NAME), write_of(stage.client, NAME)};
    for (int side = 0; side < 2; side++) {
        assert_ok(rlock_lock(sides[side]));
        assert_ok(rlock_lock(sides[side]));
        assert_ok(rlock_unlock(sides[side]));
        assert_ok(rlock_unlock(sides[side]));
    }
    monitor *tap = monitor_open();
    pass_ms(ROUND_MS);
    cr_assert(monitor_saw(tap, NAME) == 0);
    monitor_close(tap);
    assert_no_keys();
}

/* 59, with 2 timeouts instead of 10: who locked twice and unlocked twice does not disturb the next. */
Test(read_write_renewal, belongs_to_the_next_holder_alone)
{
    rlock *write = write_of(stage.client, NAME), *theirs = write_of(stage.other, NAME);
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(write));
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_unlock(write));
    assert_ok(rlock_lock(theirs));
    assert_kept(NAME, theirs, KEPT_MS);
    assert_ok(rlock_unlock(theirs));
    assert_no_keys();
}

/* Redisson did not renew reads after the writer of another owner let go first. */
Test(read_write_renewal, keeps_a_reader_that_waited_for_the_writer)
{
    rlock *write = write_of(stage.client, NAME), *read = read_of(stage.client, NAME);
    actor *reader = actor_start();
    assert_ok(rlock_lock(write));
    actor_begin_lock(reader, read);
    cr_assert(actor_asleep(reader, 5000));
    assert_ok(rlock_unlock(write));
    assert_ok(actor_finish(reader, 5000));
    assert_renewed(1, RENEWED_MS);
    cr_assert(actor_valid_for(reader, read) > 0);
    assert_ok(actor_unlock(reader, read));
    assert_no_keys();
    actor_end(reader);
}

/* Given back by one reader, held by the other: what is left is that one's, and it is renewed on. */
Test(read_write_renewal, of_a_reader_goes_on_when_another_leaves)
{
    rlock *mine = read_of(stage.client, NAME), *theirs = read_of(stage.other, NAME);
    assert_ok(rlock_lock(mine));
    assert_ok(rlock_lock(theirs));
    pass_ms(THIRD_MS / 2);
    assert_ok(rlock_unlock(theirs));
    assert_renewed(1, RENEWED_MS);
    assert_ok(rlock_unlock(mine));
    assert_no_keys();
}

/* A read hold whose own lease has ended stays ended, though another level of its owner's keeps the lock. */
Test(read_write_renewal, revives_no_read_hold_that_has_ended)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(read, 100));
    assert_ok(rlock_lock(read));
    for (int64_t end_ms = limit_end_ms(10000); server_integer(stage.server, "EXISTS " NAME) == 1 && timeouts() > 1; pass_ms(1))
        cr_assert(now_ms() < end_ms, "the outer hold does not end");
    cr_assert(wait_renewed(NAME, 10000) && wait_renewed(NAME, 10000), "it is not renewed");
    assert_ok(rlock_unlock(read));
    cr_assert(rlock_valid_for(read) == 0, "the outer hold is relied on");
    assert_status(rlock_unlock(read), RLOCK_LOST);
}

TimedTest(read_write_renewal, relies_on_no_more_than_the_server_keeps)
{
    rlock *read = read_of(stage.client, NAME);
    assert_ok(rlock_lock(read));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(5)) {
        int64_t valid_ms = rlock_valid_for(read);
        assert_between(valid_ms, 1, pttl_of(NAME) + 20);
    }
    assert_ok(rlock_unlock(read));
    assert_no_keys();
}

/* Of two locks, whichever comes first in a batch. */
TimedTest(read_write_renewal, of_a_watchdogs_hold_does_not_lengthen_anothers_lease)
{
    rlock *leased = read_of(stage.client, NAME), *kept = read_of(stage.client, "kept");
    assert_ok(rlock_lock_lease(leased, 3 * QUICK_MS / 2));
    assert_ok(rlock_lock(kept));
    pass_ms(3 * QUICK_MS);
    cr_assert(rlock_valid_for(kept) > 0 && rlock_valid_for(leased) == 0);
    assert_status(rlock_unlock(leased), RLOCK_LOST);
    assert_ok(rlock_unlock(kept));
}

TimedTest(read_write_renewal, beside_another_with_a_lease_lengthens_a_watchdogs_hold)
{
    rlock *leased = read_of(stage.client, NAME), *kept = read_of(stage.client, "kept");
    assert_ok(rlock_lock(kept));
    assert_ok(rlock_lock_lease(leased, 5 * QUICK_MS));
    pass_ms(2 * QUICK_MS);
    cr_assert(rlock_valid_for(kept) > 0 && rlock_valid_for(leased) > 0);
    assert_ok(rlock_unlock(leased));
    assert_ok(rlock_unlock(kept));
}

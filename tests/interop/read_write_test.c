/* Read-write locks of C and of Java are one lock: readers of both together, or one writer of either. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/sides.h"
#include "tests/interop/support/claims.h"
#include "tests/interop/support/steps.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#define NAME "rw"
#define CHANNEL "redisson_rwlock:{rw}"

static const lock_kind reading = {.java = "read", .get = get_read};
static const lock_kind writing = {.java = "write", .get = get_write};

TestSuite(read_write, .init = java_stage, .fini = party_stage_close);

static void every_way(claim *holds)
{
    both_ways_with(holds, &writing, &writing, NAME);
    both_ways_with(holds, &writing, &reading, NAME);
    both_ways_with(holds, &reading, &writing, NAME);
}

Test(read_write, has_writers_alone_and_readers_without_writers)
{
    every_way(claim_exclusion);
    every_way(claim_reentry);
}

/* Four readers, two of each language; they leave one by one, and the writers of both come after the last. */
Test(read_write, has_readers_of_c_and_java_together)
{
    enum { READERS = 4 };
    party *readers[READERS];
    party *writers[] = {party_of(stage.client, &writing, NAME), party_of(NULL, &writing, NAME)};
    for (int i = 0; i < READERS; i++) {
        readers[i] = party_of(i % 2 ? NULL : stage.client, &reading, NAME);
        assert_ok(party_try(readers[i], 0, RLOCK_WATCHDOG));
    }
    for (int i = 0; i < READERS; i++) {
        for (int other = 0; other < READERS; other++)
            cr_assert(party_holds(readers[other]) == (other >= i));
        for (int writer = 0; writer < 2; writer++) {
            assert_status(party_try(writers[writer], 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
            cr_assert(!party_is_locked(writers[writer]) && party_is_locked(readers[i]));
        }
        assert_ok(party_unlock(readers[i]));
    }
    for (int writer = 0; writer < 2; writer++) {
        assert_ok(party_try(writers[writer], 0, RLOCK_WATCHDOG));
        assert_ok(party_unlock(writers[writer]));
    }
    assert_no_keys();
}

Test(read_write, comes_by_message_to_who_waits_on_the_other_side)
{
    every_way(claim_wake);
    every_way(claim_time_out);
}

/* All readers that wait behind a writer come in at once, of both languages. */
static void claim_readers_wake(party *writer, party *stranger)
{
    party *readers[] = {party_also(stranger, &reading, NAME), party_of(NULL, &reading, NAME),
                        party_of(stage.client, &reading, NAME), party_of(stage.other, &reading, NAME)};
    assert_ok(party_lock(writer));
    for (int i = 0; i < 4; i++) {
        party_begin_lock(readers[i]);
        party_await_waiting(readers[i]);
    }
    assert_ok(party_unlock(writer));
    for (int i = 0; i < 4; i++)
        assert_ok(party_finish(readers[i], BY_MESSAGE_MS));
    for (int i = 0; i < 4; i++)
        assert_ok(party_unlock(readers[i]));
}

Test(read_write, lets_all_waiting_readers_in_when_the_writer_leaves)
{
    both_ways(claim_readers_wake, &writing, NAME);
}

Test(read_write, that_ran_out_is_the_other_sides)
{
    every_way(claim_expiry);
}

/* A read hold that is forced open leaves its timeout key to run out, as Redisson does. */
static void claim_force_of_reads(party *reader, party *other)
{
    party *writer = party_also(other, &writing, NAME);
    assert_ok(party_lease(reader, 3000));
    assert_ok(party_lease(other, 3000));
    cr_assert(!party_force(writer), "the write side was forced open in mode read");
    cr_assert(party_force(other));
    assert_ok(party_try(writer, 0, RLOCK_WATCHDOG));
    assert_unlock_tells_of_loss(reader);
    assert_unlock_tells_of_loss(other);
    cr_assert(!party_force(reader), "the read side was forced open in mode write");
    assert_ok(party_unlock(writer));
    for (int64_t end_ms = limit_end_ms(10000); server_integer(stage.server, "DBSIZE") > 0; pass_ms(5))
        cr_assert(now_ms() < end_ms, "timeout keys stay");
}

Test(read_write, that_was_forced_open_is_the_other_sides)
{
    both_ways(claim_force, &writing, NAME);
    both_ways(claim_force_of_reads, &reading, NAME);
}

/* Who writes may read, too, and keeps that; the other side's readers then read beside it. */
static void claim_downgrade(party *writer, party *stranger)
{
    party *own = party_also(writer, &reading, NAME), *reader = party_also(stranger, &reading, NAME);
    assert_ok(party_lock(writer));
    assert_ok(party_lock(own));
    assert_status(party_try(reader, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(party_unlock(writer));
    assert_status(party_try(writer, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(party_try(reader, 0, RLOCK_WATCHDOG));
    assert_ok(party_unlock(own));
    assert_status(party_try(writer, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(party_unlock(reader));
}

Test(read_write, is_downgraded_to_a_read_that_the_other_side_joins)
{
    both_ways(claim_downgrade, &writing, NAME);
}

/* Redisson leaves them to the TTL; C says it, and they hear. */
Test(read_write, that_c_downgrades_wakes_the_waiting_readers_of_java)
{
    party *writer = party_of(stage.client, &writing, NAME), *own = party_also(writer, &reading, NAME);
    party *reader = party_of(NULL, &reading, NAME);
    assert_ok(party_lock(writer));
    assert_ok(party_lock(own));
    party_begin_lock(reader);
    party_await_waiting(reader);
    assert_ok(party_unlock(writer));
    assert_ok(party_finish(reader, BY_MESSAGE_MS));
    cr_assert(party_holds(own) && party_holds(reader));
}

Test(read_write, of_a_killed_writer_goes_to_the_readers_of_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&writing, &reading, NAME);
}

Test(read_write, of_a_killed_reader_goes_to_the_writer_of_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&reading, &writing, NAME);
}

/* Redisson's renewal of a read hold gives the whole lock its lease, which is shorter than what is left
 * of C's: C sees to it that its own stands when the JVM is gone. */
Test(read_write, of_a_killed_reader_in_java_stays_with_the_reader_in_c, .init = java_stage_quick, .lasts = 18)
{
    party *ours = party_of(stage.client, &reading, NAME), *theirs = party_of(NULL, &reading, NAME);
    party *writer = party_of(stage.other, &writing, NAME);
    assert_ok(party_lease(ours, 10 * LASTING_MS)); /* all that follows takes some of it */
    assert_ok(party_lock(theirs));
    cr_assert(wait_renewed(NAME, 30000));
    java_kill();
    rlock_status status = party_try(writer, QUICK_MS + 2000, RLOCK_WATCHDOG);
    assert_status(status, RLOCK_TIMEOUT);
    cr_assert(party_holds(ours));
    assert_ok(party_unlock(ours));
    assert_ok(party_try(writer, 0, RLOCK_WATCHDOG));
}

/* --- parity --- */

static party *also[2]; /* another owner of each side */

static void cast_three(const lock_kind *first, const lock_kind *second)
{
    cast_parties(first, NAME);
    also[false] = party_of(stage.client, second, NAME);
    also[true] = party_of(NULL, second, NAME);
}

static void read_7000(bool in_java)
{
    party *other = party_of(in_java ? NULL : stage.client, &reading, NAME);
    assert_ok(party_lease(other, 7000));
}

static void writer_waits(bool in_java)
{
    party_begin_lock(also[in_java]);
    party_await_waiting(also[in_java]);
}

static void force_for_the_writer(bool in_java)
{
    cr_assert(party_force(cast[in_java]));
    assert_ok(party_finish(also[in_java], BY_MESSAGE_MS));
    cr_assert(wait_no_channels(5000));
    assert_ok(party_unlock(also[in_java]));
}

Test(read_write, leaves_the_keys_and_messages_of_redisson_when_read)
{
    static const parity_step steps[] = {
        {"read 1", step_lock, SAME_TTL},
        {"read 2", step_lock, SAME_TTL},
        {"other reader 7 s lease", read_7000, SAME_TTL},
        {"unlock 1", step_unlock, SAME_TTL},
        {"unlock 2", step_unlock, SAME_TTL},
        {"writer waits", writer_waits, SAME_TTL},
        {"end", force_for_the_writer, SAME_TTL},
    };
    /* In C a lock that will end earlier, since its longest reader has left, is told of: the first 0. */
    static const char said[] = "PUBLISH redisson_rwlock:{rw} 0\n"
                               "SUBSCRIBE redisson_rwlock:{rw}\n"
                               "PUBLISH redisson_rwlock:{rw} 0\n"
                               "UNSUBSCRIBE redisson_rwlock:{rw}\n"
                               "PUBLISH redisson_rwlock:{rw} 1\n";
    cast_three(&reading, &writing);
    ASSERT_PARITY("rw read", steps, &(parity_difference){.messages = said});
}

static party *own_read[2];

static void read_too(bool in_java)
{
    own_read[in_java] = party_also(cast[in_java], &reading, NAME);
    assert_ok(party_lock(own_read[in_java]));
}

static void reader_waits(bool in_java)
{
    party_begin_lock(also[in_java]);
    party_await_waiting(also[in_java]);
}

static void finish_reader(bool in_java)
{
    assert_ok(party_finish(also[in_java], BY_MESSAGE_MS));
    cr_assert(wait_no_channels(5000));
    assert_ok(party_unlock(also[in_java]));
}

/* In C the waiting reader comes in now, in Java when the lock is free. */
static void downgrade(bool in_java)
{
    assert_ok(party_unlock(cast[in_java]));
    if (!in_java)
        finish_reader(in_java);
}

static void unlock_read(bool in_java)
{
    assert_ok(party_unlock(own_read[in_java]));
    if (in_java)
        finish_reader(in_java);
}

static void lock_and_force(bool in_java)
{
    step_lock(in_java);
    step_force(in_java);
}

Test(read_write, leaves_the_keys_and_messages_of_redisson_when_written)
{
    static const parity_step steps[] = {
        {"write 1", step_lock, SAME_TTL},
        {"write 2", step_lock, SAME_TTL},
        {"+read (downgrade)", read_too, SAME_TTL},
        {"write 1 left", step_unlock, LONGER},
        {"reader waits", reader_waits, LONGER},
        {"downgraded to read", downgrade, SAME_TTL},
        {"end", unlock_read, SAME_TTL},
        {"forced", lock_and_force, SAME_TTL},
    };
    static const char said[] = "SUBSCRIBE " CHANNEL "\n"
                               "PUBLISH " CHANNEL " 1\n" /* the downgrade */
                               "UNSUBSCRIBE " CHANNEL "\n"
                               "PUBLISH " CHANNEL " 0\n"
                               "PUBLISH " CHANNEL " 1\n";
    cast_three(&writing, &reading);
    ASSERT_PARITY("rw write", steps, &(parity_difference){.messages = said});
}

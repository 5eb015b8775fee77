/* The keyspace of the other kinds: they leave the keys, values, TTLs and messages that Redisson's leave.
 * Owners are letters, in the order in which they came. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(keyspace_kinds, .init = stage_open, .fini = stage_close);

#define WATCHDOG_MS 30000
#define SLACK_MS 2000 /* of a slow machine, far from any other lease here */

static void assert_messaging(monitor *tap, const char *expected)
{
    char *said = monitor_messaging(tap);
    cr_assert(strcmp(said, expected) == 0, "said:\n%s\nexpected:\n%s", said, expected);
    free(said);
    monitor_forget(tap);
}

#define assert_pttl(key, lease_ms) assert_between(pttl_of(key), (lease_ms) - at_most_ms(SLACK_MS), lease_ms)
#define assert_timeout(n, lease_ms) assert_between(timeout_of(n), (lease_ms) - at_most_ms(SLACK_MS), lease_ms)
#define assert_stands(text) assert_keyspace(stage.client, text)

/* Redisson's steps "rw read". */
RealTest(keyspace_kinds, of_reading_is_redissons)
{
    rlock *read = read_of(stage.client, "rw"), *write = write_of(stage.client, "rw");
    actor *other = actor_start(), *writer = actor_start();
    monitor *tap = monitor_open();
    assert_ok(rlock_lock(read));
    assert_stands("rw hash [mode, read, A, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", WATCHDOG_MS);
    assert_timeout(1, WATCHDOG_MS);
    assert_ok(rlock_lock(read));
    assert_stands("rw hash [mode, read, A, 2] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n"
                  "{rw}:A:rwlock_timeout:2 string 1 \n");
    assert_timeout(2, WATCHDOG_MS);
    assert_ok(actor_try(other, read, 0, 7000));
    assert_stands("rw hash [mode, read, A, 2, B, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n"
                  "{rw}:A:rwlock_timeout:2 string 1 \n"
                  "{rw}:B:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", WATCHDOG_MS);
    assert_ok(rlock_unlock(read));
    assert_stands("rw hash [mode, read, A, 1, B, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n"
                  "{rw}:B:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", WATCHDOG_MS);
    free(monitor_messaging(tap)); /* one, if the outer hold began more than a second before the inner one */
    monitor_forget(tap);
    assert_ok(rlock_unlock(read));
    assert_stands("rw hash [mode, read, B, 1] \n"
                  "{rw}:B:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", 7000);
    assert_timeout(1, 7000);
    assert_messaging(tap, "PUBLISH redisson_rwlock:{rw} 0\n"); /* ours: the lock ends earlier than waiters were told */
    actor_begin_lock(writer, write);
    cr_assert(server_wait_subscribers(stage.server, "redisson_rwlock:{rw}", 1, 5000));
    assert_stands("rw hash [mode, read, B, 1] \n"
                  "{rw}:B:rwlock_timeout:1 string 1 \n");
    assert_ok(rlock_force_unlock(read, NULL));
    assert_ok(actor_finish(writer, 5000));
    cr_assert(wait_no_channels(5000));
    assert_ok(actor_unlock(writer, write));
    assert_stands("{rw}:B:rwlock_timeout:1 string 1 \n");
    assert_messaging(tap, "SUBSCRIBE redisson_rwlock:{rw}\n"
                          "PUBLISH redisson_rwlock:{rw} 0\n"
                          "UNSUBSCRIBE redisson_rwlock:{rw}\n"
                          "PUBLISH redisson_rwlock:{rw} 1\n");
    monitor_close(tap);
    actor_end(other);
    actor_end(writer);
}

/* Redisson's steps "rw write"; what differs is said where it does. */
RealTest(keyspace_kinds, of_writing_is_redissons)
{
    rlock *read = read_of(stage.client, "rw"), *write = write_of(stage.client, "rw");
    actor *reader = actor_start();
    monitor *tap = monitor_open();
    assert_ok(rlock_lock(write));
    assert_stands("rw hash [mode, write, A:write, 1] \n");
    assert_pttl("rw", WATCHDOG_MS);
    assert_ok(rlock_lock(write));
    assert_stands("rw hash [mode, write, A:write, 2] \n");
    assert_pttl("rw", 2 * WATCHDOG_MS);
    assert_ok(rlock_lock(read));
    assert_stands("rw hash [mode, write, A:write, 2, A, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", 2 * WATCHDOG_MS);
    assert_timeout(1, WATCHDOG_MS);
    assert_ok(rlock_unlock(write));
    assert_stands("rw hash [mode, write, A:write, 1, A, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", 2 * WATCHDOG_MS); /* Redisson's falls to the watchdog timeout here; ours is never lowered */
    assert_messaging(tap, "");
    actor_begin_lock(reader, read);
    cr_assert(server_wait_subscribers(stage.server, "redisson_rwlock:{rw}", 1, 5000));
    assert_stands("rw hash [mode, write, A:write, 1, A, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n");
    assert_ok(rlock_unlock(write));
    assert_ok(actor_finish(reader, 5000)); /* Redisson's reader sleeps on; ours is woken with `1` */
    assert_stands("rw hash [mode, read, A, 1, B, 1] \n"
                  "{rw}:A:rwlock_timeout:1 string 1 \n"
                  "{rw}:B:rwlock_timeout:1 string 1 \n");
    assert_pttl("rw", WATCHDOG_MS);
    cr_assert(wait_no_channels(5000));
    assert_ok(rlock_unlock(read));
    assert_ok(actor_unlock(reader, read));
    assert_stands("");
    assert_ok(rlock_lock(write));
    assert_ok(rlock_force_unlock(write, NULL));
    assert_stands("");
    assert_messaging(tap, "SUBSCRIBE redisson_rwlock:{rw}\n"
                          "PUBLISH redisson_rwlock:{rw} 1\n"
                          "UNSUBSCRIBE redisson_rwlock:{rw}\n"
                          "PUBLISH redisson_rwlock:{rw} 0\n"
                          "PUBLISH redisson_rwlock:{rw} 1\n");
    monitor_close(tap);
    actor_end(reader);
}

/* What changes nothing says nothing; of a lock that is not there, Redisson's scripts would. */
Test(keyspace_kinds, of_a_forced_free_side_is_empty_and_silent)
{
    monitor *tap = monitor_open();
    for (int i = 0; i < KINDS; i++) {
        bool was_locked = true;
        assert_ok(rlock_force_unlock(kind_of(all_kinds[i], stage.client, "free"), &was_locked));
        cr_assert(!was_locked);
    }
    assert_no_keys();
    assert_messaging(tap, "");
    monitor_close(tap);
}

/* Redisson's steps "fenced". */
Test(keyspace_kinds, of_a_fenced_lock_is_redissons)
{
    rlock *lock = kind_of(&kind_fenced, stage.client, "fe");
    monitor *tap = monitor_open();
    assert_ok(rlock_lock(lock));
    assert_stands("fe hash [A, 1] \n"
                  "redisson_lock_token:{fe} string 1 \n");
    assert_pttl("fe", WATCHDOG_MS);
    assert_ok(rlock_lock(lock));
    assert_stands("fe hash [A, 2] \n"
                  "redisson_lock_token:{fe} string 2 \n");
    assert_pttl("fe", WATCHDOG_MS);
    cr_assert(pttl_of("redisson_lock_token:{fe}") == -1);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_stands("redisson_lock_token:{fe} string 2 \n");
    assert_messaging(tap, "PUBLISH redisson_lock__channel:{fe} 0\n");
    monitor_close(tap);
}

/* Redisson's steps "spin": lock, lock, unlock, unlock, and not a word. */
Test(keyspace_kinds, of_a_spin_lock_is_redissons)
{
    rlock *lock = kind_of(&kind_spin, stage.client, "s");
    monitor *tap = monitor_open();
    assert_ok(rlock_lock(lock));
    assert_stands("s hash [A, 1] \n");
    assert_pttl("s", WATCHDOG_MS);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_stands("s hash [A, 1] \n");
    assert_pttl("s", WATCHDOG_MS);
    assert_ok(rlock_unlock(lock));
    assert_stands("");
    assert_messaging(tap, "");
    monitor_close(tap);
}

/* Redisson's steps "nonreentrant". */
TimedTest(keyspace_kinds, of_a_non_reentrant_lock_is_redissons)
{
    rlock *lock = kind_of(&kind_non_reentrant, stage.client, "nr");
    monitor *tap = monitor_open();
    assert_ok(rlock_lock_lease(lock, 3000));
    assert_stands("nr hash [A, 1] \n");
    assert_pttl("nr", 3000);
    assert_status(rlock_lock_lease(lock, 60000), RLOCK_ALREADY_HELD);
    assert_stands("nr hash [A, 1] \n");
    assert_pttl("nr", 3000);
    assert_messaging(tap, "");
    assert_ok(rlock_unlock(lock));
    assert_stands("");
    assert_messaging(tap, "PUBLISH redisson_lock__channel:{nr} 0\n");
    monitor_close(tap);
}

/* Each kind under names with braces, blanks and a client's prefix: its keys and its channel by Redisson's rule. */
TimedTest(keyspace_kinds, keeps_to_the_names)
{
    static const char *const names[] = {"a{x}b", "two words", "100%s\r\n", "a}b"};
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    for (size_t n = 0; n < 2 * sizeof names / sizeof *names; n++) {
        const char *name = names[n / 2];
        char whole[64];
        snprintf(whole, sizeof whole, "%s%s", n % 2 ? "shop:" : "", name);
        for (int i = 0; i < KINDS; i++) {
            const kind *of = all_kinds[i];
            rlock *lock = kind_of(of, n % 2 ? prefixed : stage.client, name);
            rlock *rival = rival_of(of, stage.other, whole);
            actor *waiter = actor_start();
            cr_assert(strcmp(rlock_name(lock), name) == 0);
            assert_ok(rlock_lock(lock));
            const char *key = kind_key(of, whole);
            cr_assert(server_integer(stage.server, "EXISTS %b", key, strlen(key)) == 1);
            actor_begin_try(waiter, rival, 10000, 1000);
            if (of->channel && !of->fair)
                cr_assert(server_wait_subscribers(stage.server, kind_channel(of, whole), 1, 5000), "%s, %s", of->name,
                          whole);
            assert_ok(rlock_unlock(lock));
            assert_ok(actor_finish(waiter, 5000));
            assert_ok(actor_unlock(waiter, rival));
            actor_end(waiter);
            if (of == &kind_fenced)
                cr_assert(server_integer(stage.server, "DEL %s", kind_channel(&(kind){.channel = "redisson_lock_token"},
                                         whole)) == 1);
            assert_no_keys();
        }
    }
}

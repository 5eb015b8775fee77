/* Renewals: in batches, and going on when one of them fails. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/disk.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_SUITE renewal
TestSuite(renewal, .init = stage_quick, .fini = stage_close);

#define NAME "order"

/* --- trouble --- */

/* Renewals that fail once and again end nothing. */
Test(renewal, survives_flushed_scripts_and_killed_connections)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms;) {
        freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
        freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE normal SKIPME yes"));
        assert_kept(NAME, lock, 150);
    }
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(renewal, survives_a_server_that_sleeps_for_less_than_the_ttl)
{
    /* A renewal comes after 1200 ms, and is given up after 600 more; by then, half of the TTL is left. */
    rlock *lock = lock_of(stage_client("lockWatchdogTimeout=3600"), NAME);
    assert_ok(rlock_lock(lock));
    for (int i = 0; i < 2; i++) {
        server_freeze(stage.server);
        pass_ms(1800);
        server_thaw(stage.server);
        cr_assert(wait_renewed(NAME, 10000) && rlock_valid_for(lock) > 0);
    }
    assert_ok(rlock_unlock(lock));
}

/* The server forgot everything: the hold is lost, and the next one is kept. */
Test(renewal, survives_a_restart_of_the_server)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    server_restart(stage.server);
    pass_ms(ROUND_MS);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_kept(NAME, lock, KEPT_MS);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* One of three locks is gone and its name is a string now: the other two live on. */
Test(renewal, batch_is_not_spoiled_by_a_key_of_another_type)
{
    rlock *first = lock_of(stage.client, "first"), *spoiled = lock_of(stage.client, "spoiled"),
          *last = lock_of(stage.client, "last");
    assert_ok(rlock_lock(first));
    assert_ok(rlock_lock(spoiled));
    assert_ok(rlock_lock(last));
    freeReplyObject(server_command(stage.server, "SET spoiled text"));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(10)) {
        cr_assert(rlock_valid_for(first) > 0 && rlock_valid_for(last) > 0);
        cr_assert(pttl_of("first") > 0 && pttl_of("last") > 0);
    }
    cr_assert(rlock_valid_for(spoiled) == 0);
    assert_status(rlock_unlock(spoiled), RLOCK_LOST);
    assert_ok(rlock_unlock(first));
    assert_ok(rlock_unlock(last));
    char *text = server_text(stage.server, "GET spoiled");
    cr_assert(text != NULL && strcmp(text, "text") == 0);
    free(text);
}

/* --- what it does to a key's time --- */

#define LONG_MS 60000

/* As a key is left by one who sets a time that the server refuses. */
KIND_TEST(gives_an_end_to_a_key_that_has_none)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    assert_ok(rlock_lock(lock));
    freeReplyObject(server_command(stage.server, "PERSIST %s", kind_key(of, NAME)));
    for (int64_t end_ms = limit_end_ms(10000); pttl_of(kind_key(of, NAME)) == -1; pass_ms(5))
        cr_assert(now_ms() < end_ms, "it has none still");
    assert_between(pttl_of(kind_key(of, NAME)), 1, QUICK_MS);
    assert_ok(rlock_unlock(lock));
}

/* Another's claim on the same key, or one of an owner of ours before. */
KIND_TEST(cuts_no_time_that_is_longer)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    assert_ok(rlock_lock(lock));
    freeReplyObject(server_command(stage.server, "PEXPIRE %s %d", kind_key(of, NAME), LONG_MS));
    pass_ms(ROUND_MS);
    assert_between(pttl_of(kind_key(of, NAME)), LONG_MS / 2, LONG_MS);
    assert_ok(rlock_unlock(lock));
}

/* --- batches --- */

struct batches {
    int requests, keys, largest;
};

/* "evalsha" "<sha1>" "<number of keys>" … */
static void see_batch(const char *line, void *arg)
{
    struct batches *seen = arg;
    const char *keys = strcasestr(line, "\"evalsha\" \"");
    keys = keys ? strchr(keys + 11, ' ') : NULL;
    int count = keys ? atoi(keys + 2) : 0;
    seen->requests++;
    seen->keys += count;
    seen->largest = count > seen->largest ? count : seen->largest;
}

static void hold_many(rlock_client *client, int locks)
{
    char name[24];
    for (int i = 0; i < locks; i++) {
        snprintf(name, sizeof name, "lock-%d", i);
        assert_ok(rlock_lock(lock_of(client, name)));
    }
}

static struct batches watch_batches(rlock_client *client, int locks, int64_t ms)
{
    struct batches seen = {0};
    char name[24];
    hold_many(client, locks);
    monitor *tap = monitor_open();
    pass_ms(ms);
    monitor_each(tap, "\"evalsha\"", see_batch, &seen);
    monitor_close(tap);
    for (int i = 0; i < locks; i++) {
        snprintf(name, sizeof name, "lock-%d", i);
        cr_assert(pttl_of(name) > 0, "%s is gone", name);
    }
    return seen;
}

Test(renewal, is_of_a_hundred_locks_at_a_time)
{
    struct batches seen = watch_batches(stage.client, 350, 2 * QUICK_MS);
    assert_between(seen.largest, 51, 100);
    /* Each lock five times and more, in about four requests a round. */
    cr_assert(seen.keys >= 350 * least_renewals(2 * QUICK_MS), "%d renewals", seen.keys);
    assert_between(seen.requests, seen.keys / 100, seen.keys / 30);
}

/* One request for each hold would come when the server has most to do. */
static void assert_batches(void)
{
    struct batches seen = {0};
    monitor *tap = monitor_open();
    pass_ms(ROUND_MS);
    monitor_each(tap, "\"evalsha\"", see_batch, &seen);
    monitor_close(tap);
    cr_assert(seen.keys >= 60, "%d renewals", seen.keys);
    assert_between(seen.requests, 1, 10);
}

/* In a failover, say. */
TimedTest(renewal, goes_on_in_batches_after_a_replica_has_refused_it)
{
    hold_many(stage.client, 60);
    freeReplyObject(server_command(stage.server, "REPLICAOF 127.0.0.1 1"));
    pass_ms(ROUND_MS);
    freeReplyObject(server_command(stage.server, "REPLICAOF NO ONE"));
    assert_batches();
}

TimedTest(renewal, goes_on_in_batches_after_a_full_disk)
{
    hold_many(stage.client, 60);
    disk_spoil(stage.server);
    pass_ms(ROUND_MS);
    disk_mend(stage.server);
    assert_batches();
}

Test(renewal, batch_size_is_configurable)
{
    rlock_client *client = stage_client(STAGE_QUICK "&lockWatchdogBatchSize=10");
    struct batches seen = watch_batches(client, 35, 3 * QUICK_MS / 2);
    cr_assert(seen.largest == 10, "%d", seen.largest);
    cr_assert(seen.keys >= 35 * least_renewals(3 * QUICK_MS / 2), "%d renewals", seen.keys);
}

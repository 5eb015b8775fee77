/* Killed waiters: whoever dies while it waits is in nobody's way, for every kind of lock. (A fair
 * lock's has a place in a queue: see fair_test.c.) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/party.h"
#include "tests/interop/support/victim.h"

static rlock *get_write(rlock_client *client, const char *name)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(client, name);
    rlock *write = rlock_write_lock(pair);
    rlock_read_write_lock_free(pair);
    return write;
}

static rlock *get_multi(rlock_client *client, const char *name)
{
    rlock *member = rlock_get_lock(client, name);
    rlock *multi = rlock_get_multi_lock(&member, 1);
    rlock_free(member);
    return multi;
}

/* Each under a name of its own. */
static const struct {
    const char *name;
    lock_kind kind;
} locks[] = {
    {"spin", {.java = "spin", .get = rlock_get_spin_lock, .spins = true}},
    {"fenced", {.java = "fenced", .get = rlock_get_fenced_lock}},
    {"once", {.java = "nonreentrant", .get = rlock_get_non_reentrant_lock}},
    {"written", {.java = "write", .get = get_write}},
    {"multi", {.java = "multi", .get = get_multi}},
};
#define LOCKS (sizeof locks / sizeof *locks)
#define TOKEN "redisson_lock_token:{fenced}"

TestSuite(killed_waiter, .init = java_stage, .fini = party_stage_close);

static party *holders[LOCKS];

static void hold_all(rlock_client *client)
{
    for (size_t i = 0; i < LOCKS; i++) {
        holders[i] = party_of(client, &locks[i].kind, locks[i].name);
        assert_ok(party_lock(holders[i]));
    }
}

/* Free at once for a living one, and nothing is left of the dead. */
static void assert_free_after_unlock(rlock_client *client)
{
    for (size_t i = 0; i < LOCKS; i++) {
        assert_ok(party_unlock(holders[i]));
        party *next = party_of(client, &locks[i].kind, locks[i].name);
        assert_ok(party_try(next, 0, RLOCK_WATCHDOG));
        assert_ok(party_unlock(next));
    }
    /* Java's unlock knows of no registry; what the dead left there ends by itself. */
    static const char drop[] = "for _, key in ipairs(redis.call('keys', 'rlock_waiters:*')) do redis.call('del', key) end";
    freeReplyObject(server_command(stage.server, "EVAL %s 0", drop));
    freeReplyObject(server_command(stage.server, "DEL " TOKEN));
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
}

Test(killed_waiter, of_c_is_not_in_the_way_of_java)
{
    hold_all(NULL);
    for (size_t i = 0; i < LOCKS; i++)
        victim_kill(victim_waiting(&locks[i].kind, locks[i].name));
    assert_free_after_unlock(NULL);
}

Test(killed_waiter, of_java_is_not_in_the_way_of_c)
{
    hold_all(stage.client);
    for (size_t i = 0; i < LOCKS; i++) {
        party *dead = party_of(NULL, &locks[i].kind, locks[i].name);
        party_begin_lock(dead);
        party_await_waiting(dead);
    }
    java_kill();
    assert_free_after_unlock(stage.other);
}

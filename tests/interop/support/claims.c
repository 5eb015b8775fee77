/* Claims: what holds between two owners of a lock of any kind, whichever language each is in. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/claims.h"

#include "tests/integration/support/keys.h"
#include "tests/interop/support/times.h"
#include "tests/interop/support/victim.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_MS 600
#define SOON_MS 2000 /* before a multi lock of either side looks again by itself */

void assert_free(const lock_kind *kind)
{
    char *keys = server_keyspace(stage.server);
    bool only = kind->stays && strncmp(keys, kind->stays, strlen(kind->stays)) == 0 &&
                strchr(keys, '\n') == strrchr(keys, '\n');
    cr_assert(only || *keys == 0, "keys are left:\n%s", keys);
    free(keys);
}

void both_ways_with(claim *holds, const lock_kind *first, const lock_kind *second, const char *name)
{
    holds(party_of(stage.client, first, name), party_of(NULL, second, name));
    assert_free(first);
    holds(party_of(NULL, first, name), party_of(stage.client, second, name));
    assert_free(first);
}

void both_ways(claim *holds, const lock_kind *kind, const char *name)
{
    both_ways_with(holds, kind, kind, name);
}

void claim_exclusion(party *holder, party *other)
{
    assert_ok(party_lock(holder));
    assert_status(party_try(other, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(party_unlock(other), RLOCK_NOT_OWNER);
    if (!party_kind(holder)->compound) {
        cr_assert(party_is_locked(holder) && party_count(holder) == 1 && party_count(other) == 0);
        cr_assert(party_kind(holder) != party_kind(other) || party_is_locked(other));
    }
    cr_assert(party_holds(holder) && !party_holds(other));
    assert_ok(party_unlock(holder));
    assert_ok(party_try(other, 0, RLOCK_WATCHDOG));
    assert_status(party_try(holder, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(party_unlock(other));
}

void claim_reentry(party *holder, party *other)
{
    bool once = party_kind(holder)->once;
    assert_ok(party_lock(holder));
    assert_status(party_lock(holder), once ? RLOCK_ALREADY_HELD : RLOCK_OK);
    if (once)
        assert_status(party_try(holder, 100, RLOCK_WATCHDOG), RLOCK_ALREADY_HELD);
    if (!party_kind(holder)->compound)
        cr_assert(party_count(holder) == (once ? 1 : 2));
    if (!once)
        assert_ok(party_unlock(holder));
    assert_status(party_try(other, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(party_unlock(holder));
    assert_ok(party_try(other, 0, RLOCK_WATCHDOG));
    assert_status(party_unlock(holder), RLOCK_NOT_OWNER);
    assert_ok(party_unlock(other));
}

static void assert_unsubscribed(void)
{
    cr_assert(wait_no_channels(5000), "a channel is still listened to");
}

void claim_wake(party *holder, party *waiter)
{
    assert_ok(party_lock(holder));
    party_begin_lock(waiter);
    party_await_waiting(waiter);
    int64_t released_ms = now_ms();
    assert_ok(party_unlock(holder));
    assert_ok(party_finish(waiter, BY_MESSAGE_MS));
    fprintf(stderr, "%s: %s has it %lld ms after unlock\n", party_kind(waiter)->java,
            party_is_java(waiter) ? "Java" : "C", (long long)(party_ended_at(waiter) - released_ms));
    assert_between(party_ended_at(waiter) - released_ms, 0, at_most_ms(SOON_MS));
    assert_status(party_try(holder, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(party_unlock(waiter));
    assert_unsubscribed();
}

void claim_time_out(party *holder, party *waiter)
{
    int64_t wait_ms = vain_wait_ms(party_is_java(waiter));
    assert_ok(party_lock(holder));
    char *before = server_keyspace(stage.server);
    assert_status(party_try(waiter, wait_ms, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_between(party_took(waiter), wait_ms - 10, wait_ms + at_most_ms(LATE_MS));
    char *after = server_keyspace(stage.server);
    cr_assert_str_eq(before, after, "before the wait:\n%s\nafter it:\n%s", before, after);
    free(before);
    free(after);
    assert_unsubscribed();
    assert_ok(party_unlock(holder));
}

void claim_expiry(party *holder, party *waiter)
{
    int64_t asked_ms = now_ms();
    assert_ok(party_lease(holder, LEASE_MS));
    int64_t had_ms = party_ended_at(holder);
    party_begin_lock(waiter);
    assert_ok(party_finish(waiter, LEASE_MS + 5000));
    assert_between(party_ended_at(waiter), asked_ms + LEASE_MS - 2, had_ms + LEASE_MS + at_most_ms(LATE_MS));
    assert_unlock_tells_of_loss(holder);
    cr_assert(party_holds(waiter));
    assert_ok(party_unlock(waiter));
    assert_unsubscribed();
}

void claim_force(party *holder, party *other)
{
    assert_ok(party_lock(holder));
    cr_assert(party_force(other));
    assert_ok(party_try(other, 0, RLOCK_WATCHDOG));
    assert_unlock_tells_of_loss(holder);
    cr_assert(party_holds(other));

    party_begin_lock(holder);
    party_await_waiting(holder);
    cr_assert(party_force(other));
    assert_ok(party_finish(holder, BY_MESSAGE_MS));
    assert_unlock_tells_of_loss(other);
    assert_ok(party_unlock(holder));
    cr_assert(!party_force(other) && !party_force(holder));
}

/* The key whose TTL tells of all: of a multi lock's members, the first. */
static const char *key_of(const char *name)
{
    static char key[64];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(name, ","), name);
    return key;
}

/* The waiter has it for longer than it would have it renewed; the holder, which it waits for, is renewed. */
static void assert_waits(party *waiter, const char *name)
{
    party_begin_lease(waiter, LASTING_MS);
    cr_assert(wait_renewed(key_of(name), 30000));
    cr_assert(!party_ended(waiter, 1));
}

/* The holder has just been killed. */
static void assert_takes_over(party *waiter, const char *name)
{
    int64_t killed_ms = now_ms(), left_ms = pttl_of(key_of(name));
    assert_ok(party_finish(waiter, QUICK_MS + 5000));
    fprintf(stderr, "%s: %s has it %lld ms after the kill\n", party_kind(waiter)->java,
            party_is_java(waiter) ? "Java" : "C", (long long)(party_ended_at(waiter) - killed_ms));
    /* Not before the TTL that the dead one had left. */
    assert_between(party_ended_at(waiter), killed_ms + left_ms - 2, INT64_MAX);
    assert_ok(party_unlock(waiter));
}

void claim_takeover(const lock_kind *held, const lock_kind *awaited, const char *name)
{
    victim *killed = victim_holding(held, name);
    party *theirs = party_of(NULL, awaited, name), *ours = party_of(stage.client, awaited, name);
    assert_waits(theirs, name);
    victim_kill(killed);
    assert_takes_over(theirs, name);

    assert_ok(party_lock(party_also(theirs, held, name)));
    assert_waits(ours, name);
    java_kill();
    assert_takes_over(ours, name);
    assert_free(held);
}

/* The server's clock is set: locks end at times of that clock, so a step forward ends them early, which
 * their holders are told, and a step back makes them last longer where nobody gives them back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/server.h"
#include "tests/support/shell.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shifted.h"

#define NAME "order"
#define WATCHDOG 6000
#define QUERY SPRY "&lockWatchdogTimeout=6000"
#define HOUR_MS INT64_C(3600000)

static shifted clocked;
static server *single;
static rlock_client *client, *other;

static void open_shifted(void)
{
    clocked = shifted_start();
    single = clocked.server;
    client = client_at("%s?" QUERY, server_tcp_url(single));
    other = client_at("%s?" QUERY, server_tcp_url(single));
}

static void close_shifted(void)
{
    clients_close();
    server_stop(single);
    scratch_remove();
}

TestSuite(clock, .init = open_shifted, .fini = close_shifted);

static void shift(int64_t ms)
{
    shifted_by(&clocked, ms);
}

/* Every lock is free at once. Its former holder hears of it at its next renewal, a third of the watchdog
 * timeout later at most: until then there may be two, which no client can know. */
Test(clock, that_jumps_ahead_ends_holds_and_tells_their_holders)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(client, losses_note, &lost);
    rlock *lock = lock_of(client, NAME), *others = lock_of(other, NAME);
    assert_ok(rlock_lock(lock));
    int64_t since_ms = now_ms();
    shift(HOUR_MS);
    assert_ok(rlock_try_lock(others, 0, RLOCK_WATCHDOG));
    cr_assert(event_wait_ms(&lost.came, 3 * WATCHDOG), "the loss was not told");
    cr_log_info("told after %lld ms", (long long)(lost.all[0].at_ms - since_ms));
    assert_between(lost.all[0].at_ms - since_ms, 0, at_most_ms(WATCHDOG / 3 + 300));
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(rlock_valid_for(others) > 0);
    assert_ok(rlock_unlock(others));
}

/* They sleep until the time that they were told has passed; what they take then is renewed as any. */
Test(clock, that_jumps_ahead_leaves_waiters_that_wake)
{
    rlock *lock = lock_of(client, NAME), *waiting = lock_of(other, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    int64_t since_ms = now_ms();
    shift(HOUR_MS);
    assert_ok(actor_finish(waiter, 3 * WATCHDOG)); /* when the TTL that it was told has passed, at the latest */
    cr_log_info("the waiter had it after %lld ms", (long long)(actor_ended_at(waiter) - since_ms));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WATCHDOG + 300));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    pass_ms(WATCHDOG);
    cr_assert(actor_valid_for(waiter, waiting) > 0);
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
}

/* What is held stays so, is renewed, and goes with its unlock, which wakes. */
Test(clock, that_jumps_back_takes_nothing_from_holders_and_waiters)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(client, losses_note, &lost);
    rlock *lock = lock_of(client, NAME), *waiting = lock_of(other, NAME);
    assert_ok(rlock_lock(lock));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, waiting);
    cr_assert(actor_asleep(waiter, 10000));
    shift(-HOUR_MS);
    pass_ms(WATCHDOG + WATCHDOG / 3);
    cr_assert(rlock_valid_for(lock) > 0 && lost.count == 0 && !actor_ended(waiter, 0));
    cr_assert(server_integer(single, "PTTL " NAME) > HOUR_MS - 2 * WATCHDOG, "the TTL was lowered");
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, 10000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300));
    assert_between(server_integer(single, "PTTL " NAME), 1, WATCHDOG); /* not the former one's */
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
}

/* Who dies then leaves a lock for an hour longer: that is what is assumed of servers' clocks. Its lease is
 * over for the holder all the same. */
Test(clock, that_jumps_back_lengthens_no_lease_for_its_holder)
{
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock_lease(lock, 3000));
    shift(-HOUR_MS); /* before it is over for the server, too */
    pass_ms(3000);
    cr_assert(rlock_valid_for(lock) == 0);
    cr_assert(server_integer(single, "EXISTS " NAME) == 1);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* A red lock over token locks on five servers, whose clocks are set: what Redlock survives, and what it cannot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/shell.h"
#include "tests/topology/support/clients.h"
#include "tests/topology/support/shifted.h"

#define NAME "order"
#define SERVERS 5
#define QUERY SPRY "&lockWatchdogTimeout=6000"
#define HOUR_MS INT64_C(3600000)

static shifted clocked[SERVERS];
static rlock *one, *two; /* of two processes */

static rlock *red_over_five(void)
{
    rlock *members[SERVERS];
    for (size_t i = 0; i < SERVERS; i++)
        members[i] = stage_keep(rlock_get_token_lock(client_at("%s?" QUERY, server_tcp_url(clocked[i].server)), NAME));
    return stage_keep(rlock_get_red_lock(members, SERVERS));
}

static void open_five(void)
{
    for (size_t i = 0; i < SERVERS; i++)
        clocked[i] = shifted_start();
    one = red_over_five();
    two = red_over_five();
}

static void close_five(void)
{
    clients_close();
    for (size_t i = 0; i < SERVERS; i++)
        server_stop(clocked[i].server);
    scratch_remove();
}

TestSuite(redlock_clock, .init = open_five, .fini = close_five);

static void shift(size_t first, size_t last, int64_t ms)
{
    for (size_t i = first; i <= last; i++)
        shifted_by(&clocked[i], ms);
}

static bool stands_at(size_t i)
{
    return server_integer(clocked[i].server, "EXISTS %s", NAME) == 1;
}

/* Two clocks of five jump ahead: these two grant the lock to anybody at once, which is no majority. The watchdog finds
 * them lost, and takes them anew. */
Test(redlock_clock, that_jumps_ahead_on_two_of_five_gives_nobody_a_majority)
{
    assert_ok(rlock_lock(one));
    shift(0, 1, HOUR_MS);
    assert_status(rlock_try_lock(two, 0, 1000), RLOCK_TIMEOUT);
    cr_assert(rlock_valid_for(one) > 0);
    cr_assert(server_wait_exists(clocked[0].server, NAME, true, 60000));
    cr_assert(server_wait_exists(clocked[1].server, NAME, true, 60000));
    cr_assert(rlock_valid_for(one) > 0);
    assert_ok(rlock_unlock(one));
    assert_ok(rlock_try_lock(two, 0, 1000));
}

/* Two that jump back keep a lease for longer, and deny their votes: the other three are a majority. */
Test(redlock_clock, that_jumps_back_on_two_of_five_holds_nobody_up)
{
    assert_ok(rlock_lock_lease(one, 1000));
    shift(0, 1, -HOUR_MS);
    pass_ms(1000);
    assert_status(rlock_unlock(one), RLOCK_LOST);
    if (!stands_at(0)) /* the machine stood still, and they had expired before their clocks were set */
        return;
    assert_ok(rlock_lock_lease(two, 60000));
    cr_assert(stands_at(2) && stands_at(3) && stands_at(4));
    assert_ok(rlock_unlock(two));
}

/* What no lock on leases survives: three of five jump ahead, so both have a majority, each by its own clock. The first
 * hears of it at its next renewal. */
Test(redlock_clock, that_jumps_ahead_on_three_of_five_lets_two_hold_it)
{
    assert_ok(rlock_lock(one));
    shift(0, 2, HOUR_MS);
    assert_ok(rlock_try_lock(two, 0, 60000));
    int64_t both_ms = rlock_valid_for(one) < rlock_valid_for(two) ? rlock_valid_for(one) : rlock_valid_for(two);
    cr_log_info("both hold it, for %lld ms", (long long)both_ms);
    int64_t end_ms = limit_end_ms(60000);
    while (rlock_valid_for(one) > 0 && now_ms() < end_ms)
        pass_ms(10);
    cr_assert(rlock_valid_for(one) == 0);
    assert_status(rlock_unlock(one), RLOCK_LOST);
    assert_ok(rlock_unlock(two));
}

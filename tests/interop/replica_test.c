/* Replicas that do not confirm: neither C nor Java holds what only the master knows, unless both are told not
 * to mind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/interop/support/several.h"

#include <string.h>

#define NAME "order"
/* Redisson gives up a command that is not written within two such delays, also if the JVM stood still meanwhile. */
#define SECTION "timeout: 10000\nretryAttempts: 1\nretryDelay: !<org.redisson.config.ConstantDelay> {delay: PT2S}\n"
#define QUICK_SYNC "slavesSyncTimeout: 300\n"

static void start(void)
{
    several_replicas(2);
}

TestSuite(java_replicas, .init = start, .fini = several_close);

static void open_with(const char *top)
{
    several_open(fleet_master_slave_yaml(several.fleet, SECTION, top));
    several_look(NAME);
}

static void freeze(int replicas)
{
    for (int i = 1; i <= replicas; i++)
        server_freeze(fleet_node(several.fleet, i));
}

static void thaw(int replicas)
{
    for (int i = 1; i <= replicas; i++)
        server_thaw(fleet_node(several.fleet, i));
    for (int i = 1; i <= replicas; i++)
        cr_assert(fleet_wait_in_step(several.fleet, i, AGENT_MS));
}

/* Both sides take and give back, and keep each other out meanwhile. */
static void assert_taken_by_both(rlock *lock)
{
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
    cr_assert(!java_try("t1", NAME, 0, -1));
    assert_ok(rlock_unlock(lock));
    cr_assert(java_try("t1", NAME, 0, -1));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    java_unlock("t1", NAME);
}

Test(java_replicas, that_do_not_confirm_are_an_error_on_both_sides_and_nothing_is_held, .lasts = 26)
{
    open_with(QUICK_SYNC);
    rlock *lock = lock_of(stage.client, NAME), *writer = NULL;
    rlock_semaphore *semaphore = semaphore_of(stage.client, "semaphore");
    rlock_read_write_lock *pair = rlock_get_read_write_lock(stage.client, "sides");
    writer = rlock_write_lock(pair);
    rlock_read_write_lock_free(pair);
    bool done = false;
    assert_ok(rlock_semaphore_try_set_permits(semaphore, 3, &done));
    assert_taken_by_both(lock);
    freeze(2);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_NOT_SYNCED);
    assert_thrown(ASK(java, "t1", "lock", NAME, "try", "0", "-1"), "RedisException");
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0, "held, although nobody confirmed it");
    assert_status(rlock_try_lock(writer, 0, RLOCK_WATCHDOG), RLOCK_NOT_SYNCED);
    assert_thrown(ASK(java, "t1", "write", "sides", "try", "0", "-1"), "RedisException");
    cr_assert(server_integer(stage.server, "EXISTS sides") == 0, "held, although nobody confirmed it");
    assert_status(rlock_semaphore_try_acquire(semaphore, 1, 0), RLOCK_NOT_SYNCED);
    assert_thrown(ASK(java, "t1", "semaphore", "semaphore", "tryNow", "1"), "RedisException");
    cr_assert(server_integer(stage.server, "GET semaphore") == 3, "a permit is missing");
    thaw(2);
    assert_taken_by_both(lock);
    rlock_free(writer);
}

Test(java_replicas, that_do_not_confirm_are_no_matter_where_they_are_not_to_be_checked)
{
    open_with(QUICK_SYNC "checkLockSyncedSlaves: false\n");
    freeze(2);
    assert_taken_by_both(lock_of(stage.client, NAME));
    thaw(2);
}

Test(java_replicas, are_enough_when_one_of_them_confirms, .lasts = 36)
{
    open_with("slavesSyncTimeout: 5000\n");
    freeze(1);
    assert_taken_by_both(lock_of(stage.client, NAME));
    thaw(1);
}

/* Races of an answer with the end of the wait for it: the call says which came first, and is right. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <stdio.h>

#define TIMEOUT_MS 30

/* One attempt of so many ms: an answer may come in the very moment in which it is given up. */
static void open_single(void)
{
    scene_open_with("timeout=30&retryAttempts=0");
}

TestSuite(race, .init = open_single, .fini = scene_close);

static rlock *numbered(int i)
{
    char name[32];
    snprintf(name, sizeof name, "order-%d", i);
    return lock_of(scene.client, name);
}

static int delay(const rli_script *script, int64_t ms)
{
    return proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = script->sha1[RLI_COUNTED], .amount = ms});
}

/* What was given up is undone; what was not has been given back. */
static void assert_all_free_soon(void)
{
    cr_assert(wait_key_count(0, 5000), "%lld locks are held by nobody",
              (long long)server_integer(stage.server, "DBSIZE"));
}

Test(race, of_a_grant_with_the_timeout_leaves_nothing_held)
{
    enum { TIMES = 40 };
    int granted = 0;
    for (int i = 0; i < TIMES; i++) {
        rlock *lock = numbered(i);
        int rule = delay(&rli_script_lock_acquire, TIMEOUT_MS - 4 + i % 9);
        rlock_status status = rlock_lock(lock);
        proxy_release(scene.proxy, rule);
        granted += status == RLOCK_OK;
        if (status == RLOCK_OK) {
            cr_assert(rlock_valid_for(lock) > 0);
            status = rlock_unlock(lock); /* a loaded machine may take longer than its 30 ms */
            cr_assert(status == RLOCK_OK || status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
        } else {
            assert_status(status, RLOCK_UNAVAILABLE);
            cr_assert(rlock_valid_for(lock) == 0);
        }
    }
    cr_log_info("%d of %d were granted in time", granted, TIMES);
    assert_all_free_soon();
}

Test(race, of_a_release_with_the_timeout_leaves_nothing_held)
{
    enum { TIMES = 40 };
    for (int i = 0; i < TIMES; i++) {
        rlock *lock = numbered(i);
        if (rlock_lock(lock) != RLOCK_OK)
            continue; /* the machine is loaded */
        int rule = delay(&rli_script_lock_release, TIMEOUT_MS - 4 + i % 9);
        rlock_status status = rlock_unlock(lock);
        proxy_release(scene.proxy, rule);
        cr_assert(status == RLOCK_OK || status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
        cr_assert(rlock_valid_for(lock) == 0);
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    }
    assert_all_free_soon();
}

Test(race, of_a_grant_with_a_cancel_leaves_nothing_held)
{
    enum { TIMES = 60 };
    actor *caller = actor_start();
    for (int i = 0; i < TIMES; i++) {
        rlock *lock = numbered(i);
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.cancel = rlock_cancel_new();
        int rule = delay(&rli_script_lock_acquire, i % 8);
        actor_begin_with(caller, lock, &options);
        pass_ms(i % 11);
        rlock_cancel_fire(options.cancel);
        rlock_status status = actor_finish(caller, 5000);
        proxy_release(scene.proxy, rule);
        if (status == RLOCK_OK) {
            cr_assert(actor_valid_for(caller, lock) > 0);
            status = actor_unlock(caller, lock);
            cr_assert(status == RLOCK_OK || status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
        } else {
            cr_assert(status == RLOCK_CANCELLED || status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
            cr_assert(actor_valid_for(caller, lock) == 0);
        }
        rlock_cancel_free(options.cancel);
    }
    actor_end(caller);
    assert_all_free_soon();
}

/* A holder unlocks as the waiter's time is up: it has the lock, or somebody else can. */
Test(race, of_a_wake_up_with_the_end_of_the_wait_loses_no_lock)
{
    enum { TIMES = 40, WAIT_MS = 15 };
    rlock *others = lock_of(stage.other, "order"), *lock = lock_of(scene_client(QUICK), "order");
    actor *waiter = actor_start();
    for (int i = 0; i < TIMES; i++) {
        assert_ok(rlock_lock(others));
        actor_begin_try(waiter, lock, WAIT_MS, RLOCK_WATCHDOG);
        pass_ms(WAIT_MS - 4 + i % 9);
        assert_ok(rlock_unlock(others));
        rlock_status status = actor_finish(waiter, 5000);
        cr_assert(status == RLOCK_OK || status == RLOCK_TIMEOUT, "%s", rlock_strstatus(status));
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(waiter, lock));
        int64_t since_ms = now_ms();
        assert_ok(rlock_try_lock(others, 1000, RLOCK_WATCHDOG));
        assert_between(now_ms() - since_ms, 0, at_most_ms(200));
        assert_ok(rlock_unlock(others));
    }
    actor_end(waiter);
}

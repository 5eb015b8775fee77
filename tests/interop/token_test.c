/* The token lock beside redis-py's Lock and npm's redlock, on one key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/interop/support/agent.h"
#include "tests/support/event.h"

#include <stdlib.h>

#define NAME "report"
#define SOON_MS 20000

static agent *python, *node;

static void open_python(void)
{
    python = agent_start_of("redis-py"); /* first, so that a test without it is skipped before it starts a server */
    stage_open();
    assert_result(ASK(python, "t1", "open", server_tcp_url(stage.server)), "True");
}

static void close_python(void)
{
    agent_end(python);
    stage_close();
}

static void open_node(const char *version)
{
    node = agent_start_of("redlock");
    stage_open();
    assert_result(ASK(node, "t1", "open", version, "-1", server_tcp_url(stage.server)), "");
}

static void open_node_4(void)
{
    open_node("4");
}

static void open_node_5(void)
{
    open_node("5");
}

static void close_node(void)
{
    agent_end(node);
    stage_close();
}

TestSuite(token_redis_py, .init = open_python, .fini = close_python);
TestSuite(token_redlock_4, .init = open_node_4, .fini = close_node);
TestSuite(token_redlock_5, .init = open_node_5, .fini = close_node);

static rlock *ours(void)
{
    return kind_of(&kind_token, stage.client, NAME);
}

static void assert_done(const answer *got)
{
    cr_assert(!got->threw, "%s: %s", got->text, got->message);
}

/* --- redis-py --- */

Test(token_redis_py, waits_for_ours_and_ours_for_it)
{
    rlock *lock = ours();
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    assert_result(ASK(python, "t1", "acquire", NAME, "5000", "0"), "False");
    int tag = BEGIN(python, "t1", "acquire", NAME, "60000", "");
    cr_assert(!agent_answered(python, tag, 250), "beside ours");
    assert_ok(rlock_unlock(lock));
    assert_result(agent_await(python, tag, SOON_MS), "True");
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, lock);
    cr_assert(!actor_ended(waiter, 100), "beside redis-py");
    assert_done(ASK(python, "t1", "release", NAME));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

/* Its lock without a timeout has no expiry: it is waited for, and never broken. */
Test(token_redis_py, without_a_timeout_is_waited_for)
{
    rlock *lock = ours();
    actor *waiter = actor_start();
    int64_t ttl_ms = 0;
    assert_result(ASK(python, "t1", "acquire", NAME, "", ""), "True");
    assert_ok(rlock_remain_time_to_live(lock, &ttl_ms));
    cr_assert(ttl_ms == -1);
    assert_thrown(ASK(python, "t1", "extend", NAME, "1000", "add"), "LockError");
    actor_begin_lock(waiter, lock);
    cr_assert(!actor_ended(waiter, 300));
    assert_done(ASK(python, "t1", "release", NAME));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* Its extend adds to what is left: a waiter that had been told less asks again then, and goes on waiting. */
Test(token_redis_py, that_is_extended_is_waited_for_longer)
{
    rlock *lock = ours();
    actor *waiter = actor_start();
    assert_result(ASK(python, "t1", "acquire", NAME, "5000", ""), "True");
    actor_begin_lock(waiter, lock);
    assert_result(ASK(python, "t1", "extend", NAME, "600000", "add"), "True");
    cr_assert(!actor_ended(waiter, 5400), "beside redis-py");
    assert_between(pttl_of(NAME), 500000, 605000);
    assert_result(ASK(python, "t1", "extend", NAME, "60000", "replace"), "True");
    assert_between(pttl_of(NAME), 1, 60000);
    assert_done(ASK(python, "t1", "release", NAME));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* One that expired and is ours now is neither released nor extended by it. */
Test(token_redis_py, that_expired_leaves_ours_alone)
{
    rlock *lock = ours();
    assert_result(ASK(python, "t1", "acquire", NAME, "50", ""), "True");
    assert_ok(rlock_lock(lock));
    assert_result(ASK(python, "t1", "owned", NAME), "False");
    assert_thrown(ASK(python, "t1", "extend", NAME, "1000", "add"), "LockNotOwnedError");
    assert_thrown(ASK(python, "t1", "release", NAME), "LockNotOwnedError");
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(token_redis_py, takes_ours_when_its_lease_has_ended)
{
    rlock *lock = ours();
    assert_ok(rlock_lock_lease(lock, 300));
    assert_result(ASK(python, "t1", "acquire", NAME, "60000", ""), "True");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_result(ASK(python, "t1", "owned", NAME), "True");
    assert_done(ASK(python, "t1", "release", NAME));
    assert_no_keys();
}

/* --- redlock --- */

static void wait_for_each_other(void)
{
    rlock *lock = ours();
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    int tag = BEGIN(node, "t1", "acquire", NAME, "60000");
    cr_assert(!agent_answered(node, tag, 250), "beside ours");
    assert_ok(rlock_unlock(lock));
    assert_done(agent_await(node, tag, SOON_MS));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    actor_begin_lock(waiter, lock);
    cr_assert(!actor_ended(waiter, 100), "beside redlock");
    assert_done(ASK(node, "t1", "release", NAME));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    assert_no_keys();
    actor_end(waiter);
}

Test(token_redlock_4, waits_for_ours_and_ours_for_it)
{
    wait_for_each_other();
}

Test(token_redlock_5, waits_for_ours_and_ours_for_it)
{
    wait_for_each_other();
}

/* Its extend sets the time anew, and may shorten it: ours is there at that end. */
static void is_extended(void)
{
    rlock *lock = ours();
    assert_done(ASK(node, "t1", "acquire", NAME, "30000"));
    assert_done(ASK(node, "t1", "extend", NAME, "60000"));
    assert_between(pttl_of(NAME), 40000, 60000);
    assert_status(rlock_try_lock(lock, 500, 1000), RLOCK_TIMEOUT);
    assert_done(ASK(node, "t1", "extend", NAME, "200"));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

Test(token_redlock_4, that_is_extended_is_held_as_long_as_that_says)
{
    is_extended();
}

Test(token_redlock_5, that_is_extended_is_held_as_long_as_that_says)
{
    is_extended();
}

/* What is ours now it neither extends nor frees. */
static void leaves_ours_alone(void)
{
    rlock *lock = ours();
    assert_done(ASK(node, "t1", "acquire", NAME, "50"));
    assert_ok(rlock_lock(lock));
    cr_assert(ASK(node, "t1", "extend", NAME, "1000")->threw);
    bool held = false;
    assert_ok(rlock_is_held(lock, &held));
    cr_assert(held && pttl_of(NAME) > 1000);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

Test(token_redlock_4, that_expired_leaves_ours_alone)
{
    leaves_ours_alone();
}

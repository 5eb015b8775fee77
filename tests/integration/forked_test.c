/* Forks: a child is told so by every call, and does its parent's locks and connections no harm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(forked, .init = stage_quick, .fini = stage_close);

#define NAME "order"

static rlock *lock, *named;
static rlock_cancel *token;

static bool no_name(const char *name, void *arg)
{
    (void)name;
    (void)arg;
    return true;
}

static void no_server(const rlock_server *seen, void *arg)
{
    (void)seen;
    (void)arg;
}

static const char *call_everything(child *self)
{
    (void)self;
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    rlock_inspection *inspection = NULL;
    bool flag = false;
    int count = 0;
    int64_t ms = 0;
    rlock *handles[] = {lock, named};
    for (int i = 0; i < 2; i++) {
        rlock *handle = handles[i];
        child_check(rlock_lock(handle) == RLOCK_FORKED);
        child_check(strstr(rlock_last_error(), "fork") != NULL);
        child_check(rlock_lock_lease(handle, 1000) == RLOCK_FORKED);
        child_check(rlock_try_lock(handle, 0, 1000) == RLOCK_FORKED);
        child_check(rlock_try_lock(handle, 1000, RLOCK_WATCHDOG) == RLOCK_FORKED);
        child_check(rlock_lock_with(handle, &options) == RLOCK_FORKED);
        child_check(rlock_unlock(handle) == RLOCK_FORKED);
        child_check(rlock_force_unlock(handle, &flag) == RLOCK_FORKED);
        child_check(rlock_is_locked(handle, &flag) == RLOCK_FORKED);
        child_check(rlock_is_held(handle, &flag) == RLOCK_FORKED);
        child_check(rlock_get_hold_count(handle, &count) == RLOCK_FORKED);
        child_check(rlock_remain_time_to_live(handle, &ms) == RLOCK_FORKED);
        child_check(rlock_valid_for(handle) == 0);
        child_check(rlock_for_owner(handle, 1) == NULL);
        child_check(strcmp(rlock_name(handle), NAME) == 0);
    }
    child_check(rlock_inspect(stage.client, NAME, &inspection) == RLOCK_FORKED && !inspection);
    child_check(rlock_find(stage.client, NULL, RLOCK_FIND_LOCKS, no_name, NULL) == RLOCK_FORKED);
    child_check(rlock_examine(stage.client, no_server, NULL) == RLOCK_FORKED);
    child_check(rlock_get_lock(stage.client, "another") == NULL);
    child_check(strstr(rlock_last_error(), "fork") != NULL);
    rlock_on_lost(stage.client, losses_note, NULL);
    RLOCK_WITH(lock)
        return "the block ran without the lock";
    rlock_cancel_fire(token);
    rlock_free(named);
    rlock_free(lock);
    rlock_client_close(stage.client);
    return NULL;
}

static void hold_for(int64_t lease_ms)
{
    lock = lock_of(stage.client, NAME);
    named = owned_by(lock, 1);
    token = rlock_cancel_new();
    assert_ok(rlock_lock_lease(lock, lease_ms));
}

/* No renewal is due while the child is made: it may allocate. */
static void hold_at_rest(void)
{
    hold_for(60000);
    child_await_rest();
}

/* The parent's hold is renewed on, its waiters are woken, its calls go through. */
TimedTest(forked, child_is_told_by_every_call_and_harms_nothing)
{
    hold_for(RLOCK_WATCHDOG);
    actor *waiter = actor_start(), *other_waiter = actor_start();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = token;
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_listened(NAME, 5000));
    actor_begin_lock(other_waiter, lock_of(stage.other, NAME));
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 2, 5000));
    cr_assert(wait_renewed(NAME, 10000)); /* the watchdog has its connection by now */
    int64_t connected = server_info(stage.server, "total_connections_received");
    in_child(call_everything);
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(20))
        cr_assert(rlock_valid_for(lock) > 0 && pttl_of(NAME) > 0);
    cr_assert(server_info(stage.server, "total_connections_received") == connected, "one had to be made again");
    cr_assert(!actor_ended(waiter, 0) && !actor_ended(other_waiter, 0));
    assert_ok(rlock_unlock(lock));
    rlock *theirs = lock_of(stage.other, NAME);
    for (int done = 0; done < 2; pass_ms(1)) {
        if (actor_ended(waiter, 0)) {
            assert_ok(actor_finish(waiter, 0));
            assert_ok(actor_unlock(waiter, lock));
            done++;
        }
        if (actor_ended(other_waiter, 0)) {
            assert_ok(actor_finish(other_waiter, 0));
            assert_ok(actor_unlock(other_waiter, theirs));
            done++;
        }
    }
    actor_end(waiter);
    actor_end(other_waiter);
    rlock_cancel_free(token);
}

static const char *use_own_client(child *self)
{
    (void)self;
    rlock_client *own = NULL;
    child_check(rlock_client_open(&own, server_url(stage.server)) == RLOCK_OK);
    child_check(strcmp(rlock_client_id(own), rlock_client_id(stage.client)) != 0);
    rlock *ours = rlock_get_lock(own, NAME);
    bool held = true, locked = false;
    child_check(rlock_is_held(ours, &held) == RLOCK_OK && !held);
    child_check(rlock_is_locked(ours, &locked) == RLOCK_OK && locked);
    child_check(rlock_try_lock(ours, 0, 1000) == RLOCK_TIMEOUT);
    child_check(rlock_unlock(ours) == RLOCK_NOT_OWNER);
    child_check(rlock_try_lock(ours, 10000, RLOCK_WATCHDOG) == RLOCK_OK);
    child_check(rlock_unlock(ours) == RLOCK_OK);
    rlock_free(ours);
    rlock_client_close(own);
    return NULL;
}

RealTest(forked, child_can_open_a_client_of_its_own)
{
    if (!CHILD_MAY_START_THREADS)
        cr_skip_test("ThreadSanitizer does not follow the threads of a forked child");
    hold_at_rest();
    child part = child_start(use_own_client);
    cr_assert(wait_listened(NAME, 5000));
    assert_ok(rlock_unlock(lock));
    child_end(&part);
    assert_no_keys();
    rlock_cancel_free(token);
}

static const char *hold_until_told(child *self)
{
    rlock_client *own = NULL;
    child_check(rlock_client_open(&own, server_url_with(stage.server, STAGE_QUICK)) == RLOCK_OK);
    rlock *ours = rlock_get_lock(own, "child");
    child_check(rlock_lock(ours) == RLOCK_OK);
    child_await(self);
    child_check(rlock_valid_for(ours) > 0);
    child_check(rlock_unlock(ours) == RLOCK_OK);
    rlock_free(ours);
    rlock_client_close(own);
    return NULL;
}

/* The thread that forked had an owner already, under a thread id that the child does not have. */
RealTest(forked, child_of_a_thread_that_has_locked_is_renewed)
{
    if (!CHILD_MAY_START_THREADS)
        cr_skip_test("ThreadSanitizer does not follow the threads of a forked child");
    hold_at_rest();
    child part = child_start(hold_until_told);
    cr_assert(server_wait_exists(stage.server, "child", true, 10000));
    for (int renewals = 0; renewals < 2; renewals++)
        cr_assert(wait_renewed("child", 20000), "renewal %d did not come", renewals + 1);
    child_go(&part);
    child_end(&part);
    assert_ok(rlock_unlock(lock));
    rlock_cancel_free(token);
}

static const char *fork_once_more(child *self)
{
    (void)self;
    rlock_client *own = NULL;
    child_check(rlock_client_open(&own, server_url(stage.server)) == RLOCK_OK);
    rlock *ours = rlock_get_lock(own, "child");
    child_check(rlock_lock(ours) == RLOCK_OK);
    pid_t pid = fork();
    if (pid == 0)
        _exit(rlock_unlock(ours) == RLOCK_FORKED && rlock_unlock(lock) == RLOCK_FORKED ? 0 : 1);
    int status = -1;
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
    child_check(rlock_unlock(ours) == RLOCK_OK);
    rlock_free(ours);
    rlock_client_close(own);
    return NULL;
}

Test(forked, grandchild_is_told_too)
{
    if (!CHILD_MAY_START_THREADS)
        cr_skip_test("ThreadSanitizer does not follow the threads of a forked child");
    hold_at_rest();
    in_child(fork_once_more);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    rlock_cancel_free(token);
}

static const char *stay(child *self)
{
    child_await(self);
    return NULL;
}

/* The child has closed its copies: the server sees the end of the parent's connections. */
Test(forked, child_keeps_no_connection_of_its_parent_open)
{
    int64_t connected = server_info(stage.server, "connected_clients");
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, server_url(stage.server)));
    rlock *handle = rlock_get_lock(client, NAME);
    foreign_hold(NAME, 60000);
    assert_status(rlock_try_lock(handle, 20, 1000), RLOCK_TIMEOUT);
    foreign_vanish(NAME);
    assert_ok(rlock_lock(handle));
    cr_assert(server_info(stage.server, "connected_clients") > connected);
    child part = child_start(stay);
    rlock_client_close(client);
    rlock_free(handle);
    int64_t now = -1;
    for (int64_t end_ms = limit_end_ms(5000); now != connected && now_ms() < end_ms; pass_ms(1))
        now = server_info(stage.server, "connected_clients");
    cr_assert(now == connected, "%lld connections, there were %lld", (long long)now, (long long)connected);
    child_go(&part);
    child_end(&part);
}

static const char *call_and_open(child *self)
{
    (void)self;
    child_check(rlock_try_lock(lock, 1000, 1000) == RLOCK_FORKED);
    child_check(rlock_unlock(lock) == RLOCK_FORKED);
    child_check(rlock_valid_for(lock) == 0);
    rlock_client_close(stage.client);
    if (!CHILD_MAY_ALLOCATE || !CHILD_MAY_START_THREADS)
        return NULL;
    rlock_client *own = NULL;
    child_check(rlock_client_open(&own, server_url(stage.server)) == RLOCK_OK);
    rlock *ours = rlock_get_lock(own, "child");
    child_check(rlock_lock(ours) == RLOCK_OK && rlock_unlock(ours) == RLOCK_OK);
    rlock_free(ours);
    rlock_client_close(own);
    return NULL;
}

/* Forked at any moment of what other threads do, whatever mutexes they had. */
Test(forked, child_of_a_busy_parent_does_not_hang)
{
    static crowd busy = {.name = NAME, .turns = 400};
    for (int i = 0; i < 6; i++)
        crowd_add(&busy, i % 2 ? stage.other : stage.client);
    lock = lock_of(stage.client, "mine");
    crowd_begin(&busy);
    for (int i = 0; i < 20; i++)
        in_child(call_and_open);
    crowd_finish(&busy, 60000);
    cr_assert(busy.counter == 2400 && busy.most_inside == 1);
}

/* Forking in the middle of things: the child's calls answer RLOCK_FORKED, whatever the parent's threads
 * were doing, and the parent goes on as if nothing had been. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdatomic.h>

TestSuite(forking, .init = scene_open, .fini = scene_close);

#define NAME "order"

static rlock *lock, *named;

static void get_locks(void)
{
    lock = lock_of(scene.client, NAME);
    named = owned_by(lock, 7);
}

/* Every call there is. */
static const char *all_are_forked(child *self)
{
    (void)self;
    bool yes;
    int count;
    int64_t ms;
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    child_check(rlock_lock(lock) == RLOCK_FORKED);
    child_check(rlock_lock_lease(named, 1000) == RLOCK_FORKED);
    child_check(rlock_try_lock(lock, 100, 1000) == RLOCK_FORKED);
    child_check(rlock_lock_with(lock, &options) == RLOCK_FORKED);
    child_check(rlock_unlock(named) == RLOCK_FORKED);
    child_check(rlock_force_unlock(lock, NULL) == RLOCK_FORKED);
    child_check(rlock_is_locked(lock, &yes) == RLOCK_FORKED);
    child_check(rlock_is_held(named, &yes) == RLOCK_FORKED);
    child_check(rlock_get_hold_count(named, &count) == RLOCK_FORKED);
    child_check(rlock_remain_time_to_live(lock, &ms) == RLOCK_FORKED);
    child_check(rlock_valid_for(named) == 0);
    rlock_cancel_free(cancel);
    rlock_client_close(scene.client);
    return NULL;
}

Test(forking, while_a_thread_waits_leaves_its_wake_up_to_the_parent)
{
    get_locks();
    assert_ok(rlock_lock(named));
    actor *caller = actor_start();
    actor_begin_try(caller, lock, 5000, RLOCK_WATCHDOG);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(caller, 5000));
    in_child(all_are_forked);
    cr_assert(rlock_valid_for(named) > 0);
    assert_ok(rlock_unlock(named));
    assert_ok(actor_finish(caller, 5000));
    assert_ok(actor_unlock(caller, lock));
    actor_end(caller);
    assert_no_keys();
}

/* The answer comes after the child was forked, and only to the parent. */
Test(forking, while_an_answer_is_awaited_leaves_it_to_the_parent)
{
    get_locks();
    actor *caller = actor_start();
    int rule = on_script(&rli_script_lock_acquire, PROXY_HOLD_REPLY, 1);
    actor_begin_lock(caller, lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 5000));
    child forked = child_start(all_are_forked);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(caller, 5000));
    child_end(&forked);
    cr_assert(actor_hold_count(caller, lock) == 1);
    assert_ok(actor_unlock(caller, lock));
    actor_end(caller);
    assert_no_keys();
}

/* --- while many threads are busy: a mutex may be held by any of them --- */

enum { THREADS = 4, FORKS = 30 };

static atomic_bool stop;
static atomic_int turns, failures;

static void *hammer(void *arg)
{
    rlock *own = arg;
    while (!atomic_load(&stop)) {
        if (rlock_lock(own) != RLOCK_OK || rlock_unlock(own) != RLOCK_OK)
            atomic_fetch_add(&failures, 1);
        atomic_fetch_add(&turns, 1);
    }
    return NULL;
}

Test(forking, at_any_moment_is_safe_for_child_and_parent)
{
    pthread_t threads[THREADS];
    get_locks();
    rlock *locks[] = {lock, lock_of(scene.client, "another")};
    for (int i = 0; i < THREADS; i++)
        cr_assert(pthread_create(&threads[i], NULL, hammer, locks[i % 2]) == 0);
    for (int i = 0; i < FORKS; i++) {
        in_child(all_are_forked);
        int so_far = atomic_load(&turns);
        for (int64_t until_ms = limit_end_ms(5000); atomic_load(&turns) == so_far; pass_ms(1))
            cr_assert(now_ms() < until_ms, "after fork %d the parent's threads stand still", i);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert(atomic_load(&failures) == 0, "%d calls of the parent failed", atomic_load(&failures));
}

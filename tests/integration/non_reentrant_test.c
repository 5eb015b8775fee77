/* The non-reentrant lock: who holds it is refused at once; all others wait as for any lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <string.h>

TestSuite(non_reentrant, .init = stage_quick, .fini = stage_close);

#define NAME "order"

static rlock *mine(void)
{
    return kind_of(&kind_non_reentrant, stage.client, NAME);
}

/* 40: each way of asking, through this handle and another; the server is not even asked. */
Test(non_reentrant, holder_is_refused_at_once)
{
    rlock *first = mine(), *handles[] = {first, mine()};
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    int count = 0;
    assert_ok(rlock_lock(first));
    int64_t asked = scripts_run(), since_ms = now_ms();
    for (int i = 0; i < 2; i++) {
        assert_status(rlock_lock(handles[i]), RLOCK_ALREADY_HELD);
        assert_error("non-reentrant", NAME);
        assert_status(rlock_lock_lease(handles[i], 1000), RLOCK_ALREADY_HELD);
        assert_status(rlock_try_lock(handles[i], 0, RLOCK_WATCHDOG), RLOCK_ALREADY_HELD);
        assert_status(rlock_try_lock(handles[i], 100, RLOCK_WATCHDOG), RLOCK_ALREADY_HELD);
        assert_status(rlock_lock_with(handles[i], &options), RLOCK_ALREADY_HELD);
    }
    assert_between(now_ms() - since_ms, 0, at_most_ms(150)); /* the waits alone are 200 ms */
    cr_assert(scripts_run() == asked);
    assert_ok(rlock_get_hold_count(first, &count));
    cr_assert(count == 1);
    assert_kept(NAME, first, ROUND_MS);
    assert_ok(rlock_unlock(handles[1]));
    assert_no_keys();
    assert_status(rlock_unlock(first), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(first)); /* and again, once it is free */
    assert_ok(rlock_unlock(first));
}

/* 41. */
Test(non_reentrant, others_wait)
{
    rlock *lock = mine(), *theirs = kind_of(&kind_non_reentrant, stage.other, NAME);
    actor *remote = actor_start(), *local = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(local, lock);
    cr_assert(!actor_ended(local, 300));
    actor_begin_lock(remote, theirs);
    cr_assert(!actor_ended(remote, 300));
    assert_ok(rlock_unlock(lock));
    bool local_first = false;
    for (int64_t end_ms = limit_end_ms(5000); !(local_first = actor_ended(local, 1)) && !actor_ended(remote, 1);)
        cr_assert(now_ms() < end_ms, "neither gets it");
    assert_ok(actor_finish(local_first ? local : remote, 0));
    assert_ok(actor_unlock(local_first ? local : remote, local_first ? lock : theirs));
    assert_ok(actor_finish(local_first ? remote : local, 5000));
    assert_ok(actor_unlock(local_first ? remote : local, local_first ? theirs : lock));
    assert_no_keys();
    actor_end(remote);
    actor_end(local);
}

/* A named owner's second thread, which waits when its first gets the lock: it need not wait any longer. */
Test(non_reentrant, waiting_thread_of_the_new_holder_is_refused_at_once)
{
    rlock *lock = owned_by(mine(), 5);
    actor *first = actor_start(), *second = actor_start();
    foreign_hold(NAME, 60000);
    actor_begin_lock(first, lock);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(first, 5000));
    actor_begin_lock(second, lock);
    cr_assert(actor_asleep(second, 5000));
    int64_t since_ms = now_ms();
    foreign_release(NAME);
    assert_ok(actor_finish(first, 5000));
    assert_status(actor_finish(second, 5000), RLOCK_ALREADY_HELD);
    assert_between(actor_ended_at(second) - since_ms, 0, at_most_ms(1000));
    assert_ok(actor_unlock(second, lock)); /* the owner holds it, whichever thread says so */
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* Lost is not held: its owner may take it again before it has unlocked in vain. */
Test(non_reentrant, owner_of_a_lost_hold_may_take_it_again)
{
    rlock *lock = mine();
    assert_ok(rlock_lock_lease(lock, 1700));
    assert_status(rlock_try_lock(lock, 0, 50), RLOCK_ALREADY_HELD);
    pass_ms(1710);
    assert_ok(rlock_try_lock(lock, 0, 5000));
    assert_status(rlock_try_lock(lock, 0, 5000), RLOCK_ALREADY_HELD);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(kind_of(&kind_non_reentrant, stage.other, NAME), NULL));
    for (int64_t end_ms = limit_end_ms(10000); rlock_valid_for(lock) > 0; pass_ms(1)) /* until a renewal finds it out */
        cr_assert(now_ms() < end_ms);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* As in Redisson, it is one lock with the reentrant one of its name: the handle decides. */
Test(non_reentrant, is_one_with_the_reentrant_lock_of_its_name)
{
    rlock *lock = mine(), *reentrant = kind_of(&kind_reentrant, stage.client, NAME);
    assert_ok(rlock_lock(reentrant));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_ALREADY_HELD);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(reentrant));
    assert_ok(rlock_unlock(reentrant));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

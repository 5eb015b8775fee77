/* The signal-list lock: a signal that comes for a waiter which is just leaving. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/blocked.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/virtual/support/held_task.h"

TestSuite(signal_leave, .init = stage_quick, .fini = stage_close);

#define NAME "order"
#define SOON_MS 10000
#define AT_ONCE_MS 20

/* The thread that reads signals sees both at once: the last waiter has left, and the signal has come. */
Test(signal_leave, signal_that_comes_with_the_end_of_the_wait_is_passed_on)
{
    rlock *held = kind_of(&kind_signal, stage_client(STAGE_QUICK), NAME), *wanted = kind_of(&kind_signal, stage.other, NAME);
    actor *first = actor_start(), *second = actor_start(), *holder = actor_start();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    assert_ok(actor_lock(holder, held));
    actor_begin_with(first, kind_of(&kind_signal, stage.client, NAME), &options);
    await_blocked(1);
    held_task *reader = task_hold("rlock-signals"); /* the second has none yet */
    actor_begin_try(second, wanted, 60000, 60000);
    await_blocked(2);
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(first, SOON_MS), RLOCK_CANCELLED);
    assert_ok(actor_unlock(holder, held));
    int64_t since_ms = now_ms();
    task_let_go(reader);
    assert_ok(actor_finish(second, SOON_MS));
    assert_between(actor_ended_at(second) - since_ms, 0, AT_ONCE_MS);
    assert_ok(actor_unlock(second, wanted));
    actor_end(first);
    actor_end(second);
    actor_end(holder);
    rlock_cancel_free(options.cancel);
}

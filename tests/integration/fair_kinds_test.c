/* Fair locks beside locks of other kinds on the same name, by the same owner: they share its place in the queue. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

TestSuite(fair_kinds, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* The wait that took the place ends first; that of a lock which knows no places is the last of the owner. */
Test(fair_kinds, place_goes_though_the_last_wait_of_its_owner_is_for_another_kind)
{
    rlock *fair = owned_by(fair_of(stage.client, NAME), 7), *plain = owned_by(lock_of(stage.client, NAME), 7);
    actor *first = actor_start(), *last = actor_start();
    rlock_lock_options of_first = RLOCK_LOCK_OPTIONS_INIT, of_last = RLOCK_LOCK_OPTIONS_INIT;
    of_first.cancel = rlock_cancel_new();
    of_last.cancel = rlock_cancel_new();
    foreign_hold(NAME, 60000);
    actor_begin_with(first, fair, &of_first);
    cr_assert(wait_queued(NAME, 1, 5000) && wait_all_listen(NAME, 5000) && actor_asleep(first, 5000));
    actor_begin_with(last, plain, &of_last);
    cr_assert(actor_asleep(last, 5000));
    rlock_cancel_fire(of_first.cancel);
    assert_status(actor_finish(first, 10000), RLOCK_CANCELLED);
    cr_assert(queue_length(NAME) == 1);
    rlock_cancel_fire(of_last.cancel);
    assert_status(actor_finish(last, 10000), RLOCK_CANCELLED);
    cr_assert(wait_queued(NAME, 0, 10000), "its place is left behind");
    actor_end(first);
    actor_end(last);
    rlock_cancel_free(of_first.cancel);
    rlock_cancel_free(of_last.cancel);
}

/* Kinds of lock that keep their holds in different forms under one name: a handle of one kind gives back no hold of another,
 * and each hold is kept in its own form. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>

TestSuite(kinds_apart, .init = stage_quick, .fini = stage_close);

#define NAME "order"

/* One kind for each form. */
static const kind *const forms[] = {&kind_reentrant, &kind_read, &kind_write, &kind_token};
#define FORMS (sizeof forms / sizeof *forms)

/* `give` unlocks what `take` has locked, in vain. */
static void assert_apart(rlock_client *client, const kind *take, const kind *give)
{
    rlock *held = kind_of(take, client, NAME), *other = kind_of(give, client, NAME);
    assert_ok(rlock_lock_lease(held, 3600000));
    int64_t left_ms = pttl_of(NAME);
    cr_assert(rlock_unlock(other) == RLOCK_NOT_OWNER, "%s gives back %s", give->name, take->name);
    cr_assert(rlock_valid_for(held) > 0 && rlock_valid_for(other) == 0 && pttl_of(NAME) > left_ms - 60000,
              "%s beside %s", give->name, take->name);
    cr_assert(rlock_unlock(held) == RLOCK_OK, "%s after %s", take->name, give->name);
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000), "not given back"); /* it may have been posted */
    assert_no_keys();
}

static void each_form_beside_each_other(rlock_client *client)
{
    for (size_t i = 0; i < FORMS; i++) {
        for (size_t j = 0; j < FORMS; j++) {
            if (i != j)
                assert_apart(client, forms[i], forms[j]);
        }
    }
}

Test(kinds_apart, unlock_of_another_kind_changes_nothing)
{
    each_form_beside_each_other(stage.client);
}

Test(kinds_apart, posted_unlock_of_another_kind_changes_nothing)
{
    each_form_beside_each_other(stage_client("unlockWaits=false"));
}

/* It would take the whole lock away from all that read. */
Test(kinds_apart, plain_unlock_of_a_reader_leaves_the_other_readers)
{
    rlock *one = kind_of(&kind_read, stage.client, NAME), *two = owned_by(kind_of(&kind_read, stage.client, NAME), 2);
    assert_ok(rlock_lock(one));
    assert_ok(rlock_lock(two));
    assert_status(rlock_unlock(lock_of(stage.client, NAME)), RLOCK_NOT_OWNER);
    assert_status(rlock_try_lock(kind_of(&kind_write, stage.other, NAME), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(one));
    assert_ok(rlock_unlock(two));
    assert_no_keys();
}

/* Its owner waited for the plain lock of that name before. */
Test(kinds_apart, read_hold_of_a_plain_waiter_is_renewed_as_such)
{
    rlock *others = kind_of(&kind_read, stage.other, NAME), *writer = owned_by(kind_of(&kind_write, stage.other, NAME), 9);
    rlock *plain = owned_by(lock_of(stage.client, NAME), 5), *read = owned_by(kind_of(&kind_read, stage.client, NAME), 5);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(others));
    actor_begin_try(waiter, plain, QUICK_MS / 2, RLOCK_WATCHDOG);
    cr_assert(actor_asleep(waiter, 10000));
    assert_ok(rlock_lock(read));
    assert_status(actor_finish(waiter, 10000), RLOCK_TIMEOUT);
    pass_ms(KEPT_MS);
    assert_ok(rlock_unlock(others));
    cr_assert(rlock_valid_for(read) > 0);
    assert_status(rlock_try_lock(writer, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(read));
    actor_end(waiter);
    assert_no_keys();
}

/* Inspecting: what the server holds under a name, whoever holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

TestSuite(inspect, .init = stage_open, .fini = stage_close, .timeout = 30);

#define NAME "order"

static rlock_inspection *look(const char *name)
{
    rlock_inspection *inspection = NULL;
    assert_ok(rlock_inspect(stage.client, name, &inspection));
    cr_assert(inspection != NULL);
    return inspection;
}

Test(inspect, shows_a_free_lock)
{
    rlock_inspection *seen = look(NAME);
    cr_assert(strcmp(seen->kind, "free") == 0);
    cr_assert(seen->ttl_ms == -2 && seen->holder_count == 0);
    rlock_inspection_free(seen);
    assert_no_keys();
}

Test(inspect, shows_holder_count_and_ttl)
{
    char owner[80];
    rlock *lock = lock_of(stage.other, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 5000));
    assert_ok(rlock_lock_lease(lock, 5000));
    snprintf(owner, sizeof owner, "%s:%lld", rlock_client_id(stage.other), (long long)wire_number(NAME, stage.other));
    rlock_inspection *seen = look(NAME);
    cr_assert(strcmp(seen->kind, "lock") == 0);
    cr_assert(seen->holder_count == 1 && seen->holders[0].hold_count == 2);
    cr_assert(strcmp(seen->holders[0].owner, owner) == 0);
    assert_between(seen->ttl_ms, 5000 - (now_ms() - since_ms) - 2, 5000);
    rlock_inspection_free(seen);
    assert_held_alone(NAME, stage.other, 2, 5000, since_ms);
}

Test(inspect, shows_a_lock_without_ttl)
{
    foreign_hold(NAME, RLOCK_WATCHDOG);
    rlock_inspection *seen = look(NAME);
    cr_assert(seen->ttl_ms == -1 && seen->holder_count == 1);
    cr_assert(strcmp(seen->holders[0].owner, FOREIGN_CLIENT ":1") == 0);
    rlock_inspection_free(seen);
}

Test(inspect, puts_the_clients_prefix_before_the_name)
{
    rlock_client *client = stage_client("namePrefix=shop:");
    rlock_inspection *seen = NULL;
    foreign_hold("shop:" NAME, 60000);
    assert_ok(rlock_inspect(client, NAME, &seen));
    cr_assert(seen->holder_count == 1);
    rlock_inspection_free(seen);
}

/* Steps of parity that every kind of lock has: what the party of each side does alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/steps.h"

party *cast[2];

void cast_parties(const lock_kind *kind, const char *name)
{
    cast[false] = party_of(stage.client, kind, name);
    cast[true] = party_of(NULL, kind, name);
}

void step_lock(bool in_java)
{
    assert_ok(party_lock(cast[in_java]));
}

void step_try_5000(bool in_java)
{
    assert_ok(party_try(cast[in_java], 0, 5000));
}

void step_lease_3000_twice(bool in_java)
{
    assert_ok(party_lease(cast[in_java], 3000));
    assert_status(party_lease(cast[in_java], 3000), RLOCK_ALREADY_HELD);
}

void step_unlock(bool in_java)
{
    assert_ok(party_unlock(cast[in_java]));
}

void step_lock_and_unlock(bool in_java)
{
    step_lock(in_java);
    step_unlock(in_java);
}

void step_unlock_twice(bool in_java)
{
    step_unlock(in_java);
    step_unlock(in_java);
}

void step_force(bool in_java)
{
    cr_assert(party_force(cast[in_java]));
}

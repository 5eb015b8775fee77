/* Spin locks of C and of Java are one lock, without a message. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/claims.h"
#include "tests/interop/support/steps.h"

static const lock_kind spin = {.java = "spin", .get = rlock_get_spin_lock, .spins = true};

TestSuite(spin, .init = java_stage, .fini = party_stage_close);

Test(spin, belongs_to_c_or_to_java)
{
    both_ways(claim_exclusion, &spin, "s");
    both_ways(claim_reentry, &spin, "s");
}

/* By asking again, at the latest after the longest pause of either back-off. */
Test(spin, comes_to_who_asks_for_it_on_the_other_side)
{
    both_ways(claim_wake, &spin, "s");
    both_ways(claim_time_out, &spin, "s");
}

Test(spin, that_ran_out_or_was_forced_open_is_the_other_sides)
{
    both_ways(claim_expiry, &spin, "s");
    both_ways(claim_force, &spin, "s");
}

Test(spin, of_a_killed_holder_goes_to_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&spin, &spin, "s");
}

/* The reentrant lock of the same name is the same lock: what the one holds keeps the other out. */
Test(spin, is_the_reentrant_lock_of_that_name)
{
    static const lock_kind plain = {.java = "lock", .get = rlock_get_lock};
    party *spinner = party_of(stage.client, &spin, "s"), *theirs = party_of(NULL, &plain, "s");
    claim_exclusion(spinner, theirs);
    claim_exclusion(party_of(NULL, &spin, "s"), party_of(stage.client, &plain, "s"));
    assert_free(&spin);
}

/* Nothing is said in the notes of this section either. */
Test(spin, leaves_the_keys_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"lock", step_lock, SAME_TTL}, {"2-1", step_lock_and_unlock, SAME_TTL}, {"end", step_unlock, SAME_TTL}};
    cast_parties(&spin, "s");
    ASSERT_PARITY("spin", steps, NULL);
}

/* Non-reentrant locks of C and of Java are one lock, which nobody takes twice. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/claims.h"
#include "tests/interop/support/steps.h"

#include <string.h>

static const lock_kind once = {.java = "nonreentrant", .get = rlock_get_non_reentrant_lock, .once = true};

static const lock_kind fair_once = {.java = "nonreentrantfair", .get = rlock_get_non_reentrant_fair_lock, .once = true};

TestSuite(non_reentrant, .init = java_stage, .fini = party_stage_close);

Test(non_reentrant, belongs_to_c_or_to_java_once)
{
    both_ways(claim_exclusion, &once, "nr");
    both_ways(claim_reentry, &once, "nr");
    both_ways(claim_exclusion, &fair_once, "nrf");
    both_ways(claim_reentry, &fair_once, "nrf");
}

Test(non_reentrant, comes_by_message_to_who_waits_on_the_other_side)
{
    both_ways(claim_wake, &once, "nr");
    both_ways(claim_time_out, &once, "nr");
    both_ways(claim_wake, &fair_once, "nrf");
    both_ways(claim_time_out, &fair_once, "nrf");
}

Test(non_reentrant, that_ran_out_or_was_forced_open_is_the_other_sides)
{
    both_ways(claim_expiry, &once, "nr");
    both_ways(claim_force, &once, "nr");
    both_ways(claim_expiry, &fair_once, "nrf");
    both_ways(claim_force, &fair_once, "nrf");
}

Test(non_reentrant, of_a_killed_holder_goes_to_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&once, &once, "nr");
}

/* Both name the lock and go on alike; who holds it is a thread's number in either. */
Test(non_reentrant, refuses_the_second_time_in_the_words_of_redisson)
{
    static const char words[] = "non-reentrant and is already held by ";
    rlock *lock = rlock_get_non_reentrant_lock(stage.client, "nr");
    assert_ok(rlock_lock(lock));
    assert_status(rlock_lock(lock), RLOCK_ALREADY_HELD);
    assert_error(words, "nr");
    assert_ok(rlock_unlock(lock));
    assert_result(ASK(java, "t1", "nonreentrant", "nr", "lock"), "");
    const answer *refused = ASK(java, "t1", "nonreentrant", "nr", "lock");
    assert_thrown(refused, "IllegalMonitorStateException");
    cr_assert(strstr(refused->message, words) && strstr(refused->message, "nr"), "Java said: %s", refused->message);
    rlock_free(lock);
}

Test(non_reentrant, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {{"lock", step_lease_3000_twice, SAME_TTL}, {"unlock", step_unlock, SAME_TTL}};
    cast_parties(&once, "nr");
    ASSERT_PARITY("nonreentrant", steps, NULL);
}

Test(non_reentrant, and_fair_leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {{"lock", step_lease_3000_twice, SAME_TTL}, {"unlock", step_unlock, SAME_TTL}};
    cast_parties(&fair_once, "nrf");
    ASSERT_PARITY("nonreentrantfair", steps, NULL);
}

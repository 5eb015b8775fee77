/* Fenced locks of C and of Java are one lock, whose tokens grow across both. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/claims.h"
#include "tests/interop/support/steps.h"
#include "tests/support/event.h"

#include <stdlib.h>

#define TOKENS_ONLY "redisson_lock_token:{fe} string "

static const lock_kind fenced = {.java = "fenced", .get = rlock_get_fenced_lock, .stays = TOKENS_ONLY};

TestSuite(fenced, .init = java_stage, .fini = party_stage_close);

Test(fenced, belongs_to_c_or_to_java)
{
    both_ways(claim_exclusion, &fenced, "fe");
    both_ways(claim_reentry, &fenced, "fe");
}

Test(fenced, comes_by_message_to_who_waits_on_the_other_side)
{
    both_ways(claim_wake, &fenced, "fe");
    both_ways(claim_time_out, &fenced, "fe");
}

Test(fenced, that_ran_out_or_was_forced_open_is_the_other_sides)
{
    both_ways(claim_expiry, &fenced, "fe");
    both_ways(claim_force, &fenced, "fe");
}

Test(fenced, of_a_killed_holder_goes_to_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&fenced, &fenced, "fe");
}

static uint64_t locked_by_c(rlock *lock)
{
    uint64_t token = 0, again = 0;
    assert_ok(rlock_lock_and_get_token(lock, &token));
    assert_ok(rlock_get_token(lock, &again));
    cr_assert(token == again);
    return token;
}

static uint64_t number_of(const answer *got)
{
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return strtoull(got->text, NULL, 10);
}

static uint64_t locked_by_java(void)
{
    uint64_t token = number_of(ASK(java, "t1", "fenced", "fe", "lockAndGetToken"));
    cr_assert(token == number_of(ASK(java, "t1", "fenced", "fe", "token")));
    return token;
}

static void unlock_by_java(void)
{
    assert_result(ASK(java, "t1", "fenced", "fe", "unlock"), "");
}

/* One by one, whoever takes it: by lock, by re-entry, after an unlock, an expiry and a force; not by
 * a try that fails. */
Test(fenced, has_tokens_that_grow_across_c_and_java)
{
    rlock *lock = rlock_get_fenced_lock(stage.client, "fe");
    uint64_t token = 0;
    cr_assert(locked_by_c(lock) == 1);
    cr_assert(locked_by_c(lock) == 2);
    assert_result(ASK(java, "t1", "fenced", "fe", "tryAndGetToken", "0", "-1"), "");
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(locked_by_java() == 3);
    cr_assert(locked_by_java() == 4);
    assert_status(rlock_try_lock_and_get_token(lock, 0, RLOCK_WATCHDOG, &token), RLOCK_TIMEOUT);
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    unlock_by_java();
    unlock_by_java();
    assert_ok(rlock_try_lock_and_get_token(lock, 0, 50, &token));
    cr_assert(token == 5);
    cr_assert(server_wait_exists(stage.server, "fe", false, 5000));
    cr_assert(locked_by_java() == 6);
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(locked_by_c(lock) == 7);
    assert_ok(rlock_unlock(lock));
    assert_result(ASK(java, "t2", "fenced", "fe", "lock"), "");
    assert_result(ASK(java, "t2", "fenced", "fe", "token"), "8");
    rlock_free(lock);
}

Test(fenced, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"1", step_lock, SAME_TTL}, {"2", step_lock, SAME_TTL}, {"end", step_unlock_twice, SAME_TTL}};
    cast_parties(&fenced, "fe");
    ASSERT_PARITY("fenced", steps, NULL);
}

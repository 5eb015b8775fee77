/* Multi locks of C and of Java on the same members are one lock, which holds all of them or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/interop/support/claims.h"
#include "tests/interop/support/steps.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>

#define NAMES "m1,m2" /* of the members, as the agent has them */
#define MEMBERS_MAX 8

static rlock *get_multi(rlock_client *client, const char *names)
{
    rlock *members[MEMBERS_MAX];
    size_t count = 0;
    char *copy = strdup(names), *rest = copy;
    for (char *name; (name = strsep(&rest, ",")) && count < MEMBERS_MAX;)
        members[count++] = rlock_get_lock(client, name);
    rlock *lock = rlock_get_multi_lock(members, count);
    while (count)
        rlock_free(members[--count]);
    free(copy);
    return lock;
}

static const lock_kind multi = {.java = "multi", .get = get_multi, .compound = true};
static const lock_kind plain = {.java = "lock", .get = rlock_get_lock};

TestSuite(multi_lock, .init = java_stage, .fini = party_stage_close);

Test(multi_lock, belongs_to_c_or_to_java)
{
    both_ways(claim_exclusion, &multi, NAMES);
    both_ways(claim_reentry, &multi, NAMES);
}

Test(multi_lock, comes_by_message_to_who_waits_on_the_other_side)
{
    both_ways(claim_wake, &multi, NAMES);
    both_ways(claim_time_out, &multi, NAMES);
}

Test(multi_lock, that_ran_out_is_the_other_sides)
{
    both_ways(claim_expiry, &multi, NAMES);
}

Test(multi_lock, of_a_killed_holder_goes_to_the_other_side, .init = java_stage_quick, .lasts = 27)
{
    claim_takeover(&multi, &multi, NAMES);
}

/* Its members are locks like any: each is the holder's, and keeps the other side out. */
static void claim_members(party *holder, party *other)
{
    assert_ok(party_lock(holder));
    party *first = party_also(other, &plain, "m1"), *second = party_also(other, &plain, "m2");
    party *own = party_also(holder, &plain, "m2");
    cr_assert(party_is_locked(first) && party_is_locked(second));
    assert_status(party_try(first, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(party_holds(own) && party_count(own) == 1);
    assert_ok(party_unlock(holder));
    assert_ok(party_try(second, 0, RLOCK_WATCHDOG));
    assert_status(party_try(holder, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(!party_is_locked(first), "m1 was kept although m2 was not to be had");
    assert_ok(party_unlock(second));
}

Test(multi_lock, is_all_of_its_members_or_none_to_the_other_side)
{
    both_ways(claim_members, &multi, NAMES);
}

/* One member forced open by the other side: it is not held any more, and who unlocks is told. C has
 * given back the others then; Redisson stops at the one that is lost, and keeps those behind it. */
static void claim_forced_member(party *holder, party *other)
{
    party *member = party_also(other, &plain, "m1");
    assert_ok(party_lock(holder));
    cr_assert(party_force(member));
    cr_assert(!party_holds(holder));
    assert_ok(party_try(member, 0, RLOCK_WATCHDOG));
    assert_unlock_tells_of_loss(holder);
    if (party_is_java(holder))
        assert_ok(party_unlock(party_also(holder, &plain, "m2")));
    cr_assert(party_holds(member) && !party_is_locked(party_also(other, &plain, "m2")));
    assert_ok(party_unlock(member));
}

Test(multi_lock, with_a_member_forced_open_by_the_other_side_is_lost)
{
    both_ways(claim_forced_member, &multi, NAMES);
}

/* The one whose lock() came back first. Both may stand in each other's way for the patience of both. */
static party *which_had_it(party *one, party *other)
{
    for (int64_t end_ms = now_ms() + 20000; now_ms() < end_ms;) {
        if (party_ended(one, 1))
            return one;
        if (party_ended(other, 1))
            return other;
    }
    cr_assert(false, "neither had it within 20 s");
    return NULL;
}

/* The same members in opposite orders: neither stands in the other's way for ever. */
Test(multi_lock, in_opposite_orders_is_had_by_both_sides_in_turn)
{
    enum { ROUNDS = 10 };
    party *ours = party_of(stage.client, &multi, "m1,m2"), *theirs = party_of(NULL, &multi, "m2,m1");
    int had[2] = {0, 0};
    party_begin_lock(ours);
    party_begin_lock(theirs);
    party *ended = NULL;
    for (int64_t end_ms = limit_end_ms(40000); had[0] < ROUNDS || had[1] < ROUNDS;) {
        cr_assert(now_ms() < end_ms, "C had it %d times, Java %d times", had[0], had[1]);
        ended = which_had_it(ours, theirs);
        assert_ok(party_finish(ended, 0));
        had[ended == theirs]++;
        assert_ok(party_unlock(ended));
        party_begin_lock(ended);
    }
    ended = which_had_it(ours, theirs);
    party *last = ended == ours ? theirs : ours;
    assert_ok(party_finish(ended, 0));
    assert_ok(party_unlock(ended));
    assert_ok(party_finish(last, 20000));
    assert_ok(party_unlock(last));
    assert_no_keys();
}

static void unlock_and_try_5000(bool in_java)
{
    step_unlock(in_java);
    step_try_5000(in_java);
}

/* But C has a wire owner for each member, Java one for all: others only compare these texts. */
Test(multi_lock, leaves_the_keys_and_messages_that_redisson_leaves)
{
    static const parity_step steps[] = {
        {"lock", step_lock, SAME_TTL}, {"tryLock 5 s", unlock_and_try_5000, SAME_TTL}, {NULL, step_unlock, SAME_TTL}};
    /* the members are released in the opposite order, to whose channels no order is promised */
    static const parity_difference ours = {.number_a_name = true,
                                           .messages = "PUBLISH redisson_lock__channel:{m1} 0\n"
                                                       "PUBLISH redisson_lock__channel:{m2} 0\n"
                                                       "PUBLISH redisson_lock__channel:{m2} 0\n"
                                                       "PUBLISH redisson_lock__channel:{m1} 0\n"};
    cast_parties(&multi, NAMES);
    ASSERT_PARITY("multilock", steps, &ours);
}

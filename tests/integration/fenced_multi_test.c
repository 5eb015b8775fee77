/* The fencing token of a multi lock: that of its first fenced member, in the order that all agree on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"

TestSuite(fenced_multi, .init = stage_open, .fini = stage_close);

/* Of a plain lock and two fenced ones, in that order or the other way round. */
static rlock *three_of(rlock_client *client, bool backward)
{
    rlock *members[] = {kind_of(&kind_reentrant, client, "a"), kind_of(&kind_fenced, client, "b"),
                        kind_of(&kind_fenced, client, "c")};
    rlock *around[] = {members[2], members[1], members[0]};
    return stage_keep(rlock_get_multi_lock(backward ? around : members, 3));
}

static int64_t counter_of(const char *name)
{
    return server_integer(stage.server, "GET redisson_lock_token:{%s}", name);
}

Test(fenced_multi, has_the_token_of_its_first_fenced_member)
{
    rlock *lock = three_of(stage.client, false);
    uint64_t token = 0, again = 0;
    freeReplyObject(server_command(stage.server, "SET redisson_lock_token:{c} 700"));
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock_and_get_token(lock, &token));
    cr_assert(token == 1 && counter_of("b") == 1 && counter_of("c") == 701);
    assert_ok(rlock_get_token(lock, &again));
    cr_assert(again == token);
    assert_ok(rlock_try_lock_and_get_token(lock, 0, 60000, &token));
    cr_assert(token == 2);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
}

/* Whoever names the members in another order counts on the same counter; so does who holds that member alone. */
Test(fenced_multi, tokens_grow_across_all_that_hold_that_member)
{
    rlock *locks[] = {three_of(stage.client, false), three_of(stage.other, true), kind_of(&kind_fenced, stage.other, "b")};
    uint64_t last = 0;
    for (int turn = 0; turn < 9; turn++) {
        uint64_t token = 0;
        assert_ok(rlock_lock_and_get_token(locks[turn % 3], &token));
        cr_assert(token > last, "%llu after %llu", (unsigned long long)token, (unsigned long long)last);
        last = token;
        assert_ok(rlock_unlock(locks[turn % 3]));
    }
}

Test(fenced_multi, of_no_fenced_member_has_no_token)
{
    rlock *members[] = {kind_of(&kind_reentrant, stage.client, "a"), kind_of(&kind_spin, stage.client, "b")};
    rlock *lock = stage_keep(rlock_get_multi_lock(members, 2));
    uint64_t token;
    assert_status(rlock_lock_and_get_token(lock, &token), RLOCK_UNSUPPORTED);
    assert_status(rlock_get_token(lock, &token), RLOCK_UNSUPPORTED);
}

/* Odd fields in the hash of a read-write lock: whatever anybody writes there, no script runs for long, and the lock ends
 * at the latest with its time to live. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/sides.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(read_write_odd, .init = stage_quick, .fini = stage_close);

#define NAME "book"
#define SOON_MS 20000

static const char *const counts[] = {"1000000000000000000", "1e18", "-5", "many", "99999999999999999999999", "5000000"};
#define COUNTS (sizeof counts / sizeof *counts)

static void write_field(const char *field, const char *count)
{
    freeReplyObject(server_command(stage.server, "HSET " NAME " %s %s", field, count));
}

/* Each script looks at the fields of others. The lock is free in the end, or will be when its time is up. */
static void use_beside(const char *field, const char *count, bool counts_as_reader)
{
    rlock *read = read_of(stage.client, NAME), *write = write_of(stage.client, NAME);
    rlock_inspection *inspection = NULL;
    bool flag = false;
    int number = 0;
    int64_t ms = 0;
    assert_ok(rlock_lock_lease(read, 60000));
    write_field(field, count);
    assert_ok(rlock_lock_lease(read, 60000));
    assert_ok(rlock_is_locked(read, &flag));
    assert_ok(rlock_get_hold_count(read, &number));
    assert_ok(rlock_remain_time_to_live(write, &ms));
    rlock_status seen = rlock_inspect(stage.client, NAME, &inspection); /* may say that this is no lock */
    cr_assert(seen == RLOCK_OK || seen == RLOCK_SERVER);
    rlock_inspection_free(inspection);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_unlock(read));
    cr_assert((pttl_of(NAME) > 0) == counts_as_reader, "PTTL %lld beside %s = %s", (long long)pttl_of(NAME), field, count);
    freeReplyObject(server_command(stage.server, "DEL " NAME));
    assert_ok(rlock_lock_lease(write, 60000));
    write_field(field, count);
    assert_ok(rlock_lock_lease(write, 60000));
    assert_ok(rlock_unlock(write));
    assert_ok(rlock_unlock(write));
    freeReplyObject(server_command(stage.server, "DEL " NAME));
}

Test(read_write_odd, field_that_is_no_owners_is_passed_over)
{
    for (size_t i = 0; i < COUNTS; i++)
        use_beside("evil", counts[i], false);
}

/* Each script that gives one back looks at all of them. */
Test(read_write_odd, holds_of_one_owner_have_an_end)
{
    enum { MOST = 10000 };
    rlock *read = read_of(stage.client, NAME);
    for (int i = 0; i < MOST; i++)
        assert_ok(rlock_lock_lease(read, 600000));
    assert_status(rlock_lock_lease(read, 600000), RLOCK_INVALID);
    assert_error("10000 times");
    cr_assert(rlock_valid_for(read) > 0);
    assert_ok(rlock_unlock(read));
    assert_ok(rlock_lock_lease(read, 600000));
}

/* One that looks like an owner's is believed as far as it goes: the lock stands until its time is up. */
Test(read_write_odd, field_with_more_holds_than_can_be_looked_at_stands_as_long_as_the_lock)
{
    use_beside("evil:1", counts[0], true);
    use_beside("evil:1", counts[5], true);
}

Test(read_write_odd, field_with_no_number_of_holds_is_passed_over)
{
    use_beside("evil:1", counts[1], false);
    use_beside("evil:1", counts[2], false);
    use_beside("evil:1", counts[3], false);
}

/* The hold is then lost: nothing says what it was. */
Test(read_write_odd, count_of_ones_own_hold_is_no_bound_of_a_loop)
{
    rlock *read = read_of(stage.client, NAME);
    char owner[80];
    for (size_t i = 0; i < COUNTS; i++) {
        assert_ok(rlock_lock(read));
        char *fields = server_text(stage.server, "EVAL %s 1 " NAME,
                                   "for _, f in ipairs(redis.call('hkeys', KEYS[1])) do if f ~= 'mode' then return f end end");
        snprintf(owner, sizeof owner, "%s", fields);
        free(fields);
        write_field(owner, counts[i]);
        for (int64_t until_ms = limit_end_ms(SOON_MS); rlock_valid_for(read) > 0; pass_ms(5))
            cr_assert(now_ms() < until_ms, "it was renewed with a count of %s", counts[i]);
        assert_status(rlock_unlock(read), RLOCK_LOST);
        freeReplyObject(server_command(stage.server, "FLUSHALL"));
    }
}

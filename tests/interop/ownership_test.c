/* Ownership: a lock that the one side holds is the other side's to see, not to touch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/names.h"

#include <stdlib.h>
#include <string.h>

#define NAME "order:42"

TestSuite(ownership, .init = java_stage, .fini = java_stage_close);

/* The number of the Java thread that holds NAME, from its wire owner. */
static int64_t java_number(void)
{
    redisReply *fields = server_command(stage.server, "HKEYS %s", NAME);
    cr_assert(fields->elements == 1);
    int64_t number = atoll(strrchr(fields->element[0]->str, ':') + 1);
    freeReplyObject(fields);
    return number;
}

/* Neither this thread, nor another, nor an owner with the number of the Java thread. */
Test(ownership, of_java_is_never_ended_by_an_unlock_of_c)
{
    rlock *lock = lock_of(stage.client, NAME);
    actor *other = actor_start();
    java_lock("t1", NAME);
    rlock *namesake = owned_by(lock, java_number());
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_status(actor_unlock(other, lock), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(namesake), RLOCK_NOT_OWNER);
    bool locked = false;
    assert_ok(rlock_is_locked(lock, &locked));
    cr_assert(locked);
    cr_assert(java_hold_count("t1", NAME) == 1);
    java_unlock("t1", NAME);
    assert_no_keys();
    actor_end(other);
}

Test(ownership, of_c_is_never_ended_by_an_unlock_of_java)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_thrown(ASK(java, "t1", "lock", NAME, "unlock"), "IllegalMonitorStateException");
    assert_thrown(ASK(java, "t2", "lock", NAME, "unlock"), "IllegalMonitorStateException");
    int count = 0;
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 1 && rlock_valid_for(lock) > 0 && java_is_locked(NAME));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* The server's count is what C's inspection says, and each side's own count stays its own. */
Test(ownership, of_java_is_seen_with_its_count_in_c)
{
    rlock *lock = lock_of(stage.client, NAME);
    java_lock("t1", NAME);
    java_lock("t1", NAME);
    int count = -1;
    bool held = true;
    assert_ok(rlock_get_hold_count(lock, &count));
    assert_ok(rlock_is_held(lock, &held));
    cr_assert(count == 0 && !held);
    rlock_inspection *seen = NULL;
    assert_ok(rlock_inspect(stage.client, NAME, &seen));
    const char *id = ASK(java, "agent", "id")->text;
    cr_assert_str_eq(seen->kind, "lock");
    cr_assert(seen->holder_count == 1 && seen->holders[0].hold_count == 2);
    cr_assert(strncmp(seen->holders[0].owner, id, strlen(id)) == 0, "%s", seen->holders[0].owner);
    rlock_inspection_free(seen);
    java_unlock("t1", NAME);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    java_unlock("t1", NAME);
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
}

Test(ownership, of_c_is_seen_with_its_ttl_in_java)
{
    rlock *lock = lock_of(stage.client, NAME);
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock_lease(lock, 20000));
    cr_assert(java_is_locked(NAME) && !java_is_held("t1", NAME) && java_hold_count("t1", NAME) == 0);
    int64_t ttl_ms = 0;
    assert_ok(rlock_remain_time_to_live(lock, &ttl_ms));
    assert_between(java_ttl(NAME), ttl_ms - at_most_ms(1000), ttl_ms);
    for (int i = 0; i < 3; i++) {
        cr_assert(!java_try("t1", NAME, 0, -1));
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(java_try("t1", NAME, 0, -1));
    cr_assert(java_ttl(NAME) > 0);
    java_unlock("t1", NAME);
    cr_assert(java_ttl(NAME) == -2);
}

/* Braces, blanks, UTF-8, percent signs, 4 KiB: each is the same lock on both sides. */
Test(ownership, is_exclusive_under_any_name)
{
    for (size_t i = 0; i < name_count; i++) {
        const char *name = name_at(i);
        rlock *lock = lock_of(stage.client, name);
        assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
        cr_assert(!java_try("t1", name, 0, -1), "Java took \"%.40s\" from C", name);
        assert_ok(rlock_unlock(lock));
        cr_assert(java_try("t1", name, 0, -1));
        assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        java_unlock("t1", name);
        assert_no_keys();
    }
}

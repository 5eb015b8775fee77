/* Time to live and name of semaphores and latches: what C sets Java sees, and the other way round. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/times.h"

#include <stdlib.h>
#include <string.h>

TestSuite(object, .init = java_stage, .fini = java_stage_close);

static const answer *java_ask(const char *kind, const char *name, const char *operation, const char *argument)
{
    const answer *got = argument ? ASK(java, "t1", kind, name, operation, argument) : ASK(java, "t1", kind, name, operation);
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got;
}

static bool java_says(const char *kind, const char *name, const char *operation, const char *argument)
{
    return strcmp(java_ask(kind, name, operation, argument)->text, "true") == 0;
}

static int64_t java_left(const char *kind, const char *name)
{
    return strtoll(java_ask(kind, name, "ttl", NULL)->text, NULL, 10);
}

static rlock_object *semaphore_at(const char *kind, const char *name)
{
    return strcmp(kind, "semaphore") == 0 ? rlock_semaphore_object(semaphore_of(stage.client, name))
                                          : rlock_permit_semaphore_object(permits_of(stage.client, name));
}

static void expires_in_both(const char *kind)
{
    bool flag = false;
    int64_t ms = 0;
    rlock_object *object = semaphore_at(kind, "ob");
    assert_ok(rlock_object_exists(object, &flag));
    cr_assert(!flag && !java_says(kind, "ob", "exists", NULL) && java_left(kind, "ob") == -2);
    cr_assert(java_says(kind, "ob", "trySet", "3"));
    assert_ok(rlock_object_exists(object, &flag));
    cr_assert(flag && java_left(kind, "ob") == -1);
    assert_ok(rlock_object_expire(object, 600000, RLOCK_EXPIRE_ALWAYS, &flag));
    assert_between(java_left(kind, "ob"), 500000, 600000);
    cr_assert(java_says(kind, "ob", "clearExpire", NULL));
    assert_ok(rlock_object_remain_time_to_live(object, &ms));
    assert_between(ms, -1, -1);
    cr_assert(java_says(kind, "ob", "expire", "900000"));
    assert_ok(rlock_object_remain_time_to_live(object, &ms));
    assert_between(ms, 800000, 900000);
    assert_ok(rlock_object_clear_expire(object, &flag));
    cr_assert(flag && java_left(kind, "ob") == -1);
}

Test(object, semaphore_expires_alike_for_both)
{
    expires_in_both("semaphore");
}

Test(object, permits_expire_alike_for_both)
{
    expires_in_both("permits");
}

static void is_renamed_in_both(const char *kind, rlock_object *object, const char *make)
{
    bool renamed = false;
    cr_assert(java_says(kind, "ob", make, "3"));
    assert_ok(rlock_object_rename(object, "moved"));
    cr_assert(java_says(kind, "moved", "exists", NULL) && !java_says(kind, "ob", "exists", NULL));
    java_ask(kind, "moved", "rename", "ob");
    assert_ok(rlock_object_exists(object, &renamed));
    cr_assert(renamed);
    cr_assert(java_says(kind, "other", make, "1"));
    assert_ok(rlock_object_rename_if_absent(object, "other", &renamed));
    cr_assert(!renamed && !java_says(kind, "ob", "renamenx", "other"));
}

Test(object, semaphore_is_renamed_for_both)
{
    is_renamed_in_both("semaphore", semaphore_at("semaphore", "ob"), "trySet");
}

Test(object, latch_is_renamed_for_both)
{
    is_renamed_in_both("latch", rlock_count_down_latch_object(latch_of(stage.client, "ob")), "trySet");
}

/* A latch that Java waits for opens when C takes its name away. */
Test(object, latch_that_java_awaits_opens_when_its_name_goes)
{
    rlock_count_down_latch *latch = latch_of(stage.client, "ob");
    assert_ok(rlock_count_down_latch_try_set_count(latch, 2, NULL));
    int tag = BEGIN(java, "t1", "latch", "ob", "await");
    cr_assert(wait_latch_heard("ob", 1));
    java_await_asleep("t1");
    assert_ok(rlock_object_rename(rlock_count_down_latch_object(latch), "away"));
    assert_result(agent_await(java, tag, AGENT_MS), "");
    cr_assert(count_of(latch_of(stage.client, "away")) == 2);
}

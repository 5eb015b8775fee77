/* Call options: the timeout and retries of one handle, beside those of its client. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <string.h>

TestSuite(call_options, .init = stage_open, .fini = stage_close);

#define NAME "order"

static const rlock_call_options once = {sizeof once, 200, 0, 0}; /* ms for the one attempt */

static int64_t connections(void)
{
    return server_info(stage.server, "total_connections_received");
}

/* It ends after so many ms, because nobody answers. */
#define ASSERT_GIVES_UP(after_ms, call)                                                                                \
    do {                                                                                                               \
        int64_t since_ms_ = now_ms();                                                                                  \
        assert_status(call, RLOCK_UNAVAILABLE);                                                                        \
        assert_between(now_ms() - since_ms_, after_ms, (after_ms) + 30);                                               \
    } while (0)

Test(call_options, are_those_of_each_lock)
{
    rlock *locks[] = {lock_of(stage.client, NAME), kind_of(&kind_fair, stage.client, "fair"),
                      kind_of(&kind_token, stage.client, "token"), kind_of(&kind_read, stage.client, "rw")};
    size_t count = sizeof locks / sizeof *locks;
    for (size_t i = 0; i < count; i++) {
        assert_ok(rlock_set_call_options(locks[i], &once));
        assert_ok(rlock_lock(locks[i]));
    }
    server_freeze(stage.server);
    for (size_t i = 0; i < count; i++) {
        bool locked;
        ASSERT_GIVES_UP(200, rlock_is_locked(locks[i], &locked));
        ASSERT_GIVES_UP(200, rlock_unlock(locks[i]));
    }
    cr_assert(strstr(rlock_last_error(), "within 200 ms (1 attempt)"), "%s", rlock_last_error());
    server_thaw(stage.server);
}

Test(call_options, go_along_to_other_handles)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_set_call_options(lock, &once));
    rlock *view = owned_by(lock, 7), *multi = rlock_get_multi_lock(&lock, 1);
    rlock *first = lock_of(stage.client, "a"), *members[] = {first, lock_of(stage.client, "b")};
    rlock *several = rlock_get_multi_lock(members, 2);
    assert_ok(rlock_lock(first)); /* the connection is there */
    assert_ok(rlock_set_call_options(several, &once));
    server_freeze(stage.server);
    ASSERT_GIVES_UP(200, rlock_try_lock(view, 0, 1000));
    ASSERT_GIVES_UP(200, rlock_try_lock(multi, 0, 1000));
    ASSERT_GIVES_UP(200, rlock_try_lock(several, 0, 1000));
    server_thaw(stage.server);
    rlock_free(multi);
    rlock_free(several);
}

Test(call_options, are_those_of_each_object)
{
    rlock_semaphore *semaphore = semaphore_of(stage.client, "sem");
    rlock_permit_semaphore *permits = permits_of(stage.client, "pe");
    rlock_count_down_latch *latch = latch_of(stage.client, "latch");
    rlock_object *objects[] = {rlock_semaphore_object(semaphore), rlock_permit_semaphore_object(permits),
                               rlock_count_down_latch_object(latch)};
    bool exists;
    int64_t count;
    int available;
    rlock_permit permit;
    for (size_t i = 0; i < 3; i++) {
        assert_ok(rlock_object_set_call_options(objects[i], &once));
        assert_ok(rlock_object_exists(objects[i], &exists));
    }
    server_freeze(stage.server);
    ASSERT_GIVES_UP(200, rlock_semaphore_available_permits(semaphore, &available));
    ASSERT_GIVES_UP(200, rlock_permit_semaphore_try_acquire(permits, 0, 1000, &permit));
    ASSERT_GIVES_UP(200, rlock_count_down_latch_get_count(latch, &count));
    ASSERT_GIVES_UP(200, rlock_object_exists(objects[0], &exists));
    server_thaw(stage.server);
}

/* Three attempts of 100 ms, with pauses of 50 between them. */
Test(call_options, say_how_often_to_ask)
{
    const rlock_call_options thrice = {sizeof thrice, 100, 2, 50};
    rlock *lock = lock_of(stage.client, NAME);
    bool locked;
    assert_ok(rlock_set_call_options(lock, &thrice));
    assert_ok(rlock_is_locked(lock, &locked));
    server_freeze(stage.server);
    ASSERT_GIVES_UP(400, rlock_is_locked(lock, &locked));
    cr_assert(strstr(rlock_last_error(), "within 100 ms (3 attempts)"), "%s", rlock_last_error());
    server_thaw(stage.server);
}

/* So many attempts of each part and member, and so many looks at all of them. */
TimedTest(call_options, say_how_often_to_ask_locks_of_several)
{
    const rlock_call_options thrice = {sizeof thrice, 100, 2, 50};
    rlock *single = lock_of(stage.client, NAME), *token = kind_of(&kind_token, stage.client, "token");
    rlock *locks[] = {stage_keep(rlock_get_sharded_lock(stage.client, "stock", 1)),
                      stage_keep(rlock_get_red_lock(&single, 1)), stage_keep(rlock_get_red_lock(&token, 1))};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(rlock_lock(locks[i]));
        assert_ok(rlock_unlock(locks[i]));
        assert_ok(rlock_set_call_options(locks[i], &once));
    }
    server_freeze(stage.server);
    for (size_t i = 0; i < 3; i++)
        ASSERT_GIVES_UP(200, rlock_try_lock(locks[i], 60000, 60000));
    for (size_t i = 0; i < 3; i++) {
        int64_t since_ms = now_ms();
        assert_ok(rlock_set_call_options(locks[i], &thrice));
        assert_status(rlock_try_lock(locks[i], 60000, 60000), RLOCK_UNAVAILABLE);
        assert_between(now_ms() - since_ms, 300, 1500);
    }
    server_thaw(stage.server);
}

/* Three attempts, one at once after the other. */
Test(call_options, may_ask_again_without_a_pause)
{
    const rlock_call_options thrice = {sizeof thrice, 100, 2, 0};
    rlock *lock = lock_of(stage.client, NAME);
    bool locked;
    assert_ok(rlock_set_call_options(lock, &thrice));
    assert_ok(rlock_is_locked(lock, &locked));
    server_freeze(stage.server);
    ASSERT_GIVES_UP(300, rlock_is_locked(lock, &locked));
    server_thaw(stage.server);
}

/* Handles share connections: one that gives up early takes none from those that wait for longer. */
Test(call_options, end_no_connection_of_others)
{
    rlock *patient = lock_of(stage.client, NAME), *hasty = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    bool locked;
    assert_ok(rlock_set_call_options(hasty, &once));
    assert_ok(rlock_is_locked(hasty, &locked));
    int64_t before = connections();
    server_freeze(stage.server);
    actor_begin_lock(waiter, patient);
    cr_assert(actor_asleep(waiter, 5000));
    for (int i = 0; i < 5; i++)
        ASSERT_GIVES_UP(200, rlock_is_locked(hasty, &locked));
    server_thaw(stage.server);
    assert_ok(actor_finish(waiter, 1000));
    assert_ok(rlock_is_locked(hasty, &locked));
    cr_assert(locked && connections() == before);
    assert_ok(actor_unlock(waiter, patient));
    actor_end(waiter);
}

/* A request that was given up early may have taken the lock. Then the library gives it back. */
Test(call_options, leave_nothing_behind)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_set_call_options(lock, &once));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    server_freeze(stage.server);
    ASSERT_GIVES_UP(200, rlock_try_lock(lock, 0, 60000));
    server_thaw(stage.server);
    assert_ok(rlock_try_lock(lock_of(stage.other, NAME), 10000, 1000));
}

Test(call_options, without_sense_change_nothing)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_object *object = rlock_semaphore_object(semaphore_of(stage.client, "sem"));
    bool locked;
    assert_ok(rlock_set_call_options(lock, &once));
    assert_ok(rlock_object_set_call_options(object, &once));
    assert_ok(rlock_is_locked(lock, &locked));
    const struct {
        rlock_call_options options;
        const char *words;
    } wrong[] = {
        {{sizeof once, 0, -1, -1}, "timeout_ms is 0; it must be from 1 to 3000"},
        {{sizeof once, 3001, -1, -1}, "timeout_ms is 3001; it must be from 1 to 3000"},
        {{sizeof once, -2, -1, -1}, "timeout_ms is -2"},
        {{sizeof once, -1, -2, -1}, "retry_attempts is -2; it must be from 0 to 1000"},
        {{sizeof once, -1, 1001, -1}, "retry_attempts is 1001"},
        {{sizeof once, -1, -1, -2}, "retry_interval_ms is -2; it must be from 0 to 3600000"},
        {{1, -1, -1, -1}, "RLOCK_CALL_OPTIONS_INIT"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_status(rlock_set_call_options(lock, &wrong[i].options), RLOCK_INVALID);
        cr_assert(strstr(rlock_last_error(), wrong[i].words), "%s", rlock_last_error());
        assert_status(rlock_object_set_call_options(object, &wrong[i].options), RLOCK_INVALID);
    }
    assert_status(rlock_set_call_options(lock, NULL), RLOCK_INVALID);
    assert_status(rlock_set_call_options(NULL, &once), RLOCK_INVALID);
    assert_status(rlock_object_set_call_options(NULL, &once), RLOCK_INVALID);
    server_freeze(stage.server);
    ASSERT_GIVES_UP(200, rlock_is_locked(lock, &locked));
    ASSERT_GIVES_UP(200, rlock_object_exists(object, &locked));
    server_thaw(stage.server);
}

/* One of whose members refuses them: the others keep what they had. */
Test(call_options, that_a_member_refuses_change_no_other)
{
    const rlock_call_options longer = {sizeof longer, 400, 0, 0}, init = RLOCK_CALL_OPTIONS_INIT;
    rlock_client *hasty = stage_client("timeout=100");
    rlock *members[] = {lock_of(stage.client, NAME), lock_of(hasty, "b")};
    assert_ok(rlock_set_call_options(members[0], &once));
    rlock *multi = rlock_get_multi_lock(members, 2);
    bool locked;
    assert_status(rlock_set_call_options(multi, &longer), RLOCK_INVALID);
    assert_ok(rlock_is_locked(members[0], &locked));
    server_freeze(stage.server);
    ASSERT_GIVES_UP(200, rlock_try_lock(multi, 0, 1000));
    server_thaw(stage.server);
    assert_ok(rlock_set_call_options(multi, &init));
    rlock_free(multi);
}

/* Every kind of lock under faults: lost answers, requests that run late, a server that restarts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>

TestSuite(kinds_in_faults, .init = scene_open, .fini = scene_close);
#define KIND_SUITE kinds_in_faults

#define NAME "order"

/* Whether the owner of the one hold there has it that often, as far as the server counts. */
static bool is_counted(const kind *of, int64_t expected)
{
    if (!of->field)
        return (server_integer(stage.server, "STRLEN %s", kind_key(of, NAME)) > 0) == (expected > 0);
    redisReply *fields = server_command(stage.server, "HGETALL %s", NAME);
    int64_t count = 0;
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        const char *field = fields->element[i]->str;
        size_t length = strlen(field), suffix = strlen(of->field);
        if (of->grouped) { /* each value is held that often */
            if (strstr(field, ":lock_count"))
                count = atoi(fields->element[i + 1]->str);
            continue;
        }
        if (strcmp(field, "mode") != 0 && length > suffix && strcmp(field + length - suffix, of->field) == 0)
            count += atoi(fields->element[i + 1]->str);
    }
    freeReplyObject(fields);
    return count == expected;
}

/* Nothing of the lock, but for the counter of a fenced one. */
static void assert_left_nothing(const kind *of)
{
    cr_assert(server_wait_exists(stage.server, kind_key(of, NAME), false, 10000), "it is held by somebody");
    cr_assert(server_wait_exists(stage.server, "redisson_lock_queue:{" NAME "}", false, 10000), "somebody queues");
    if (of == &kind_fenced)
        freeReplyObject(server_command(stage.server, "DEL redisson_lock_token:{%s}", NAME));
    assert_no_keys();
}

/* --- lost answers --- */

KIND_TEST(lost_answer_of_an_acquire_is_one_hold)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    int rule = on_script(of->acquire, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_lock(lock));
    cr_assert(seen_by(rule) == 2);
    cr_assert(is_counted(of, 1) && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

KIND_TEST(lost_answer_of_a_re_entry_is_one_hold_more)
{
    if (of->once)
        return;
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = on_script(of->acquire, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_lock(lock));
    cr_assert(seen_by(rule) == 2 && is_counted(of, 2));
    /* A write hold adds its lease, once. */
    assert_between(pttl_of(kind_key(of, NAME)), 1, of == &kind_write ? 60000 : 30000);
    assert_between(rlock_valid_for(lock), 1, of == &kind_write ? 59400 : 29700);
    assert_ok(rlock_unlock(lock));
    cr_assert(is_counted(of, 1) && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

KIND_TEST(lost_answer_of_the_last_unlock_is_a_success)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = on_script(of->release, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(seen_by(rule) == 2);
    assert_left_nothing(of);
}

KIND_TEST(lost_answer_of_an_inner_unlock_leaves_the_outer_hold)
{
    if (of->once)
        return;
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    int rule = on_script(of->release, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(seen_by(rule) == 2 && is_counted(of, 1) && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

KIND_TEST(lost_answers_of_all_attempts_leave_nothing_held)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    int rule = on_script(of->acquire, PROXY_CUT_AFTER, 3);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    cr_assert(seen_by(rule) == 3);
    assert_left_nothing(of);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* --- requests that run late --- */

KIND_TEST(late_acquire_leaves_the_next_hold_of_its_owner_alone)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    int rule = on_script(of->acquire, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    let_through(rule);
    cr_assert(rlock_valid_for(lock) > 0);
    rlock *rival = rival_of(of, stage.other, NAME);
    assert_status(rlock_try_lock(rival, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

/* Its session has ended: it is nobody's, and is released again in the background. */
KIND_TEST(late_acquire_of_a_hold_that_was_given_back_leaves_nothing)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    int rule = on_script(of->acquire, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    let_through(rule);
    assert_left_nothing(of);
    rlock *rival = rival_of(of, stage.other, NAME);
    assert_ok(rlock_try_lock(rival, 10000, 1000));
    assert_ok(rlock_unlock(rival));
}

KIND_TEST(late_unlock_leaves_the_next_hold_of_its_owner_alone)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock(lock));
    int rule = on_script(of->release, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    let_through(rule);
    cr_assert(is_counted(of, 1) && rlock_valid_for(lock) > 0);
    rlock *rival = rival_of(of, stage.other, NAME);
    assert_status(rlock_try_lock(rival, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

KIND_TEST(late_inner_unlock_frees_nothing)
{
    if (of->once)
        return;
    rlock *lock = kind_of(of, scene.client, NAME);
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(lock));
    int rule = on_script(of->release, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock)); /* to 2, also late */
    assert_ok(rlock_unlock(lock)); /* to 1 */
    let_through(rule);
    cr_assert(pttl_of(kind_key(of, NAME)) > 0 && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

/* --- re-entries that are late --- */

#define OUTER_MS 5000
#define INNER_MS 600000

/* Nobody holds it any more when the outer hold has run out, though the late re-entry has lengthened the lock's time. */
KIND_TEST(late_re_entry_does_not_outlast_the_hold)
{
    if (of->once)
        return;
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock_lease(lock, OUTER_MS));
    int rule = on_script(of->acquire, PROXY_HOLD_REQUEST, 0);
    assert_status(rlock_try_lock(lock, 0, INNER_MS), RLOCK_UNAVAILABLE);
    let_through(rule);
    cr_assert(pttl_of(kind_key(of, NAME)) > INNER_MS / 2, "it changed nothing");
    assert_left_nothing(of);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* The same when it is answered, but only after the outer hold was lost; and before its owner has unlocked. */
KIND_TEST(re_entry_that_is_answered_after_the_hold_was_lost_leaves_nothing)
{
    if (of->once)
        return;
    losses told;
    losses_init(&told);
    rlock_client *patient = scene_client("timeout=30000");
    rlock_on_lost(patient, losses_note, &told);
    rlock *lock = owned_by(kind_of(of, patient, NAME), 7);
    assert_ok(rlock_lock_lease(lock, OUTER_MS));
    actor *inner = actor_start();
    int rule = on_script(of->acquire, PROXY_HOLD_REPLY, 1);
    actor_begin_try(inner, lock, 0, INNER_MS);
    cr_assert(event_wait_count(&told.came, 1, 30000));
    proxy_release(scene.proxy, rule);
    assert_status(actor_finish(inner, 10000), RLOCK_LOST);
    assert_left_nothing(of);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    actor_end(inner);
}

/* The same when a renewal has found it gone, long before its time was up. */
KIND_TEST(re_entry_that_is_answered_after_the_hold_was_found_gone_is_none)
{
    if (of->once)
        return;
    losses told;
    losses_init(&told);
    rlock_client *patient = scene_client("timeout=30000&lockWatchdogTimeout=9000");
    rlock_on_lost(patient, losses_note, &told);
    rlock *lock = owned_by(kind_of(of, patient, NAME), 7);
    assert_ok(rlock_lock(lock));
    actor *inner = actor_start();
    int rule = on_script(of->acquire, PROXY_HOLD_REPLY, 1);
    actor_begin_try(inner, lock, 0, INNER_MS);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 10000));
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    cr_assert(event_wait_count(&told.came, 1, 30000));
    cr_assert(told.all[0].reason == RLOCK_LOST_GONE);
    proxy_release(scene.proxy, rule);
    assert_status(actor_finish(inner, 10000), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    actor_end(inner);
}

/* An inner unlock gave back one hold of a lock that its owner had no more, as it turned out meanwhile. */
KIND_TEST(inner_unlock_that_is_answered_after_the_hold_was_lost_is_told_so)
{
    if (of->once || of == &kind_read) /* of a read hold, each level has its own end */
        return;
    losses told;
    losses_init(&told);
    rlock_client *patient = scene_client("timeout=30000");
    rlock_on_lost(patient, losses_note, &told);
    rlock *lock = owned_by(kind_of(of, patient, NAME), 7);
    assert_ok(rlock_lock_lease(lock, OUTER_MS / 2));
    assert_ok(rlock_lock_lease(lock, OUTER_MS / 2));
    actor *inner = actor_start();
    int rule = on_script(of->release, PROXY_HOLD_REPLY, 1);
    actor_begin_unlock(inner, lock);
    cr_assert(event_wait_count(&told.came, 1, 30000));
    proxy_release(scene.proxy, rule);
    assert_status(actor_finish(inner, 10000), RLOCK_LOST);
    assert_left_nothing(of);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    actor_end(inner);
}

/* The count that a re-entry asked for without an answer stands: the next one asks for the same count and another lease. */
KIND_TEST(hold_is_not_relied_on_for_longer_than_the_server_keeps_it)
{
    if (of->once)
        return;
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock_lease(lock, OUTER_MS));
    int rule = on_script(of->acquire, PROXY_CUT_AFTER, 3);
    assert_status(rlock_try_lock(lock, 0, OUTER_MS), RLOCK_UNAVAILABLE);
    cr_assert(seen_by(rule) == 3 && is_counted(of, 2));
    assert_ok(rlock_lock_lease(lock, INNER_MS));
    int64_t valid_ms = rlock_valid_for(lock), kept_ms = pttl_of(kind_key(of, NAME));
    cr_assert(valid_ms <= kept_ms && valid_ms > INNER_MS / 2, "%lld ms of %lld", (long long)valid_ms, (long long)kept_ms);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

/* --- the server --- */

KIND_TEST(hold_is_lost_with_the_server_and_had_again)
{
    rlock *lock = kind_of(of, scene.client, NAME);
    assert_ok(rlock_lock(lock));
    server_kill(stage.server);
    server_restart(stage.server);
    scene_load_scripts();
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
    cr_assert(is_counted(of, 1));
    assert_ok(rlock_unlock(lock));
    assert_left_nothing(of);
}

KIND_TEST(waiter_outlives_a_restart_of_the_server)
{
    rlock *rival = rival_of(of, stage.other, NAME);
    assert_ok(rlock_lock_lease(rival, 60000));
    int rule = on_script(of->acquire, PROXY_NOTE, 0);
    rlock_client *patient = scene_client("timeout=1000&retryAttempts=50&retryBaseDelay=20&retryMaxDelay=50");
    rlock *waiting = kind_of(of, patient, NAME);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, waiting);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 5000), "it never asked");
    server_kill(stage.server);
    server_restart(stage.server);
    assert_ok(actor_finish(waiter, 20000));
    assert_ok(actor_unlock(waiter, waiting));
    actor_end(waiter);
}

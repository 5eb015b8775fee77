/* The sharded lock while answers are lost, its server is silent, dead or restarted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"
#include "tests/support/memory.h"

#include <stdio.h>

TestSuite(sharded_fault, .init = scene_watchdog, .fini = scene_close);

#define NAME "stock"
#define SHARDS 4
#define MANY 64
#define SOON_MS 10000

static rlock *sharded_of(rlock_client *client, int shards)
{
    return stage_keep(rlock_get_sharded_lock(client, NAME, shards));
}

static void assert_all_parts_free(void)
{
    for (int i = 0; i < SHARDS; i++) {
        char name[32];
        snprintf(name, sizeof name, NAME ":%d", i);
        cr_assert(server_wait_exists(stage.server, name, false, SOON_MS), "part %d is held", i);
    }
}

/* It takes a part, this one or another, and leaves none. */
Test(sharded_fault, lost_answer_of_an_acquire_leaves_no_second_part)
{
    rlock *lock = sharded_of(scene.client, SHARDS);
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_lock(lock));
    int count = 0;
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 1);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_all_parts_free();
}

Test(sharded_fault, lost_answer_of_a_release_is_a_success)
{
    rlock *lock = sharded_of(scene.client, SHARDS);
    assert_ok(rlock_lock(lock));
    int rule = on_script(&rli_script_lock_release, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(seen_by(rule) >= 1);
    assert_all_parts_free();
}

/* It is over here, though the server may keep it; the hold by the name is not. */
Test(sharded_fault, release_without_an_answer_leaves_the_hold_by_name)
{
    rlock *lock = sharded_of(scene.client, 1), *part = lock_of(scene.client, NAME ":0");
    assert_ok(rlock_lock(part));
    assert_ok(rlock_lock(lock));
    int rule = on_script(&rli_script_lock_release, PROXY_CUT_BEFORE, 0);
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(part));
    assert_status(rlock_unlock(part), RLOCK_NOT_OWNER);
    assert_all_parts_free();
}

/* There is no other part to stand in, so no second look at all of them. */
Test(sharded_fault, of_one_part_asks_a_dead_server_no_more_often_than_a_lock)
{
    rlock *lock = lock_of(scene.client, "plain"), *sharded = sharded_of(scene.client, 1);
    int rule = on_script(&rli_script_lock_acquire, PROXY_CUT_BEFORE, 0);
    assert_status(rlock_try_lock(lock, 0, 60000), RLOCK_UNAVAILABLE);
    int plain = seen_by(rule);
    assert_status(rlock_try_lock(sharded, 0, 60000), RLOCK_UNAVAILABLE);
    cr_assert(seen_by(rule) == 2 * plain, "%d requests, and %d of a lock", seen_by(rule) - plain, plain);
}

/* The first part is refused, as all would be, and then nothing is answered any more. */
TimedTest(sharded_fault, of_many_parts_does_not_ask_a_silent_server_for_each)
{
    rlock *lock = sharded_of(scene.client, MANY), *theirs = sharded_of(stage.other, MANY);
    for (int i = 0; i < MANY; i++)
        assert_ok(rlock_try_lock(owned_by(theirs, i), 0, 60000));
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = NAME ":", .skip = 1});
    int64_t began_ms = now_ms();
    assert_status(rlock_try_lock(lock, 0, 60000), RLOCK_TIMEOUT);
    /* it asks three of them, each for a short time */
    cr_assert(now_ms() - began_ms <= at_most_ms(1200), "took %lld ms", (long long)(now_ms() - began_ms));
    proxy_release(scene.proxy, rule);
}

/* The only part that is a lock is a little late: it is asked again, and none of those that have refused. */
TimedTest(sharded_fault, asks_the_part_with_patience_that_has_not_answered)
{
    rlock *lock = sharded_of(scene.client, SHARDS);
    for (int i = 0; i < SHARDS - 1; i++)
        freeReplyObject(server_command(stage.server, "RPUSH " NAME ":%d x", i));
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = NAME ":3", .amount = 350});
    for (int i = 0; i < 5; i++) {
        assert_ok(rlock_try_lock(lock, 0, 60000));
        assert_ok(rlock_unlock(lock));
    }
}

/* For all attempts that a client makes for a lock of one name. */
TimedTest(sharded_fault, waits_for_a_silent_server_as_long_as_a_lock)
{
    rlock_client *patient = scene_client("timeout=400&retryAttempts=9&retryBaseDelay=50&retryMaxDelay=100");
    rlock *lock = sharded_of(patient, SHARDS);
    actor *taker = actor_start();
    server_freeze(stage.server);
    actor_begin_try(taker, lock, 60000, 60000);
    pass_ms(3000);
    server_thaw(stage.server);
    assert_ok(actor_finish(taker, SOON_MS));
    assert_ok(actor_unlock(taker, lock));
    assert_all_parts_free();
    actor_end(taker);
}

/* The only part that is a lock answers late: it is the one that is asked with patience. */
TimedTest(sharded_fault, late_part_is_asked_again_where_others_are_something_else)
{
    rlock *lock = sharded_of(scene.client, SHARDS);
    for (int i = 1; i < SHARDS; i++)
        freeReplyObject(server_command(stage.server, "RPUSH " NAME ":%d x", i));
    for (int i = 0; i < 20; i++) {
        int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = NAME ":0", .amount = 400, .times = 1});
        assert_ok(rlock_try_lock(lock, 0, 60000));
        assert_ok(rlock_unlock(lock));
        proxy_release(scene.proxy, rule);
    }
}

/* A part that is something else stays so, however long the caller would wait. */
Test(sharded_fault, of_other_keys_is_asked_for_once)
{
    rlock *lock = sharded_of(scene.client, SHARDS);
    for (int i = 0; i < SHARDS; i++)
        freeReplyObject(server_command(stage.server, "SET " NAME ":%d x", i));
    int rule = on_text(NAME ":", PROXY_NOTE, 0);
    assert_status(rlock_try_lock(lock, 60000, 60000), RLOCK_SERVER);
    cr_assert(seen_by(rule) <= SHARDS + 1, "%d requests", seen_by(rule));
}

/* One that was refused is waited for, though the last one that was asked could not be. */
TimedTest(sharded_fault, waits_for_a_part_that_answers)
{
    rlock *lock = sharded_of(scene.client, SHARDS), *theirs = lock_of(stage.other, NAME ":0");
    assert_ok(rlock_lock(theirs));
    for (int i = 1; i < SHARDS; i++)
        freeReplyObject(server_command(stage.server, "RPUSH " NAME ":%d x", i));
    int rule = on_text(NAME ":", PROXY_NOTE, 0);
    assert_status(rlock_try_lock(lock, 2000, 60000), RLOCK_TIMEOUT);
    cr_assert(seen_by(rule) < 200, "%d requests in two seconds", seen_by(rule));
    assert_ok(rlock_unlock(theirs));
}

static rlock *part_of(rlock_client *client, int shard)
{
    char name[32];
    snprintf(name, sizeof name, NAME ":%d", shard);
    return lock_of(client, name);
}

/* All but the last one. */
static void hold_parts(bool hold)
{
    for (int i = 0; i < SHARDS - 1; i++)
        assert_ok(hold ? rlock_lock(part_of(stage.other, i)) : rlock_unlock(part_of(stage.other, i)));
}

static void be_replica(bool is)
{
    freeReplyObject(server_command(stage.server, is ? "REPLICAOF 127.0.0.1 1" : "REPLICAOF NO ONE"));
}

/* Only one part is free, and each is asked once. The server is a replica when the first is asked, and a master soon after. */
static void take_the_free_one(rlock *lock, int64_t soon_ms)
{
    actor *taker = actor_start();
    actor_begin_try(taker, lock, 0, 60000);
    pass_ms(soon_ms);
    be_replica(false);
    assert_ok(actor_finish(taker, SOON_MS));
    assert_ok(actor_unlock(taker, lock));
    actor_end(taker);
}

TimedTest(sharded_fault, asks_again_for_a_part_whose_server_was_no_master_for_a_moment)
{
    rlock *lock = sharded_of(scene.client, SHARDS);
    hold_parts(true);
    for (int i = 0; i < 10; i++) {
        be_replica(true);
        take_the_free_one(lock, 10);
    }
    hold_parts(false);
    assert_all_parts_free();
}

/* It has found no server yet. */
static rlock_client *searching_client(void)
{
    char url[160];
    snprintf(url, sizeof url,
             "redis-replicated://127.0.0.1:%d?lazyInitialization=true&timeout=2000&retryAttempts=9&retryBaseDelay=50&"
             "retryMaxDelay=100&scanInterval=100",
             server_port(stage.server));
    be_replica(true);
    return stage_client_at(url);
}

TimedTest(sharded_fault, asks_for_each_part_when_a_server_is_found)
{
    hold_parts(true);
    for (int i = 0; i < 10; i++) {
        rlock_client *client = searching_client();
        take_the_free_one(sharded_of(client, SHARDS), 50);
        stage_close_client(client);
    }
    hold_parts(false);
    assert_all_parts_free();
}

/* Several parts could not be asked for when there was none: that is no silence of the one that is found then. */
TimedTest(sharded_fault, asks_for_all_other_parts_when_a_server_is_found_late)
{
    rlock *theirs = sharded_of(stage.other, MANY);
    for (int i = 0; i < MANY; i++)
        assert_ok(rlock_try_lock(owned_by(theirs, i), 0, 60000));
    actor *taker = actor_start();
    int64_t before = scripts_run();
    actor_begin_try(taker, sharded_of(searching_client(), MANY), 0, 60000);
    pass_ms(1300);
    be_replica(false);
    assert_status(actor_finish(taker, SOON_MS), RLOCK_TIMEOUT);
    cr_assert(scripts_run() - before > MANY / 2, "it asked for %lld", (long long)(scripts_run() - before));
    actor_end(taker);
}

static rlock_status extend_by_a_minute(void *lock)
{
    return rlock_extend(lock, 60000);
}

/* When it began, its owner had a part, which another thread was about to give back: by the time it asks for that one,
 * somebody else has it. */
TimedTest(sharded_fault, does_not_wait_for_a_part_that_its_owner_had)
{
    rlock *lock = owned_by(sharded_of(scene.client, 2), 7), *theirs = sharded_of(stage.other, 2);
    actor *extends = actor_start(), *unlocks = actor_start(), *locks = actor_start(), *by_name = actor_start();
    int own = -1;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(theirs));
    assert_ok(rlock_get_shard(lock, &own));
    rlock *part = part_of(stage.other, own);
    actor_begin_lock(by_name, part);
    /* The three calls of the owner, one behind the other. */
    int extension = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 1);
    actor_begin(extends, extend_by_a_minute, lock);
    cr_assert(proxy_await(scene.proxy, extension, PROXY_ANSWERED, 1, SOON_MS));
    actor_begin_unlock(unlocks, lock);
    cr_assert(actor_asleep(unlocks, SOON_MS));
    actor_begin_try(locks, lock, 60000, 60000);
    cr_assert(actor_asleep(locks, SOON_MS));
    int acquire = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1);
    proxy_release(scene.proxy, extension);
    assert_ok(actor_finish(extends, SOON_MS));
    assert_ok(actor_finish(unlocks, SOON_MS));
    assert_ok(actor_finish(by_name, SOON_MS));
    proxy_release(scene.proxy, acquire);
    cr_assert(!actor_ended(locks, 500));
    assert_ok(rlock_unlock(theirs));
    assert_ok(actor_finish_soon(locks, 500));
    int other = -1;
    assert_ok(rlock_get_shard(lock, &other));
    cr_assert(other == 1 - own);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_unlock(by_name, part));
    actor_end(extends);
    actor_end(unlocks);
    actor_end(locks);
    actor_end(by_name);
}

/* Likewise, but the call does not wait, and another part is free: it takes that one. */
TimedTest(sharded_fault, tries_another_part_than_the_one_that_its_owner_had)
{
    rlock *lock = owned_by(sharded_of(scene.client, 2), 7);
    actor *extends = actor_start(), *unlocks = actor_start(), *tries = actor_start(), *by_name = actor_start();
    int own = -1, other = -1;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_get_shard(lock, &own));
    rlock *part = part_of(stage.other, own);
    actor_begin_lock(by_name, part);
    int extension = on_script(&rli_script_lock_renew, PROXY_HOLD_REPLY, 1);
    actor_begin(extends, extend_by_a_minute, lock);
    cr_assert(proxy_await(scene.proxy, extension, PROXY_ANSWERED, 1, SOON_MS));
    actor_begin_unlock(unlocks, lock);
    cr_assert(actor_asleep(unlocks, SOON_MS));
    actor_begin_try(tries, lock, 0, 60000);
    cr_assert(actor_asleep(tries, SOON_MS));
    int acquire = on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 1);
    proxy_release(scene.proxy, extension);
    assert_ok(actor_finish(extends, SOON_MS));
    assert_ok(actor_finish(unlocks, SOON_MS));
    assert_ok(actor_finish(by_name, SOON_MS));
    proxy_release(scene.proxy, acquire);
    assert_ok(actor_finish(tries, SOON_MS));
    assert_ok(rlock_get_shard(lock, &other));
    cr_assert(other == 1 - own);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_unlock(by_name, part));
    actor_end(extends);
    actor_end(unlocks);
    actor_end(tries);
    actor_end(by_name);
}

/* A server that was restarted without its data. */
Test(sharded_fault, restart_during_a_hold_is_told_and_another_part_can_be_taken)
{
    static losses lost;
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
    rlock *lock = sharded_of(scene.client, SHARDS);
    int shard = -1;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_get_shard(lock, &shard));
    server_restart(stage.server);
    cr_assert(event_wait_ms(&lost.came, SOON_MS), "the loss was not told");
    assert_status(rlock_get_shard(lock, &shard), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_all_parts_free();
}

/* --- in a multi lock --- */

/* A multi lock of a sharded lock and another lock, which others hold. It has the sharded lock, and waits for the other;
 * that hold is lost, and another call of its owner takes the sharded lock by itself. */
typedef struct in_multi {
    rlock *sharded, *multi, *others;
    actor *waiter;
} in_multi;

static in_multi begin_in_multi(int64_t wait_ms)
{
    rlock *members[] = {sharded_of(scene.client, 1), lock_of(scene.client, "other")};
    in_multi self = {.sharded = owned_by(members[0], 7),
                     .multi = owned_by(made_of(rlock_get_multi_lock, members, 2), 7),
                     .others = lock_of(stage.other, "other"),
                     .waiter = actor_start()};
    assert_ok(rlock_lock(self.others));
    actor_begin_try(self.waiter, self.multi, wait_ms, 20000);
    cr_assert(server_wait_exists(stage.server, NAME ":0", true, SOON_MS) && actor_asleep(self.waiter, SOON_MS));
    foreign_vanish(NAME ":0");
    assert_status(rlock_try_lock(self.sharded, 0, 20000), RLOCK_LOST);
    assert_ok(rlock_try_lock(self.sharded, 0, 20000));
    return self;
}

TimedTest(sharded_fault, hold_of_another_call_is_not_given_back_by_a_multi_lock)
{
    in_multi self = begin_in_multi(1000);
    assert_status(actor_finish(self.waiter, SOON_MS), RLOCK_TIMEOUT);
    cr_assert(rlock_valid_for(self.sharded) > 0 && pttl_of(NAME ":0") > 0);
    assert_ok(rlock_unlock(self.sharded));
    assert_ok(rlock_unlock(self.others));
    assert_all_parts_free();
    actor_end(self.waiter);
}

TimedTest(sharded_fault, hold_of_another_call_does_not_count_for_a_multi_lock)
{
    in_multi self = begin_in_multi(10000);
    assert_ok(rlock_unlock(self.others));
    assert_ok(actor_finish(self.waiter, SOON_MS));
    assert_ok(rlock_unlock(self.sharded));
    cr_assert(rlock_valid_for(self.multi) > 0 && pttl_of(NAME ":0") > 0);
    assert_ok(rlock_unlock(self.multi));
    assert_all_parts_free();
    actor_end(self.waiter);
}

/* The sharded lock's hold was lost, and is not told yet; its part is held by its name. Many releases are under way, so that one
 * more needs memory. */
Test(sharded_fault, unlock_without_memory_leaves_the_hold_by_name)
{
    enum { BESIDE = 6 };
    static const char *const names[BESIDE] = {"o0", "o1", "o2", "o3", "o4", "o5"};
    rlock *lock = sharded_of(scene.client, 1), *part = lock_of(scene.client, NAME ":0"), *others[BESIDE];
    actor *beside[BESIDE];
    for (int i = 0; i < BESIDE; i++) {
        beside[i] = actor_start();
        others[i] = lock_of(scene.client, names[i]);
        assert_ok(actor_lock(beside[i], others[i]));
    }
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(part, NULL));
    assert_ok(rlock_lock(part));
    int rule = on_script(&rli_script_lock_release, PROXY_HOLD_REPLY, 0);
    for (int i = 0; i < BESIDE; i++) {
        actor_begin_unlock(beside[i], others[i]);
        cr_assert(actor_asleep(beside[i], SOON_MS));
    }
    memory_end(1);
    rlock_status status = rlock_unlock(lock);
    memory_return();
    cr_assert(status == RLOCK_NO_MEMORY || status == RLOCK_LOST);
    cr_assert(rlock_valid_for(part) > 0);
    proxy_release(scene.proxy, rule);
    for (int i = 0; i < BESIDE; i++) {
        assert_ok(actor_finish(beside[i], SOON_MS));
        actor_end(beside[i]);
    }
    assert_ok(rlock_unlock(part));
}

/* The server stands still for a moment, as during a fork: one refusal comes late. Another part becomes free afterwards. */
TimedTest(sharded_fault, does_not_wait_long_for_one_part_after_a_server_that_stood_still)
{
    rlock_client *patient = scene_client("timeout=5000");
    rlock *lock = sharded_of(patient, MANY), *theirs = sharded_of(stage.other, MANY);
    for (int i = 0; i < MANY; i++)
        assert_ok(rlock_try_lock(owned_by(theirs, i), 0, 600000));
    actor *taker = actor_start();
    server_freeze(stage.server);
    actor_begin_try(taker, lock, 60000, 60000);
    pass_ms(4000);
    server_thaw(stage.server);
    pass_ms(500);
    int64_t free_ms = now_ms();
    assert_ok(rlock_unlock(owned_by(theirs, 0)));
    assert_ok(actor_finish(taker, 60000));
    cr_assert(now_ms() - free_ms <= at_most_ms(1000), "a part was free for %lld ms", (long long)(now_ms() - free_ms));
    assert_ok(actor_unlock(taker, lock));
    actor_end(taker);
}

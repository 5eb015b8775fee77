/* The sharded lock: as many owners as it has parts, each with another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/poll_loop.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/stand_still.h"

#include <rlock/async.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

TestSuite(sharded, .init = stage_quick, .fini = stage_close);

#define NAME "stock"
#define SHARDS 4
#define SOON_MS 10000

static rlock *sharded_of(rlock_client *client, int shards)
{
    return stage_keep(rlock_get_sharded_lock(client, NAME, shards));
}

static int64_t parts_locked(void)
{
    return server_integer(stage.server, "DBSIZE");
}

static int shard_of(rlock *lock)
{
    int shard = -1;
    assert_ok(rlock_get_shard(lock, &shard));
    return shard;
}

/* Each of four owners takes another part, and the fifth none. */
Test(sharded, has_as_many_owners_as_parts)
{
    rlock *lock = sharded_of(stage.client, SHARDS), *theirs = sharded_of(stage.other, SHARDS);
    bool taken[SHARDS] = {false}, locked = true;
    for (int i = 0; i < SHARDS; i++) {
        rlock *own = owned_by(i % 2 ? lock : theirs, i);
        assert_ok(rlock_is_locked(lock, &locked));
        cr_assert(!locked);
        assert_ok(rlock_try_lock(own, 0, 60000));
        int shard = shard_of(own);
        cr_assert(shard >= 0 && shard < SHARDS && !taken[shard], "part %d twice", shard);
        taken[shard] = true;
        char name[32];
        snprintf(name, sizeof name, NAME ":%d", shard);
        cr_assert(pttl_of(name) > 0);
    }
    cr_assert(parts_locked() == SHARDS);
    assert_ok(rlock_is_locked(lock, &locked));
    cr_assert(locked);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
    assert_error("none of 4 parts is free");
    assert_status(rlock_try_lock(lock, 50, 1000), RLOCK_TIMEOUT);
    cr_assert(parts_locked() == SHARDS);
}

/* Not always the first. */
Test(sharded, parts_are_tried_in_random_order)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    bool seen[SHARDS] = {false};
    int different = 0;
    for (int i = 0; i < 1000 && different < SHARDS; i++) {
        assert_ok(rlock_try_lock(lock, 0, 60000));
        int shard = shard_of(lock);
        different += !seen[shard];
        seen[shard] = true;
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(different == SHARDS, "%d parts in 1000 turns", different);
    assert_no_keys();
}

Test(sharded, is_entered_again_in_the_same_part)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    int count = 0;
    bool held = false;
    assert_ok(rlock_lock(lock));
    int shard = shard_of(lock);
    for (int i = 0; i < 10; i++)
        assert_ok(rlock_lock(lock));
    cr_assert(shard_of(lock) == shard && parts_locked() == 1 && rlock_valid_for(lock) > 0);
    assert_ok(rlock_get_hold_count(lock, &count));
    assert_ok(rlock_is_held(lock, &held));
    cr_assert(count == 11 && held);
    for (int i = 0; i < 11; i++)
        assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_error("none of the 4 parts");
    assert_status(rlock_get_shard(lock, &shard), RLOCK_NOT_OWNER);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_no_keys();
}

static rlock *part_by_name(int shard)
{
    char name[32];
    snprintf(name, sizeof name, NAME ":%d", shard);
    return lock_of(stage.client, name);
}

/* Another part that its owner holds by its name is none of its. */
Test(sharded, leaves_the_parts_that_its_owner_holds_by_their_names)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    int count = 0;
    bool held = true;
    for (int i = 0; i < 3; i++) {
        assert_ok(rlock_lock(lock));
        int own = shard_of(lock);
        for (int shard = 0; shard < SHARDS; shard++) {
            if (shard != own)
                assert_ok(rlock_lock(part_by_name(shard)));
        }
        cr_assert(shard_of(lock) == own);
        assert_ok(rlock_get_hold_count(lock, &count));
        cr_assert(count == 1, "%d holds", count);
        assert_ok(rlock_unlock(lock));
        assert_status(rlock_get_shard(lock, &count), RLOCK_NOT_OWNER);
        assert_ok(rlock_is_held(lock, &held));
        cr_assert(!held && rlock_valid_for(lock) == 0);
        assert_status(rlock_extend(lock, 60000), RLOCK_NOT_OWNER);
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
        cr_assert(parts_locked() == SHARDS - 1);
        for (int shard = 0; shard < SHARDS; shard++) {
            if (shard != own)
                assert_ok(rlock_unlock(part_by_name(shard)));
        }
        assert_no_keys();
    }
}

static void assert_not_held(rlock *lock)
{
    int shard;
    bool held = true;
    assert_ok(rlock_is_held(lock, &held));
    cr_assert(!held);
    assert_status(rlock_get_shard(lock, &shard), RLOCK_NOT_OWNER);
    assert_status(rlock_extend(lock, 60000), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

static void assert_held(rlock *lock, int times)
{
    int count = 0;
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == times, "%d holds, expected %d", count, times);
}

/* Its own part can be held by its name, too, before or after: each unlock gives back a hold of the lock that it names. */
static void mix_with_holds_by_name(rlock_client *client)
{
    rlock *lock = sharded_of(client, 1), *part = lock_of(client, NAME ":0");
    assert_ok(rlock_lock(part));
    assert_not_held(lock);
    for (int i = 1; i <= 3; i++) {
        assert_ok(rlock_lock(lock));
        assert_held(lock, i);
    }
    assert_ok(rlock_lock(part));
    assert_held(part, 5);
    for (int i = 2; i >= 0; i--) {
        assert_held(lock, i + 1);
        assert_ok(rlock_unlock(lock));
    }
    assert_not_held(lock);
    assert_held(part, 2);
    assert_ok(rlock_unlock(part));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_not_held(lock);
    assert_held(part, 1);
    assert_ok(rlock_unlock(part));
    assert_status(rlock_unlock(part), RLOCK_NOT_OWNER);
    assert_not_held(lock);
}

Test(sharded, leaves_the_holds_of_its_part_that_its_owner_took_by_name)
{
    mix_with_holds_by_name(stage.client);
    assert_no_keys();
}

Test(sharded, leaves_the_holds_by_name_where_unlocks_do_not_wait)
{
    mix_with_holds_by_name(stage_client("unlockWaits=false&localHandOver=true"));
}

/* Then it has no hold left, whichever of them that was. */
Test(sharded, that_was_given_back_by_name_is_not_held)
{
    rlock *lock = sharded_of(stage.client, 1), *part = part_by_name(0);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(part));
    assert_held(lock, 1);
    assert_ok(rlock_lock(part));
    assert_held(lock, 1);
    assert_ok(rlock_unlock(part));
    assert_held(lock, 1);
    assert_ok(rlock_unlock(part));
    assert_not_held(lock);
    assert_ok(rlock_lock(part));
    assert_not_held(lock);
    assert_ok(rlock_unlock(part));
    assert_no_keys();
}

/* Each of the two locks tells its own losses, also when the part is held again by its name. */
Test(sharded, that_was_lost_with_holds_by_name_tells_its_own_losses)
{
    rlock *lock = sharded_of(stage.client, 1), *part = part_by_name(0);
    assert_ok(rlock_lock(part));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(part, NULL));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_not_held(lock);
    assert_status(rlock_unlock(part), RLOCK_LOST);
    assert_status(rlock_unlock(part), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(part, NULL));
    assert_ok(rlock_lock(part));
    assert_held(lock, 0);
    assert_status(rlock_extend(lock, 60000), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_not_held(lock);
    assert_held(part, 1);
    assert_ok(rlock_unlock(part));
    assert_no_keys();
}

static void lose_each(rlock *const of_each[2], int first)
{
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_lock(of_each[first ^ i]));
        assert_ok(rlock_force_unlock(part_by_name(0), NULL));
    }
}

/* Nor does it matter which of the two was lost first. */
Test(sharded, that_was_lost_before_a_hold_by_name_tells_its_own_losses)
{
    rlock *of_each[] = {sharded_of(stage.client, 1), part_by_name(0)};
    for (int first = 0; first < 2; first++) {
        rlock *former = of_each[first], *latter = of_each[!first];
        lose_each(of_each, first);
        assert_status(rlock_unlock(latter), RLOCK_LOST);
        assert_status(rlock_unlock(former), RLOCK_LOST);
        assert_status(rlock_unlock(former), RLOCK_NOT_OWNER);
        lose_each(of_each, first);
        assert_status(rlock_unlock(former), RLOCK_LOST);
        assert_status(rlock_unlock(latter), RLOCK_LOST);
        assert_status(rlock_unlock(latter), RLOCK_NOT_OWNER);
    }
    assert_no_keys();
}

/* A hold by the name that was lost before is told of, and the sharded lock keeps its part. */
Test(sharded, keeps_its_part_when_a_hold_by_its_name_is_told_lost)
{
    rlock *lock = sharded_of(stage.client, 1), *part = part_by_name(0);
    assert_ok(rlock_lock(part));
    assert_ok(rlock_force_unlock(part, NULL));
    assert_ok(rlock_lock(lock));
    assert_status(rlock_unlock(part), RLOCK_LOST);
    assert_held(lock, 1);
    assert_status(rlock_try_lock(sharded_of(stage.other, 1), 0, 60000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Only the sharded lock tells that it was lost: whoever unlocks the part by its name does not know of it. */
Test(sharded, that_was_lost_is_not_told_to_an_unlock_by_name)
{
    rlock *lock = sharded_of(stage.client, 1), *part = part_by_name(0);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_force_unlock(part, NULL));
    assert_status(rlock_extend(part, 60000), RLOCK_NOT_OWNER);
    assert_status(rlock_unlock(part), RLOCK_NOT_OWNER);
    assert_status(rlock_extend(lock, 60000), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* Nor does a lost hold by the name keep its owner from the sharded lock. */
Test(sharded, is_had_though_its_part_was_lost_by_name)
{
    rlock *lock = sharded_of(stage.client, 1), *part = part_by_name(0);
    assert_ok(rlock_lock(part));
    server_integer(stage.server, "DEL %s", rlock_name(part));
    assert_ok(rlock_try_lock(lock, 0, 60000));
    assert_held(lock, 1);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(part), RLOCK_LOST);
    assert_no_keys();
}

/* The loss of its part says nothing of the others either. */
Test(sharded, that_was_lost_leaves_the_parts_that_its_owner_holds_by_their_names)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    assert_ok(rlock_lock(lock));
    int own = shard_of(lock), other = (own + 1) % SHARDS;
    assert_ok(rlock_lock(part_by_name(other)));
    assert_ok(rlock_force_unlock(part_by_name(own), NULL));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(rlock_valid_for(part_by_name(other)) > 0);
    assert_ok(rlock_unlock(part_by_name(other)));
    assert_no_keys();
}

/* Two threads that act for one owner have one part together. */
Test(sharded, is_one_part_for_all_threads_of_an_owner)
{
    rlock *lock = owned_by(sharded_of(stage.client, SHARDS), 7);
    actor *first = actor_start(), *second = actor_start();
    for (int i = 0; i < 20; i++) {
        int count = 0;
        actor_begin_lock(first, lock);
        actor_begin_lock(second, lock);
        assert_ok(actor_finish(first, SOON_MS));
        assert_ok(actor_finish(second, SOON_MS));
        cr_assert(parts_locked() == 1, "%d parts", (int)parts_locked());
        assert_ok(rlock_get_hold_count(lock, &count));
        cr_assert(count == 2);
        int shard = shard_of(lock);
        assert_ok(actor_unlock(first, lock));
        cr_assert(shard_of(lock) == shard);
        assert_ok(actor_unlock(second, lock));
        assert_no_keys();
    }
    actor_end(first);
    actor_end(second);
}

/* By the owner that the call names, and not by the thread that makes it. */
Test(sharded, is_entered_again_by_a_named_owner)
{
    rlock *lock = sharded_of(stage.client, SHARDS), *own = owned_by(lock, 7);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = 7;
    int count = 0;
    for (int i = 0; i < 5; i++)
        assert_ok(rlock_lock_with(lock, &options));
    assert_ok(rlock_get_hold_count(own, &count));
    cr_assert(count == 5 && parts_locked() == 1);
    assert_ok(rlock_lock(lock));
    cr_assert(shard_of(lock) != shard_of(own));
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 5; i++)
        assert_ok(rlock_unlock(own));
    assert_no_keys();
}

/* Whichever part is given back. */
Test(sharded, waiter_takes_the_part_that_becomes_free)
{
    rlock *lock = sharded_of(stage.client, SHARDS), *theirs = sharded_of(stage.other, SHARDS);
    rlock *held[SHARDS];
    for (int i = 0; i < SHARDS; i++) {
        held[i] = owned_by(theirs, i);
        assert_ok(rlock_lock(held[i]));
    }
    actor *waiter = actor_start();
    for (int i = 0; i < SHARDS; i++) {
        actor_begin_lock(waiter, lock);
        cr_assert(!actor_ended(waiter, 20));
        assert_ok(rlock_unlock(held[i]));
        assert_ok(actor_finish(waiter, SOON_MS));
        assert_ok(actor_unlock(waiter, lock));
        assert_ok(rlock_lock(held[i]));
    }
    actor_end(waiter);
}

#define TURNS 40

static atomic_int inside[SHARDS];
static atomic_int met, turns;

static rlock_status take_turns(void *arg)
{
    rlock *lock = arg;
    for (int i = 0; i < TURNS; i++) {
        int shard = 0;
        rlock_status status = rlock_lock(lock);
        if (status != RLOCK_OK || (status = rlock_get_shard(lock, &shard)) != RLOCK_OK)
            return status;
        met += atomic_fetch_add(&inside[shard], 1) > 0;
        turns++;
        atomic_fetch_sub(&inside[shard], 1);
        if ((status = rlock_unlock(lock)) != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

Test(sharded, of_many_threads_excludes_within_each_part)
{
    enum { THREADS = 12 };
    rlock *lock = sharded_of(stage.client, SHARDS);
    actor *threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i] = actor_start();
        actor_begin(threads[i], take_turns, lock);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_ok(actor_finish(threads[i], 60000));
        actor_end(threads[i]);
    }
    cr_assert(met == 0 && turns == THREADS * TURNS);
    assert_no_keys();
}

Test(sharded, part_that_was_lost_is_told_and_another_one_taken)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    assert_ok(rlock_lock(lock));
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

Test(sharded, is_forced_open_in_all_parts)
{
    rlock *lock = sharded_of(stage.client, SHARDS), *theirs = sharded_of(stage.other, SHARDS);
    bool was_locked = true;
    int64_t left_ms = 0;
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(!was_locked);
    assert_ok(rlock_remain_time_to_live(lock, &left_ms));
    cr_assert(left_ms == -2);
    for (int i = 0; i < SHARDS; i++)
        assert_ok(rlock_try_lock(owned_by(theirs, i), 0, i == 2 ? 5000 : 60000));
    assert_ok(rlock_remain_time_to_live(lock, &left_ms));
    cr_assert(left_ms > 0 && left_ms <= 5000);
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(was_locked);
    assert_no_keys();
}

static const char *name_of_part(int number)
{
    static char name[32];
    snprintf(name, sizeof name, NAME ":%d", number);
    return name;
}

/* Whichever it is. */
Test(sharded, is_forced_open_in_one_part)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    for (int i = 0; i < SHARDS; i++) {
        bool was_locked = false, locked = true;
        foreign_hold(name_of_part(i), 60000);
        assert_ok(rlock_is_locked(lock, &locked));
        cr_assert(!locked, "locked by part %d alone", i);
        assert_ok(rlock_force_unlock(lock, &was_locked));
        cr_assert(was_locked, "part %d was not locked", i);
        assert_no_keys();
    }
}

/* A part without an end keeps nobody from the one that ends. */
Test(sharded, is_free_when_the_first_of_its_parts_is)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    int64_t left_ms = 0;
    for (int i = 0; i < SHARDS; i++)
        foreign_hold(name_of_part(i), -1);
    assert_ok(rlock_remain_time_to_live(lock, &left_ms));
    cr_assert(left_ms == -1);
    for (int i = 0; i < SHARDS; i++) {
        freeReplyObject(server_command(stage.server, "PEXPIRE %s 60000", name_of_part(i)));
        assert_ok(rlock_remain_time_to_live(lock, &left_ms));
        cr_assert(left_ms > 0 && left_ms <= 60000, "%lld ms, by part %d", (long long)left_ms, i);
        freeReplyObject(server_command(stage.server, "PERSIST %s", name_of_part(i)));
    }
}

/* And not until the part that is looked at last might have become free. */
TimedTest(sharded, is_waited_for_no_longer_than_was_asked)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    for (int i = 0; i < SHARDS; i++)
        foreign_hold(name_of_part(i), 60000);
    for (int64_t wait_ms = 1; wait_ms < 400; wait_ms = 2 * wait_ms + 1) {
        int64_t since_ms = now_ms();
        assert_status(rlock_try_lock(lock, wait_ms, 60000), RLOCK_TIMEOUT);
        assert_between(now_ms() - since_ms, wait_ms, wait_ms + 5);
        assert_error("none of 4 parts is free; 4 are held");
    }
}

/* For less than the timeout; the one server of all parts is not given up. */
TimedTest(sharded, is_taken_though_the_server_stalls)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    actor *taker = actor_start();
    assert_ok(rlock_lock(lock)); /* the server knows the scripts */
    assert_ok(rlock_unlock(lock));
    server_freeze(stage.server);
    actor_begin_try(taker, lock, 0, 60000);
    pass_ms(2000);
    server_thaw(stage.server);
    assert_ok(actor_finish(taker, SOON_MS));
    assert_ok(actor_unlock(taker, lock));
    /* What may have been taken without an answer is given back. */
    for (int i = 0; i < SHARDS; i++) {
        char name[32];
        snprintf(name, sizeof name, NAME ":%d", i);
        cr_assert(server_wait_exists(stage.server, name, false, SOON_MS));
    }
    actor_end(taker);
}

/* They stand aside for the one that can be asked. */
Test(sharded, parts_that_are_something_else_are_passed_over)
{
    rlock *lock = sharded_of(stage.client, SHARDS);
    for (int i = 1; i < SHARDS; i++)
        freeReplyObject(server_command(stage.server, "RPUSH " NAME ":%d x", i));
    for (int i = 0; i < 20; i++) {
        assert_ok(rlock_try_lock(lock, 0, 60000));
        cr_assert(shard_of(lock) == 0);
        assert_ok(rlock_unlock(lock));
    }
    freeReplyObject(server_command(stage.server, "SET " NAME ":0 x"));
    assert_status(rlock_try_lock(lock, 0, 60000), RLOCK_SERVER);
}

/* --- a process that is killed --- */

static const char *hold_the_only_part(child *self)
{
    rlock_client *client;
    child_check(rlock_client_open(&client, server_url(stage.server)) == RLOCK_OK);
    rlock *lock = rlock_get_sharded_lock(client, NAME, 1);
    child_check(lock && rlock_try_lock(lock, 0, 500) == RLOCK_OK);
    stand_still_here();
    child_await(self);
    return NULL;
}

/* Nobody renews its part, which is taken when its lease has ended. */
RealTest(sharded, part_of_a_killed_process_is_taken_when_its_lease_has_ended)
{
    if (!CHILD_MAY_ALLOCATE || !CHILD_MAY_START_THREADS)
        cr_skip_test("the child cannot use a client under this sanitizer");
    int how = 0;
    rlock *lock = sharded_of(stage.other, 1);
    child killed = child_start(hold_the_only_part);
    cr_assert(stand_still_await(killed.pid), "it did not stop");
    kill(killed.pid, SIGKILL);
    stand_still_no_more(killed.pid);
    cr_assert(waitpid(killed.pid, &how, 0) == killed.pid && WIFSIGNALED(how));
    assert_ok(rlock_try_lock(lock, 60000, 60000));
    assert_ok(rlock_unlock(lock));
}

/* --- async --- */

RealTest(sharded, is_taken_and_given_back_without_a_thread)
{
    rlock *lock = owned_by(sharded_of(stage.client, SHARDS), 7), *theirs = sharded_of(stage.other, SHARDS);
    ending taken = {0}, given = {0};
    for (int i = 0; i < SHARDS; i++)
        assert_ok(rlock_lock(owned_by(theirs, i)));
    poll_loop_add(stage.client);
    assert_ok(rlock_lock_async(lock, NULL, poll_loop_end, &taken));
    cr_assert(!poll_loop_wait(&taken, 100), "a fifth owner");
    assert_ok(rlock_unlock(owned_by(theirs, 2)));
    assert_ends(taken, RLOCK_OK);
    cr_assert(shard_of(lock) >= 0);
    assert_ok(rlock_unlock_async(lock, NULL, poll_loop_end, &given));
    assert_ends(given, RLOCK_OK);
    poll_loop_remove(stage.client);
}

/* --- what is refused --- */

Test(sharded, of_no_sense_makes_no_handle)
{
    int shard;
    cr_assert(!rlock_get_sharded_lock(stage.client, NAME, 0) && !rlock_get_sharded_lock(stage.client, NAME, 1025));
    assert_error("1 to 1024");
    cr_assert(!rlock_get_sharded_lock(stage.client, NULL, 4) && !rlock_get_sharded_lock(stage.client, "", 4));
    cr_assert(!rlock_get_sharded_lock(NULL, NAME, 4));
    assert_status(rlock_get_shard(lock_of(stage.client, NAME), &shard), RLOCK_UNSUPPORTED);
    assert_error("a shard is not supported by this kind of lock");
    assert_status(rlock_get_shard(sharded_of(stage.client, 4), NULL), RLOCK_INVALID);
}

/* The most, and one alone. */
Test(sharded, may_have_one_part_or_very_many)
{
    rlock *one = sharded_of(stage.client, 1), *many = sharded_of(stage.client, 1024);
    assert_ok(rlock_lock(one));
    cr_assert(shard_of(one) == 0);
    assert_ok(rlock_unlock(one));
    assert_ok(rlock_try_lock(many, 0, 60000));
    assert_ok(rlock_unlock(many));
    assert_no_keys();
}

/* Lost holds: their owner is told once, may ask, and unlocks in vain as often as it locked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(lost, .init = stage_quick, .fini = stage_close);

#define NAME "order"
/* A renewal each third of the timeout finds the loss; its answer is read within a sixth. */
#define FOUND_MS (ROUND_MS + 200)

static losses told; /* zeroed: each test is a process of its own */

static void listen_for_losses(void)
{
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
}

Test(lost, deleted_lock_is_told_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    foreign_vanish(NAME);
    losses_await(&told, 1, FOUND_MS);
    const loss *first = &told.all[0];
    cr_assert(strcmp(first->name, NAME) == 0);
    cr_assert(first->size == sizeof(rlock_lost_event));
    cr_assert(!first->named_owner && first->owner > 0);
    cr_assert(first->hold_count == 2);
    cr_assert(first->reason == RLOCK_LOST_GONE);
    cr_assert(rlock_valid_for(lock) == 0);
    cr_assert(!event_wait_count(&told.came, 2, KEPT_MS), "told twice");
    assert_no_keys();
}

Test(lost, names_the_named_owner)
{
    listen_for_losses();
    assert_ok(rlock_lock(owned_by(lock_of(stage.client, NAME), -77)));
    foreign_vanish(NAME);
    losses_await(&told, 1, FOUND_MS);
    cr_assert(told.all[0].named_owner && told.all[0].owner == -77 && told.all[0].hold_count == 1);
}

Test(lost, name_is_told_without_the_prefix)
{
    rlock_client *client = stage_client("namePrefix=shop:&" STAGE_QUICK);
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    assert_ok(rlock_lock(lock_of(client, NAME)));
    foreign_vanish("shop:" NAME);
    losses_await(&told, 1, FOUND_MS);
    cr_assert(strcmp(told.all[0].name, NAME) == 0);
}

Test(lost, lock_forced_open_elsewhere_is_told_once)
{
    listen_for_losses();
    assert_ok(rlock_lock(lock_of(stage.client, NAME)));
    assert_ok(rlock_force_unlock(lock_of(stage.other, NAME), NULL));
    losses_await(&told, 1, FOUND_MS);
    cr_assert(told.all[0].reason == RLOCK_LOST_GONE);
    cr_assert(!event_wait_count(&told.came, 2, KEPT_MS), "told twice");
}

Test(lost, lock_forced_open_here_is_told_at_once_and_once)
{
    actor *holder = actor_start();
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    assert_ok(actor_lock(holder, lock));
    assert_ok(rlock_force_unlock(lock, NULL));
    losses_await(&told, 1, 200);
    cr_assert(told.all[0].reason == RLOCK_LOST_GONE);
    cr_assert(!event_wait_count(&told.came, 2, KEPT_MS), "told twice");
    actor_end(holder);
}

/* Told when the owner may not rely on it any more. */
Test(lost, lease_that_ran_out_is_told_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 600));
    cr_assert(event_wait_ms(&told.came, 5000));
    assert_between(told.all[0].at_ms - since_ms, 590, at_most_ms(800));
    cr_assert(told.all[0].reason == RLOCK_LOST_EXPIRED && told.all[0].hold_count == 1);
    cr_assert(!event_wait_count(&told.came, 2, ROUND_MS), "told twice");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* No server answers any renewal: told though nobody can be asked. */
Test(lost, lock_of_a_silent_server_is_told_by_its_deadline)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    assert_ok(rlock_lock(lock));
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    cr_assert(event_wait_ms(&told.came, 5000));
    assert_between(told.all[0].at_ms - since_ms, 0, at_most_ms(QUICK_MS));
    cr_assert(told.all[0].reason == RLOCK_LOST_EXPIRED);
    cr_assert(rlock_valid_for(lock) == 0);
    server_thaw(stage.server);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(!event_wait_count(&told.came, 2, KEPT_MS), "told twice");
    /* Renewals that were stuck come late; they keep nothing. */
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
}

Test(lost, each_of_many_is_told_once)
{
    char name[16];
    int seen[50] = {0};
    listen_for_losses();
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_ok(rlock_lock(lock_of(stage.client, name)));
    }
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    losses_await(&told, 50, FOUND_MS);
    cr_assert(!event_wait_count(&told.came, 51, KEPT_MS));
    for (int i = 0; i < 50; i++)
        seen[atoi(told.all[i].name)]++;
    for (int i = 0; i < 50; i++)
        cr_assert(seen[i] == 1);
}

/* --- what a former master has lost --- */

#define LONG_MS 3600000

/* The server that was asked has nothing, as one that was replaced as a master and has restarted. Where the hold stands, it
 * would stay for an hour. */
static void put_back(int64_t number)
{
    freeReplyObject(server_command(stage.server, "HSET %s %s:%lld 1", NAME, rlock_client_id(stage.client), (long long)number));
    freeReplyObject(server_command(stage.server, "PEXPIRE %s %d", NAME, LONG_MS));
}

TimedTest(lost, hold_with_a_long_lease_that_its_unlock_does_not_find_is_released_where_it_stands)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, LONG_MS));
    int64_t number = wire_number(NAME, stage.client);
    foreign_vanish(NAME);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    put_back(number);
    cr_assert(server_wait_exists(stage.server, NAME, false, 10000));
}

/* Its owner may go on without looking: nobody else may have the lock before it has unlocked it. */
TimedTest(lost, hold_with_a_long_lease_that_is_found_lost_is_left_where_it_stands)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, LONG_MS));
    int64_t number = wire_number(NAME, stage.client);
    foreign_vanish(NAME);
    assert_status(rlock_extend(lock, LONG_MS), RLOCK_LOST);
    put_back(number);
    pass_ms(10000);
    cr_assert(pttl_of(NAME) > 0, "it was released before its owner has unlocked it");
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* --- what is no loss --- */

struct worker {
    rlock *lock;
    int shift;
    rlock_status status;
};

static void *unlock_as_the_renewal_comes(void *arg)
{
    struct worker *self = arg;
    for (int i = 0; i < 6 && self->status == RLOCK_OK; i++) {
        self->status = rlock_lock(self->lock);
        pass_ms(QUICK_MS / 3 - 3 + (self->shift + i) % 7);
        if (self->status == RLOCK_OK)
            self->status = rlock_unlock(self->lock);
    }
    return NULL;
}

/* A renewal may pass an unlock on the way and find nothing: that is no loss. */
Test(lost, is_not_what_was_unlocked)
{
    static struct worker workers[8];
    pthread_t threads[8];
    char name[16];
    listen_for_losses();
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "%d", i);
        workers[i] = (struct worker){.lock = lock_of(stage.client, name), .shift = i};
        cr_assert(pthread_create(&threads[i], NULL, unlock_as_the_renewal_comes, &workers[i]) == 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_status(workers[i].status, RLOCK_OK);
    }
    cr_assert(!event_wait_ms(&told.came, ROUND_MS));
}

/* --- unlocking and locking after a loss --- */

Test(lost, unlock_says_so_as_often_as_it_was_locked)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(lock));
    foreign_vanish(NAME);
    losses_await(&told, 1, FOUND_MS);
    for (int i = 0; i < 3; i++)
        assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* The same when the first unlock is what finds it out. */
Test(lost, unlock_that_finds_it_out_counts_as_one)
{
    rlock *lock = lock_of(stage.client, NAME);
    for (int levels = 1; levels <= 3; levels++) {
        for (int i = 0; i < levels; i++)
            assert_ok(rlock_lock(lock));
        foreign_vanish(NAME);
        for (int i = 0; i < levels; i++)
            assert_status(rlock_unlock(lock), RLOCK_LOST);
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
        assert_no_keys();
    }
}

/* Another holds it by now: the late unlocks leave that hold alone. */
Test(lost, unlock_leaves_the_next_holder_alone)
{
    rlock *lock = lock_of(stage.client, NAME), *elsewhere = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    foreign_vanish(NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(elsewhere));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_held_alone(NAME, stage.other, 1, QUICK_MS, since_ms);
    assert_ok(rlock_unlock(elsewhere));
}

/* Locked once more by an owner that has lost it unknowingly: said, and nothing is taken. */
Test(lost, reentry_says_so_and_takes_nothing)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses();
    assert_ok(rlock_lock(lock));
    foreign_vanish(NAME);
    assert_status(rlock_lock(lock), RLOCK_LOST);
    assert_no_keys();
    cr_assert(rlock_valid_for(lock) == 0);
    losses_await(&told, 1, 200);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(!event_wait_count(&told.came, 2, ROUND_MS), "told twice");
}

/* And when another holds it by now, the re-entry does not wait for it. */
Test(lost, reentry_does_not_wait_behind_the_next_holder)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    foreign_vanish(NAME);
    foreign_hold(NAME, RLOCK_WATCHDOG);
    int64_t since_ms = now_ms();
    assert_status(rlock_lock(lock), RLOCK_LOST);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_try_lock(lock, 0, 1000), RLOCK_TIMEOUT);
}

/* A new session under a number of its own; it is renewed, and it can be lost and told again. */
Test(lost, lock_can_be_taken_and_lost_again)
{
    rlock *lock = lock_of(stage.client, NAME);
    int64_t last = 0;
    listen_for_losses();
    for (int i = 1; i <= 3; i++) {
        assert_ok(rlock_lock(lock));
        int64_t number = wire_number(NAME, stage.client);
        cr_assert(number != last);
        last = number;
        cr_assert(wait_renewed(NAME, 10000) && rlock_valid_for(lock) > 0);
        foreign_vanish(NAME);
        losses_await(&told, i, FOUND_MS);
        assert_status(rlock_unlock(lock), RLOCK_LOST);
    }
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* The lease has ended by our clock, not yet by the server's: the owner's next session takes the
 * place of the old one at once, and the old one's unlock does not touch it. */
Test(lost, session_is_replaced_by_its_owners_next)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 1700));
    freeReplyObject(server_command(stage.server, "PERSIST %s", NAME)); /* the server's clock is late */
    pass_ms(1720);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_try_lock(lock_of(stage.other, NAME), 0, 5000), RLOCK_TIMEOUT);
    int64_t first = wire_number(NAME, stage.client), since_ms = now_ms();
    assert_ok(rlock_try_lock(lock, 0, 5000));
    cr_assert(assert_held_alone(NAME, stage.client, 1, 5000, since_ms) != first);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

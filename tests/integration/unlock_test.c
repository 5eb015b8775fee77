/* Unlocking without waiting for the answer (unlockWaits=false): the release is on its way when unlock returns, comes
 * before all that its client asks later, and what the server made of it is told by rlock_on_lost alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOON_MS 5000
#define TOLD_MS 1000 /* what nobody asks about is read in a tenth of that */
#define NAME "order"

static losses told;

static void open_unawaited(void)
{
    stage_open_with("unlockWaits=false");
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
}

#define KIND_SUITE unlock
TestSuite(unlock, .init = open_unawaited, .fini = stage_close);

/* The first unlock of a kind waits for its answer: the server may not know the script. */
static rlock *warm(const kind *of, const char *name)
{
    rlock *lock = kind_of(of, stage.client, name);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    return lock;
}

static void assert_told_once(const char *name, rlock_lost_reason reason)
{
    losses_await(&told, 1, TOLD_MS);
    cr_assert(!event_wait_count(&told.came, 2, 300), "told twice");
    cr_assert_str_eq(told.all[0].name, name);
    cr_assert(told.all[0].reason == reason, "reason %d", (int)told.all[0].reason);
    cr_assert(told.all[0].hold_count == 1);
}

static void assert_nothing_told(void)
{
    cr_assert(!event_wait_ms(&told.came, 300), "told of a loss, reason %d", (int)told.all[0].reason);
}

/* --- what it says --- */

KIND_TIMED_TEST(returns_though_the_server_sleeps)
{
    rlock *lock = warm(of, NAME);
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_between(now_ms() - since_ms, 0, at_most_ms(500));
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    server_thaw(stage.server);
    cr_assert(server_wait_exists(stage.server, kind_key(of, NAME), false, SOON_MS));
    assert_nothing_told();
}

KIND_TEST(is_done_before_what_is_asked_next)
{
    rlock *lock = warm(of, NAME);
    bool held = true, locked = true;
    int64_t ttl_ms = 0;
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_is_locked(lock, &locked));
    cr_assert(!locked);
    for (int i = 0; i < 300; i++) {
        assert_ok(rlock_try_lock(lock, 0, i % 2 ? RLOCK_WATCHDOG : 20000));
        assert_ok(rlock_unlock(lock));
    }
    assert_ok(rlock_is_held(lock, &held));
    assert_ok(rlock_remain_time_to_live(lock, &ttl_ms));
    cr_assert(!held && ttl_ms == -2);
    assert_nothing_told();
}

KIND_TEST(is_done_before_another_thread_of_the_client_asks)
{
    actor *another = actor_start();
    rlock *lock = warm(of, NAME), *theirs = rival_of(of, stage.client, NAME);
    for (int i = 0; i < 100; i++) {
        assert_ok(rlock_unlock(lock));
        assert_ok(actor_try(another, theirs, 0, 20000));
        assert_ok(actor_unlock(another, theirs));
        assert_ok(rlock_try_lock(lock, 0, 20000));
    }
    assert_ok(rlock_unlock(lock));
    actor_end(another);
    assert_nothing_told();
}

/* --- refusals --- */

KIND_TEST(tells_later_that_the_hold_was_gone)
{
    rlock *lock = warm(of, NAME);
    cr_assert(server_integer(stage.server, "DEL %s", kind_key(of, NAME)) == 1);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    assert_told_once(NAME, RLOCK_LOST_GONE);
}

/* Also to who asks on at once: the answer that comes first is that of the release. */
KIND_TEST(tells_that_the_hold_was_gone_though_its_owner_locks_again)
{
    rlock *lock = warm(of, NAME);
    cr_assert(server_integer(stage.server, "DEL %s", kind_key(of, NAME)) == 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    assert_told_once(NAME, RLOCK_LOST_GONE);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, kind_key(of, NAME), false, SOON_MS));
}

KIND_TEST(tells_later_that_the_server_refused)
{
    rlock *lock = warm(of, NAME);
    cr_assert(server_integer(stage.server, "DEL %s", kind_key(of, NAME)) == 1);
    freeReplyObject(server_command(stage.server, of->field ? "SET %s text" : "HSET %s text 1", kind_key(of, NAME)));
    assert_ok(rlock_unlock(lock));
    assert_told_once(NAME, RLOCK_LOST_NOT_RELEASED);
}

/* What is known here is said at once. */
KIND_TIMED_TEST(says_at_once_that_its_time_was_up)
{
    rlock *lock = warm(of, NAME);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(lock, 0, 50));
    pass_ms(60);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_told_once(NAME, RLOCK_LOST_EXPIRED);
}

/* The lease ends while the release waits for the server to wake. */
TimedTest(unlock, tells_that_the_lease_ended_before_the_release_was_run)
{
    rlock *lock = warm(&kind_reentrant, NAME);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(lock, 0, 1700));
    server_freeze(stage.server);
    assert_ok(rlock_unlock(lock));
    pass_ms(1800);
    server_thaw(stage.server);
    assert_told_once(NAME, RLOCK_LOST_EXPIRED);
}

/* --- servers that cannot do it just now --- */

/* It is done in the background, with the text of the script. */
KIND_TEST(is_done_though_the_server_has_forgotten_the_script)
{
    rlock *lock = warm(of, NAME);
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, kind_key(of, NAME), false, SOON_MS));
    assert_between(now_ms() - since_ms, 0, at_most_ms(TOLD_MS));
    assert_nothing_told();
}

TimedTest(unlock, is_done_when_the_server_is_a_master_again)
{
    rlock *lock = warm(&kind_reentrant, NAME);
    freeReplyObject(server_command(stage.server, "REPLICAOF 127.0.0.1 1"));
    assert_ok(rlock_unlock(lock));
    pass_ms(300); /* long enough to be told so */
    cr_assert(pttl_of(NAME) > 0);
    freeReplyObject(server_command(stage.server, "REPLICAOF NO ONE"));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_nothing_told();
}

/* --- the client's end --- */

#define LOCKS 50

Test(unlock, leaves_nothing_locked_when_the_client_is_closed_at_once)
{
    rlock *locks[LOCKS];
    for (int i = 0; i < LOCKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "order:%d", i);
        locks[i] = warm(all_kinds[i % 2], name);
    }
    for (int i = 0; i < LOCKS; i++)
        assert_ok(rlock_unlock(locks[i]));
    stage_close_client(stage.client);
    stage.client = NULL;
    assert_no_keys();
}

/* What had to be done in the background is waited for as well. */
Test(unlock, leaves_nothing_locked_when_the_client_is_closed_before_the_release_is_repeated)
{
    rlock *lock = warm(&kind_reentrant, NAME);
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    assert_ok(rlock_unlock(lock));
    stage_close_client(stage.client);
    stage.client = NULL;
    assert_no_keys();
}

TimedTest(unlock, holds_up_the_clients_closing_for_a_second_at_most)
{
    rlock *lock = warm(&kind_reentrant, NAME);
    server_freeze(stage.server);
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    stage_close_client(stage.client);
    stage.client = NULL;
    assert_between(now_ms() - since_ms, 900, at_most_ms(1500));
    server_thaw(stage.server);
}

static rlock_client *busy_client;

static const char *lock_and_exit(child *self)
{
    (void)self;
    rlock_client *client = NULL;
    child_check(rlock_client_open(&client, server_url_with(stage.server, "unlockWaits=false")) == RLOCK_OK);
    rlock *lock = rlock_get_lock(client, NAME);
    for (int i = 0; i < 2; i++) {
        child_check(rlock_lock(lock) == RLOCK_OK);
        child_check(rlock_unlock(lock) == RLOCK_OK);
    }
    _exit(0); /* the client is not closed */
}

Test(unlock, is_done_though_the_process_exits_at_once)
{
    if (!CHILD_MAY_START_THREADS || !CHILD_MAY_ALLOCATE)
        cr_skip_test("the child cannot use a client under this sanitizer");
    child_await_rest();
    in_child(lock_and_exit);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
}

static void *work(void *name)
{
    rlock *lock = rlock_get_lock(busy_client, name);
    for (;;) {
        if (rlock_lock(lock) == RLOCK_OK)
            rlock_unlock(lock);
    }
    return NULL;
}

static const char *lock_and_exit_beside_others(child *self)
{
    (void)self;
    static char names[8][16];
    pthread_t thread;
    child_check(rlock_client_open(&busy_client, server_url_with(stage.server, "unlockWaits=false")) == RLOCK_OK);
    rlock *lock = rlock_get_lock(busy_client, NAME);
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "busy:%d", i);
        child_check(pthread_create(&thread, NULL, work, names[i]) == 0);
    }
    for (int i = 0; i < 20; i++) {
        child_check(rlock_lock(lock) == RLOCK_OK);
        child_check(rlock_unlock(lock) == RLOCK_OK);
    }
    _exit(0);
}

/* Other threads of the process share the connection, and one of them reads and sends for all. */
Test(unlock, is_done_though_the_process_exits_at_once_beside_busy_threads)
{
    if (!CHILD_MAY_START_THREADS || !CHILD_MAY_ALLOCATE)
        cr_skip_test("the child cannot use a client under this sanitizer");
    child_await_rest();
    for (int i = 0; i < 10; i++) {
        in_child(lock_and_exit_beside_others);
        cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS), "still locked after the end of process %d", i);
    }
}

/* --- what goes on as ever --- */

/* Its answer says for how long the outer hold is good. */
Test(unlock, of_an_inner_hold_waits_for_its_answer)
{
    rlock *lock = warm(&kind_reentrant, NAME);
    int count = 0;
    for (int i = 0; i < 2; i++)
        assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 2);
    cr_assert(server_integer(stage.server, "DEL %s", NAME) == 1);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

Test(unlock, gives_a_fair_lock_to_the_next_waiter)
{
    rlock *lock = warm(&kind_fair, NAME);
    actor *waiter = queue_up(lock);
    for (int i = 0; i < 20; i++) {
        assert_ok(rlock_unlock(lock));
        assert_ok(actor_finish(waiter, SOON_MS));
        actor *own = actor_start();
        actor_begin_lock(own, lock);
        cr_assert(actor_asleep(own, SOON_MS));
        assert_ok(actor_unlock(waiter, lock));
        assert_ok(actor_finish(own, SOON_MS));
        assert_ok(actor_unlock(own, lock));
        assert_ok(rlock_lock(lock));
        actor_end(own);
        actor_begin_lock(waiter, lock);
        cr_assert(actor_asleep(waiter, SOON_MS));
    }
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    assert_nothing_told();
}

Test(unlock, wakes_a_waiter_of_another_client)
{
    actor *waiter = actor_start();
    rlock *lock = warm(&kind_reentrant, NAME), *theirs = lock_of(stage.other, NAME);
    actor_begin_lock(waiter, theirs);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
}

Test(unlock, gives_back_all_members_of_a_multi_lock)
{
    rlock *members[3] = {warm(&kind_reentrant, "a"), warm(&kind_reentrant, "b"), warm(&kind_fair, "c")};
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_unlock(members[i]));
    rlock *multi = rlock_get_multi_lock(members, 3);
    for (int i = 0; i < 50; i++) {
        assert_ok(rlock_try_lock(multi, 0, 20000));
        assert_ok(rlock_unlock(multi));
    }
    const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        cr_assert(server_wait_exists(stage.server, names[i], false, SOON_MS));
    rlock_free(multi);
    assert_nothing_told();
}

/* --- many --- */

Test(unlock, lets_threads_of_two_clients_take_turns)
{
    static crowd turns = {.name = NAME, .turns = 200};
    for (int i = 0; i < 4; i++) {
        crowd_add(&turns, stage.client);
        crowd_add(&turns, stage.other);
    }
    crowd_run(&turns, 40000);
    cr_assert(atomic_load(&turns.counter) == 8 * turns.turns && atomic_load(&turns.most_inside) == 1);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_nothing_told();
}

/* More than are left unanswered on one connection. */
Test(unlock, of_very_many_locks_frees_them_all)
{
    enum { MANY = 3000 };
    rlock *lock = warm(&kind_reentrant, NAME);
    assert_ok(rlock_unlock(lock));
    static rlock *locks[MANY];
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "order:%d", i);
        locks[i] = rlock_get_lock(stage.client, name);
        assert_ok(rlock_lock(locks[i]));
    }
    for (int i = 0; i < MANY; i++) {
        assert_ok(rlock_unlock(locks[i]));
        rlock_free(locks[i]);
    }
    cr_assert(wait_key_count(0, SOON_MS));
    assert_nothing_told();
}

/* Tracking: a server reports what others do to a lock that has been held for a second, so that a loss is told at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The watchdog timeout is 30 s: renewals would find a loss after ten. */
static void open_stage(void)
{
    stage_open_with("lossTracking=true");
}

TestSuite(tracking, .init = open_stage, .fini = stage_close);

#define NAME "order"
#define OLD_MS 1100  /* a hold is tracked after a second */
#define SOON_MS 20   /* the server's message, and the look that follows */

static losses told;

static void listen_for_losses(rlock_client *client)
{
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
}

static void say(const char *command)
{
    redisReply *reply = server_command(stage.server, command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", command, reply->str);
    freeReplyObject(reply);
}

static rlock_tracking state_of(rlock_client *client)
{
    rlock_tracking state;
    assert_ok(rlock_client_tracking(client, &state));
    return state;
}

static void await_state(rlock_client *client, rlock_tracking state)
{
    while (state_of(client) != state)
        pass_ms(5);
}

/* Waits until its first hold is old and the server tracks what is read. The hold is read right after that: what happens to
 * it before is found then. */
static void grow_old(rlock_client *client)
{
    await_state(client, RLOCK_TRACKING_ON);
}

/* --- each kind, and each way to lose it --- */

/* A group lock's values are fields of one hash that many owners change all the time, so nobody is told of that hash. */
static bool is_tracked(const kind *of)
{
    return of != &kind_group;
}

static rlock *hold_old(const kind *of, int64_t lease_ms)
{
    rlock *lock = kind_of(of, stage.client, NAME);
    listen_for_losses(stage.client);
    assert_ok(rlock_try_lock(lock, 0, lease_ms));
    grow_old(stage.client);
    return lock;
}

static void assert_lost_at_once(rlock *lock)
{
    losses_await(&told, 1, SOON_MS);
    cr_assert(told.all[0].reason == RLOCK_LOST_GONE);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

#undef KIND_SUITE
#define KIND_SUITE tracking

KIND_TEST(deleted_lock_is_told_at_once)
{
    if (!is_tracked(of))
        return;
    rlock *lock = hold_old(of, RLOCK_WATCHDOG);
    foreign_vanish(kind_key(of, NAME));
    assert_lost_at_once(lock);
}

KIND_TIMED_TEST(lock_deleted_after_renewals_is_told_at_once)
{
    if (!is_tracked(of))
        return;
    rlock *lock = hold_old(of, RLOCK_WATCHDOG);
    pass_ms(25000);
    foreign_vanish(kind_key(of, NAME));
    assert_lost_at_once(lock);
}

KIND_TIMED_TEST(deleted_lock_with_a_lease_of_its_own_is_told_at_once)
{
    if (!is_tracked(of))
        return;
    rlock *lock = hold_old(of, 600000);
    foreign_vanish(kind_key(of, NAME));
    assert_lost_at_once(lock);
}

KIND_TIMED_TEST(lock_forced_open_elsewhere_is_told_at_once)
{
    if (!is_tracked(of))
        return;
    rlock *lock = hold_old(of, RLOCK_WATCHDOG);
    assert_ok(rlock_force_unlock(kind_of(of, stage.other, NAME), NULL));
    assert_lost_at_once(lock);
}

KIND_TIMED_TEST(lock_of_an_emptied_server_is_told_at_once)
{
    if (!is_tracked(of))
        return;
    rlock *lock = hold_old(of, RLOCK_WATCHDOG);
    say("FLUSHALL");
    assert_lost_at_once(lock);
}

/* --- beside a waiter, who reads the messages himself --- */

#define OTHER "other"

static actor *wait_beside(rlock_client *client)
{
    actor *waiter = actor_start();
    foreign_hold(OTHER, RLOCK_WATCHDOG);
    actor_begin_lock(waiter, lock_of(client, OTHER));
    cr_assert(wait_listened(OTHER, 5000));
    cr_assert(!actor_ended(waiter, 20));
    return waiter;
}

static void end_waiter(actor *waiter, rlock_client *client)
{
    assert_ok(actor_finish(waiter, 60000));
    assert_ok(actor_unlock(waiter, lock_of(client, OTHER)));
    actor_end(waiter);
}

Test(tracking, lock_deleted_while_a_waiter_reads_is_told_at_once)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    actor *waiter = wait_beside(stage.client);
    foreign_vanish(NAME);
    assert_lost_at_once(lock);
    foreign_release(OTHER);
    end_waiter(waiter, stage.client);
}

TimedTest(tracking, lock_of_a_server_emptied_while_a_waiter_reads_is_told_at_once)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    actor *waiter = wait_beside(stage.client);
    say("FLUSHALL");
    assert_lost_at_once(lock);
    end_waiter(waiter, stage.client);
}

/* The next waiter does not come: the client's own thread reads again soon. With that timeout it looks once a second
 * whether anything is overdue, so that a channel that begins to linger does not wake it. */
TimedTest(tracking, lock_deleted_when_a_waiter_has_read_is_told_at_once)
{
    rlock_client *client = stage_client("lossTracking=true&timeout=1000");
    rlock *lock = lock_of(client, NAME);
    listen_for_losses(client);
    assert_ok(rlock_lock(lock));
    grow_old(client);
    actor *waiter = wait_beside(client);
    foreign_release(OTHER);
    end_waiter(waiter, client);
    foreign_vanish(NAME);
    assert_lost_at_once(lock);
}

/* --- again and again --- */

/* Another loss of the same name is told as soon as the first. */
TimedTest(tracking, lock_that_is_taken_again_is_tracked_again)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    foreign_vanish(NAME);
    assert_lost_at_once(lock);
    assert_ok(rlock_lock(lock));
    pass_ms(OLD_MS);
    foreign_vanish(NAME);
    losses_await(&told, 2, SOON_MS);
}

/* Only its field: another owner may have taken its place. */
Test(tracking, lock_without_its_owner_is_told_at_once)
{
    rlock *lock = lock_of(stage.client, NAME);
    listen_for_losses(stage.client);
    assert_ok(rlock_lock(lock));
    say("HSET " NAME " somebody:1 1");
    grow_old(stage.client);
    redisReply *fields = server_command(stage.server, "HKEYS " NAME);
    for (size_t i = 0; i < fields->elements; i++) {
        if (strncmp(fields->element[i]->str, rlock_client_id(stage.client), 36) == 0)
            freeReplyObject(server_command(stage.server, "HDEL " NAME " %s", fields->element[i]->str));
    }
    freeReplyObject(fields);
    assert_lost_at_once(lock);
}

/* --- what is no loss --- */

/* It is renewed at once. */
Test(tracking, lease_that_others_shorten_is_restored)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    say("PEXPIRE " NAME " 5000");
    while (pttl_of(NAME) < 25000)
        pass_ms(5);
    cr_assert(rlock_valid_for(lock) > 0 && told.count == 0);
    assert_ok(rlock_unlock(lock));
}

/* A lease of its own is not renewed, so its owner relies on what is left. */
Test(tracking, own_lease_that_others_shorten_is_relied_on_no_longer)
{
    rlock *lock = hold_old(&kind_reentrant, 600000);
    say("PEXPIRE " NAME " 60000");
    while (rlock_valid_for(lock) > 60000)
        pass_ms(5);
    cr_assert(rlock_valid_for(lock) > 0 && told.count == 0);
    assert_ok(rlock_unlock(lock));
}

/* An extension that asks for less than the owner relied on has extended nothing. */
Test(tracking, own_lease_that_others_shorten_is_relied_on_no_longer_though_it_is_extended)
{
    rlock *lock = hold_old(&kind_reentrant, 600000);
    say("PEXPIRE " NAME " 60000");
    while (rlock_valid_for(lock) > 60000)
        assert_ok(rlock_extend(lock, 1000));
    cr_assert(rlock_valid_for(lock) > 0 && told.count == 0);
    assert_ok(rlock_unlock(lock));
}

/* Fields of others come and go in a read lock; each report is no more than a reason to look. */
TimedTest(tracking, change_that_leaves_the_hold_is_no_loss)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    for (int i = 0; i < 50; i++) {
        say("HSET " NAME " somebody:1 1");
        say("HDEL " NAME " somebody:1");
        pass_ms(20);
    }
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
}

/* A renewal, a look that it is tracked by, and nothing else: the library's own writes are not reported to it. */
TimedTest(tracking, own_renewals_are_not_reported)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    pass_ms(15000); /* the server has all scripts now */
    int64_t before = scripts_run();
    pass_ms(60000);
    assert_between(scripts_run() - before, 6, 7); /* each a renewal */
    assert_ok(rlock_unlock(lock));
}

/* A hold that is younger than a second costs nothing. */
TimedTest(tracking, young_hold_is_not_read)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock)); /* now the server has both scripts */
    assert_ok(rlock_unlock(lock));
    int64_t before = scripts_run();
    for (int i = 0; i < 20; i++) {
        assert_ok(rlock_lock(lock));
        pass_ms(900);
        assert_ok(rlock_unlock(lock));
    }
    cr_assert(scripts_run() - before == 40);
    cr_assert(state_of(stage.client) == RLOCK_TRACKING_IDLE);
}

/* With a short watchdog timeout each hold is renewed before it is a second old. That reads it, so nothing else is read. */
TimedTest(tracking, hold_that_is_renewed_early_has_no_others_read)
{
    rlock_client *client = stage_client("lossTracking=true&lockWatchdogTimeout=1500");
    assert_ok(rlock_lock(lock_of(client, NAME)));
    grow_old(client);
    pass_ms(1000); /* what was held then has been read */
    monitor *seen = monitor_open();
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "next-%d", i);
        assert_ok(rlock_lock(lock_of(client, name)));
        pass_ms(1000);
    }
    cr_assert_eq(monitor_ran(seen, &rli_script_lock_look), 0);
    monitor_close(seen);
    listen_for_losses(client);
    foreign_vanish("next-0");
    foreign_vanish("next-4");
    losses_await(&told, 2, SOON_MS);
}

/* --- connections that end --- */

static void lose_after(const char *kill)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    say(kill);
    pass_ms(SOON_MS);
    await_state(stage.client, RLOCK_TRACKING_ON);
    foreign_vanish(NAME);
    losses_await(&told, 1, 400); /* it connects again after a pause */
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

Test(tracking, goes_on_after_the_connection_for_messages_has_ended)
{
    lose_after("CLIENT KILL TYPE pubsub");
}

Test(tracking, goes_on_after_all_connections_have_ended)
{
    lose_after("CLIENT KILL TYPE normal");
}

/* What was lost while nobody listened is found when the connection stands again. */
Test(tracking, loss_while_connections_were_gone_is_found)
{
    rlock *lock = hold_old(&kind_reentrant, RLOCK_WATCHDOG);
    say("EVAL redis.call('del','" NAME "');return(1) 0");
    say("CLIENT KILL TYPE pubsub");
    losses_await(&told, 1, 400);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* --- when it does not track --- */

Test(tracking, can_be_disabled)
{
    rlock_client *client = stage_client("lossTracking=false&lockWatchdogTimeout=3000");
    rlock *lock = lock_of(client, NAME);
    listen_for_losses(client);
    assert_ok(rlock_lock(lock));
    cr_assert(state_of(client) == RLOCK_TRACKING_DISABLED);
    cr_assert(strstr(rlock_last_error(), "lossTracking") != NULL, "%s", rlock_last_error());
    redisReply *reply = server_command(stage.server, "INFO commandstats");
    cr_assert(strstr(reply->str, "tracking") == NULL, "%s", reply->str);
    freeReplyObject(reply);
    foreign_vanish(NAME);
    losses_await(&told, 1, 1500); /* by a renewal */
}

static void assert_rests_while_there_are_too_many(const char *watchdog_timeout)
{
    char options[100];
    snprintf(options, sizeof options, "lossTracking=true&lossTrackingMaxHolds=2&lockWatchdogTimeout=%s", watchdog_timeout);
    rlock_client *client = stage_client(options);
    rlock *locks[] = {lock_of(client, "a"), lock_of(client, "b"), lock_of(client, "c")};
    listen_for_losses(client);
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(locks[i]));
    await_state(client, RLOCK_TRACKING_TOO_MANY_HOLDS);
    cr_assert(strstr(rlock_last_error(), "more than 2 holds") != NULL, "%s", rlock_last_error());
    assert_ok(rlock_unlock(locks[2]));
    await_state(client, RLOCK_TRACKING_ON);
    foreign_vanish("a");
    losses_await(&told, 1, SOON_MS);
    assert_ok(rlock_unlock(locks[1]));
}

Test(tracking, rests_while_a_client_has_too_many_holds, .lasts = 11)
{
    assert_rests_while_there_are_too_many("30000");
}

/* They are renewed before they are old enough for a look. */
TimedTest(tracking, rests_while_a_client_with_a_short_watchdog_timeout_has_too_many_holds)
{
    assert_rests_while_there_are_too_many("3000");
}

/* A user that may not, by the rule of docs/security.md less one right. */
RealTest(tracking, is_left_out_where_the_user_has_no_right)
{
    say("ACL SETUSER limited on >secret ~* &* +@all -client|tracking");
    char url[200];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://limited:secret@127.0.0.1:%d?lossTracking=true&lockWatchdogTimeout=3000", server_port(stage.server));
    assert_ok(rlock_client_open(&client, url));
    rlock *lock = rlock_get_lock(client, NAME);
    listen_for_losses(client);
    assert_ok(rlock_lock(lock));
    await_state(client, RLOCK_TRACKING_REFUSED);
    cr_assert(strstr(rlock_last_error(), "refused CLIENT TRACKING: NOPERM") != NULL, "%s", rlock_last_error());
    foreign_vanish(NAME);
    losses_await(&told, 1, 1500);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    rlock_free(lock);
    rlock_client_close(client);
}

/* A server that refused is asked again when the connection for messages stands anew: it may have another rule now. */
RealTest(tracking, begins_when_a_user_has_the_right_and_connects_anew)
{
    say("ACL SETUSER limited on >secret ~* &* +@all -client|tracking");
    char url[200];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "redis://limited:secret@127.0.0.1:%d?lossTracking=true&lockWatchdogTimeout=3000", server_port(stage.server));
    assert_ok(rlock_client_open(&client, url));
    rlock *lock = rlock_get_lock(client, NAME);
    assert_ok(rlock_lock(lock));
    await_state(client, RLOCK_TRACKING_REFUSED);
    say("ACL SETUSER limited +client|tracking");
    say("CLIENT KILL TYPE pubsub");
    await_state(client, RLOCK_TRACKING_ON);
    assert_ok(rlock_unlock(lock));
    rlock_free(lock);
    rlock_client_close(client);
}

Test(tracking, state_needs_a_place)
{
    assert_status(rlock_client_tracking(stage.client, NULL), RLOCK_INVALID);
}

/* Another reader's renewal has done so; the hold's own time stands. */
Test(tracking, read_hold_whose_lock_is_cut_is_kept)
{
    rlock *lock = hold_old(&kind_read, 600000);
    say("PEXPIRE " NAME " 60000");
    for (int64_t end_ms = limit_end_ms(20000); pttl_of(NAME) <= 500000; pass_ms(5)) {
        cr_assert(now_ms() < end_ms, "the lock is left with its short time");
        cr_assert(rlock_valid_for(lock) > 500000);
    }
    cr_assert(rlock_valid_for(lock) > 500000 && told.count == 0);
    assert_ok(rlock_unlock(lock));
}

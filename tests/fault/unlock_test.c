/* Releases that nobody waits for (unlockWaits=false), lost, cut off, held up and late: the lock does not stay held for
 * that, the owner's next hold is not touched, and nothing is told as lost that was not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdatomic.h>

#define NAME "order"
#define LEASE_MS 30000
#define SOON_MS 5000

static losses told;

static void open_unawaited(void)
{
    scene_open_with(QUICK "&unlockWaits=false");
    losses_init(&told);
    rlock_on_lost(scene.client, losses_note, &told);
}

TestSuite(unlock_cut, .init = open_unawaited, .fini = scene_close);

/* The first unlock waits for its answer. */
static rlock *held_lock(void)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    return lock;
}

static int on_release(proxy_act act, int times)
{
    return on_script(&rli_script_lock_release, act, times);
}

static void assert_nothing_told(void)
{
    cr_assert(!event_wait_ms(&told.came, 300), "told of a loss, reason %d", (int)told.all[0].reason);
}

static void assert_told_once(rlock_lost_reason reason, int64_t ms)
{
    cr_assert(event_wait_ms(&told.came, at_most_ms(ms)), "nothing was told");
    cr_assert(told.all[0].reason == reason, "reason %d", (int)told.all[0].reason);
    cr_assert(!event_wait_count(&told.came, 2, 300), "told twice");
}

/* --- nobody calls any more --- */

Test(unlock_cut, whose_answer_is_lost_was_a_success)
{
    rlock *lock = held_lock();
    int rule = on_release(PROXY_CUT_AFTER, 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 2, SOON_MS), "not sent again");
    assert_no_keys();
    assert_nothing_told();
}

Test(unlock_cut, that_never_came_is_brought_in_the_background)
{
    rlock *lock = held_lock();
    on_release(PROXY_CUT_BEFORE, 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, at_most_ms(1000)), "held by nobody");
    assert_nothing_told();
}

Test(unlock_cut, that_never_came_wakes_a_waiter_when_it_does)
{
    rlock *lock = held_lock(), *theirs = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    actor_begin_lock(waiter, theirs);
    cr_assert(wait_listened(NAME, SOON_MS) && actor_asleep(waiter, SOON_MS));
    on_release(PROXY_CUT_BEFORE, 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(actor_finish(waiter, at_most_ms(1000)));
    assert_ok(actor_unlock(waiter, theirs));
    actor_end(waiter);
    assert_nothing_told();
}

Test(unlock_cut, that_is_not_answered_is_repeated_after_the_timeout)
{
    rlock *lock = held_lock();
    on_release(PROXY_HOLD_REQUEST, 1);
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(lock));
    assert_between(now_ms() - since_ms, 0, at_most_ms(ATTEMPT_MS / 2));
    cr_assert(server_wait_exists(stage.server, NAME, false, at_most_ms(ATTEMPT_MS + 1000)), "held by nobody");
    assert_nothing_told();
}

/* The server stays out of reach for a while. */
Test(unlock_cut, is_repeated_until_the_server_is_within_reach)
{
    rlock *lock = held_lock();
    on_release(PROXY_CUT_BEFORE, 1);
    proxy_accept(scene.proxy, false);
    assert_ok(rlock_unlock(lock));
    pass_ms(1500);
    cr_assert(pttl_of(NAME) > 0);
    proxy_accept(scene.proxy, true);
    cr_assert(server_wait_exists(stage.server, NAME, false, at_most_ms(4000)), "held by nobody");
    assert_nothing_told();
}

Test(unlock_cut, that_is_never_answered_is_told_when_its_lease_has_ended)
{
    rlock *lock = held_lock();
    assert_ok(rlock_unlock(lock));
    scene_close_client(scene.client);
    scene.client = scene_client(QUICK_WATCHDOG "&unlockWaits=false");
    rlock_on_lost(scene.client, losses_note, &told);
    lock = held_lock();
    proxy_accept(scene.proxy, false);
    on_release(PROXY_CUT_BEFORE, 0);
    assert_ok(rlock_unlock(lock));
    assert_told_once(RLOCK_LOST_NOT_RELEASED, WATCHDOG_MS + 3000);
    cr_assert(told.all[0].hold_count == 1);
}

/* The release finds nothing. The attempt before it, which was not answered, cannot have given the hold back: the lease had
 * ended. */
Test(unlock_cut, that_comes_after_the_lease_is_told_as_lost)
{
    rlock *lock = held_lock();
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_ok(rlock_lock_lease(lock, 400));
    proxy_accept(scene.proxy, false);
    on_release(PROXY_CUT_BEFORE, 1);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    proxy_accept(scene.proxy, true);
    assert_told_once(RLOCK_LOST_EXPIRED, 4000);
}

/* It finds an empty server: whether the hold was lost before or with it, nobody can say. */
Test(unlock_cut, by_a_restart_of_the_server_is_told_as_lost)
{
    rlock *lock = held_lock();
    server_freeze(stage.server);
    assert_ok(rlock_unlock(lock));
    server_kill(stage.server);
    server_restart(stage.server);
    assert_told_once(RLOCK_LOST_GONE, 4000);
}

/* --- its owner goes on --- */

Test(unlock_cut, that_never_came_does_not_keep_its_owner_from_the_lock)
{
    rlock *lock = held_lock();
    for (int i = 0; i < 5; i++) {
        int rule = on_release(PROXY_CUT_BEFORE, 1);
        assert_ok(rlock_unlock(lock));
        int64_t since_ms = now_ms();
        assert_ok(rlock_lock(lock));
        assert_between(now_ms() - since_ms, 0, at_most_ms(300));
        assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
        proxy_release(scene.proxy, rule);
    }
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_nothing_told();
}

Test(unlock_cut, whose_answer_is_lost_does_not_keep_its_owner_from_the_lock)
{
    rlock *lock = held_lock();
    for (int i = 0; i < 5; i++) {
        int rule = on_release(PROXY_CUT_AFTER, 1);
        assert_ok(rlock_unlock(lock));
        assert_ok(rlock_lock(lock));
        proxy_release(scene.proxy, rule);
    }
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_nothing_told();
}

/* It arrives when its owner holds the lock again. */
Test(unlock_cut, that_comes_late_does_not_touch_the_next_hold)
{
    rlock *lock = held_lock();
    int rule = on_release(PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock)); /* after the timeout, over another connection */
    assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
    let_through(rule);
    assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
    cr_assert(rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_nothing_told();
}

/* And when somebody else holds it. */
Test(unlock_cut, that_comes_late_does_not_touch_anothers_hold)
{
    rlock *lock = held_lock(), *theirs = lock_of(stage.other, NAME);
    int rule = on_release(PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(theirs)); /* when it was done in the background */
    let_through(rule);
    assert_held_alone(NAME, stage.other, 1, LEASE_MS, since_ms);
    assert_ok(rlock_unlock(theirs));
    assert_nothing_told();
}

/* --- the loss is real --- */

Test(unlock_cut, of_a_hold_that_was_gone_is_told_though_it_had_to_be_repeated)
{
    rlock *lock = held_lock();
    cr_assert(server_integer(stage.server, "DEL %s", NAME) == 1);
    on_release(PROXY_CUT_BEFORE, 1);
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    assert_ok(rlock_unlock(lock));
    /* whether the lost one ran, nobody can say: it is taken for done */
    assert_nothing_told();
    assert_ok(rlock_lock(lock));
    cr_assert(server_integer(stage.server, "DEL %s", NAME) == 1);
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    assert_ok(rlock_unlock(lock)); /* refused: the server does not know the script */
    assert_told_once(RLOCK_LOST_GONE, 2000);
}

/* --- the client's end --- */

Test(unlock_cut, is_brought_before_the_client_is_closed)
{
    rlock *lock = held_lock();
    on_release(PROXY_CUT_BEFORE, 1);
    assert_ok(rlock_unlock(lock));
    scene_close_client(scene.client);
    assert_no_keys();
}

/* The answer "no such script" comes late, and so does that to the repetition: each takes a good part of the time for which
 * the watchdog waits in the middle of a client's life. */
Test(unlock_cut, of_a_script_that_the_server_forgot_is_brought_before_the_client_is_closed)
{
    rlock_client *client = scene_client("timeout=3000&lockWatchdogTimeout=300&unlockWaits=false");
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock)); /* the first waits for its answer */
    assert_ok(rlock_try_lock(lock, 0, 60000));
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = "EVAL", .amount = 120});
    assert_ok(rlock_unlock(lock));
    scene_close_client(client);
    assert_no_keys();
}

/* --- many threads, through cuts --- */

#define TURNS 150

static atomic_int inside, most_inside;

static rlock_status take_turns(void *arg)
{
    for (int i = 0; i < TURNS; i++) {
        rlock_status status = rlock_lock(arg);
        if (status != RLOCK_OK)
            return status;
        int now = atomic_fetch_add(&inside, 1) + 1;
        if (now > 1)
            atomic_store(&most_inside, now);
        atomic_fetch_sub(&inside, 1);
        status = rlock_unlock(arg);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

Test(unlock_cut, leaves_threads_to_take_turns_though_each_tenth_is_lost)
{
    rlock *lock = held_lock(), *theirs = lock_of(stage.other, NAME);
    actor *actors[6];
    assert_ok(rlock_unlock(lock));
    for (int i = 0; i < 6; i++)
        proxy_add(scene.proxy, &(proxy_rule){.act = i % 2 ? PROXY_CUT_BEFORE : PROXY_CUT_AFTER,
                                             .text = rli_script_lock_release.sha1[RLI_COUNTED], .skip = 10 * i + 5,
                                             .times = 1});
    for (int i = 0; i < 6; i++) {
        actors[i] = actor_start();
        actor_begin(actors[i], take_turns, i % 3 ? lock : theirs);
    }
    for (int i = 0; i < 6; i++) {
        assert_ok(actor_finish(actors[i], 40000));
        actor_end(actors[i]);
    }
    cr_assert(atomic_load(&most_inside) == 0, "two had it");
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
}

/* --- what it left is replaced --- */

/* The server hears of no release, that of the background neither. */
Test(unlock_cut, that_never_came_does_not_have_a_try_of_its_owner_refused)
{
    rlock *lock = held_lock();
    int rule = on_release(PROXY_CUT_BEFORE, 0);
    assert_ok(rlock_unlock(lock));
    int64_t since_ms = now_ms();
    assert_ok(rlock_try_lock(lock, 0, LEASE_MS));
    assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
    proxy_release(scene.proxy, rule);
    assert_nothing_told();
    assert_ok(rlock_unlock(lock));
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
}

/* The background finds nothing to release, as it should. Whether the server was restarted in between cannot be known. */
Test(unlock_cut, that_finds_itself_replaced_is_no_loss_where_the_server_does_not_tell_its_run)
{
    freeReplyObject(server_command(stage.server, "ACL SETUSER default -info"));
    rlock_client *client = scene_client(QUICK "&unlockWaits=false");
    rlock_on_lost(client, losses_note, &told);
    rlock *lock = lock_of(client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    int rule = on_release(PROXY_CUT_BEFORE, 0);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock(lock, 0, LEASE_MS));
    int released = on_release(PROXY_NOTE, 0);
    proxy_release(scene.proxy, rule);
    cr_assert(proxy_await(scene.proxy, released, PROXY_ANSWERED, 2, 30000), "the background does not go on");
    assert_nothing_told();
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(stage.server, "ACL SETUSER default +info"));
}

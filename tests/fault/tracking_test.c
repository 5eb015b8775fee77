/* lossTracking while connections end and answers are lost or late: a deletion afterwards is told at once, one meanwhile as
 * soon as the server tracks again, and nothing else is told. No renewal would find a loss in the time of a test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"

#include <string.h>

#define NAME "order"
#define SOON_MS 20   /* the server's message, and the look that follows */
#define AGAIN_MS 900 /* a new connection, after the pause that follows a failure */

static losses told;
static rlock *lock;

static void open_scene(void)
{
    scene_open_with(QUICK "&lossTracking=true&lockWatchdogTimeout=3600000");
    losses_init(&told);
    rlock_on_lost(scene.client, losses_note, &told);
    lock = lock_of(scene.client, NAME);
}

TestSuite(tracking_fault, .init = open_scene, .fini = scene_close);

static rlock_tracking state(void)
{
    rlock_tracking now;
    assert_ok(rlock_client_tracking(scene.client, &now));
    return now;
}

static void await_state(rlock_tracking awaited)
{
    while (state() != awaited)
        pass_ms(1);
}

static void await_acted(int rule)
{
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000), "the fault does not come");
}

/* The fault was no loss, and what is one is told. */
static void assert_tracked(void)
{
    await_state(RLOCK_TRACKING_ON);
    pass_ms(SOON_MS); /* the look that follows */
    cr_assert(told.count == 0 && rlock_valid_for(lock) > 0);
    foreign_vanish(NAME);
    losses_await(&told, 1, SOON_MS);
    cr_assert(told.all[0].reason == RLOCK_LOST_GONE);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* The next hold of the same name fares as well. */
static void assert_tracked_again(void)
{
    assert_ok(rlock_lock(lock));
    pass_ms(1100);
    cr_assert(state() == RLOCK_TRACKING_ON && told.count == 1);
    foreign_vanish(NAME);
    losses_await(&told, 2, SOON_MS);
}

/* --- CLIENT TRACKING and its answer --- */

static void survive(proxy_act act, const char *text)
{
    int rule = on_text(text, act, 1);
    assert_ok(rlock_lock(lock));
    await_acted(rule);
    pass_ms(AGAIN_MS);
    assert_tracked();
    assert_tracked_again();
}

Test(tracking_fault, lost_request_to_track_is_sent_again)
{
    survive(PROXY_CUT_BEFORE, "TRACKING");
}

Test(tracking_fault, lost_answer_to_the_request_to_track_is_asked_for_again)
{
    survive(PROXY_CUT_AFTER, "TRACKING");
}

Test(tracking_fault, lost_number_of_the_connection_is_asked_for_again)
{
    survive(PROXY_CUT_AFTER, "CLIENT\r\n$2\r\nID");
}

Test(tracking_fault, lost_confirmation_of_the_channel_is_asked_for_again)
{
    survive(PROXY_CUT_AFTER, "__redis__:invalidate");
}

Test(tracking_fault, lost_look_at_a_hold_that_has_become_old_is_repeated)
{
    survive(PROXY_CUT_AFTER, rli_script_lock_look.sha1[RLI_COUNTED]);
}

/* The client holds the lock, and has asked to be told; the answer is held back. */
static int hold_back_the_answer(int times)
{
    int rule = on_text("TRACKING", PROXY_HOLD_REPLY, times);
    assert_ok(rlock_lock(lock));
    await_acted(rule);
    return rule;
}

/* The client has given up by then, and asked on another connection. */
Test(tracking_fault, late_answer_to_the_request_to_track_does_no_harm)
{
    int rule = hold_back_the_answer(1);
    pass_ms(AGAIN_MS);
    proxy_release(scene.proxy, rule);
    assert_tracked();
    assert_tracked_again();
}

Test(tracking_fault, deletion_before_the_answer_to_the_request_to_track_is_told)
{
    int rule = hold_back_the_answer(1);
    foreign_vanish(NAME);
    proxy_release(scene.proxy, rule);
    losses_await(&told, 1, SOON_MS);
}

/* Meanwhile it asks again and again, and nothing else has to wait. */
Test(tracking_fault, deletion_while_no_request_to_track_is_answered_is_told_when_one_is)
{
    int rule = hold_back_the_answer(0);
    pass_ms(3000);
    cr_assert(state() == RLOCK_TRACKING_CONNECTING);
    cr_assert(strstr(rlock_last_error(), "did not answer CLIENT TRACKING") != NULL, "%s", rlock_last_error());
    foreign_vanish(NAME);
    pass_ms(1000);
    cr_assert(told.count == 0);
    proxy_release(scene.proxy, rule);
    losses_await(&told, 1, 10000);
    cr_assert_leq(seen_by(rule), 8, "%d requests", seen_by(rule));
}

/* The number that it redirects to is that of a connection that has ended in between. */
Test(tracking_fault, number_of_an_ended_connection_is_replaced)
{
    int rule = on_text("TRACKING", PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_lock(lock));
    await_acted(rule);
    proxy_cut_subscribers(scene.proxy);
    while (server_count_waiting(stage.server, "__redis__:invalidate") != 0)
        pass_ms(1);
    proxy_release(scene.proxy, rule);
    pass_ms(AGAIN_MS);
    assert_tracked();
    assert_tracked_again();
}

/* --- a connection that ends --- */

static void grow_old(void)
{
    assert_ok(rlock_lock(lock));
    await_state(RLOCK_TRACKING_ON);
    pass_ms(SOON_MS);
}

/* Somebody changes the hold's key, and the look that follows does not come back. */
static void lose_look(proxy_act act)
{
    grow_old();
    int rule = on_script(&rli_script_lock_look, act, 1);
    freeReplyObject(server_command(stage.server, "HSET " NAME " somebody:1 1"));
    await_acted(rule);
}

Test(tracking_fault, connection_of_looks_that_ends_is_replaced)
{
    lose_look(PROXY_CUT_AFTER);
    pass_ms(AGAIN_MS);
    assert_tracked();
    assert_tracked_again();
}

Test(tracking_fault, deletion_after_the_connection_of_looks_has_ended_is_told)
{
    lose_look(PROXY_CUT_BEFORE);
    foreign_vanish(NAME);
    losses_await(&told, 1, AGAIN_MS);
}

Test(tracking_fault, deletion_whose_look_is_lost_is_told)
{
    grow_old();
    int rule = on_script(&rli_script_lock_look, PROXY_CUT_AFTER, 1);
    foreign_vanish(NAME);
    await_acted(rule);
    losses_await(&told, 1, AGAIN_MS);
}

/* The server has found the hold, and does not say so yet, when its keys are deleted: all holds are looked at, also that one. */
TimedTest(tracking_fault, emptied_server_is_told_though_a_look_is_under_way)
{
    int rule = on_script(&rli_script_lock_look, PROXY_HOLD_REPLY, 1);
    assert_ok(rlock_lock(lock));
    await_acted(rule);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 5000));
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    pass_ms(100);
    cr_assert(told.count == 0);
    proxy_release(scene.proxy, rule);
    losses_await(&told, 1, AGAIN_MS);
}

Test(tracking_fault, connection_for_messages_that_ends_is_replaced)
{
    grow_old();
    proxy_cut_subscribers(scene.proxy);
    pass_ms(AGAIN_MS);
    assert_tracked();
    assert_tracked_again();
}

Test(tracking_fault, deletion_while_there_is_no_connection_for_messages_is_told)
{
    grow_old();
    int rule = on_text("__redis__:invalidate", PROXY_HOLD_REPLY, 1);
    proxy_cut_subscribers(scene.proxy);
    await_acted(rule);
    await_state(RLOCK_TRACKING_CONNECTING);
    foreign_vanish(NAME);
    pass_ms(100);
    cr_assert(told.count == 0);
    proxy_release(scene.proxy, rule);
    losses_await(&told, 1, AGAIN_MS);
}

Test(tracking_fault, deletion_while_no_connection_is_there_is_told)
{
    grow_old();
    proxy_accept(scene.proxy, false);
    proxy_cut(scene.proxy);
    foreign_vanish(NAME);
    pass_ms(3000);
    cr_assert(told.count == 0);
    proxy_accept(scene.proxy, true);
    losses_await(&told, 1, 4000); /* it connects again after pauses of up to two seconds */
}

Test(tracking_fault, connections_that_end_are_no_loss)
{
    grow_old();
    for (int i = 0; i < 5; i++) {
        proxy_cut(scene.proxy);
        pass_ms(300);
    }
    pass_ms(3000);
    assert_tracked();
    assert_tracked_again();
}

/* --- messages that others publish on that channel --- */

static void publish(const char *text)
{
    cr_assert(server_integer(stage.server, "PUBLISH __redis__:invalidate %s", text) == 1);
}

Test(tracking_fault, message_that_anybody_publishes_does_nothing)
{
    grow_old();
    int rule = on_script(&rli_script_lock_look, PROXY_NOTE, 0);
    publish(NAME);
    publish("");
    publish("*1\r\n$5\r\norder\r\n");
    pass_ms(500);
    cr_assert_eq(seen_by(rule), 0);
    assert_tracked();
    assert_tracked_again();
}

/* A server that was restarted and has forgotten everything: what was held is lost, and that is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/support/event.h"

static losses lost;

/* More attempts than a start of the server takes. */
static void open_persistent(void)
{
    scene_open_with("timeout=1000&retryAttempts=50&retryBaseDelay=50&retryMaxDelay=100&lockWatchdogTimeout="
                    SCENE_TEXT_(WATCHDOG_MS));
    losses_init(&lost);
    rlock_on_lost(scene.client, losses_note, &lost);
}

TestSuite(restart, .init = open_persistent, .fini = scene_close);

#define NAME "order"

Test(restart, during_a_hold_is_told_once_as_gone)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    server_restart(stage.server);
    cr_assert(event_wait_ms(&lost.came, WATCHDOG_MS), "the loss was not told");
    cr_assert(lost.all[0].hold_count == 2);
    cr_assert(rlock_valid_for(lock) == 0);
    pass_ms(WATCHDOG_MS); /* the time in which it might be told again, or renewed */
    cr_assert(event_count(&lost.came) == 1);
    assert_no_keys();
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* The lock taken again is renewed as any other. */
Test(restart, is_over_for_the_next_hold)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = on_script(&rli_script_lock_renew, PROXY_NOTE, 0);
    assert_ok(rlock_lock(lock));
    server_restart(stage.server);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
    int renewed = proxy_count(scene.proxy, rule, PROXY_ANSWERED);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, renewed + 6, 10000), "not renewed any more");
    cr_assert(rlock_valid_for(lock) > 0 && pttl_of(NAME) > 0);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* To add to a hold that is gone would make one where its owner thinks it has two. */
Test(restart, during_a_hold_lets_none_be_added_to_it)
{
    rlock *lock = lock_of(scene.client, NAME);
    assert_ok(rlock_lock_lease(lock, 60000));
    server_restart(stage.server);
    assert_status(rlock_lock_lease(lock, 60000), RLOCK_LOST);
    assert_no_keys();
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock_lease(lock, 60000));
    assert_ok(rlock_unlock(lock));
}

/* The first attempt ran, its answer was lost, and then the server: that it found nothing says
 * nothing, since another may have held it in between. */
Test(restart, between_two_attempts_of_a_release_is_a_loss)
{
    rlock *lock = owned_by(lock_of(scene.client, NAME), 7);
    actor *releaser = actor_start();
    assert_ok(rlock_lock_lease(lock, 60000));
    on_script(&rli_script_lock_release, PROXY_CUT_AFTER, 1);
    int greeting = on_text("INFO", PROXY_HOLD_REQUEST, 1);
    actor_begin_unlock(releaser, lock);
    cr_assert(proxy_await(scene.proxy, greeting, PROXY_ACTED, 1, 5000));
    server_restart(stage.server);
    assert_status(actor_finish(releaser, 20000), RLOCK_LOST);
    actor_end(releaser);
}

/* The answer to its own first attempt was lost with the server: it has what the new one gave it. */
Test(restart, between_two_attempts_of_an_acquire_counts_it_once)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *acquirer = actor_start();
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    int greeting = on_text("INFO", PROXY_HOLD_REQUEST, 1);
    actor_begin_lock(acquirer, lock);
    cr_assert(proxy_await(scene.proxy, greeting, PROXY_ACTED, 1, 5000));
    server_restart(stage.server);
    assert_ok(actor_finish(acquirer, 20000));
    cr_assert(actor_hold_count(acquirer, lock) == 1);
    assert_ok(actor_unlock(acquirer, lock));
    assert_no_keys();
    actor_end(acquirer);
}

/* Where the server keeps to itself which run it is, one may have been lost in between. */
Test(restart, is_not_ruled_out_where_the_server_does_not_tell_its_run)
{
    freeReplyObject(server_command(stage.server, "ACL SETUSER default -info"));
    rlock *lock = lock_of(scene_client("retryBaseDelay=1&retryMaxDelay=1"), NAME);
    assert_ok(rlock_lock_lease(lock, 60000));
    int rule = on_script(&rli_script_lock_release, PROXY_CUT_AFTER, 1);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(seen_by(rule) == 2, "sent %d times", seen_by(rule));
    assert_no_keys();
    freeReplyObject(server_command(stage.server, "ACL SETUSER default +info"));
}

/* Doubtful acquires: given up without an answer, they may still run late. What they take then is
 * given back in the background, and is not held by nobody for its whole lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/sides.h"
#include "tests/support/event.h"

#include <stdio.h>

TestSuite(doubt, .init = scene_open, .fini = scene_close);

#define NAME "order"
#define LEASE_MS 30000
#define SOON_MS 5000 /* far below the lease */
#define LATEST_MS 30000

static int keep_acquires(void)
{
    return on_script(&rli_script_lock_acquire, PROXY_HOLD_REQUEST, 0);
}

/* The kept acquires run now; then somebody else gets the lock soon, by being woken. */
static void assert_undone(int rule)
{
    rlock *others = lock_of(stage.other, NAME);
    server_listen(stage.server);
    let_through(rule);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(others));
    assert_between(now_ms() - since_ms, 0, SOON_MS);
    cr_assert(heard_times(NAME, "0", 1, 5000), "no late acquire took the lock: nothing was tested");
    assert_ok(rlock_unlock(others));
}

Test(doubt, about_a_lock_is_settled_soon)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = keep_acquires();
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_undone(rule);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

Test(doubt, about_a_lock_with_a_lease_is_settled_soon)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = keep_acquires();
    assert_status(rlock_lock_lease(lock, 20 * LEASE_MS), RLOCK_UNAVAILABLE);
    assert_undone(rule);
}

/* The watchdog waits for 50 ms in the middle of a client's life, and the server answers later that it lacks the script. */
Test(doubt, about_a_lock_is_settled_though_the_server_is_slow_and_has_no_script)
{
    rlock_client *client = scene_client("timeout=3000&retryAttempts=0&lockWatchdogTimeout=300");
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    assert_ok(rlock_try_lock(lock_of(stage.other, "another"), 0, 60000)); /* the acquire is known, the release is not */
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = rli_script_lock_release.sha1[RLI_COUNTED], .amount = 120});
    on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 1);
    assert_status(rlock_try_lock(lock_of(client, NAME), 0, LEASE_MS * 10), RLOCK_UNAVAILABLE);
    cr_assert(server_wait_exists(stage.server, NAME, false, 20000), "it stands for its whole lease");
}

Test(doubt, about_a_try_is_settled_soon)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = keep_acquires();
    assert_status(rlock_try_lock(lock, 0, LEASE_MS), RLOCK_UNAVAILABLE);
    assert_undone(rule);
}

Test(doubt, about_a_wait_that_ran_out_is_settled_soon)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = keep_acquires();
    assert_status(rlock_try_lock(lock, 100, LEASE_MS), RLOCK_UNAVAILABLE);
    assert_undone(rule);
}

Test(doubt, about_a_cancelled_wait_is_settled_soon)
{
    rlock *lock = lock_of(scene.client, NAME);
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    actor *waiter = actor_start();
    int rule = keep_acquires();
    actor_begin_with(waiter, lock, &options);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, 5000));
    rlock_cancel_fire(cancel);
    assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
    assert_undone(rule);
    actor_end(waiter);
    rlock_cancel_free(cancel);
}

/* A server that stood still runs what it was sent, when it goes on. */
Test(doubt, about_a_stopped_server_is_settled_soon_after_it_goes_on)
{
    rlock *lock = lock_of(scene.client, NAME);
    server_listen(stage.server);
    server_freeze(stage.server);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    server_thaw(stage.server);
    cr_assert(heard_times(NAME, "0", 1, SOON_MS), "the late acquire was not undone");
    assert_no_keys();
}

/* The longer it took, the longer the pauses of the background are by then; still no lease is waited out. */
Test(doubt, is_settled_soon_though_the_acquire_runs_seconds_later)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = keep_acquires(), undoing = on_script(&rli_script_lock_release, PROXY_NOTE, 0);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(scene.proxy, undoing, PROXY_ANSWERED, 3, 15000));
    assert_undone(rule);
}

/* All attempts of each call are kept: a call's only one might not leave in time, where many threads want the machine. */
Test(doubt, about_many_names_is_settled_soon)
{
    enum { NAMES = 20 };
    actor *actors[NAMES];
    char name[32];
    int rule = keep_acquires(), late = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "order-%d", i);
        actors[i] = actor_start();
        actor_begin_try(actors[i], lock_of(scene.client, name), LEASE_MS, LEASE_MS);
    }
    for (int i = 0; i < NAMES; i++) {
        assert_status(actor_finish(actors[i], 5000), RLOCK_UNAVAILABLE);
        actor_end(actors[i]);
    }
    proxy_release(scene.proxy, rule);
    cr_assert(proxy_await(scene.proxy, late, PROXY_ANSWERED, NAMES, 10000));
    int64_t since_ms = now_ms();
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "order-%d", i);
        cr_assert(server_wait_exists(stage.server, name, false, 2 * SOON_MS), "%s is held by nobody", name);
    }
    assert_between(now_ms() - since_ms, 0, 2 * SOON_MS);
}

/* Its next attempt is another session: it gets the lock, and keeps it. */
Test(doubt, does_not_shut_its_own_thread_out)
{
    rlock *lock = lock_of(scene.client, NAME);
    int rule = keep_acquires(), undoing = on_script(&rli_script_lock_release, PROXY_NOTE, 0);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    let_through(rule);
    int64_t since_ms = now_ms();
    assert_ok(rlock_try_lock(lock, SOON_MS, RLOCK_WATCHDOG));
    int64_t number = assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms);
    int undone = proxy_count(scene.proxy, undoing, PROXY_ANSWERED);
    cr_assert(proxy_await(scene.proxy, undoing, PROXY_ANSWERED, undone + 1, 15000));
    cr_assert(assert_held_alone(NAME, scene.client, 1, LEASE_MS, since_ms) == number);
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

/* Nothing ran, so there is nothing to undo, and nothing in the way of others. */
Test(doubt, does_no_harm_when_nothing_ran)
{
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    int undoing = on_script(&rli_script_lock_release, PROXY_NOTE, 0);
    proxy_pass(scene.proxy, false, false);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    proxy_cut(scene.proxy);
    proxy_pass(scene.proxy, true, true);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(others));
    cr_assert(proxy_await(scene.proxy, undoing, PROXY_ANSWERED, 1, 15000));
    assert_held_alone(NAME, stage.other, 1, LEASE_MS, since_ms);
    assert_ok(rlock_unlock(others));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

/* A wait that is as good as endless is no reason to forget what a lost request may have left. */
Test(doubt, about_a_place_in_a_queue_for_a_very_long_wait_is_settled_soon)
{
    rlock *lock = fair_of(scene.client, NAME);
    rlock_cancel *cancel = rlock_cancel_new();
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    options.wait_ms = RLOCK_FOREVER - 1;
    actor *waiter = actor_start();
    int rule = on_script(&rli_script_fair_acquire, PROXY_HOLD_REQUEST, 0);
    actor_begin_with(waiter, lock, &options);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ACTED, 1, SOON_MS));
    rlock_cancel_fire(cancel);
    assert_status(actor_finish(waiter, 2 * SOON_MS), RLOCK_CANCELLED);
    let_through(rule);
    rlock *others = fair_of(stage.other, NAME);
    assert_ok(rlock_try_lock(others, 4 * SOON_MS, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(others));
    for (int64_t until_ms = now_ms() + 4 * SOON_MS; queue_length(NAME) > 0; pass_ms(5))
        cr_assert(now_ms() < until_ms, "its place is kept for nobody");
    actor_end(waiter);
    rlock_cancel_free(cancel);
}

/* Where only the first request of a round is ever heard of, each of the two is the first in its turn. */
Test(doubt, about_a_fair_lock_is_settled_though_its_queue_is_never_left)
{
    rlock *lock = fair_of(scene.client, NAME);
    on_script(&rli_script_fair_give_up, PROXY_CUT_BEFORE, 0);
    on_text("local offered = ARGV[3]", PROXY_CUT_BEFORE, 0); /* the same as a whole, once an attempt had no answer */
    int rule = on_script(&rli_script_fair_acquire, PROXY_CUT_AFTER, 0);
    assert_status(rlock_lock(lock), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 1, "it was not taken: nothing is tested");
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS), "it is held for nobody");
}

/* However many others are still in doubt, the wait for an answer ends when a lease does. */
TimedTest(doubt, about_some_names_delays_no_loss)
{
    enum { MOST = 8 };
    rlock_client *client = scene_client("timeout=3000&retryAttempts=0"); /* as patient as others are */
    losses told;
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    for (int doubts = 1; doubts <= MOST; doubts++) {
        char name[16];
        int rule = keep_acquires();
        for (int i = 0; i < doubts; i++) {
            snprintf(name, sizeof name, "n%d.%d", doubts, i);
            assert_status(rlock_try_lock(lock_of(client, name), 0, 60000), RLOCK_UNAVAILABLE);
        }
        proxy_release(scene.proxy, rule);
        pass_ms(5000); /* these are released, again and again, with growing pauses */
        snprintf(name, sizeof name, "held%d", doubts);
        rlock *held = lock_of(client, name);
        assert_ok(rlock_lock_lease(held, 9000));
        int64_t ends_ms = now_ms() + rlock_valid_for(held);
        proxy_pass(scene.proxy, true, false);
        snprintf(name, sizeof name, "more%d", doubts);
        assert_status(rlock_try_lock(lock_of(client, name), 0, 60000), RLOCK_UNAVAILABLE);
        losses_await(&told, doubts, 20000);
        assert_between(told.all[doubts - 1].at_ms - ends_ms, -5, 100);
        proxy_pass(scene.proxy, true, true);
        pass_ms(70000);
    }
}

/* The release that goes first finds nothing, and then the lock is offered to the place that is still to be left. */
TimedTest(doubt, about_a_place_gives_back_what_is_offered_to_it_meanwhile)
{
    rlock *held = fair_of(stage.other, NAME);
    assert_ok(rlock_lock(held));
    actor *waiter = queue_up_for(fair_of(scene.client, NAME), 1000, LEASE_MS);
    on_text("UNSUBSCRIBE", PROXY_HOLD_REQUEST, 0); /* so the server counts it as one that listens */
    on_script(&rli_script_fair_give_up, PROXY_CUT_BEFORE, 0);
    int leaves = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = "local offered = ARGV[3]", .amount = 150});
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    actor_end(waiter);
    cr_assert(proxy_await(scene.proxy, leaves, PROXY_ACTED, 1, 5000), "the place is not left: nothing is tested");
    assert_ok(rlock_unlock(held));
    cr_assert(pttl_of(NAME) > 0, "it was not offered: nothing is tested");
    cr_assert(server_wait_exists(stage.server, NAME, false, 400), "it is offered to nobody");
}

/* --- how long it lasts --- */

/* Cuts each release from here on, the only script that is left: it comes by its SHA1, and as a whole once an attempt had
 * no answer. */
static int cut_releases(void)
{
    return on_text("EVAL", PROXY_CUT_BEFORE, 0);
}

/* The background has not given up when so much time has passed: time is the subject. */
static void assert_released_after(int rule, int64_t ms)
{
    pass_ms(ms);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 1, "it is not held any more");
    proxy_release(scene.proxy, rule);
    cr_assert(server_wait_exists(stage.server, NAME, false, LATEST_MS), "it is held for nobody");
}

/* A re-entry that was never answered comes late, and has the lock held for as long as its lease. */
Test(doubt, about_an_unlock_lasts_as_long_as_that_about_a_re_entry)
{
    rlock *lock = lock_of(scene_client(QUICK "&lockWatchdogTimeout=6000"), NAME);
    assert_ok(rlock_lock(lock));
    int late = keep_acquires();
    assert_status(rlock_try_lock(lock, 0, 600000), RLOCK_UNAVAILABLE);
    int released = cut_releases();
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    let_through(late);
    cr_assert(pttl_of(NAME) > 300000, "the re-entry did not come");
    assert_released_after(released, 6500);
}

/* After an outage of minutes it does not take as long again until the server is asked. */
TimedTest(doubt, about_a_lock_is_settled_soon_after_a_long_outage)
{
    int rule = on_script(&rli_script_lock_acquire, PROXY_CUT_AFTER, 0);
    int released = cut_releases();
    assert_status(rlock_try_lock(lock_of(scene.client, NAME), 0, 600000), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    pass_ms(200000);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 1);
    proxy_release(scene.proxy, released);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS), "it is held for nobody");
}

/* A server that stands still for nearly as long as the lease runs the acquire only then. */
TimedTest(doubt, about_a_lock_lasts_until_the_end)
{
    enum { LONG_MS = 20000 };
    int late = keep_acquires(), released = cut_releases();
    assert_status(rlock_try_lock(lock_of(scene.client, NAME), 0, LONG_MS), RLOCK_UNAVAILABLE);
    pass_ms(LONG_MS - 150);
    let_through(late);
    cr_assert(pttl_of(NAME) > LONG_MS - 1000, "the acquire did not come");
    proxy_release(scene.proxy, released);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS), "it is held for nobody");
}

/* The leases of a write hold's levels add up. */
Test(doubt, about_an_unlock_of_a_write_hold_lasts_as_long_as_all_its_leases)
{
    enum { LEVELS = 20, LEVEL_MS = 6000 };
    rlock *lock = write_of(scene_client(QUICK "&lockWatchdogTimeout=3000"), NAME);
    for (int i = 0; i < LEVELS; i++)
        assert_ok(rlock_lock_lease(lock, LEVEL_MS));
    for (int i = 1; i < LEVELS; i++)
        assert_ok(rlock_unlock(lock));
    int released = cut_releases();
    assert_status(rlock_unlock(lock), RLOCK_UNAVAILABLE);
    assert_released_after(released, LEVEL_MS + 500);
}

/* --- of those who go on waiting --- */

/* Two that wait for a lock of others. Their first requests are kept, one behind the other, and were given up. */
typedef struct pair {
    rlock *lock;
    actor *first, *second; /* in the order in which they asked first */
    int kept;
} pair;

static void begin_pair(pair *two, const char *name)
{
    *two = (pair){.lock = lock_of(scene.client, name), .first = actor_start(), .second = actor_start()};
    foreign_hold(name, 3600000);
    two->kept = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REQUEST, .times = 1, .and_text = name,
                                                     .text = rli_script_lock_acquire.sha1[RLI_COUNTED]});
    actor_begin_try(two->first, two->lock, 3600000, 600000);
    cr_assert(proxy_await(scene.proxy, two->kept, PROXY_ACTED, 1, LATEST_MS));
    actor_begin_try(two->second, two->lock, 3600000, 600000);
    cr_assert(wait_listened(name, LATEST_MS), "nobody waits");
    cr_assert(proxy_await(scene.proxy, two->kept, PROXY_SEEN, 3, LATEST_MS), "they do not ask again");
    cr_assert(actor_asleep(two->first, LATEST_MS) && actor_asleep(two->second, LATEST_MS), "they ask on and on");
}

/* Whoever has it first. */
static void finish_pair(pair *two)
{
    actor *first = two->first, *second = two->second;
    for (int64_t end_ms = limit_end_ms(LATEST_MS); !actor_ended(first, 1);) {
        if (actor_ended(second, 1)) {
            first = two->second;
            second = two->first;
        }
        cr_assert(now_ms() < end_ms, "neither has it");
    }
    assert_ok(actor_finish(first, LATEST_MS));
    assert_ok(actor_unlock(first, two->lock));
    assert_ok(actor_finish(second, LATEST_MS));
    assert_ok(actor_unlock(second, two->lock));
    actor_end(first);
    actor_end(second);
}

/* While others hold the lock, neither has a reason to ask, nor to have the other ask. */
Test(doubt, does_not_have_waiters_ask_over_and_over)
{
    pair two;
    begin_pair(&two, NAME);
    int asked = on_script(&rli_script_lock_acquire, PROXY_NOTE, 0);
    freeReplyObject(server_command(stage.server, "PUBLISH %s 0", channel_of(NAME)));
    cr_assert(proxy_await(scene.proxy, asked, PROXY_ANSWERED, 1, LATEST_MS), "they do not hear");
    for (int i = 0; i < 10; i++)
        cr_assert(actor_asleep(two.first, LATEST_MS) && actor_asleep(two.second, LATEST_MS), "they ask on and on");
    cr_assert(seen_by(asked) < 50, "they have asked %d times", seen_by(asked));
    foreign_vanish(NAME);
    let_through(two.kept);
    freeReplyObject(server_command(stage.server, "PUBLISH %s 0", channel_of(NAME)));
    finish_pair(&two);
}

/* The lock is its own, by the request that ran late; should the other be refused, that one has it look. Either may be
 * the one that hears the message. */
Test(doubt, does_not_keep_a_waiter_from_a_lock_that_it_has)
{
    for (int i = 0; i < 8; i++) {
        char name[24];
        pair two;
        snprintf(name, sizeof name, NAME "-%d", i);
        begin_pair(&two, name);
        foreign_vanish(name);
        let_through(two.kept);
        freeReplyObject(server_command(stage.server, "PUBLISH %s 0", channel_of(name)));
        finish_pair(&two);
    }
}

/* One answer after the other, over a link on which they take some time: what is in doubt must not delay renewals. */
TimedTest(doubt, about_many_names_leaves_time_for_renewals)
{
    enum { NAMES = 150 };
    actor *actors[NAMES];
    char name[32];
    rlock_client *client = scene_client("timeout=400&retryAttempts=0&lockWatchdogTimeout=3000");
    rlock *held = lock_of(client, "held");
    assert_ok(rlock_lock(held));
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = rli_script_lock_acquire.sha1[RLI_COUNTED], .and_text = "order-"});
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = rli_script_lock_release.sha1[RLI_COUNTED], .and_text = "order-", .amount = 45});
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "order-%d", i);
        actors[i] = actor_start();
        actor_begin_try(actors[i], lock_of(client, name), 0, LEASE_MS);
    }
    for (int i = 0; i < NAMES; i++) {
        assert_status(actor_finish(actors[i], 5000), RLOCK_UNAVAILABLE);
        actor_end(actors[i]);
    }
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, NAMES, 60000));
    assert_ok(rlock_unlock(held));
}

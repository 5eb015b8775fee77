/* Waking: a waiter on the one side has the lock as soon as the other side lets go of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/traffic.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/latencies.h"
#include "tests/interop/support/published.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#include <stdlib.h>

#define NAME "order:42"
#define SOON_MS 50
#define WARM_UP 5 /* rounds in which the JVM loads and compiles what the others run */
#define ROUNDS 10

TestSuite(wake, .init = java_stage, .fini = java_stage_close);

struct timed {
    rlock *lock;
    int64_t ended_ns;
};

static rlock_status lock_and_note_the_time(void *arg)
{
    struct timed *timed = arg;
    rlock_status status = rlock_lock(timed->lock);
    timed->ended_ns = now_ns();
    return status;
}

/* A wake-up begins when the server publishes the release, and ends with the waiter's call. How
 * long the releasing call took until then is shown beside it. */
struct wakes {
    latencies calls, wakes;
    monitor *tap;
};

static void note(struct wakes *self, int round, int64_t released_ns, int64_t locked_ns)
{
    int64_t published_ns = first_published_ns(self->tap);
    if (round < WARM_UP)
        return;
    latency_add(&self->calls, locked_ns - released_ns);
    latency_add(&self->wakes, locked_ns - published_ns);
}

static void forget_all(monitor *tap)
{
    monitor_saw(tap, ""); /* reads up to now */
    monitor_forget(tap);
}

static void finish(struct wakes *self)
{
    monitor_close(self->tap);
    latencies_show(&self->calls);
    latencies_within(&self->wakes, SOON_MS);
}

Test(wake, comes_to_c_from_javas_unlock)
{
    struct timed waiting = {.lock = lock_of(stage.client, NAME)};
    struct wakes seen = {.calls = {.what = "begin of Java's unlock to end of C's lock"},
                         .wakes = {.what = "C woken by Java"},
                         .tap = monitor_open()};
    actor *waiter = actor_start();
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        forget_all(seen.tap);
        java_lock("t1", NAME);
        int64_t scripts = scripts_run();
        actor_begin(waiter, lock_and_note_the_time, &waiting);
        wait_for_waiter(NAME, scripts);
        const answer *unlocked = java_unlock("t1", NAME);
        assert_ok(actor_finish(waiter, 5000));
        note(&seen, round, unlocked->began_ns, waiting.ended_ns);
        assert_ok(actor_unlock(waiter, waiting.lock));
    }
    actor_end(waiter);
    finish(&seen);
}

Test(wake, comes_to_java_from_cs_unlock)
{
    rlock *lock = lock_of(stage.client, NAME);
    struct wakes seen = {.calls = {.what = "begin of C's unlock to end of Java's lock"},
                         .wakes = {.what = "Java woken by C"},
                         .tap = monitor_open()};
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        forget_all(seen.tap);
        assert_ok(rlock_lock(lock));
        int64_t scripts = scripts_run();
        int waiting = java_begin_lock("t1", NAME);
        wait_for_waiter(NAME, scripts);
        int64_t began_ns = now_ns();
        assert_ok(rlock_unlock(lock));
        const answer *locked = agent_await(java, waiting, 5000);
        assert_result(locked, "");
        note(&seen, round, began_ns, locked->ended_ns);
        java_unlock("t1", NAME);
    }
    finish(&seen);
}

/* One after the other, whichever side each is on; nobody is forgotten and no one stays subscribed. */
Test(wake, comes_to_every_waiter_of_both_sides)
{
    enum { EACH = 3 };
    static const char *const threads[EACH] = {"t1", "t2", "t3"};
    rlock *held = lock_of(stage.other, NAME), *lock = lock_of(stage.client, NAME);
    actor *ours[EACH];
    int theirs[EACH];
    assert_ok(rlock_lock(held));
    for (int i = 0; i < EACH; i++) {
        ours[i] = actor_start();
        actor_begin_lock(ours[i], lock);
        theirs[i] = java_begin_lock(threads[i], NAME);
    }
    cr_assert(server_wait_subscribers(stage.server, channel_of(NAME), 2, 5000));
    assert_ok(rlock_unlock(held));
    int64_t end_ms = limit_end_ms(5000);
    for (int left = 2 * EACH; left;) {
        cr_assert(now_ms() < end_ms, "%d still wait", left);
        for (int i = 0; i < EACH; i++) {
            if (ours[i] && actor_ended(ours[i], 1)) {
                assert_ok(actor_finish(ours[i], 0));
                assert_ok(actor_unlock(ours[i], lock));
                actor_end(ours[i]);
                ours[i] = NULL;
                left--;
            }
            if (theirs[i] && agent_answered(java, theirs[i], 1)) {
                java_unlock(threads[i], NAME);
                theirs[i] = 0;
                left--;
            }
        }
    }
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

/* Threads of one C process hand the lock round among themselves: a thread of Java's, and of another C process,
 * has its turns all the same, each of them soon. */
Test(wake, comes_to_others_while_a_crowd_hands_it_round)
{
    static crowd busy = {.name = NAME, .turns = 1000000};
    rlock *lock = lock_of(stage.other, NAME);
    actor *waiter = actor_start();
    for (int i = 0; i < 8; i++)
        crowd_add(&busy, stage.client);
    crowd_begin(&busy);
    latencies theirs = {.what = "Java's lock() beside 8 threads of C"}, ours = {.what = "another C client's lock()"};
    for (int round = 0; round < WARM_UP + 40; round++) {
        int64_t began_ns = now_ns();
        int waiting = java_begin_lock("t1", NAME);
        const answer *locked = agent_await(java, waiting, 5000);
        assert_result(locked, "");
        if (round >= WARM_UP)
            latency_add(&theirs, locked->ended_ns - began_ns);
        java_unlock("t1", NAME);
        began_ns = now_ns();
        assert_ok(actor_lock(waiter, lock));
        if (round >= WARM_UP)
            latency_add(&ours, now_ns() - began_ns);
        assert_ok(actor_unlock(waiter, lock));
    }
    crowd_end(&busy);
    crowd_finish(&busy, 20000);
    cr_assert(busy.most_inside == 1);
    latencies_within(&theirs, 10 * SOON_MS);
    latencies_within(&ours, 10 * SOON_MS);
    actor_end(waiter);
    wait_no_latches();
    assert_no_keys();
}

/* A wait that is given up leaves nothing: not on the channel, and not in the way of Java. */
Test(wake, of_a_cancelled_wait_goes_to_nobody)
{
    rlock *lock = lock_of(stage.client, NAME);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = rlock_cancel_new();
    actor *waiter = actor_start();
    java_lock("t1", NAME);
    actor_begin_with(waiter, lock, &options);
    cr_assert(wait_listened(NAME, 5000));
    rlock_cancel_fire(options.cancel);
    assert_status(actor_finish(waiter, BY_MESSAGE_MS), RLOCK_CANCELLED);
    cr_assert(wait_unlistened(NAME, 5000));
    java_unlock("t1", NAME);
    assert_no_keys();
    cr_assert(java_try("t2", NAME, 0, -1));
    rlock_cancel_free(options.cancel);
    actor_end(waiter);
}

/* Both wait 3 s for what the other holds, and both answer false in the scenario's time. */
Test(wake, does_not_come_before_a_wait_is_over)
{
    rlock *ours = lock_of(stage.client, "ours"), *theirs = lock_of(stage.client, "theirs");
    java_lock("t1", "theirs");
    assert_ok(rlock_lock(ours));
    actor *waiter = actor_start();
    actor_begin_try(waiter, theirs, 3000, RLOCK_WATCHDOG);
    int waiting = java_begin_try("t2", "ours", 3000, -1);
    const answer *given_up = agent_await(java, waiting, 5000);
    assert_result(given_up, "false");
    assert_status(actor_finish(waiter, 5000), RLOCK_TIMEOUT);
    assert_between(actor_took(waiter), 2990, 3000 + at_most_ms(350));
    assert_between((given_up->ended_ns - given_up->began_ns) / 1000000, 2990, 3000 + at_most_ms(350));
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

/* Faults under load: whatever happens to the server and the connections, no two hold a lock at once, no
 * call hangs, and afterwards everything goes on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/load.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/support/event.h"

#include <dirent.h>

TestSuite(under_load, .init = scene_open, .fini = scene_close);

#define SOON_MS 5000 /* for the first turns after a fault */
/* More attempts than faults: however slow the machine is, none is used up. */
#define PERSISTENT "timeout=3000&retryAttempts=50&retryBaseDelay=20&retryMaxDelay=50"
#define NO_OTHER ((const rlock_status[]){RLOCK_OK})
#define OR_UNAVAILABLE ((const rlock_status[]){RLOCK_UNAVAILABLE, RLOCK_OK})
#define OR_LOST ((const rlock_status[]){RLOCK_UNAVAILABLE, RLOCK_LOST, RLOCK_OK})

static void every(int64_t pause_ms, int times, void (*strike)(void))
{
    for (int i = 0; i < times; i++) {
        pass_ms(pause_ms);
        strike();
    }
}

/* Subscriptions work again, and none is left from before. */
static void assert_wakes_as_ever(void)
{
    rlock *lock = lock_of(scene.client, "afterwards");
    actor *waiter = actor_start();
    foreign_hold("afterwards", 60000);
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened("afterwards", SOON_MS) && actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    foreign_release("afterwards");
    assert_ok(actor_finish(waiter, SOON_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(100));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    cr_assert(wait_no_channels(SOON_MS), "still subscribed");
}

/* --- faults that nobody may notice --- */

static void flush_scripts(void)
{
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
}

Test(under_load, forgotten_scripts_are_not_noticed)
{
    load *threads = load_start(PERSISTENT, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, SOON_MS);
    every(50, 40, flush_scripts);
    load_await_turns(threads, 5, SOON_MS);
    load_stop(threads);
    load_assert_answers(threads, NO_OTHER, NO_OTHER);
    cr_assert(load_counters_exact(threads));
    assert_wakes_as_ever();
}

static void kill_pipelines(void)
{
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE normal"));
}

Test(under_load, killed_connections_are_not_noticed)
{
    load *threads = load_start(PERSISTENT, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, SOON_MS);
    every(100, 30, kill_pipelines);
    load_await_turns(threads, 5, SOON_MS);
    load_stop(threads);
    load_assert_answers(threads, NO_OTHER, NO_OTHER);
    cr_assert(load_counters_exact(threads));
    assert_between(load_longest_ms(threads, LOAD_LOCK), 0, at_most_ms(2000));
    assert_between(load_longest_ms(threads, LOAD_UNLOCK), 0, at_most_ms(1000));
    assert_wakes_as_ever();
}

static void kill_subscribers(void)
{
    freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE pubsub"));
}

Test(under_load, killed_subscribers_are_not_noticed)
{
    load *threads = load_start(PERSISTENT, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, SOON_MS);
    every(100, 30, kill_subscribers);
    load_await_turns(threads, 5, SOON_MS);
    load_stop(threads);
    load_assert_answers(threads, NO_OTHER, NO_OTHER);
    cr_assert(load_counters_exact(threads));
    assert_between(load_longest_ms(threads, LOAD_LOCK), 0, at_most_ms(2000));
    assert_between(load_longest_ms(threads, LOAD_UNLOCK), 0, at_most_ms(1000));
    assert_wakes_as_ever();
}

/* --- faults that calls fail of --- */

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    cr_assert(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void cut_all(void)
{
    proxy_cut(scene.proxy);
}

/* Requests are cut off with bytes on both ways, so often that attempts may be used up. */
Test(under_load, cut_connections_break_no_lock)
{
    load *threads = load_start(QUICK, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, SOON_MS);
    int before = descriptors();
    every(30, 100, cut_all);
    load_await_turns(threads, 5, SOON_MS);
    cr_assert(descriptors() - before < 30, "%d descriptors were left open", descriptors() - before);
    load_stop(threads);
    load_assert_answers(threads, OR_UNAVAILABLE, OR_UNAVAILABLE);
    cr_assert(load_counters_exact(threads));
    assert_wakes_as_ever();
}

/* Every seventh acquire's and release's answer is lost, every eleventh is late. */
Test(under_load, lost_and_late_answers_break_no_lock)
{
    load *threads = load_start(QUICK, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, SOON_MS);
    for (int i = 0; i < 15; i++) {
        const rli_script *script = i % 2 ? &rli_script_lock_acquire : &rli_script_lock_release;
        int held = on_script(script, PROXY_HOLD_REQUEST, 1), lost = on_script(script, PROXY_CUT_AFTER, 3);
        cr_assert(proxy_await(scene.proxy, held, PROXY_ACTED, 1, SOON_MS));
        pass_ms(i % 3 * 150); /* before its patience is over, or after */
        proxy_release(scene.proxy, held);
        cr_assert(proxy_await(scene.proxy, lost, PROXY_ACTED, 3, SOON_MS));
        proxy_release(scene.proxy, lost);
    }
    load_await_turns(threads, 5, SOON_MS);
    load_stop(threads);
    load_assert_answers(threads, OR_UNAVAILABLE, OR_UNAVAILABLE);
    cr_assert(load_counters_exact(threads));
    assert_wakes_as_ever();
}

/* With leases of their own: one that the watchdog renews is short for the first moment after a handover from elsewhere
 * (docs/guarantees.md). */
Test(under_load, a_server_stopped_for_5_s_breaks_no_lock)
{
    load *threads = load_start(QUICK, 60000);
    load_await_turns(threads, 5, SOON_MS);
    server_freeze(stage.server);
    pass_ms(5000);
    server_thaw(stage.server);
    load_await_turns(threads, 5, SOON_MS);
    load_stop(threads);
    load_assert_answers(threads, OR_UNAVAILABLE, OR_UNAVAILABLE);
    cr_assert(load_answers(threads, LOAD_LOCK, RLOCK_UNAVAILABLE) +
                  load_answers(threads, LOAD_UNLOCK, RLOCK_UNAVAILABLE) > 0);
    cr_assert(load_counters_exact(threads));
    /* A waiter may have slept all the time, and a call have waited for the attempts of another. */
    assert_between(load_longest_ms(threads, LOAD_LOCK), 0, 5000 + at_most_ms(2 * PATIENCE_MS));
    assert_between(load_longest_ms(threads, LOAD_UNLOCK), 0, at_most_ms(PATIENCE_MS + 150));
    assert_wakes_as_ever();
}

/* Leases end meanwhile: what is not valid any more may overlap, what is valid may not. */
Test(under_load, a_server_stopped_for_longer_than_the_leases_breaks_no_valid_lock)
{
    load *threads = load_start(QUICK, 800);
    load_await_turns(threads, 5, SOON_MS);
    for (int i = 0; i < 3; i++) {
        server_freeze(stage.server);
        pass_ms(1000);
        server_thaw(stage.server);
        load_await_turns(threads, 2, SOON_MS);
    }
    load_stop(threads);
    load_assert_answers(threads, OR_LOST, OR_LOST);
    assert_wakes_as_ever();
}

/* Killed and started again, empty, three times. */
Test(under_load, a_restarted_server_breaks_no_lock_of_its_own_life)
{
    load *threads = load_start(QUICK, RLOCK_WATCHDOG);
    load_await_turns(threads, 5, SOON_MS);
    for (int i = 0; i < 3; i++) {
        load_data_lost_soon(threads);
        server_kill(stage.server);
        load_data_lost(threads);
        pass_ms(i * 300); /* how long there is none */
        server_restart(stage.server);
        load_await_turns(threads, 5, SOON_MS);
    }
    load_stop(threads);
    load_assert_answers(threads, OR_LOST, OR_LOST);
    assert_wakes_as_ever();
}

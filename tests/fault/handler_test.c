/* Handlers: a thread that is in a signal handler of the program for long does not hold up the threads that share its
 * connection, though it is the one that reads their answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stopped.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATEST_MS 30000 /* a failure, not a bound: nothing here takes nearly as long */
#define ONE_LANE "connectTimeout=20000&connectionPoolSize=1&retryBaseDelay=10&retryMaxDelay=10&retryAttempts="

static void open_one_pipeline(void)
{
    scene_open_with(ONE_LANE "4&timeout=1000");
}

TestSuite(handler, .init = open_one_pipeline, .fini = scene_close);

static actor *leader, *follower, *another;
static rlock *first, *second, *third;

static void bring_all(void)
{
    leader = actor_start();
    follower = actor_start();
    another = actor_start();
    first = lock_of(scene.client, "first");
    second = lock_of(scene.client, "second");
    third = lock_of(scene.client, "third");
}

static void end_all(void)
{
    actor_end(leader);
    actor_end(follower);
    actor_end(another);
}

/* The answer is kept back, and so are the answers to later requests on that connection. */
static int begin_stalled(actor *thread, rlock *lock, rlock_cancel *cancel)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = cancel;
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .times = 1, .and_text = rlock_name(lock),
                                                    .text = rli_script_lock_acquire.sha1[RLI_COUNTED]});
    actor_begin_with(thread, lock, &options);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_SEEN, 1, LATEST_MS) && actor_asleep(thread, LATEST_MS));
    return rule;
}

static void begin(actor *thread, rlock *lock)
{
    actor_begin_lock(thread, lock);
    cr_assert(actor_asleep(thread, LATEST_MS));
}

static void assert_locked(actor *thread, rlock *lock)
{
    assert_ok(actor_finish(thread, LATEST_MS));
    assert_ok(actor_unlock(thread, lock));
}

/* The other goes on over another connection, while the first is in its handler. */
static void assert_not_held_up(rlock_cancel *cancel)
{
    bring_all();
    begin_stalled(leader, first, cancel);
    begin(follower, second);
    actor_stop(leader);
    assert_locked(follower, second);
    actor_go_on();
    assert_ok(actor_finish(leader, LATEST_MS));
    cr_assert(actor_hold_count(leader, first) == 1);
    assert_ok(actor_unlock(leader, first));
    cr_assert(server_wait_exists(stage.server, "first", false, LATEST_MS), "held by nobody");
    end_all();
}

/* It reads without a limit of its own: the guard has it. Its own request is neither lost nor carried out twice. */
Test(handler, of_the_thread_that_reads_holds_nobody_up)
{
    assert_not_held_up(NULL);
}

/* It looks at a token, too, and so keeps its limit itself. */
Test(handler, of_a_thread_that_can_be_cancelled_holds_nobody_up)
{
    rlock_cancel *cancel = rlock_cancel_new();
    assert_not_held_up(cancel);
    rlock_cancel_free(cancel);
}

/* It was asleep behind the one that read, which is done, and hands the reading on to it. */
Test(handler, of_the_thread_that_is_to_read_next_holds_nobody_up)
{
    bring_all();
    int rule = begin_stalled(leader, first, NULL);
    begin_stalled(follower, second, NULL);
    begin(another, third);
    actor_stop(follower);
    proxy_release(scene.proxy, rule);
    assert_locked(leader, first);
    assert_locked(another, third);
    actor_go_on();
    assert_locked(follower, second);
    end_all();
}

/* --- where all threads stand still --- */

/* Returns when this process has been stopped for so long; what the rule keeps comes meanwhile. */
static void stand_still(int64_t ms, int rule)
{
    pid_t self = getpid(), child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        kill(self, SIGSTOP);
        proxy_release(scene.proxy, rule);
        pass_ms(ms);
        kill(self, SIGCONT);
        _exit(0);
    }
    cr_assert(waitpid(child, NULL, 0) == child);
}

/* The answers came meanwhile, and are read first, however late it is: there is no second attempt. */
Test(handler, is_no_matter_when_the_whole_process_was_stopped, .lasts = 11)
{
    enum { THREADS = 8, TIMEOUT_MS = 10000 }; /* with a power of two, no request gathers behind the others */
    rlock_client *client = scene_client(ONE_LANE "0&timeout=10000");
    actor *threads[THREADS];
    rlock *locks[THREADS];
    int rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_HOLD_REPLY, .times = 1,
                                                    .text = rli_script_lock_acquire.sha1[RLI_COUNTED]});
    for (int i = 0; i < THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%d", i);
        threads[i] = actor_start();
        locks[i] = lock_of(client, name);
        begin(threads[i], locks[i]);
    }
    cr_assert(proxy_await(scene.proxy, rule, PROXY_SEEN, THREADS, LATEST_MS));
    stand_still(TIMEOUT_MS + 1000, rule);
    for (int i = 0; i < THREADS; i++) {
        rlock_status status = actor_finish(threads[i], LATEST_MS);
        cr_assert(status == RLOCK_OK, "%s", actor_error(threads[i]));
        assert_ok(actor_unlock(threads[i], locks[i]));
        actor_end(threads[i]);
    }
}

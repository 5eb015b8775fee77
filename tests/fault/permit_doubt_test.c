/* Permits in doubt: a request that was never answered, or answered only when it was repeated, takes no
 * permit for nobody, however late it runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"

#include <string.h>

TestSuite(permit_doubt, .init = scene_open, .fini = scene_close);

#define NAME "pe"
#define ACQUIRE (&rli_script_permit_semaphore_acquire)
#define RELEASE (&rli_script_permit_semaphore_release)
#define REPLACE (&rli_script_permit_semaphore_replace)

static rlock_permit_semaphore *with(int permits)
{
    rlock_permit_semaphore *semaphore = permits_of(scene.client, NAME);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, permits));
    return semaphore;
}

static bool stand(int available, int taken)
{
    return server_integer(stage.server, "GET " NAME) == available &&
           server_integer(stage.server, "ZCARD {" NAME "}:timeout") == taken;
}

static void await_permits(int available, int taken)
{
    for (int64_t end_ms = limit_end_ms(10000); !stand(available, taken); pass_ms(1))
        cr_assert(now_ms() < end_ms, "%lld available, %lld taken",
                  (long long)server_integer(stage.server, "GET " NAME),
                  (long long)server_integer(stage.server, "ZCARD {" NAME "}:timeout"));
}

/* And so it stays. */
static void assert_permits(int available, int taken)
{
    await_permits(available, taken);
    for (int64_t end_ms = now_ms() + 800; now_ms() < end_ms; pass_ms(10))
        cr_assert(stand(available, taken));
}

/* The answer is lost: asked again, the same permits are there, and not twice. */
Test(permit_doubt, repeated_acquire_takes_permits_once)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[3];
    int rule = on_script(ACQUIRE, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, RLOCK_PERMIT_FOREVER, permits));
    cr_assert(seen_by(rule) == 2);
    cr_assert(stand(2, 3));
    for (int i = 0; i < 3; i++)
        cr_assert(expiry_of(NAME, &permits[i]) > 0, "the permit that was given is not there");
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 3, permits));
    assert_permits(5, 0);
}

/* The first permit has ended, so none was released. That answer is lost, and the same answer to the second attempt does
 * not mean that the first one has released them. */
TimedTest(permit_doubt, repeated_release_beside_a_permit_that_has_ended_is_none)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[2];
    int released = 0;
    assert_ok(rlock_permit_semaphore_acquire(semaphore, 20, &permits[0]));
    pass_ms(25);
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permits[1])); /* takes the other back */
    on_script(&rli_script_permit_semaphore_release_many, PROXY_CUT_AFTER, 1);
    assert_status(rlock_permit_semaphore_release_many(semaphore, 2, permits), RLOCK_INVALID);
    on_script(&rli_script_permit_semaphore_release_many, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 2, permits, &released));
    cr_assert(released == 0, "%d", released);
    cr_assert(stand(4, 1));
    assert_ok(rlock_permit_semaphore_release(semaphore, permits[1].id));
    assert_permits(5, 0);
}

/* The first attempt is stuck, the second is granted and given back; then the first one runs. Nobody would
 * ever have released what it takes. */
Test(permit_doubt, late_acquire_is_undone_after_the_release)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[2];
    int rule = on_script(ACQUIRE, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, permits));
    cr_assert(proxy_count(scene.proxy, rule, PROXY_ACTED) == 1 && stand(3, 2));
    /* By another client, which knows nothing of the doubt. */
    assert_ok(rlock_permit_semaphore_release_many(permits_of(stage.other, NAME), 2, permits));
    cr_assert(stand(5, 0));
    let_through(rule);
    assert_permits(5, 0);
}

/* The first two attempts are stuck, and run one after the other when the permits have been released. */
Test(permit_doubt, each_of_two_late_acquires_is_undone)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[2];
    int rules[2];
    for (int i = 0; i < 2; i++)
        rules[i] = on_script(ACQUIRE, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, permits));
    cr_assert(stand(3, 2));
    assert_ok(rlock_permit_semaphore_release_many(permits_of(stage.other, NAME), 2, permits));
    for (int i = 0; i < 2; i++) {
        cr_assert(proxy_count(scene.proxy, rules[i], PROXY_ACTED) == 1);
        let_through(rules[i]);
        assert_permits(5, 0);
    }
}

/* The first attempt runs while the permits are held: these stay, what it takes is given back. */
Test(permit_doubt, late_acquire_leaves_the_permits_of_its_repetition)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[2];
    int rule = on_script(ACQUIRE, PROXY_HOLD_REQUEST, 1);
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, permits));
    let_through(rule);
    assert_permits(3, 2);
    assert_ok(rlock_permit_semaphore_release_many(semaphore, 2, permits));
    assert_permits(5, 0);
}

/* No attempt is answered; all of them run. */
Test(permit_doubt, unanswered_acquire_is_undone)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[2];
    int rule = on_script(ACQUIRE, PROXY_CUT_AFTER, 0);
    memset(permits, 'x', sizeof permits);
    assert_status(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, permits), RLOCK_UNAVAILABLE);
    cr_assert(seen_by(rule) == 3 && permits[0].id[0] == 'x');
    assert_permits(5, 0);
}

/* As above, but they run long after the call has ended. */
Test(permit_doubt, unanswered_acquire_is_undone_when_it_runs_late)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permit;
    int undo = on_script(&rli_script_permit_semaphore_undo, PROXY_NOTE, 0);
    int rule = on_script(ACQUIRE, PROXY_HOLD_REQUEST, 0);
    assert_status(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit), RLOCK_UNAVAILABLE);
    cr_assert(proxy_await(scene.proxy, undo, PROXY_ANSWERED, 2, 10000), "nothing is undone in the background");
    let_through(rule);
    assert_permits(5, 0);
}

/* A permit with a lease is undone for as long as that lasts, and no longer. */
Test(permit_doubt, is_over_with_the_lease)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permit;
    int undo = on_script(&rli_script_permit_semaphore_undo, PROXY_NOTE, 0);
    int rule = on_script(ACQUIRE, PROXY_CUT_BEFORE, 0);
    assert_status(rlock_permit_semaphore_acquire(semaphore, 700, &permit), RLOCK_UNAVAILABLE);
    proxy_release(scene.proxy, rule);
    cr_assert(proxy_await(scene.proxy, undo, PROXY_ANSWERED, 2, 10000)); /* at once, and after 500 ms */
    pass_ms(1500);
    cr_assert(proxy_count(scene.proxy, undo, PROXY_SEEN) == 2);
    assert_permits(5, 0);
}

/* The grant was answered by a repetition, but its permits could not be given new ids. */
Test(permit_doubt, acquire_whose_ids_are_not_replaced_is_undone)
{
    static const proxy_act acts[] = {PROXY_CUT_BEFORE, PROXY_CUT_AFTER, PROXY_HOLD_REQUEST};
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[2];
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        int first = on_script(ACQUIRE, PROXY_CUT_AFTER, 1), rule = on_script(REPLACE, acts[i], 1);
        assert_status(rlock_permit_semaphore_acquire_many(semaphore, 2, RLOCK_PERMIT_FOREVER, permits),
                      RLOCK_UNAVAILABLE);
        cr_assert(seen_by(rule) == 1, "it was sent %d times", seen_by(rule));
        if (acts[i] == PROXY_HOLD_REQUEST)
            let_through(rule);
        assert_permits(5, 0);
        proxy_release(scene.proxy, first);
    }
}

/* A waiter gets the permits that are undone. */
Test(permit_doubt, what_is_undone_wakes_those_who_wait)
{
    rlock_permit_semaphore *semaphore = with(1);
    rlock_permit permit, taken;
    int rule = on_script(ACQUIRE, PROXY_HOLD_REQUEST, 0);
    assert_status(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit), RLOCK_UNAVAILABLE);
    let_through(rule);
    assert_ok(rlock_permit_semaphore_try_acquire(permits_of(stage.other, NAME), 10000, 60000, &taken));
    assert_permits(0, 1);
}

/* A release whose answer was lost is one: asked again, the permit is gone. */
Test(permit_doubt, repeated_release_succeeds)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permits[3];
    bool released = false;
    int count = 0;
    assert_ok(rlock_permit_semaphore_acquire_many(semaphore, 3, 60000, permits));
    int rule = on_script(RELEASE, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_permit_semaphore_release(semaphore, permits[0].id));
    cr_assert(seen_by(rule) == 2 && stand(3, 2));
    on_script(&rli_script_permit_semaphore_release_many, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_permit_semaphore_try_release_many(semaphore, 2, permits + 1, &count));
    cr_assert(count == 2 && stand(5, 0));
    on_script(&rli_script_permit_semaphore_lease, PROXY_CUT_AFTER, 1);
    assert_ok(rlock_permit_semaphore_try_release(semaphore, permits[0].id, &released));
    cr_assert(!released && stand(5, 0));
}

/* Those whose repetition would count twice are sent once. */
Test(permit_doubt, changes_of_the_number_are_sent_once)
{
    rlock_permit_semaphore *semaphore = with(5);
    int add = on_script(&rli_script_permit_semaphore_add, PROXY_CUT_AFTER, 1);
    assert_status(rlock_permit_semaphore_add_permits(semaphore, 2), RLOCK_UNKNOWN);
    assert_error("before you repeat");
    int set = on_script(&rli_script_permit_semaphore_set, PROXY_CUT_BEFORE, 1);
    assert_status(rlock_permit_semaphore_set_permits(semaphore, 9), RLOCK_UNKNOWN);
    cr_assert(seen_by(add) == 1 && seen_by(set) == 1);
    assert_permits(7, 0);
}

/* Closed with a doubt, nothing is left of the client; the server has what ran. */
Test(permit_doubt, of_a_closed_client_is_forgotten)
{
    rlock_permit_semaphore *semaphore = with(5);
    rlock_permit permit;
    on_script(ACQUIRE, PROXY_CUT_BEFORE, 0);
    for (int i = 0; i < 3; i++)
        assert_status(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit), RLOCK_UNAVAILABLE);
    scene_close_client(scene.client);
    assert_permits(5, 0);
}

/* One that is settled leaves the others to be undone. */
Test(permit_doubt, of_several_is_undone_each)
{
    enum { DOUBTS = 3 };
    static const char *const names[DOUBTS] = {"pe0", "pe1", "pe2"};
    rlock_client *client = scene_client("timeout=2500&retryAttempts=0");
    rlock_permit permit;
    for (int i = 0; i < DOUBTS; i++)
        assert_ok(rlock_permit_semaphore_set_permits(permits_of(client, names[i]), 1));
    on_script(&rli_script_permit_semaphore_undo, PROXY_CUT_BEFORE, 1);
    for (int i = 0; i < DOUBTS; i++) {
        on_script(ACQUIRE, PROXY_CUT_AFTER, 1);
        assert_status(rlock_permit_semaphore_acquire(permits_of(client, names[i]), RLOCK_PERMIT_FOREVER, &permit),
                      RLOCK_UNAVAILABLE);
    }
    for (int i = 0; i < DOUBTS; i++) {
        for (int64_t end_ms = limit_end_ms(10000); server_integer(stage.server, "GET %s", names[i]) != 1; pass_ms(5))
            cr_assert(now_ms() < end_ms, "the permit of %s is taken for nobody", names[i]);
    }
}

/* The watchdog waits for 50 ms, and the server answers later that it lacks the script: asked again, it is given the text. */
Test(permit_doubt, is_undone_though_the_server_is_slow_and_has_no_script)
{
    rlock_client *client = scene_client("timeout=3000&retryAttempts=0&lockWatchdogTimeout=300");
    rlock_permit permit, other;
    assert_ok(rlock_permit_semaphore_set_permits(permits_of(client, NAME), 2));
    freeReplyObject(server_command(stage.server, "SCRIPT FLUSH"));
    assert_ok(rlock_permit_semaphore_acquire(permits_of(stage.other, NAME), RLOCK_PERMIT_FOREVER, &other));
    proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY,
                                         .text = rli_script_permit_semaphore_undo.sha1[RLI_COUNTED],
                                         .amount = 120});
    on_script(ACQUIRE, PROXY_CUT_AFTER, 1);
    assert_status(rlock_permit_semaphore_acquire(permits_of(client, NAME), RLOCK_PERMIT_FOREVER, &permit),
                  RLOCK_UNAVAILABLE);
    cr_assert(stand(0, 2));
    await_permits(1, 1);
}

/* A server that stands still for nearly as long as the lease runs the acquire only then: as of a lock (doubt_test.c). */
TimedTest(permit_doubt, lasts_until_the_end_of_the_lease)
{
    enum { LONG_MS = 20000 };
    rlock_permit permit;
    rlock_permit_semaphore *semaphore = with(5);
    int late = on_script(ACQUIRE, PROXY_HOLD_REQUEST, 0), undone = on_text("EVAL", PROXY_CUT_BEFORE, 0);
    assert_status(rlock_permit_semaphore_acquire(semaphore, LONG_MS, &permit), RLOCK_UNAVAILABLE);
    pass_ms(LONG_MS - 150);
    let_through(late);
    cr_assert(stand(4, 1), "the acquire did not come");
    proxy_release(scene.proxy, undone);
    await_permits(5, 0);
}

/* The pauses grow over a slow link, too. */
TimedTest(permit_doubt, is_asked_about_less_and_less_over_a_slow_link)
{
    static const int delays[] = {100, 400};
    static const char *const names[] = {"doubtful0", "doubtful1"};
    int times[2];
    for (int i = 0; i < 2; i++) {
        rlock_permit permit;
        rlock_client *client = scene_client("timeout=3000&retryAttempts=0");
        rlock_permit_semaphore *semaphore = permits_of(client, names[i]);
        assert_ok(rlock_permit_semaphore_set_permits(semaphore, 5));
        int rule = on_script(ACQUIRE, PROXY_CUT_BEFORE, 1); /* it never runs: nothing is found */
        assert_status(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_FOREVER, &permit), RLOCK_UNAVAILABLE);
        proxy_release(scene.proxy, rule);
        rule = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_DELAY, .text = names[i], .amount = delays[i]});
        pass_ms(600000);
        times[i] = proxy_count(scene.proxy, rule, PROXY_SEEN);
        proxy_release(scene.proxy, rule);
    }
    cr_assert(times[1] <= 2 * times[0] + 2, "%d times in ten minutes over a quick link, %d over a slow one", times[0], times[1]);
}

/* Late watchdog: its thread gets no processor for a while; what it then finds past its deadline is over. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"

#ifdef TEST_VIRTUAL
struct thread; /* tests/sim/world/threads.h, whose events are not those of the tests */
void thread_hold(struct thread *thread, bool held);

TestSuite(late_watchdog, .init = scene_open, .fini = scene_close);

#define NAME "pe"

static void pass_until(int64_t ms)
{
    pass_ms(ms - now_ms());
}

/* Two permits; no renewal of the first one is answered. The second one's is due at due_ms, and the watchdog, which stands
 * still from stop_ms on, comes to it when the first one's deadline has passed, but not yet its lease on the server. */
static void assert_not_renewed(rlock_client *client, int64_t watchdog_ms, int unanswered, int64_t stop_ms, int64_t due_ms)
{
    struct thread *watchdog;
    rlock_permit permits[2];
    losses told;
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    rlock_permit_semaphore *semaphore = permits_of(client, NAME);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 2));
    on_script(&rli_script_permit_semaphore_renew, PROXY_HOLD_REQUEST, unanswered);
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_WATCHDOG, &permits[0]));
    int64_t ends_ms = expiry_of(NAME, &permits[0]);
    pass_until(since_ms + due_ms - watchdog_ms / 3);
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_WATCHDOG, &permits[1]));
    int64_t second_ends_ms = expiry_of(NAME, &permits[1]);
    pass_until(since_ms + stop_ms);
    watchdog = (struct thread *)(size_t)client->watchdog.thread;
    thread_hold(watchdog, true);
    pass_until(since_ms + watchdog_ms - 15);
    thread_hold(watchdog, false);
    losses_await(&told, 1, 1000);
    cr_assert(memcmp(told.all[0].permit, permits[0].id, 32) == 0 && told.all[0].reason == RLOCK_LOST_EXPIRED);
    pass_ms(50);
    cr_assert(expiry_of(NAME, &permits[0]) == ends_ms, "a permit that its client was told is lost was renewed");
    cr_assert(expiry_of(NAME, &permits[1]) > second_ends_ms, "a permit that is over kept another from being renewed");
}

TimedTest(late_watchdog, renews_no_permit_that_is_over_and_was_due)
{
    assert_not_renewed(scene_client(QUICK "&lockWatchdogTimeout=3000"), 3000, 3, 2750, 2795);
}

/* While the semaphore's permits are something else, their renewal is refused over a connection that stands. */
static void refuse(bool refuses)
{
    if (!refuses)
        freeReplyObject(server_command(stage.server, "DEL {" NAME "}:timeout"));
    freeReplyObject(server_command(stage.server, refuses ? "RENAME {" NAME "}:timeout {" NAME "}:kept"
                                                         : "RENAME {" NAME "}:kept {" NAME "}:timeout"));
    if (refuses)
        freeReplyObject(server_command(stage.server, "SET {" NAME "}:timeout x"));
}

/* The second one is due at due_ms, while the watchdog stands still. */
static void assert_refused_is_not_renewed(rlock_client *client, int64_t watchdog_ms, int64_t due_ms)
{
    rlock_permit permits[2];
    losses told;
    losses_init(&told);
    rlock_on_lost(client, losses_note, &told);
    rlock_permit_semaphore *semaphore = permits_of(client, NAME);
    assert_ok(rlock_permit_semaphore_set_permits(semaphore, 2));
    int64_t since_ms = now_ms();
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_WATCHDOG, &permits[0]));
    int64_t ends_ms = expiry_of(NAME, &permits[0]);
    refuse(true);
    pass_until(since_ms + due_ms - watchdog_ms / 3);
    refuse(false);
    assert_ok(rlock_permit_semaphore_acquire(semaphore, RLOCK_PERMIT_WATCHDOG, &permits[1]));
    int64_t second_ends_ms = expiry_of(NAME, &permits[1]);
    refuse(true);
    pass_until(since_ms + due_ms - 5);
    struct thread *watchdog = (struct thread *)(size_t)client->watchdog.thread;
    thread_hold(watchdog, true);
    refuse(false);
    pass_until(since_ms + watchdog_ms - 15);
    thread_hold(watchdog, false);
    losses_await(&told, 1, 1000);
    cr_assert(memcmp(told.all[0].permit, permits[0].id, 32) == 0);
    pass_ms(50);
    cr_assert(expiry_of(NAME, &permits[1]) > second_ends_ms, "the second one is not renewed");
    cr_assert(expiry_of(NAME, &permits[0]) <= ends_ms, "a permit that its client was told is lost was renewed");
}

TimedTest(late_watchdog, renews_no_permit_that_is_over_and_was_refused)
{
    assert_refused_is_not_renewed(scene_client(QUICK "&lockWatchdogTimeout=3000"), 3000, 2915);
}

/* It was not to be renewed again before its deadline. */
TimedTest(late_watchdog, renews_no_permit_that_is_over_and_was_given_up)
{
    assert_refused_is_not_renewed(scene_client(QUICK "&lockWatchdogTimeout=9000"), 9000, 8900);
}
#endif

/* Offers: a registered waiter that is told that it has the lock takes it without a request, where the message says all that
 * there is to know; else it asks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

TestSuite(offer, .init = stage_open, .fini = stage_close);

#define NAME     "order"
#define OFFER_MS 5000 /* what lua/lock/waiters.inc gives a waiter whose lease is 30 s */

/* The server knows the scripts then. */
static rlock *held_elsewhere(void)
{
    rlock *held = lock_of(stage.other, NAME);
    assert_ok(rlock_lock(held));
    assert_ok(rlock_unlock(held));
    assert_ok(rlock_lock(held));
    return held;
}

/* It is registered, and asleep. */
static actor *waiter_of(rlock *lock, int64_t lease_ms)
{
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, 60000, lease_ms);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    return waiter;
}

/* The holder releases, and the waiter gets the lock. Returns how often it asked. */
static size_t asked_when_told(actor *waiter, rlock *held)
{
    monitor *tap = monitor_open();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    size_t asked = monitor_ran(tap, &rli_script_lock_acquire) + monitor_ran(tap, &rli_script_fenced_acquire);
    monitor_close(tap);
    return asked;
}

TimedTest(offer, is_taken_without_a_request_and_becomes_a_whole_lease)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    actor *waiter = waiter_of(lock, RLOCK_WATCHDOG);
    cr_assert(asked_when_told(waiter, held) == 0);
    cr_assert(actor_holds(waiter, lock) && actor_valid_for(waiter, lock) > 0);
    while (actor_valid_for(waiter, lock) <= OFFER_MS)
        pass_ms(5);
    cr_assert(pttl_of(NAME) > OFFER_MS);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    assert_no_keys();
}

/* Until it is a whole lease. */
Test(offer, is_relied_on_no_longer_than_it_stands)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    actor *waiter = waiter_of(lock, RLOCK_WATCHDOG);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    int64_t valid_ms = actor_valid_for(waiter, lock), stands_ms = pttl_of(NAME);
    cr_assert(stands_ms > OFFER_MS || valid_ms <= stands_ms + 1, "relies on %lld of %lld ms", (long long)valid_ms,
              (long long)stands_ms);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

TimedTest(offer, of_a_fenced_lock_takes_a_request_for_the_token)
{
    rlock *lock = rlock_get_fenced_lock(stage.client, NAME), *held = rlock_get_fenced_lock(stage.other, NAME);
    uint64_t before = 0, token = 0;
    assert_ok(rlock_lock_and_get_token(held, &before));
    actor *waiter = actor_start();
    actor_begin_lock_and_get_token(waiter, lock, &token);
    cr_assert(wait_listened(NAME, 5000) && actor_asleep(waiter, 5000));
    cr_assert(asked_when_told(waiter, held) == 1);
    cr_assert(token > before);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
    rlock_free(lock);
    rlock_free(held);
}

/* Nobody would make a lease of it. */
TimedTest(offer, that_is_shorter_than_the_own_lease_takes_a_request)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    actor *waiter = waiter_of(lock, 20000);
    cr_assert(asked_when_told(waiter, held) == 1);
    cr_assert(pttl_of(NAME) > OFFER_MS);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* It would count from when the waiter was registered, and nobody would lengthen it. */
TimedTest(offer, that_is_as_long_as_the_own_lease_takes_a_request)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    actor *waiter = waiter_of(lock, 1000);
    pass_ms(450);
    cr_assert(asked_when_told(waiter, held) == 1);
    int64_t valid_ms = actor_valid_for(waiter, lock);
    cr_assert(valid_ms > 1000 - at_most_ms(50), "%lld of 1000 ms are left", (long long)valid_ms);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* The server keeps it for no longer than the waiter asked. */
Test(offer, is_no_longer_than_the_own_lease)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    actor *waiter = waiter_of(lock, 500);
    assert_ok(rlock_unlock(held));
    assert_between(pttl_of(NAME), -2, 500);
    (void)actor_finish(waiter, 5000);
    assert_between(pttl_of(NAME), -2, 500);
    actor_end(waiter);
}

/* It may be told late of an offer that has ended in between. */
TimedTest(offer, takes_a_request_of_a_waiter_that_has_asked_again)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    actor *waiter = waiter_of(lock, RLOCK_WATCHDOG);
    monitor *tap = monitor_open();
    while (monitor_ran(tap, &rli_script_lock_acquire) == 0)
        pass_ms(10);
    cr_assert(actor_asleep(waiter, 5000));
    size_t asked = monitor_ran(tap, &rli_script_lock_acquire);
    offer_late(NAME, stage.client, OFFER_MS);
    while (monitor_ran(tap, &rli_script_lock_acquire) == asked)
        pass_ms(1);
    monitor_close(tap);
    cr_assert(actor_asleep(waiter, 5000) && !actor_ended(waiter, 0), "it took what was offered long ago");
    cr_assert(asked_when_told(waiter, held) == 1);
    cr_assert(pttl_of(NAME) > OFFER_MS);
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* A message that no release has sent for it, as one that came late, is only a reason to ask. */
Test(offer, that_names_another_session_is_a_reason_to_ask)
{
    rlock *lock = lock_of(stage.client, NAME), *held = held_elsewhere();
    static const char *const messages[] = {"999999 3000", "0 3000",  "1",        "1 ", "1 0", "1 99999999999999999999",
                                           "-1 5",        " 1 3000", "1 3000 1", ""};
    actor *waiter = waiter_of(lock, RLOCK_WATCHDOG);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        monitor *tap = monitor_open();
        freeReplyObject(server_command(stage.server, "PUBLISH %s:%s %s", channel_of(NAME),
                                       rlock_client_id(stage.client), messages[i]));
        while (monitor_ran(tap, &rli_script_lock_acquire) == 0)
            pass_ms(1);
        monitor_close(tap);
        cr_assert(!actor_ended(waiter, 0), "\"%s\" was taken for a grant", messages[i]);
    }
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

/* --- names that differ only in braces: Redisson builds the same channel and the same queue for both --- */

#define BRACED "{" NAME "}"

/* The other client holds both, and releases the one for which nobody waits. */
static void assert_offered_no_other(rlock *held, rlock *released, rlock *wanted)
{
    assert_ok(rlock_lock(held));
    assert_ok(rlock_lock(released));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, wanted);
    cr_assert(wait_listened(rlock_name(wanted), 5000) && actor_asleep(waiter, 5000));
    assert_ok(rlock_unlock(released));
    cr_assert(!actor_ended(waiter, 300) && rlock_valid_for(held) > 0, "two hold \"%s\"", rlock_name(wanted));
    cr_assert(server_integer(stage.server, "EXISTS %s", rlock_name(released)) == 0);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 10000));
    assert_ok(actor_unlock(waiter, wanted));
    actor_end(waiter);
}

Test(offer, is_made_to_no_waiter_for_a_name_with_other_braces)
{
    assert_offered_no_other(lock_of(stage.other, BRACED), lock_of(stage.other, NAME), lock_of(stage.client, BRACED));
    assert_offered_no_other(lock_of(stage.other, NAME), lock_of(stage.other, BRACED), lock_of(stage.client, NAME));
}

static void assert_offered_no_other_fair(const char *wanted, const char *released)
{
    rlock *lock = fair_of(stage.client, wanted), *held = fair_of(stage.other, wanted);
    rlock *other = fair_of(stage.other, released);
    assert_ok(rlock_lock(held));
    assert_ok(rlock_lock(other));
    actor *first = queue_up(lock); /* after it, a waiter listens before it asks, and asks once */
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(first, 10000));
    assert_ok(actor_unlock(first, lock));
    actor_end(first);
    assert_ok(rlock_lock(held));
    actor *waiter = queue_up(lock);
    assert_ok(rlock_unlock(other));
    cr_assert(!actor_ended(waiter, 300) && rlock_valid_for(held) > 0, "two hold \"%s\"", wanted);
    cr_assert(server_integer(stage.server, "EXISTS %s", released) == 0);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 10000));
    assert_ok(actor_unlock(waiter, lock));
    actor_end(waiter);
}

Test(offer, of_a_fair_lock_is_made_to_no_waiter_for_a_name_with_other_braces)
{
    assert_offered_no_other_fair(BRACED, NAME);
    assert_offered_no_other_fair(NAME, BRACED);
}

/* Two threads of one owner wait. The one whose lease is longer gives up; the release offers the lock for that lease, and the
 * other takes it. */
static void assert_ends_with_the_shorter_lease(rlock *lock, rlock *held)
{
    actor *first = actor_start(), *second = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_try(first, lock, 1500, 60000);
    cr_assert(actor_asleep(first, 5000));
    actor_begin_try(second, lock, 60000, 300);
    assert_status(actor_finish(first, 5000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(second, 5000));
    assert_ok(rlock_try_lock(held, 1500, 1000)); /* an offer stands for 5 s */
    assert_ok(rlock_unlock(held));
    assert_status(actor_unlock(second, lock), RLOCK_LOST);
    actor_end(first);
    actor_end(second);
}

TimedTest(offer, for_another_waiters_lease_ends_with_the_own_one)
{
    assert_ends_with_the_shorter_lease(owned_by(lock_of(stage.client, NAME), 7), lock_of(stage.other, NAME));
}

TimedTest(offer, of_a_fair_lock_for_another_waiters_lease_ends_with_the_own_one)
{
    assert_ends_with_the_shorter_lease(owned_by(fair_of(stage.client, NAME), 7), fair_of(stage.other, NAME));
}

/* Parity: what C leaves in the keyspace and says is what a Redisson beside it leaves and says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/traffic.h"
#include "tests/interop/support/facts.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/names.h"
#include "tests/interop/support/parity.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(parity, .init = java_stage, .fini = java_stage_close);

#define CLOSE_MS 100 /* how near the TTLs of both must be */

/* The steps of the notes' section "rlock". */
enum step { LOCK, LOCK_AGAIN, UNLOCK_ONE, UNLOCK_TWO, TRY_5000, FORCE, STEPS };

static rlock_status do_in_c(enum step step, rlock *lock)
{
    switch (step) {
    case LOCK:
    case LOCK_AGAIN: return rlock_lock(lock);
    case TRY_5000: return rlock_try_lock(lock, 0, 5000);
    case FORCE: return rlock_force_unlock(lock, NULL);
    default: return rlock_unlock(lock);
    }
}

static void do_in_java(enum step step, const char *name)
{
    switch (step) {
    case LOCK:
    case LOCK_AGAIN: java_lock("t1", name); break;
    case TRY_5000: cr_assert(java_try("t1", name, 0, 5000)); break;
    case FORCE: cr_assert(java_force("t1", name)); break;
    default: java_unlock("t1", name);
    }
}

typedef struct left {
    char *keys; /* normalised */
    int64_t pttl_ms;
    int64_t age_ms; /* at most so long before the PTTL was read was it set */
} left;

static left left_on(server *on, const char *name, int64_t since_ms)
{
    int64_t pttl_ms = server_integer(on, "PTTL %s", name);
    int64_t age_ms = now_ms() - since_ms;
    char *keyspace = server_keyspace(on);
    left found = {without_owners(keyspace), pttl_ms, age_ms};
    free(keyspace);
    return found;
}

/* `age_ms`: what may have passed on either side between the operation and the look at it. */
static void assert_near(int64_t ours_ms, int64_t theirs_ms, int64_t age_ms)
{
    assert_between(ours_ms, theirs_ms - CLOSE_MS - age_ms, theirs_ms + CLOSE_MS + age_ms);
}

/* Each step by C on the stage's server and by Java on one of its own. */
static void walk(const char *name, server *javas, const facts *noted)
{
    rlock *lock = lock_of(stage.client, name);
    for (enum step step = LOCK; step < STEPS; step++) {
        int64_t since_ms = now_ms();
        assert_ok(do_in_c(step, lock));
        left ours = left_on(stage.server, name, since_ms);
        since_ms = now_ms();
        do_in_java(step, name);
        left theirs = left_on(javas, name, since_ms);
        cr_assert_str_eq(ours.keys, theirs.keys, "step %d: C left\n%s\nJava left\n%s", step, ours.keys, theirs.keys);
        assert_near(ours.pttl_ms, theirs.pttl_ms, ours.age_ms + theirs.age_ms);
        if (noted) {
            cr_assert_str_eq(ours.keys, noted->steps[step].keys, "step %s: C left\n%s\nnoted is\n%s",
                             noted->steps[step].step, ours.keys, noted->steps[step].keys);
            assert_near(ours.pttl_ms, noted->steps[step].key_count ? noted->steps[step].pttl_ms[0] : -2, ours.age_ms);
        }
        free(ours.keys);
        free(theirs.keys);
    }
}

/* Lock, lock again, unlock, unlock, try with a lease, force: after each of them. */
Test(parity, of_the_keyspace_after_each_operation)
{
    server *javas = server_start();
    java_move_to(javas);
    facts *noted = facts_read("rlock");
    cr_assert(noted->count == STEPS);
    walk("order:42", javas, noted);
    for (size_t i = 0; i < name_count; i++)
        walk(name_at(i), javas, NULL);
    facts_free(noted);
    server_stop(javas);
}

/* What was said so far, which is then forgotten. */
static char *said(monitor *tap)
{
    char *messages = monitor_messaging(tap);
    parity_hide_own_channels(messages);
    monitor_forget(tap);
    return messages;
}

static void lock_wait_and_hand_over_in_c(const char *name)
{
    rlock *held = lock_of(stage.other, name), *awaited = lock_of(stage.client, name);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, awaited);
    cr_assert(wait_listened(name, 5000));
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(wait_unlistened(name, 5000));
    assert_ok(actor_unlock(waiter, awaited));
    actor_end(waiter);
}

static void lock_wait_and_hand_over_in_java(const char *name)
{
    java_lock("t1", name);
    int waiting = java_begin_lock("t2", name);
    cr_assert(wait_listened(name, 5000));
    java_unlock("t1", name);
    assert_result(agent_await(java, waiting, 5000), "");
    cr_assert(wait_unlistened(name, 5000));
    java_unlock("t2", name);
}

static void assert_same_words(const char *name, const char *section)
{
    monitor *tap = monitor_open();
    lock_wait_and_hand_over_in_c(name);
    char *ours = said(tap);
    lock_wait_and_hand_over_in_java(name);
    char *theirs = said(tap);
    cr_assert_str_eq(ours, theirs, "%s: C said\n%s\nJava said\n%s", name, ours, theirs);
    if (section) {
        facts *noted = facts_read(section);
        cr_assert_str_eq(ours, noted->messages, "C said\n%s\nnoted is\n%s", ours, noted->messages);
        facts_free(noted);
    }
    free(ours);
    free(theirs);
    monitor_close(tap);
}

/* Held, waited for, handed over, freed: SUBSCRIBE, PUBLISH, UNSUBSCRIBE, PUBLISH, on one channel. */
Test(parity, of_what_is_subscribed_to_and_published, .lasts = 26)
{
    assert_same_words("order:42", "rlock waiter");
    assert_same_words("a{x}b", "rlock braces");
    for (size_t i = 0; i < name_count; i++)
        assert_same_words(name_at(i), NULL);
}

/* Waits that end without the lock leave the channel and say nothing. Long enough to have joined it: Redisson that has
 * no subscription yet when its time is up never ends the one that comes then. */
Test(parity, of_what_a_wait_that_times_out_says)
{
    rlock *held = lock_of(stage.other, "order:42");
    assert_ok(rlock_lock(held));
    monitor *tap = monitor_open();
    assert_status(rlock_try_lock(lock_of(stage.client, "order:42"), 2000, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    cr_assert(wait_unlistened("order:42", 5000));
    char *ours = said(tap);
    cr_assert(!java_try("t1", "order:42", 2000, -1));
    cr_assert(wait_unlistened("order:42", 5000));
    char *theirs = said(tap);
    cr_assert_str_eq(ours, theirs, "C said\n%s\nJava said\n%s", ours, theirs);
    free(ours);
    free(theirs);
    monitor_close(tap);
}

/* An unlock by one who holds nothing, on a free and on a held lock. */
Test(parity, of_an_unlock_that_is_refused)
{
    monitor *tap = monitor_open();
    assert_status(rlock_unlock(lock_of(stage.client, "order:42")), RLOCK_NOT_OWNER);
    assert_thrown(ASK(java, "t1", "lock", "order:42", "unlock"), "IllegalMonitorStateException");
    rlock *held = lock_of(stage.other, "order:42");
    assert_ok(rlock_lock(held));
    char *before = server_keyspace(stage.server);
    assert_status(rlock_unlock(lock_of(stage.client, "order:42")), RLOCK_NOT_OWNER);
    assert_thrown(ASK(java, "t1", "lock", "order:42", "unlock"), "IllegalMonitorStateException");
    char *after = server_keyspace(stage.server), *words = said(tap);
    cr_assert_str_eq(before, after);
    cr_assert_str_eq(words, "");
    free(before);
    free(after);
    free(words);
    monitor_close(tap);
}

/* With the client's id and a number, as Redisson's message has them. */
Test(parity, of_the_message_of_a_refused_unlock)
{
    static const char *const parts[] = {"attempt to unlock lock, not locked by current thread by node id: ",
                                        " thread-id: "};
    const answer *refused = ASK(java, "t1", "lock", "order:42", "unlock");
    assert_status(rlock_unlock(lock_of(stage.client, "order:42")), RLOCK_NOT_OWNER);
    for (size_t i = 0; i < 2; i++) {
        cr_assert(strstr(refused->message, parts[i]) != NULL, "Java said: %s", refused->message);
        cr_assert(strstr(rlock_last_error(), parts[i]) != NULL, "C said: %s", rlock_last_error());
    }
    cr_assert(strstr(rlock_last_error(), rlock_client_id(stage.client)) != NULL, "C said: %s", rlock_last_error());
}

/* Subscriptions and messages cut after each of their bytes: whoever waits for whatever object wakes all the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut.h"
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>

TestSuite(bytes_message, .init = cuts_open, .fini = cuts_close);

#define WAIT_MS 20000
#define WOKEN_MS 500
#define SOON_MS 10000

/* Something that can be waited for. */
typedef struct waited {
    const kind *of;                              /* a lock */
    rlock_status (*wait)(void *cell);            /* on the actor's thread */
    void (*close)(cell *);                       /* nothing to be had, */
    void (*open)(cell *);                        /* and to be had now: by another client */
    rlock_status (*leave)(cell *);               /* gives back what was had; on the test's thread; NULL: the actor */
} waited;

static actor *waiter;

static cell make(const waited *of, rlock_client *client)
{
    cell self = {.client = client};
    snprintf(self.name, sizeof self.name, "%s", cut_token());
    if (of->of) {
        self.lock = of->of->get(client, self.name);
        self.theirs = (of->of->shared ? &kind_write : of->of)->get(stage.other, self.name);
    }
    self.semaphore = rlock_get_semaphore(client, self.name);
    self.permits = rlock_get_permit_expirable_semaphore(client, self.name);
    self.latch = rlock_get_count_down_latch(client, self.name);
    return self;
}

static void forget(cell *self)
{
    past(self, "DEL redisson_lock_token:{%s}");
    cut_await(self->name, "", SOON_MS);
    rlock_free(self->lock);
    rlock_free(self->theirs);
    rlock_semaphore_free(self->semaphore);
    rlock_permit_semaphore_free(self->permits);
    rlock_count_down_latch_free(self->latch);
}

/* Waits once, under that rule; `listens`: it is asleep before what it waits for comes. Gives the length of the
 * answer or message that the rule is about. */
static int wait_once(const waited *of, rlock_client *client, proxy_rule rule, bool listens)
{
    cell self = make(of, client);
    rule.and_text = self.name;
    of->close(&self);
    int number = proxy_add(scene.proxy, &rule);
    int subscribed = proxy_add(scene.proxy, &(proxy_rule){.act = PROXY_NOTE, .text = "\r\nSUBSCRIBE", .and_text = self.name});
    actor_begin(waiter, of->wait, &self);
    cr_assert(proxy_await(scene.proxy, subscribed, PROXY_ANSWERED, 1, SOON_MS), "it did not subscribe");
    cr_assert(!listens || actor_asleep(waiter, SOON_MS));
    int64_t since_ms = now_ms();
    of->open(&self);
    assert_ok(actor_finish(waiter, WAIT_MS));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(WOKEN_MS));
    cr_assert(rule.act == PROXY_NOTE || proxy_await(scene.proxy, number, PROXY_ACTED, 1, SOON_MS), "nothing was cut");
    int length = proxy_count(scene.proxy, number, rule.messages ? PROXY_REQUEST_BYTES : PROXY_REPLY_BYTES);
    proxy_release(scene.proxy, number);
    proxy_release(scene.proxy, subscribed);
    if (of->leave)
        assert_ok(of->leave(&self));
    else
        assert_ok(actor_unlock(waiter, self.lock));
    forget(&self);
    return length;
}

static void cut_everywhere(const waited *of)
{
    rlock_client *client = cut_client(CUT_CALM);
    waiter = actor_start();
    proxy_rule subscription = {.act = PROXY_NOTE, .text = "\r\nSUBSCRIBE"};
    proxy_rule message = {.act = PROXY_NOTE, .messages = true};
    int confirmed = wait_once(of, client, subscription, false), told = wait_once(of, client, message, true);
    cr_assert(confirmed > 20 && told > 20, "%d bytes, %d bytes", confirmed, told);
    subscription.times = message.times = 1;
    subscription.act = message.act = PROXY_CUT_AFTER;
    for (subscription.amount = 0; subscription.amount <= confirmed; subscription.amount++)
        wait_once(of, client, subscription, false);
    for (message.amount = 0; message.amount <= told; message.amount++)
        wait_once(of, client, message, true);
    actor_end(waiter);
    cut_end(client);
}

/* --- locks --- */

static rlock_status lock_it(void *arg)
{
    cell *self = arg;
    return rlock_try_lock(self->lock, WAIT_MS, RLOCK_WATCHDOG);
}

static void hold_it(cell *self)
{
    assert_ok(rlock_lock(self->theirs));
}

static void free_it(cell *self)
{
    assert_ok(rlock_unlock(self->theirs));
}

Test(bytes_message, of_a_fair_lock_is_no_wake_up_lost)
{
    cut_everywhere(&(waited){&kind_fair, lock_it, hold_it, free_it, NULL});
}

Test(bytes_message, of_the_read_side_is_no_wake_up_lost)
{
    cut_everywhere(&(waited){&kind_read, lock_it, hold_it, free_it, NULL});
}

Test(bytes_message, of_the_write_side_is_no_wake_up_lost)
{
    cut_everywhere(&(waited){&kind_write, lock_it, hold_it, free_it, NULL});
}

/* --- objects --- */

static void none(cell *self)
{
    past(self, "SET %s 0");
}

static rlock_status take_it(void *arg)
{
    cell *self = arg;
    return rlock_semaphore_try_acquire(self->semaphore, 1, WAIT_MS);
}

static void give_it(cell *self)
{
    rlock_semaphore *others = rlock_get_semaphore(stage.other, self->name);
    assert_ok(rlock_semaphore_release(others, 1));
    rlock_semaphore_free(others);
}

static rlock_status drop_it(cell *self)
{
    int permits = -1;
    rlock_status status = rlock_semaphore_available_permits(self->semaphore, &permits);
    cr_assert(permits == 0, "%d permits are available", permits);
    past(self, "DEL %s");
    past(self, "DEL {%s}:timeout");
    return status;
}

Test(bytes_message, of_a_semaphore_is_no_wake_up_lost)
{
    cut_everywhere(&(waited){NULL, take_it, none, give_it, drop_it});
}

static rlock_status lease_it(void *arg)
{
    cell *self = arg;
    return rlock_permit_semaphore_try_acquire(self->permits, WAIT_MS, 60000, self->permit);
}

static void add_it(cell *self)
{
    rlock_permit_semaphore *others = rlock_get_permit_expirable_semaphore(stage.other, self->name);
    assert_ok(rlock_permit_semaphore_add_permits(others, 1));
    rlock_permit_semaphore_free(others);
}

Test(bytes_message, of_permits_is_no_wake_up_lost)
{
    cut_everywhere(&(waited){NULL, lease_it, none, add_it, drop_it});
}

static void closed(cell *self)
{
    past(self, "SET %s 1");
}

static rlock_status await_it(void *arg)
{
    cell *self = arg;
    return rlock_count_down_latch_try_await(self->latch, WAIT_MS);
}

static void count_down(cell *self)
{
    rlock_count_down_latch *others = rlock_get_count_down_latch(stage.other, self->name);
    assert_ok(rlock_count_down_latch_count_down(others));
    rlock_count_down_latch_free(others);
}

static rlock_status is_open(cell *self)
{
    return rlock_count_down_latch_try_await(self->latch, 0);
}

Test(bytes_message, of_a_latch_is_no_wake_up_lost)
{
    cut_everywhere(&(waited){NULL, await_it, closed, count_down, is_open});
}

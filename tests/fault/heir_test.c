/* Heirs under faults: of those who wait for a lock here, the one that has it next reads the answer to the unlock
 * itself, when others wait behind it; and who comes after that one dozes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/heirs.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stopped.h"
#include "tests/support/event.h"

TestSuite(heir_in_faults, .init = scene_open, .fini = scene_close);
TestSuite(heir_here_in_faults, .init = scene_open, .fini = scene_close);

#define HERE_SUITE heir_here_in_faults
#define FAIR_SUITE heir_in_faults

#define NAME "h"
#define SOON_MS 5000

/* One thread holds the lock, and two wait. */
typedef struct trio {
    const kind *of;
    rlock *lock;
    actor *holder, *first, *second;
} trio;

static trio line_up(const kind *of, rlock_client *client, rlock_cancel *firsts)
{
    trio self = {.of = of, .lock = kind_of(of, client, NAME), .holder = actor_start(), .first = actor_start()};
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.cancel = firsts;
    assert_ok(actor_lock(self.holder, self.lock));
    actor_begin_with(self.first, self.lock, &options);
    heir_await(of, self.lock, self.first);
    self.second = heir_start(of, self.lock);
    return self;
}

/* The holder unlocks; the server has done it, and the answer does not come yet. */
static int begin_unlock(const trio *self)
{
    int rule = on_script(self->of->fair ? &rli_script_fair_release : &rli_script_lock_handoff, PROXY_HOLD_REPLY, 1);
    actor_begin_unlock(self->holder, self->lock);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, 5000));
    cr_assert(actor_asleep(self->holder, 5000) && actor_asleep(self->first, 5000));
    return rule;
}

static void take_turn(actor *waiter, rlock *lock)
{
    assert_ok(actor_finish(waiter, SOON_MS));
    cr_assert(actor_hold_count(waiter, lock) == 1 && actor_valid_for(waiter, lock) > 0);
    assert_ok(actor_unlock(waiter, lock));
}

static void disperse(trio *self)
{
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_no_keys();
    actor_end(self->holder);
    actor_end(self->first);
    actor_end(self->second);
}

/* --- the answer --- */

HEIR_TEST(has_it_while_who_unlocked_does_not_run)
{
    trio line = line_up(of, scene.client, NULL);
    int rule = begin_unlock(&line);
    actor_stop(line.holder);
    proxy_release(scene.proxy, rule);
    take_turn(line.first, line.lock);
    take_turn(line.second, line.lock);
    cr_assert(!actor_ended(line.holder, 0));
    actor_go_on();
    assert_ok(actor_finish(line.holder, 5000));
    disperse(&line);
}

/* Nothing comes for the whole timeout: it gives the connection up for all, and the unlock is asked for again. */
HEIR_TEST(gives_up_a_connection_that_is_silent)
{
    trio line = line_up(of, scene.client, NULL);
    int accepted = proxy_accepted(scene.proxy), rule = begin_unlock(&line);
    actor_stop(line.holder);
    cr_assert(!actor_ended(line.first, ATTEMPT_MS / 2));
    actor *other = actor_start();
    assert_ok(actor_try(other, kind_of(of, scene.client, "other"), at_most_ms(3000), 1000));
    cr_assert(proxy_accepted(scene.proxy) > accepted);
    actor_go_on();
    assert_ok(actor_finish(line.holder, 5000));
    take_turn(line.first, line.lock);
    take_turn(line.second, line.lock);
    assert_ok(actor_unlock(other, kind_of(of, scene.client, "other")));
    proxy_release(scene.proxy, rule);
    actor_end(other);
    disperse(&line);
}

/* Its wait ends in the middle: others read on, for who unlocked and for whoever uses the connection. */
HEIR_TEST(that_gives_up_leaves_reading_to_others)
{
    rlock_client *client = scene_client("timeout=2500&connectionPoolSize=1");
    rlock *elsewhere = kind_of(of, client, "other");
    rlock_cancel *cancel = rlock_cancel_new();
    trio line = line_up(of, client, cancel);
    int rule = begin_unlock(&line);
    actor *other = actor_start();
    actor_begin_lock(other, elsewhere);
    cr_assert(actor_asleep(other, 5000));
    int64_t since_ms = now_ms();
    rlock_cancel_fire(cancel);
    rlock_status status = actor_finish(line.first, 5000);
    assert_between(actor_ended_at(line.first) - since_ms, 0, 250 + at_most_ms(300));
    proxy_release(scene.proxy, rule);
    assert_status(status, RLOCK_CANCELLED);
    assert_ok(actor_finish(line.holder, 5000));
    assert_ok(actor_finish(other, 5000));
    take_turn(line.second, line.lock);
    assert_ok(actor_unlock(other, elsewhere));
    actor_end(other);
    rlock_cancel_free(cancel);
    disperse(&line);
}

/* The connection breaks while it reads: the unlock is asked for again, and it has the lock once. */
HEIR_TEST(has_it_once_when_the_connection_breaks)
{
    trio line = line_up(of, scene.client, NULL);
    begin_unlock(&line);
    proxy_cut(scene.proxy);
    assert_ok(actor_finish(line.holder, 5000));
    cr_assert(actor_finish(line.first, SOON_MS) == RLOCK_OK && !actor_ended(line.second, 100));
    assert_ok(actor_unlock(line.first, line.lock));
    take_turn(line.second, line.lock);
    disperse(&line);
}

/* The client is closed while it reads: all calls end. */
HEIR_TEST(ends_with_its_client)
{
    rlock_client *client = scene_client(QUICK);
    trio line = line_up(of, client, NULL);
    int rule = begin_unlock(&line);
    scene_close_client(client);
    assert_status(actor_finish(line.holder, at_most_ms(1000)), RLOCK_CLOSED);
    assert_status(actor_finish(line.first, at_most_ms(1000)), RLOCK_CLOSED);
    assert_status(actor_finish(line.second, at_most_ms(1000)), RLOCK_CLOSED);
    proxy_release(scene.proxy, rule);
    actor_end(line.holder);
    actor_end(line.first);
    actor_end(line.second);
}

/* --- who comes after --- */

static rlock_status unlock_and_lock(void *lock)
{
    rlock_status status = rlock_unlock(lock);
    return status == RLOCK_OK ? rlock_lock(lock) : status;
}

/* Two threads of this process take turns, so that each hands the lock to the other and queues behind it at once. Then
 * the lock is forced open by somebody else, which the one that holds it does not hear. */
Test(heir_here_in_faults, who_comes_after_hears_what_the_holder_does_not)
{
    enum { ROUNDS = 20 };
    rlock *lock = lock_of(scene.client, NAME), *others = lock_of(stage.other, NAME);
    actor *threads[2] = {actor_start(), actor_start()};
    assert_ok(actor_lock(threads[0], lock));
    for (int i = 0; i < ROUNDS; i++) {
        actor *holder = threads[i % 2], *next = threads[(i + 1) % 2];
        actor_begin_lock(next, lock);
        heir_await(&kind_reentrant, lock, next);
        actor_begin(holder, unlock_and_lock, lock);
        assert_ok(actor_finish(next, 5000));
        cr_assert(actor_asleep(holder, 5000));
        assert_ok(rlock_force_unlock(others, NULL));
        assert_ok(actor_finish(holder, at_most_ms(2000)));
        assert_status(actor_unlock(next, lock), RLOCK_LOST);
        assert_ok(actor_unlock(holder, lock));
        assert_ok(actor_lock(next, lock));
    }
    assert_ok(actor_unlock(threads[ROUNDS % 2], lock));
    assert_no_keys();
    actor_end(threads[0]);
    actor_end(threads[1]);
}

/* Who was handed the lock takes long to wake up: then the next one no longer counts on it, and still gets its turn. */
Test(heir_here_in_faults, who_comes_after_one_that_does_not_run_is_woken_by_it)
{
    rlock *lock = lock_of(scene.client, NAME);
    actor *holder = actor_start(), *next = actor_start();
    assert_ok(actor_lock(holder, lock));
    actor_begin_lock(next, lock);
    heir_await(&kind_reentrant, lock, next);
    actor_stop(next);
    actor_begin(holder, unlock_and_lock, lock);
    cr_assert(actor_asleep(holder, 5000) && !actor_ended(holder, 50));
    actor_go_on();
    assert_ok(actor_finish(next, 5000));
    assert_ok(actor_unlock(next, lock));
    take_turn(holder, lock);
    assert_no_keys();
    actor_end(holder);
    actor_end(next);
}

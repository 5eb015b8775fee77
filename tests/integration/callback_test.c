/* The lost-lock callback: what it may do, and when it runs no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"

TestSuite(callback, .init = stage_quick, .fini = stage_close);

#define NAME "order"

static struct scene {
    event entered, leave, left;
    rlock *same, *another;
    rlock_status statuses[8];
    int count;
} scene;

static void set_scene(void)
{
    event_init(&scene.entered);
    event_init(&scene.leave);
    event_init(&scene.left);
    scene.same = lock_of(stage.client, NAME);
    scene.another = lock_of(stage.client, "another");
}

static void lose_one(const char *name)
{
    assert_ok(rlock_lock(lock_of(stage.client, name)));
    foreign_vanish(name);
}

static void note(rlock_status status)
{
    scene.statuses[scene.count++] = status;
}

static void use_locks(const rlock_lost_event *lost, void *arg)
{
    (void)lost;
    (void)arg;
    bool locked = false;
    note(rlock_lock(scene.another));
    note(rlock_is_locked(scene.another, &locked));
    note(rlock_unlock(scene.another));
    note(rlock_try_lock(scene.same, 1000, 5000));
    note(rlock_unlock(scene.same));
    note(rlock_force_unlock(scene.another, NULL));
    event_set(&scene.left);
}

Test(callback, may_use_locks)
{
    set_scene();
    rlock_on_lost(stage.client, use_locks, NULL);
    lose_one(NAME);
    cr_assert(event_wait_ms(&scene.left, 5000));
    cr_assert(scene.count == 6);
    for (int i = 0; i < scene.count; i++)
        assert_status(scene.statuses[i], RLOCK_OK);
    assert_no_keys();
}

static void block(const rlock_lost_event *lost, void *arg)
{
    (void)lost;
    (void)arg;
    event_set(&scene.entered);
    event_wait_ms(&scene.leave, 20000);
    event_set(&scene.left);
}

/* It takes its time: other locks are renewed meanwhile, and can be used. */
Test(callback, holds_up_no_renewal)
{
    set_scene();
    rlock_on_lost(stage.client, block, NULL);
    assert_ok(rlock_lock(scene.another));
    lose_one(NAME);
    cr_assert(event_wait_ms(&scene.entered, 5000));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(10))
        cr_assert(rlock_valid_for(scene.another) > 0 && pttl_of("another") > 0);
    event_set(&scene.leave);
    cr_assert(event_wait_ms(&scene.left, 5000));
    assert_ok(rlock_unlock(scene.another));
}

static rlock_status remove_callback(void *arg)
{
    (void)arg;
    rlock_on_lost(stage.client, NULL, NULL);
    return RLOCK_OK;
}

/* Whoever removes it may free what it used. */
Test(callback, runs_no_more_once_it_is_removed)
{
    set_scene();
    actor *remover = actor_start();
    rlock_on_lost(stage.client, block, NULL);
    lose_one(NAME);
    cr_assert(event_wait_ms(&scene.entered, 5000));
    actor_begin(remover, remove_callback, NULL);
    cr_assert(!actor_ended(remover, 200));
    event_set(&scene.leave);
    assert_ok(actor_finish(remover, 5000));
    cr_assert(event_count(&scene.left) == 1);
    lose_one("third");
    cr_assert(!event_wait_count(&scene.entered, 2, ROUND_MS));
    actor_end(remover);
}

Test(callback, is_replaced_by_a_later_one)
{
    static losses former, later;
    losses_init(&former);
    losses_init(&later);
    rlock_on_lost(stage.client, losses_note, &former);
    rlock_on_lost(stage.client, losses_note, &later);
    lose_one(NAME);
    cr_assert(event_wait_ms(&later.came, 5000));
    cr_assert(event_count(&former.came) == 0);
}

static void remove_self(const rlock_lost_event *lost, void *arg)
{
    (void)lost;
    (void)arg;
    event_set(&scene.entered);
    rlock_on_lost(stage.client, NULL, NULL);
    event_set(&scene.left);
}

Test(callback, may_remove_itself)
{
    set_scene();
    rlock_on_lost(stage.client, remove_self, NULL);
    lose_one(NAME);
    cr_assert(event_wait_ms(&scene.left, 5000));
    lose_one("third");
    cr_assert(!event_wait_count(&scene.entered, 2, ROUND_MS));
}

static void close_client(const rlock_lost_event *lost, void *arg)
{
    (void)lost;
    (void)arg;
    rlock_client_close(stage.client);
    event_set(&scene.left);
}

/* Which would wait for itself; nothing happens instead. */
Test(callback, cannot_close_its_client)
{
    set_scene();
    rlock_on_lost(stage.client, close_client, NULL);
    lose_one(NAME);
    cr_assert(event_wait_ms(&scene.left, 5000));
    assert_ok(rlock_lock(scene.another));
    assert_ok(rlock_unlock(scene.another));
}

/* The close waits for it, and it is not called after. */
Test(callback, has_ended_when_the_client_is_closed)
{
    set_scene();
    static losses told;
    losses_init(&told);
    rlock_on_lost(stage.client, losses_note, &told);
    assert_ok(rlock_lock(scene.same));
    assert_ok(rlock_lock_lease(scene.another, 300));
    foreign_vanish(NAME);
    stage_close_client(stage.client);
    int count = event_count(&told.came);
    cr_assert(!event_wait_count(&told.came, count + 1, ROUND_MS));
    cr_assert(tasks_named("rlock-lost") == 0);
}

/* Each client tells of its own. */
Test(callback, is_one_a_client)
{
    static losses ours, theirs;
    losses_init(&ours);
    losses_init(&theirs);
    rlock_on_lost(stage.client, losses_note, &ours);
    rlock_on_lost(stage.other, losses_note, &theirs);
    lose_one(NAME);
    cr_assert(event_wait_ms(&ours.came, 5000));
    assert_ok(rlock_lock(lock_of(stage.other, NAME)));
    foreign_vanish(NAME);
    cr_assert(event_wait_ms(&theirs.came, 5000));
    cr_assert(event_count(&ours.came) == 1 && event_count(&theirs.came) == 1);
}

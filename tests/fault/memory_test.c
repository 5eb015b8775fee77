/* Memory runs out in the middle of a call, at each place in turn: a lock is held, or it is not, and giving back never
 * leaves one that is renewed for nobody. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/scene.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/support/event.h"
#include "tests/support/memory.h"

#include <stdio.h>
#include <string.h>

TestSuite(memory, .init = scene_watchdog, .fini = scene_close);
#define KIND_SUITE memory

#define NAME "order"
#define SOON_MS 10000 /* a hold that is not renewed has gone by then */

/* Nothing holds it, neither here nor on the server. */
static void assert_free(rlock *lock, const char *name)
{
    cr_assert(rlock_valid_for(lock) == 0, "%s is held here", name);
    cr_assert(server_wait_exists(stage.server, name, false, SOON_MS), "%s is left locked, and renewed", name);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
}

/* Locks for which memory ends at the first allocation, the second… until it lasts. */
static void end_everywhere(void (*turn)(const kind *of, int first, int *failed), const kind *of)
{
    int failed = 1;
    for (int first = 1; failed > 0; first++) {
        cr_assert(first < 200);
        turn(of, first, &failed);
    }
}

static void lock_without(const kind *of, int first, int *failed)
{
    char name[32];
    snprintf(name, sizeof name, NAME "-%d", first);
    rlock *lock = kind_of(of, scene.client, name);
    memory_end(first);
    rlock_status status = rlock_lock(lock);
    *failed = memory_return();
    if (status == RLOCK_OK)
        assert_ok(rlock_unlock(lock));
    else
        assert_status(status, RLOCK_NO_MEMORY);
    assert_free(lock, name);
}

KIND_TEST(that_ends_in_a_lock_leaves_nothing_locked)
{
    end_everywhere(lock_without, of);
}

static void unlock_without(const kind *of, int first, int *failed)
{
    char name[32];
    snprintf(name, sizeof name, NAME "-%d", first);
    rlock *lock = kind_of(of, scene.client, name);
    assert_ok(rlock_lock(lock));
    memory_end(first);
    rlock_status status = rlock_unlock(lock);
    *failed = memory_return();
    cr_assert(status == RLOCK_OK || status == RLOCK_NO_MEMORY || status == RLOCK_UNAVAILABLE, "%s", rlock_strstatus(status));
    assert_free(lock, name);
}

KIND_TEST(that_ends_in_an_unlock_leaves_nothing_locked)
{
    end_everywhere(unlock_without, of);
}

/* Another call that gives back has what was kept for this one. */
Test(memory, that_is_used_up_ends_the_renewal)
{
    rlock *first = lock_of(scene.client, "first"), *second = lock_of(scene.client, NAME);
    actor *beside = actor_start();
    assert_ok(actor_lock(beside, first));
    assert_ok(rlock_lock(second));
    int rule = on_script(&rli_script_lock_release, PROXY_HOLD_REPLY, 1);
    actor_begin_unlock(beside, first);
    cr_assert(proxy_await(scene.proxy, rule, PROXY_ANSWERED, 1, SOON_MS));
    memory_end(1);
    assert_status(rlock_unlock(second), RLOCK_NO_MEMORY);
    cr_assert(memory_return() > 0);
    assert_free(second, NAME);
    proxy_release(scene.proxy, rule);
    assert_ok(actor_finish(beside, SOON_MS));
    actor_end(beside);
}

/* --- locks made of others --- */

#define MEMBERS 3

static const char *const member_names[MEMBERS] = {"a", "b", "c"};

/* The n-th allocation in the lock, or in the unlock, fails, and all after it. */
static void composite_without(rlock *composite, bool in_lock, int first, int *failed)
{
    rlock_status status;
    if (in_lock)
        memory_end(first);
    status = rlock_lock(composite);
    if (in_lock)
        *failed = memory_return();
    cr_assert(status == RLOCK_OK || (in_lock && (status == RLOCK_NO_MEMORY || status == RLOCK_UNAVAILABLE)), "%s",
              rlock_strstatus(status));
    if (status == RLOCK_OK) {
        if (!in_lock)
            memory_end(first);
        status = rlock_unlock(composite);
        if (!in_lock)
            *failed = memory_return();
        cr_assert(status == RLOCK_OK || (!in_lock && status != RLOCK_NOT_OWNER), "%s", rlock_strstatus(status));
    }
    for (int i = 0; i < MEMBERS; i++)
        assert_free(lock_of(scene.client, member_names[i]), member_names[i]);
}

static void end_in_composite(rlock *(*make)(rlock *const *, size_t), bool in_lock)
{
    rlock *members[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        members[i] = lock_of(scene.client, member_names[i]);
    rlock *composite = make(members, MEMBERS);
    int failed = 1;
    for (int first = 1; failed > 0; first++)
        composite_without(composite, in_lock, first, &failed);
    rlock_free(composite);
}

Test(memory, that_ends_in_a_multi_lock_leaves_no_member_locked)
{
    end_in_composite(rlock_get_multi_lock, true);
}

Test(memory, that_ends_in_the_unlock_of_a_multi_lock_leaves_no_member_locked)
{
    end_in_composite(rlock_get_multi_lock, false);
}

Test(memory, that_ends_in_a_red_lock_leaves_no_member_locked)
{
    end_in_composite(rlock_get_red_lock, true);
}

Test(memory, that_ends_in_the_unlock_of_a_red_lock_leaves_no_member_locked)
{
    end_in_composite(rlock_get_red_lock, false);
}

static rlock_status load_name(const char *key, void *arg, void **bytes, size_t *length)
{
    (void)arg;
    *bytes = strdup(key);
    *length = strlen(key);
    return *bytes ? RLOCK_OK : RLOCK_NO_MEMORY;
}

/* Whichever allocation fails: it is said, nothing stays, and the next caller loads. */
Test(memory, that_ends_in_a_singleflight_leaves_no_load_under_way)
{
    rlock_singleflight *flights = rlock_singleflight_new();
    rlock_loaded *loaded = NULL;
    int failed = 1, least = 3; /* the load under way, its bytes, what is shared of them */
    cr_assert(flights != NULL);
    for (int first = 1; failed > 0; first++) {
        memory_end(first);
        rlock_status status = rlock_singleflight_do(flights, "name", NULL, load_name, NULL, &loaded);
        failed = memory_return();
        least -= status == RLOCK_NO_MEMORY;
        cr_assert(status == (failed ? RLOCK_NO_MEMORY : RLOCK_OK) && !loaded == (failed > 0));
        rlock_loaded_free(loaded);
    }
    cr_assert(least <= 0);
    rlock_singleflight_free(flights);
}

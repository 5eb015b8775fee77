/* Locks of every kind, each of their calls cut off everywhere: what is held after it, and by whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"
#include "tests/fault/support/cut_calls.h"
#include "tests/integration/support/stage.h"
#include "tests/support/test.h"

TestSuite(cut_lock, .init = cuts_open, .fini = cuts_close);
#define KIND_SUITE cut_lock

/* --- calls --- */

static rlock_status lock_lease(cell *self)
{
    return rlock_lock_lease(self->lock, CUT_LEASE_MS);
}

static rlock_status try_once(cell *self)
{
    return rlock_try_lock(self->lock, 0, RLOCK_WATCHDOG);
}

static rlock_status try_waiting(cell *self)
{
    return rlock_try_lock(self->lock, 20000, CUT_LEASE_MS);
}

static rlock_status force(cell *self)
{
    bool was_locked;
    rlock_status status = rlock_force_unlock(self->lock, &was_locked);
    self->said = status == RLOCK_OK ? was_locked : -1;
    return status;
}

static rlock_status is_locked(cell *self)
{
    bool locked;
    rlock_status status = rlock_is_locked(self->lock, &locked);
    self->said = status == RLOCK_OK ? locked : -1;
    return status;
}

static rlock_status is_held(cell *self)
{
    bool is;
    rlock_status status = rlock_is_held(self->lock, &is);
    self->said = status == RLOCK_OK ? is : -1;
    return status;
}

static rlock_status hold_count(cell *self)
{
    int count;
    rlock_status status = rlock_get_hold_count(self->lock, &count);
    self->said = status == RLOCK_OK ? count : -1;
    return status;
}

static rlock_status time_to_live(cell *self)
{
    int64_t ms;
    rlock_status status = rlock_remain_time_to_live(self->lock, &ms);
    self->said = status == RLOCK_OK ? ms > 0 && ms <= 60000 : -1;
    return status;
}

/* --- what others have of it --- */

static void theirs(cell *self)
{
    self->theirs = self->operation->of->get(stage.other, self->name);
    assert_ok(rlock_lock(self->theirs));
}

static void a_rivals(cell *self)
{
    self->theirs = (self->operation->of->shared ? &kind_write : self->operation->of)->get(stage.other, self->name);
    assert_ok(rlock_lock(self->theirs));
}

/* The keys of read holds that were forced open stand until their leases end, as with Redisson. */
static void drop_read_holds(cell *self)
{
    static const char drop[] = "for _, key in ipairs(redis.call('KEYS', '{' .. ARGV[1] .. '}:*')) do redis.call('DEL', key) end";
    if (self->operation->of->shared)
        freeReplyObject(server_command(stage.server, "EVAL %s 0 %s", drop, self->name));
}

/* Forced open or not, both go on. */
static void after_force(cell *self, bool done)
{
    assert_status(rlock_unlock(self->theirs), done ? RLOCK_LOST : RLOCK_OK);
    assert_ok(rlock_try_lock(self->lock, 0, CUT_LEASE_MS));
    assert_ok(rlock_unlock(self->lock));
    drop_read_holds(self);
}

static void after_own_force(cell *self, bool done)
{
    (void)done; /* whether it ran or not, the hold may not be relied on any more */
    cr_assert(rlock_valid_for(self->lock) == 0);
    assert_status(rlock_unlock(self->lock), RLOCK_LOST);
    assert_ok(rlock_try_lock(self->lock, 0, CUT_LEASE_MS)); /* the former session's field is replaced */
    assert_ok(rlock_unlock(self->lock));
    drop_read_holds(self);
}

static rlock_status extend(cell *self)
{
    return rlock_extend(self->lock, 2 * CUT_LEASE_MS);
}

/* --- the table --- */

/* Extended or not, it is held as often as before, and given back whole. */
KIND_TEST(is_held_as_before_however_an_extension_is_cut)
{
    const operation table[] = {
        {"extend", of, .call = extend, .says = -1, .had = 1, .has = 1},
    };
    cut_operations(table, COUNT(table));
}

KIND_TEST(is_held_once_or_not_at_all_however_its_acquire_is_cut)
{
    const operation table[] = {
        {"lock", of, .call = lock, .undone = true, .says = -1, .has = 1},
        {"lock with a lease", of, .call = lock_lease, .undone = true, .says = -1, .has = 1},
        {"try", of, .call = try_once, .undone = true, .brief = true, .says = -1, .has = 1},
        {"try with a wait", of, .call = try_waiting, .undone = true, .says = -1, .has = 1},
    };
    cut_operations(table, COUNT(table));
}

KIND_TEST(is_refused_however_that_is_cut)
{
    const operation table[] = {
        {"try", of, a_rivals, try_once, .brief = true, .says = -1, .answer = RLOCK_TIMEOUT,
         .is = held(of->shared ? &kind_write : of, 1), .becomes = held(of->shared ? &kind_write : of, 1)},
    };
    cut_operations(table, COUNT(table));
}

KIND_TEST(is_held_as_often_as_was_answered_however_a_re_entry_is_cut)
{
    if (of->once)
        return; /* is answered here: nothing is sent */
    const operation table[] = {
        {"second lock", of, .call = lock, .says = -1, .had = 1, .has = 2},
        {"second lock with a lease", of, .call = lock_lease, .says = -1, .had = 1, .has = 2},
        {"second try", of, .call = try_once, .brief = true, .says = -1, .had = 1, .has = 2},
    };
    cut_operations(table, COUNT(table));
}

KIND_TEST(is_given_back_once_however_its_release_is_cut)
{
    const operation table[] = {
        {"last unlock", of, .call = unlock, .ends = true, .says = -1, .had = 1, .has = 0},
        {"second unlock", of, .call = unlock, .ends = true, .says = -1, .had = 2, .has = 1},
        {"third unlock", of, .call = unlock, .ends = true, .says = -1, .had = 3, .has = 2},
    };
    cut_operations(table, of->once ? 1 : COUNT(table));
}

KIND_TEST(is_forced_open_at_most_once_however_that_is_cut)
{
    const char *left = of->shared ? "{N}:O:rwlock_timeout:1 string 1\n" : "";
    const operation table[] = {
        {"force", of, theirs, force, after_force, .once = true, .says = 1, .is = held(of, 1), .becomes = left},
        /* The background may release a hold of a read-write lock beside it. */
        {"force of an own hold", of, .call = force, .with = of->force->sha1[RLI_COUNTED], .after = after_own_force, .once = true,
         .freed = true, .says = 1, .had = 1, .becomes = left},
    };
    cut_operations(table, COUNT(table));
}

KIND_TEST(is_known_however_the_question_is_cut)
{
    const operation table[] = {
        {"is locked", of, .call = is_locked, .says = 1, .had = 1, .has = 1},
        {"is held", of, .call = is_held, .says = 1, .had = 1, .has = 1},
        {"hold count", of, .call = hold_count, .says = 1, .had = 1, .has = 1},
        {"time to live", of, .call = time_to_live, .says = 1, .had = 1, .has = 1},
    };
    cut_operations(table, COUNT(table));
}

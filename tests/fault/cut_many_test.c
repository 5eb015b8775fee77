/* Calls that send more than one request, or that belong to two objects, cut off at each of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut_calls.h"
#include "tests/integration/support/stage.h"
#include "tests/support/test.h"

#include <string.h>

TestSuite(cut_many, .init = cuts_open, .fini = cuts_close);

static rlock_status is_held(cell *self)
{
    bool is = false;
    rlock_status status = rlock_is_held(self->lock, &is);
    self->said = status == RLOCK_OK ? is : -1;
    return status;
}

/* --- fenced tokens --- */

/* The first has the token 1. */
static void before_token(cell *self)
{
    assert_ok(rlock_lock_and_get_token(self->lock, &self->token));
    assert_ok(rlock_unlock(self->lock));
}

static rlock_status note_token(cell *self, rlock_status status, uint64_t token)
{
    if (status == RLOCK_OK) {
        uint64_t own = 0;
        assert_ok(rlock_get_token(self->lock, &own));
        int64_t counter = server_integer(stage.server, "GET redisson_lock_token:{%s}", self->name);
        cr_assert(own == token && token > self->token && (int64_t)token <= counter,
                  "token %llu after %llu, the counter is at %lld", (unsigned long long)token,
                  (unsigned long long)self->token, (long long)counter);
    }
    return status;
}

static rlock_status lock_token(cell *self)
{
    uint64_t token = 0;
    rlock_status status = rlock_lock_and_get_token(self->lock, &token);
    return note_token(self, status, token);
}

static rlock_status try_token(cell *self)
{
    uint64_t token = 0;
    rlock_status status = rlock_try_lock_and_get_token(self->lock, 0, CUT_LEASE_MS, &token);
    return note_token(self, status, token);
}

Test(cut_many, fenced_token_rises_however_its_acquire_is_cut)
{
    static const operation table[] = {
        {"lock and token", &kind_fenced, before_token, lock_token, .undone = true, .says = -1, .has = 1},
        {"try and token", &kind_fenced, before_token, try_token, .undone = true, .brief = true, .says = -1, .has = 1},
    };
    cut_operations(table, COUNT(table));
}

/* --- both sides of a read-write lock --- */

#define WRITTEN "N hash O:write=1 mode=write\n"
#define BOTH "N hash O:write=1 O=1 mode=write\n{N}:O:rwlock_timeout:1 string 1\n"
#define READ "N hash O=1 mode=read\n{N}:O:rwlock_timeout:1 string 1\n"

static void written(cell *self)
{
    self->also = kind_write.get(self->client, self->name);
    assert_ok(rlock_lock(self->also));
}

static void both(cell *self)
{
    written(self);
    assert_ok(rlock_lock(self->lock));
}

static rlock_status unlock_write(cell *self)
{
    return rlock_unlock(self->also);
}

static void after_read(cell *self, bool done)
{
    if (done)
        assert_ok(rlock_unlock(self->lock));
    assert_status(rlock_unlock(self->lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(self->also));
}

static void after_read_release(cell *self, bool done)
{
    (void)done;
    assert_status(rlock_unlock(self->lock), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(self->also));
}

static void after_downgrade(cell *self, bool done)
{
    (void)done;
    assert_status(rlock_unlock(self->also), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(self->lock));
}

Test(cut_many, read_under_write_and_downgrade_leave_the_other_side_however_they_are_cut)
{
    static const operation table[] = {
        {"read under write", &kind_read, written, lock, after_read, .undone = true, .says = -1, .is = WRITTEN,
         .becomes = BOTH},
        {"end of a read under write", &kind_read, both, unlock, after_read_release, .ends = true, .says = -1,
         .is = BOTH, .becomes = WRITTEN},
        {"downgrade", &kind_read, both, unlock_write, after_downgrade, .ends = true, .says = -1, .is = BOTH,
         .becomes = READ},
    };
    cut_operations(table, COUNT(table));
}

/* --- multi lock and red lock --- */

#define TWO "N hash O=1\nN:b hash O=1\n"
#define TOKENS "N string O\nN:b string O\nN:c string O\n"
#define PART "N:0 hash O=1\n"
#define THREE "N hash O=1\nN:b hash O=1\nN:c hash O=1\n"

static void make_multi(cell *self)
{
    rlock *members[2] = {rlock_get_lock(self->client, self->name), rlock_get_lock(self->client, self->second)};
    self->lock = rlock_get_multi_lock(members, 2);
    rlock_free(members[0]);
    rlock_free(members[1]);
    cr_assert(self->lock != NULL, "%s", rlock_last_error());
}

static void make_red_of(cell *self, rlock *(*get)(rlock_client *client, const char *name))
{
    rlock *members[3] = {get(self->client, self->name), get(self->client, self->second), get(self->client, self->third)};
    self->lock = rlock_get_red_lock(members, 3);
    for (int i = 0; i < 3; i++)
        rlock_free(members[i]);
    cr_assert(self->lock != NULL, "%s", rlock_last_error());
}

static void make_red(cell *self)
{
    make_red_of(self, rlock_get_lock);
}

static void make_redlock(cell *self)
{
    make_red_of(self, rlock_get_token_lock);
}

/* Of one part, so that it is known which one it takes. */
static void make_sharded(cell *self)
{
    self->lock = rlock_get_sharded_lock(self->client, self->name, 1);
    cr_assert(self->lock != NULL, "%s", rlock_last_error());
}

static void multi_held(cell *self)
{
    make_multi(self);
    assert_ok(rlock_lock(self->lock));
}

static void red_held(cell *self)
{
    make_red(self);
    assert_ok(rlock_lock(self->lock));
}

static void sharded_held(cell *self)
{
    make_sharded(self);
    assert_ok(rlock_lock(self->lock));
}

static void after_acquire(cell *self, bool done)
{
    if (done)
        assert_ok(rlock_unlock(self->lock));
    assert_status(rlock_unlock(self->lock), RLOCK_NOT_OWNER);
}

static void after_release(cell *self, bool done)
{
    (void)done;
    assert_status(rlock_unlock(self->lock), RLOCK_NOT_OWNER);
}

static void after_question(cell *self, bool done)
{
    (void)done;
    assert_ok(rlock_unlock(self->lock));
}

Test(cut_many, multi_lock_is_had_whole_or_not_at_all_however_it_is_cut)
{
    static const operation table[] = {
        {"multi lock", NULL, make_multi, lock, after_acquire, .undone = true, .says = -1, .is = "", .becomes = TWO},
        {"multi try", NULL, make_multi, try_lock, after_acquire, .undone = true, .brief = true, .says = -1, .is = "", .becomes = TWO},
        {"multi unlock", NULL, multi_held, unlock, after_release, .ends = true, .brief = true, .says = -1, .is = TWO, .becomes = ""},
        {"multi question", NULL, multi_held, is_held, after_question, .says = 1, .is = TWO, .becomes = TWO},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_many, red_lock_is_had_by_all_its_members_however_it_is_cut)
{
    static const operation table[] = {
        {"red lock", NULL, make_red, lock, after_acquire, .undone = true, .most = true, .says = -1, .is = "",
         .becomes = THREE},
        {"red try", NULL, make_red, try_lock, after_acquire, .undone = true, .most = true, .says = -1, .is = "",
         .becomes = THREE},
        {"red unlock", NULL, red_held, unlock, after_release, .ends = true, .most = true, .says = -1, .is = THREE,
         .becomes = ""},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_many, red_lock_over_token_locks_is_had_by_all_its_members_however_it_is_cut)
{
    static const operation table[] = {
        {"redlock", NULL, make_redlock, lock, after_acquire, .undone = true, .most = true, .says = -1, .is = "",
         .becomes = TOKENS},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_many, sharded_lock_is_had_whole_or_not_at_all_however_it_is_cut)
{
    static const operation table[] = {
        {"sharded lock", NULL, make_sharded, lock, after_acquire, .undone = true, .says = -1, .is = "", .becomes = PART},
        {"sharded try", NULL, make_sharded, try_lock, after_acquire, .undone = true, .brief = true, .says = -1, .is = "",
         .becomes = PART},
        {"sharded unlock", NULL, sharded_held, unlock, after_release, .ends = true, .brief = true, .says = -1, .is = PART,
         .becomes = ""},
        {"sharded question", NULL, sharded_held, is_held, after_question, .says = 1, .is = PART, .becomes = PART},
    };
    cut_operations(table, COUNT(table));
}

/* --- a look --- */

static rlock_status inspect(cell *self)
{
    rlock_inspection *seen = NULL;
    rlock_status status = rlock_inspect(self->client, self->name, &seen);
    if (status == RLOCK_OK) {
        self->said = strcmp(seen->kind, "lock") == 0 && seen->holder_count == 1 ? seen->holders[0].hold_count : -2;
        rlock_inspection_free(seen);
    }
    return status;
}

Test(cut_many, look_is_repeated_however_it_is_cut)
{
    static const operation table[] = {
        {"inspect", &kind_reentrant, NULL, inspect, .says = 2, .had = 2, .has = 2},
    };
    cut_operations(table, COUNT(table));
}

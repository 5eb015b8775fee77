/* Semaphores, permits and latches, each of their calls cut off everywhere: what can be repeated is, the rest is
 * carried out at most once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut_calls.h"
#include "tests/integration/support/stage.h"
#include "tests/support/test.h"

#include <string.h>

TestSuite(cut_object, .init = cuts_open, .fini = cuts_close);

#define LEASE_MS 60000

/* What an out-parameter says counts with RLOCK_OK alone. */
static rlock_status say(cell *self, rlock_status status, int64_t value)
{
    self->said = status == RLOCK_OK ? value : -1;
    return status;
}

/* --- the semaphore --- */

static rlock_status set(cell *self)
{
    bool was = false;
    rlock_status status = rlock_semaphore_try_set_permits(self->semaphore, 5, &was);
    return say(self, status, was);
}

static rlock_status set_ttl(cell *self)
{
    bool was = false;
    rlock_status status = rlock_semaphore_try_set_permits_ttl(self->semaphore, 5, LEASE_MS, &was);
    return say(self, status, was);
}

static rlock_status acquire(cell *self)
{
    return rlock_semaphore_acquire(self->semaphore, 2);
}

static rlock_status try_too_many(cell *self)
{
    return rlock_semaphore_try_acquire(self->semaphore, 6, 0);
}

static rlock_status release_if_exists(cell *self)
{
    bool released = false;
    rlock_status status = rlock_semaphore_release_if_exists(self->semaphore, 2, &released);
    return say(self, status, released);
}

static rlock_status add(cell *self)
{
    return rlock_semaphore_add_permits(self->semaphore, -3);
}

static rlock_status drain(cell *self)
{
    int permits = -1;
    rlock_status status = rlock_semaphore_drain_permits(self->semaphore, &permits);
    return say(self, status, permits);
}

static rlock_status available_now(cell *self)
{
    int permits = -1;
    rlock_status status = rlock_semaphore_available_permits(self->semaphore, &permits);
    return say(self, status, permits);
}

static rlock_status delete(cell *self)
{
    bool deleted = false;
    rlock_status status = rlock_semaphore_delete(self->semaphore, &deleted);
    return say(self, status, deleted);
}

/* The client goes on with it. */
static void after_semaphore(cell *self, bool done)
{
    int before = -1, after = -1;
    (void)done;
    assert_ok(rlock_semaphore_available_permits(self->semaphore, &before));
    assert_ok(rlock_semaphore_release(self->semaphore, 1));
    assert_ok(rlock_semaphore_try_acquire(self->semaphore, 1, 0));
    assert_ok(rlock_semaphore_available_permits(self->semaphore, &after));
    cr_assert(before == after, "%d and then %d are available", before, after);
    past(self, "DEL %s");
}

Test(cut_object, semaphore_counts_no_permit_twice_however_a_call_is_cut)
{
    static const operation table[] = {
        {"set", NULL, NULL, set, after_semaphore, .once = true, .says = 1, .is = "", .becomes = "N string 5\n"},
        {"set with a time", NULL, NULL, set_ttl, after_semaphore, .once = true, .says = 1, .is = "",
         .becomes = "N string 5\n"},
        {"acquire", NULL, five, acquire, after_semaphore, .once = true, .says = -1, .is = "N string 5\n",
         .becomes = "N string 3\n"},
        {"try", NULL, five, try_acquire, after_semaphore, .once = true, .says = -1, .is = "N string 5\n",
         .becomes = "N string 3\n"},
        {"try too many", NULL, five, try_too_many, after_semaphore, .once = true, .answer = RLOCK_TIMEOUT, .says = -1,
         .is = "N string 5\n", .becomes = "N string 5\n"},
        {"release", NULL, five, release, after_semaphore, .once = true, .says = -1, .is = "N string 5\n",
         .becomes = "N string 7\n"},
        {"release if exists", NULL, five, release_if_exists, after_semaphore, .once = true, .says = 1,
         .is = "N string 5\n", .becomes = "N string 7\n"},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_object, semaphore_changes_its_number_once_however_a_call_is_cut)
{
    static const operation table[] = {
        {"add", NULL, five, add, after_semaphore, .once = true, .says = -1, .is = "N string 5\n",
         .becomes = "N string 2\n"},
        {"drain", NULL, five, drain, after_semaphore, .once = true, .says = 5, .is = "N string 5\n",
         .becomes = "N string 0\n"},
        {"available", NULL, five, available_now, after_semaphore, .says = 5, .is = "N string 5\n",
         .becomes = "N string 5\n"},
        {"delete", NULL, five, delete, after_semaphore, .once = true, .says = 1, .is = "N string 5\n", .becomes = ""},
    };
    cut_operations(table, COUNT(table));
}

/* --- permits --- */

static void five_permits(cell *self)
{
    past(self, "SET %s 5");
}

/* By another client, which is not cut off. */
static void two_taken(cell *self)
{
    five_permits(self);
    rlock_permit_semaphore *others = rlock_get_permit_expirable_semaphore(stage.other, self->name);
    assert_ok(rlock_permit_semaphore_acquire_many(others, 2, LEASE_MS, self->permit));
    rlock_permit_semaphore_free(others);
}

static rlock_status permit_try_set(cell *self)
{
    bool was = false;
    rlock_status status = rlock_permit_semaphore_try_set_permits(self->permits, 5, &was);
    return say(self, status, was);
}

static rlock_status permit_set(cell *self)
{
    return rlock_permit_semaphore_set_permits(self->permits, 9);
}

static rlock_status permit_add(cell *self)
{
    return rlock_permit_semaphore_add_permits(self->permits, 2);
}

static rlock_status permit_acquire(cell *self)
{
    return rlock_permit_semaphore_acquire(self->permits, LEASE_MS, self->permit);
}

static rlock_status permit_acquire_for_ever(cell *self)
{
    return rlock_permit_semaphore_acquire_many(self->permits, 2, RLOCK_PERMIT_FOREVER, self->permit);
}

static rlock_status permit_try(cell *self)
{
    return rlock_permit_semaphore_try_acquire_many(self->permits, 2, 0, LEASE_MS, self->permit);
}

static rlock_status permit_try_too_many(cell *self)
{
    rlock_permit many[6];
    return rlock_permit_semaphore_try_acquire_many(self->permits, 6, 0, LEASE_MS, many);
}

static rlock_status permit_release(cell *self)
{
    return rlock_permit_semaphore_release(self->permits, self->permit[0].id);
}

static rlock_status permit_try_release(cell *self)
{
    bool released = false;
    rlock_status status = rlock_permit_semaphore_try_release(self->permits, self->permit[0].id, &released);
    return say(self, status, released);
}

static rlock_status permit_release_many(cell *self)
{
    return rlock_permit_semaphore_release_many(self->permits, 2, self->permit);
}

static rlock_status permit_try_release_many(cell *self)
{
    int released = -1;
    rlock_status status = rlock_permit_semaphore_try_release_many(self->permits, 2, self->permit, &released);
    return say(self, status, released);
}

static rlock_status permit_update(cell *self)
{
    bool updated = false;
    rlock_status status = rlock_permit_semaphore_update_lease_time(self->permits, self->permit[0].id, 30000, &updated);
    return say(self, status, updated);
}

static rlock_status permit_lease(cell *self)
{
    int64_t ms = -1;
    rlock_status status = rlock_permit_semaphore_get_lease_time(self->permits, self->permit[0].id, &ms);
    return say(self, status, ms > 0 && ms <= LEASE_MS);
}

static rlock_status permit_available(cell *self)
{
    int permits = -1;
    rlock_status status = rlock_permit_semaphore_available_permits(self->permits, &permits);
    return say(self, status, permits);
}

static rlock_status permit_acquired(cell *self)
{
    int permits = -1;
    rlock_status status = rlock_permit_semaphore_acquired_permits(self->permits, &permits);
    return say(self, status, permits);
}

static rlock_status permit_total(cell *self)
{
    int permits = -1;
    rlock_status status = rlock_permit_semaphore_get_permits(self->permits, &permits);
    return say(self, status, permits);
}

static rlock_status permit_delete(cell *self)
{
    bool deleted = false;
    rlock_status status = rlock_permit_semaphore_delete(self->permits, &deleted);
    return say(self, status, deleted);
}

static void after_permits(cell *self, bool done)
{
    int available = -1, taken = -1, total = -1;
    (void)done;
    assert_ok(rlock_permit_semaphore_available_permits(self->permits, &available));
    assert_ok(rlock_permit_semaphore_acquired_permits(self->permits, &taken));
    assert_ok(rlock_permit_semaphore_get_permits(self->permits, &total));
    cr_assert(available + taken == total);
    past(self, "DEL %s");
    past(self, "DEL {%s}:timeout");
}

/* The permits that the call gave are there, and are given back. */
static void after_acquire(cell *self, bool done)
{
    for (int i = 0; done && i < 2 && self->permit[i].id[0]; i++)
        assert_ok(rlock_permit_semaphore_release(self->permits, self->permit[i].id));
    after_permits(self, done);
}

#define TAKEN "N string 3\n{N}:timeout zset 2\n"

Test(cut_object, permits_are_taken_once_or_not_at_all_however_an_acquire_is_cut)
{
    static const operation table[] = {
        {"acquire", NULL, five_permits, permit_acquire, after_acquire, .undone = true, .says = -1, .is = FIVE,
         .becomes = "N string 4\n{N}:timeout zset 1\n"},
        {"acquire for ever", NULL, five_permits, permit_acquire_for_ever, after_acquire, .undone = true, .says = -1,
         .is = FIVE, .becomes = TAKEN},
        {"try", NULL, five_permits, permit_try, after_acquire, .undone = true, .brief = true, .says = -1,
         .is = FIVE, .becomes = TAKEN},
        {"try too many", NULL, five_permits, permit_try_too_many, after_permits, .undone = true, .brief = true,
         .answer = RLOCK_TIMEOUT, .says = -1, .is = FIVE, .becomes = FIVE},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_object, permits_are_given_back_once_however_a_release_is_cut)
{
    static const operation table[] = {
        {"release", NULL, two_taken, permit_release, after_permits, .says = -1, .is = TAKEN,
         .becomes = "N string 4\n{N}:timeout zset 1\n"},
        {"try release", NULL, two_taken, permit_try_release, after_permits, .says = 1, .is = TAKEN,
         .becomes = "N string 4\n{N}:timeout zset 1\n"},
        {"release many", NULL, two_taken, permit_release_many, after_permits, .says = -1, .is = TAKEN, .becomes = FIVE},
        {"try release many", NULL, two_taken, permit_try_release_many, after_permits, .says = 2, .is = TAKEN,
         .becomes = FIVE},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_object, permits_change_their_number_once_however_a_call_is_cut)
{
    static const operation table[] = {
        {"try set", NULL, NULL, permit_try_set, after_permits, .once = true, .says = 1, .is = "", .becomes = FIVE},
        {"set", NULL, two_taken, permit_set, after_permits, .once = true, .says = -1, .is = TAKEN,
         .becomes = "N string 7\n{N}:timeout zset 2\n"},
        {"add", NULL, two_taken, permit_add, after_permits, .once = true, .says = -1, .is = TAKEN,
         .becomes = "N string 5\n{N}:timeout zset 2\n"},
        {"delete", NULL, two_taken, permit_delete, after_permits, .once = true, .says = 1, .is = TAKEN, .becomes = ""},
    };
    cut_operations(table, COUNT(table));
}

Test(cut_object, permits_are_known_however_a_question_is_cut)
{
    static const operation table[] = {
        {"update lease", NULL, two_taken, permit_update, after_permits, .says = 1, .is = TAKEN, .becomes = TAKEN},
        {"lease", NULL, two_taken, permit_lease, after_permits, .says = 1, .is = TAKEN, .becomes = TAKEN},
        {"available", NULL, two_taken, permit_available, after_permits, .says = 3, .is = TAKEN, .becomes = TAKEN},
        {"acquired", NULL, two_taken, permit_acquired, after_permits, .says = 2, .is = TAKEN, .becomes = TAKEN},
        {"total", NULL, two_taken, permit_total, after_permits, .says = 5, .is = TAKEN, .becomes = TAKEN},
    };
    cut_operations(table, COUNT(table));
}

/* --- the latch --- */

static void count_of_three(cell *self)
{
    past(self, "SET %s 3");
}

static void count_of_one(cell *self)
{
    past(self, "SET %s 1");
}

static rlock_status set_count(cell *self)
{
    bool was = false;
    rlock_status status = rlock_count_down_latch_try_set_count(self->latch, 3, &was);
    return say(self, status, was);
}

static rlock_status count_down(cell *self)
{
    return rlock_count_down_latch_count_down(self->latch);
}

static rlock_status get_count(cell *self)
{
    int64_t count = -1;
    rlock_status status = rlock_count_down_latch_get_count(self->latch, &count);
    return say(self, status, count);
}

static rlock_status try_await(cell *self)
{
    return rlock_count_down_latch_try_await(self->latch, 0);
}

static rlock_status await(cell *self)
{
    return rlock_count_down_latch_await(self->latch);
}

static rlock_status delete_latch(cell *self)
{
    bool deleted = false;
    rlock_status status = rlock_count_down_latch_delete(self->latch, &deleted);
    return say(self, status, deleted);
}

static void after_latch(cell *self, bool done)
{
    int64_t count = -1;
    (void)done;
    assert_ok(rlock_count_down_latch_get_count(self->latch, &count));
    assert_status(rlock_count_down_latch_try_await(self->latch, 0), count > 0 ? RLOCK_TIMEOUT : RLOCK_OK);
    past(self, "DEL %s");
}

Test(cut_object, latch_counts_once_however_a_call_is_cut)
{
    static const operation table[] = {
        {"set count", NULL, NULL, set_count, after_latch, .once = true, .says = 1, .is = "", .becomes = "N string 3\n"},
        {"count down", NULL, count_of_three, count_down, after_latch, .once = true, .says = -1, .is = "N string 3\n",
         .becomes = "N string 2\n"},
        {"count down to 0", NULL, count_of_one, count_down, after_latch, .once = true, .says = -1,
         .is = "N string 1\n", .becomes = ""},
        {"count", NULL, count_of_three, get_count, after_latch, .says = 3, .is = "N string 3\n",
         .becomes = "N string 3\n"},
        {"try await", NULL, count_of_three, try_await, after_latch, .brief = true, .answer = RLOCK_TIMEOUT, .says = -1,
         .is = "N string 3\n", .becomes = "N string 3\n"},
        {"await", NULL, NULL, await, after_latch, .says = -1, .is = "", .becomes = ""},
        {"delete", NULL, count_of_three, delete_latch, after_latch, .once = true, .says = 1, .is = "N string 3\n",
         .becomes = ""},
    };
    cut_operations(table, COUNT(table));
}

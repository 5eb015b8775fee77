/* Bad input to what the other kinds add: each mistake is answered with its status and its words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"

#include <string.h>

TestSuite(input_kinds, .init = stage_open, .fini = stage_close);

#define NAME "order"

typedef rlock *getter(rlock_client *client, const char *name);

static rlock *get_spin_with(rlock_client *client, const char *name)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_INIT;
    return rlock_get_spin_lock_with(client, name, &back_off);
}

Test(input_kinds, null_client_or_name_makes_no_handle)
{
    static getter *const getters[] = {rlock_get_spin_lock, get_spin_with, rlock_get_fenced_lock,
                                      rlock_get_non_reentrant_lock, rlock_get_fair_lock,
                                      rlock_get_non_reentrant_fair_lock};
    for (size_t i = 0; i < sizeof getters / sizeof *getters; i++) {
        cr_assert(getters[i](NULL, NAME) == NULL);
        assert_error("client is NULL");
        cr_assert(getters[i](stage.client, NULL) == NULL);
        assert_error("name is NULL");
        cr_assert(getters[i](stage.client, "") == NULL);
        assert_error("name is empty");
    }
    cr_assert(rlock_get_read_write_lock(NULL, NAME) == NULL);
    assert_error("client is NULL");
    cr_assert(rlock_get_read_write_lock(stage.client, NULL) == NULL);
    assert_error("read-write lock's name is NULL");
    cr_assert(rlock_get_read_write_lock(stage.client, "") == NULL);
    assert_error("read-write lock's name is empty");
}

Test(input_kinds, null_pair_has_no_sides)
{
    cr_assert(rlock_get_read_write_lock(stage.client, "") == NULL);
    cr_assert(rlock_read_lock(NULL) == NULL);
    assert_error("the read-write lock is NULL; the last failure", "name is empty");
    cr_assert(rlock_write_lock(NULL) == NULL);
    assert_error("the read-write lock is NULL; the last failure", "name is empty");
    cr_assert(rlock_read_write_lock_name(NULL) == NULL);
    rlock_read_write_lock_free(NULL);
}

Test(input_kinds, null_place_for_a_token_is_invalid)
{
    int64_t before = scripts_run();
    for (int i = 0; i < KINDS; i++) {
        rlock *lock = kind_of(all_kinds[i], stage.client, NAME);
        assert_status(rlock_lock_and_get_token(lock, NULL), RLOCK_INVALID);
        assert_status(rlock_try_lock_and_get_token(lock, 0, 1000, NULL), RLOCK_INVALID);
        assert_status(rlock_get_token(lock, NULL), RLOCK_INVALID);
        assert_error("token");
    }
    cr_assert(scripts_run() == before, "the server was asked");
}

Test(input_kinds, null_lock_has_no_token)
{
    uint64_t token = 77;
    assert_status(rlock_lock_and_get_token(NULL, &token), RLOCK_INVALID);
    assert_status(rlock_try_lock_and_get_token(NULL, 0, 1000, &token), RLOCK_INVALID);
    assert_status(rlock_get_token(NULL, &token), RLOCK_INVALID);
    assert_error("lock is NULL");
    cr_assert(token == 77);
}

/* Refused before anything is sent, by every kind and by the calls that give a token. */
Test(input_kinds, lease_out_of_range_is_refused)
{
    static const int64_t leases_ms[] = {0, -2, INT64_MIN, RLOCK_LEASE_MAX_MS + 1, INT64_MAX};
    int64_t before = scripts_run();
    for (size_t n = 0; n < sizeof leases_ms / sizeof *leases_ms; n++) {
        uint64_t token = 77;
        for (int i = 0; i < KINDS; i++) {
            rlock *lock = kind_of(all_kinds[i], stage.client, NAME);
            assert_status(rlock_lock_lease(lock, leases_ms[n]), RLOCK_INVALID);
            assert_status(rlock_try_lock(lock, 0, leases_ms[n]), RLOCK_INVALID);
            assert_error("lease");
        }
        rlock *lock = kind_of(&kind_fenced, stage.client, NAME);
        assert_status(rlock_try_lock_and_get_token(lock, 0, leases_ms[n], &token), RLOCK_INVALID);
        cr_assert(token == 77);
    }
    cr_assert(scripts_run() == before, "the server was asked");
    assert_no_keys();
}

/* The longest lease, as each kind gives it: no PTTL overflows. */
Test(input_kinds, longest_lease_is_taken)
{
    for (int i = 0; i < KINDS; i++) {
        rlock *lock = kind_of(all_kinds[i], stage.client, all_kinds[i]->name);
        assert_ok(rlock_lock_lease(lock, RLOCK_LEASE_MAX_MS));
        assert_between(pttl_of(kind_key(all_kinds[i], all_kinds[i]->name)), RLOCK_LEASE_MAX_MS - 5000, RLOCK_LEASE_MAX_MS);
        cr_assert(rlock_valid_for(lock) > RLOCK_LEASE_MAX_MS / 100 * 98);
        assert_ok(rlock_unlock(lock));
        cr_assert(server_integer(stage.server, "EXISTS %s", all_kinds[i]->name) == 0);
    }
}

/* The shortest lease ends before anybody can use it, but it is granted, and ends. */
TimedTest(input_kinds, shortest_lease_is_taken)
{
    for (int i = 0; i < KINDS; i++) {
        rlock *lock = kind_of(all_kinds[i], stage.client, all_kinds[i]->name);
        assert_ok(rlock_lock_lease(lock, 1));
        cr_assert(server_wait_exists(stage.server, all_kinds[i]->name, false, 5000));
        assert_status(rlock_unlock(lock), RLOCK_LOST);
    }
}

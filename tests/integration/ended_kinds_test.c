/* Handles of every kind after their client was closed, and in a forked child: told so by every call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/child.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(ended_kinds, .init = stage_quick, .fini = stage_close);

static rlock *locks[KINDS], *views[KINDS];
static rlock_read_write_lock *pair;

static void make_all(void)
{
    pair = rlock_get_read_write_lock(stage.client, "pair");
    cr_assert(pair != NULL);
    for (int i = 0; i < KINDS; i++) {
        locks[i] = kind_of(all_kinds[i], stage.client, all_kinds[i]->name);
        views[i] = owned_by(locks[i], 3);
    }
}

/* NULL: every call answered `expected`; else the text of one that did not. */
static const char *call_everything(rlock_status expected)
{
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    for (int i = 0; i < 2 * KINDS; i++) {
        rlock *lock = i % 2 ? views[i / 2] : locks[i / 2];
        bool flag = true;
        int count = 77;
        int64_t ms = 77;
        uint64_t token = 77;
        child_check(rlock_lock(lock) == expected);
        child_check(rlock_lock_lease(lock, 1000) == expected);
        child_check(rlock_try_lock(lock, 0, 1000) == expected);
        child_check(rlock_try_lock(lock, 1000, RLOCK_WATCHDOG) == expected);
        child_check(rlock_lock_with(lock, &options) == expected);
        child_check(rlock_unlock(lock) == expected);
        child_check(rlock_force_unlock(lock, &flag) == expected);
        child_check(rlock_is_locked(lock, &flag) == expected);
        child_check(rlock_is_held(lock, &flag) == expected);
        child_check(rlock_get_hold_count(lock, &count) == expected);
        child_check(rlock_remain_time_to_live(lock, &ms) == expected);
        child_check(rlock_lock_and_get_token(lock, &token) == expected);
        child_check(rlock_try_lock_and_get_token(lock, 0, 1000, &token) == expected);
        child_check(rlock_get_token(lock, &token) == expected);
        child_check(rlock_valid_for(lock) == 0);
        child_check(rlock_for_owner(lock, 1) == NULL);
        child_check(strcmp(rlock_name(lock), all_kinds[i / 2]->name) == 0);
        child_check(flag && count == 77 && ms == 77 && token == 77);
    }
    child_check(rlock_read_lock(pair) == NULL && rlock_write_lock(pair) == NULL);
    child_check(strcmp(rlock_read_write_lock_name(pair), "pair") == 0);
    return NULL;
}

static const char *make_more(void)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_INIT;
    for (int i = 0; i < KINDS; i++)
        child_check(all_kinds[i]->get(stage.client, "more") == NULL);
    child_check(rlock_get_spin_lock_with(stage.client, "more", &back_off) == NULL);
    child_check(rlock_get_read_write_lock(stage.client, "more") == NULL);
    return NULL;
}

Test(ended_kinds, of_a_closed_client_say_so)
{
    make_all();
    for (int i = 0; i < KINDS; i++)
        assert_ok(rlock_lock(locks[i]));
    stage_close_client(stage.client);
    const char *wrong = call_everything(RLOCK_CLOSED);
    cr_assert(!wrong, "%s", wrong);
    rlock_read_write_lock_free(pair);
}

/* The waits of every kind end at once; so do those of a spin lock between two questions. */
Test(ended_kinds, waits_of_a_closed_client_end_at_once)
{
    actor *waiters[KINDS];
    make_all();
    for (int i = 0; i < KINDS; i++) {
        rlock *rival = rival_of(all_kinds[i], stage.other, all_kinds[i]->name);
        assert_ok(rlock_lock(rival));
        waiters[i] = actor_start();
        actor_begin_lock(waiters[i], locks[i]);
        cr_assert(actor_asleep(waiters[i], 5000) || all_kinds[i] == &kind_spin);
    }
    int64_t since_ms = now_ms();
    stage_close_client(stage.client);
    for (int i = 0; i < KINDS; i++) {
        assert_status(actor_finish(waiters[i], 5000), RLOCK_CLOSED);
        assert_between(actor_ended_at(waiters[i]) - since_ms, 0, at_most_ms(1000));
        actor_end(waiters[i]);
    }
    cr_assert(wait_no_channels(5000));
    rlock_read_write_lock_free(pair);
}

/* What they hold stays until its TTL ends. */
Test(ended_kinds, of_a_closed_client_leave_their_locks_to_the_ttl)
{
    make_all();
    for (int i = 0; i < KINDS; i++)
        assert_ok(rlock_lock(locks[i]));
    char *before = server_keyspace(stage.server);
    stage_close_client(stage.client);
    char *after = server_keyspace(stage.server);
    cr_assert(strcmp(before, after) == 0, "was:\n%s\nis:\n%s", before, after);
    for (int i = 0; i < KINDS; i++)
        cr_assert(server_wait_exists(stage.server, all_kinds[i]->name, false, 10000));
    free(before);
    free(after);
    rlock_read_write_lock_free(pair);
}

static const char *call_in_child(child *self)
{
    (void)self;
    const char *wrong = call_everything(RLOCK_FORKED);
    if (!wrong)
        wrong = make_more();
    for (int i = 0; i < KINDS; i++) {
        rlock_free(views[i]);
        rlock_free(locks[i]);
    }
    rlock_read_write_lock_free(pair);
    rlock_client_close(stage.client);
    return wrong;
}

/* And its parent's holds stay, are renewed, and are unlocked. */
Test(ended_kinds, in_a_forked_child_say_so_and_harm_nothing)
{
    make_all();
    for (int i = 0; i < KINDS; i++)
        assert_ok(rlock_lock(locks[i]));
    child_await_rest();
    in_child(call_in_child);
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(20)) {
        for (int i = 0; i < KINDS; i++)
            cr_assert(rlock_valid_for(locks[i]) > 0 && pttl_of(kind_key(all_kinds[i], all_kinds[i]->name)) > 0);
    }
    for (int i = 0; i < KINDS; i++)
        assert_ok(rlock_unlock(locks[i]));
    rlock_read_write_lock_free(pair);
}

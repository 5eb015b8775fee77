/* The multi lock: all of its members or none, on one server or several, whatever comes between. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/round.h"
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/crowd.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/places.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdlib.h>
#include <string.h>

TestSuite(multi_lock, .init = places_open, .fini = places_close);
/* With clients that soon give up on a server. */
TestSuite(multi_lock_outage, .init = places_brief, .fini = places_close);

static const char *const names[] = {"order", "stock", "customer"};
#define NAMES (sizeof names / sizeof *names)

static rlock *multi_of(rlock_client *client)
{
    return made_of_names(rlock_get_multi_lock, client, names, NAMES);
}

static rlock *pair_of(rlock_client *client, const char *first, const char *second)
{
    const char *const both[] = {first, second};
    return made_of_names(rlock_get_multi_lock, client, both, 2);
}

/* --- holding --- */

Test(multi_lock, holds_all_its_members_for_the_lease_at_most)
{
    rlock *multi = multi_of(stage.client);
    assert_ok(rlock_lock_lease(multi, 10000));
    cr_assert(is_held(multi));
    for (size_t i = 0; i < NAMES; i++) {
        cr_assert(is_held(lock_of(stage.client, names[i])));
        assert_between(pttl_of(names[i]), 10000 - at_most_ms(1100), 10000);
    }
    assert_between(rlock_valid_for(multi), 9900 - at_most_ms(1900), 9900);
    assert_ok(rlock_unlock(multi));
    cr_assert(!is_held(multi) && rlock_valid_for(multi) == 0);
    assert_no_keys();
}

/* Held as long as all of its members are. */
Test(multi_lock, is_not_held_when_one_member_is_not)
{
    rlock *multi = multi_of(stage.client);
    assert_ok(rlock_lock(lock_of(stage.client, names[0])));
    assert_ok(rlock_lock(lock_of(stage.client, names[2])));
    cr_assert(!is_held(multi) && rlock_valid_for(multi) == 0);
    assert_ok(rlock_lock(lock_of(stage.client, names[1])));
    cr_assert(is_held(multi) && rlock_valid_for(multi) > 0);
}

/* Redisson's lines: tryLock(-1, 10 s) by ten threads at once. */
Test(multi_lock, is_had_by_one_of_ten_threads_that_try_once)
{
    enum { THREADS = 10 };
    actor *actors[THREADS];
    int had = 0;
    for (int i = 0; i < THREADS; i++)
        actors[i] = actor_start();
    int64_t since_ms = now_ms();
    for (int i = 0; i < THREADS; i++)
        actor_begin_try(actors[i], multi_of(i % 2 ? stage.client : stage.other), -1, 10000);
    for (int i = 0; i < THREADS; i++) {
        rlock_status status = actor_finish(actors[i], 5000);
        had += status == RLOCK_OK;
        if (status != RLOCK_OK)
            assert_status(status, RLOCK_TIMEOUT);
    }
    assert_between(now_ms() - since_ms, 0, at_most_ms(1000));
    cr_assert(had == 1, "%d threads have it", had);
    for (int i = 0; i < THREADS; i++)
        actor_end(actors[i]);
}

Test(multi_lock, is_had_at_once_when_free_however_short_the_wait)
{
    static const int64_t waits_ms[] = {-1, 0, 1, 1000, RLOCK_FOREVER};
    rlock *multi = multi_of(stage.client);
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        assert_ok(rlock_try_lock(multi, waits_ms[i], RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(multi));
        assert_ok(rlock_try_lock(multi, waits_ms[i], 5000));
        assert_ok(rlock_unlock(multi));
    }
    assert_no_keys();
}

Test(multi_lock, is_reentrant)
{
    rlock *multi = multi_of(stage.client);
    assert_ok(rlock_lock(multi));
    assert_ok(rlock_try_lock(multi, 0, 60000));
    int count = 0;
    assert_ok(rlock_get_hold_count(lock_of(stage.client, names[1]), &count));
    cr_assert(count == 2);
    assert_ok(rlock_unlock(multi));
    cr_assert(is_held(multi));
    assert_ok(rlock_unlock(multi));
    assert_status(rlock_unlock(multi), RLOCK_NOT_OWNER);
    assert_no_keys();
}

TimedTest(multi_lock, is_kept_by_the_watchdog_and_freed_by_its_unlock)
{
    rlock_client *quick = stage_client(STAGE_QUICK);
    rlock *multi = multi_of(quick);
    assert_ok(rlock_lock(multi));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(20)) {
        cr_assert(rlock_valid_for(multi) > 0);
        for (size_t i = 0; i < NAMES; i++)
            cr_assert(pttl_of(names[i]) > 0);
    }
    assert_ok(rlock_unlock(multi));
    assert_no_keys();
}

/* The program's handles, and the array, are its own. */
TimedTest(multi_lock, needs_neither_the_handles_nor_the_array_it_was_made_of)
{
    rlock **locks = malloc(2 * sizeof *locks);
    locks[0] = rlock_get_lock(stage.client, "order");
    locks[1] = rlock_get_lock(stage.client, "stock");
    rlock *multi = made_of(rlock_get_multi_lock, locks, 2);
    rlock_free(locks[0]);
    rlock_free(locks[1]);
    free(locks);
    assert_ok(rlock_lock(multi));
    cr_assert(held_at(0, "order") && held_at(0, "stock"));
    rlock *named = owned_by(multi, 1);
    assert_status(rlock_try_lock(named, 0, 1000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(multi));
    assert_no_keys();
}

Test(multi_lock, is_held_by_its_named_owner)
{
    rlock *multi = multi_of(stage.client), *first = owned_by(multi, 1), *second = owned_by(multi, 2);
    rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.named_owner = true;
    options.owner = 1;
    assert_ok(rlock_lock_with(multi, &options));
    cr_assert(is_held(first) && !is_held(second) && !is_held(multi));
    cr_assert(rlock_valid_for(first) > 0 && rlock_valid_for(multi) == 0);
    options.owner = 2;
    options.wait_ms = 300;
    assert_status(rlock_lock_with(multi, &options), RLOCK_TIMEOUT);
    assert_status(rlock_unlock(multi), RLOCK_NOT_OWNER);
    actor *helper = actor_start();
    assert_ok(actor_unlock(helper, first));
    actor_end(helper);
    assert_no_keys();
    options.wait_ms = RLOCK_FOREVER;
    assert_ok(rlock_lock_with(multi, &options));
    assert_ok(rlock_unlock(second));
    assert_no_keys();
}

/* Of the members' own owners: a handle made of an owner's handles acts for that owner. */
Test(multi_lock, acts_for_the_owner_that_its_members_name)
{
    rlock *locks[] = {owned_by(lock_of(stage.client, "order"), 5), owned_by(lock_of(stage.client, "stock"), 5)};
    rlock *multi = made_of(rlock_get_multi_lock, locks, 2);
    assert_ok(rlock_lock(multi));
    cr_assert(is_held(locks[0]) && is_held(locks[1]) && !is_held(lock_of(stage.client, "order")));
    actor *helper = actor_start();
    assert_ok(actor_unlock(helper, multi));
    actor_end(helper);
    assert_no_keys();
}

/* --- kinds of members --- */

enum { KINDS = 7 };

static rlock *of_kind(int kind, rlock_client *client, const char *name)
{
    rlock_read_write_lock *pair = rlock_get_read_write_lock(client, name);
    rlock *lock = NULL;
    switch (kind) {
    case 0: lock = rlock_get_lock(client, name); break;
    case 1: lock = rlock_get_spin_lock(client, name); break;
    case 2: lock = rlock_get_fenced_lock(client, name); break;
    case 3: lock = rlock_get_fair_lock(client, name); break;
    case 4: lock = rlock_get_non_reentrant_lock(client, name); break;
    case 5: lock = rlock_read_lock(pair); break;
    default: lock = rlock_write_lock(pair); break;
    }
    rlock_read_write_lock_free(pair);
    return keep_lock(lock);
}

/* Of every kind at once; another waits for all of them and gets them. */
TimedTest(multi_lock, is_made_of_locks_of_every_kind)
{
    static const char *const apart[KINDS] = {"a", "b", "c", "d", "e", "f", "g"};
    rlock *locks[KINDS], *others[KINDS];
    for (int i = 0; i < KINDS; i++) {
        locks[i] = of_kind(i, stage.client, apart[i]);
        others[i] = of_kind(i == 5 ? 6 : i, stage.other, apart[i]); /* who reads keeps out who writes */
    }
    rlock *multi = made_of(rlock_get_multi_lock, locks, KINDS), *theirs = made_of(rlock_get_multi_lock, others, KINDS);
    actor *other = actor_start();
    static const int64_t leases_ms[] = {RLOCK_WATCHDOG, 20000};
    for (int i = 0; i < 2; i++) {
        assert_ok(rlock_try_lock(multi, 1000, leases_ms[i]));
        for (int j = 0; j < KINDS; j++) {
            cr_assert(is_held(locks[j]), "kind %d is not held", j);
            assert_status(actor_try(other, others[j], 0, 1000), RLOCK_TIMEOUT);
        }
        actor_begin_try(other, theirs, 10000, leases_ms[i]);
        cr_assert(actor_asleep(other, 5000));
        assert_ok(rlock_unlock(multi));
        assert_ok(actor_finish(other, 10000));
        assert_ok(actor_unlock(other, theirs));
    }
    freeReplyObject(server_command(stage.server, "DEL redisson_lock_token:{c}"));
    assert_no_keys();
    actor_end(other);
}

/* Whoever holds a non-reentrant member is told so, and has what it had. */
Test(multi_lock, answers_already_held_for_a_non_reentrant_member_and_changes_nothing)
{
    rlock *locks[] = {lock_of(stage.client, "order"), of_kind(4, stage.client, "stock")};
    rlock *multi = made_of(rlock_get_multi_lock, locks, 2);
    assert_ok(rlock_lock(multi));
    assert_status(rlock_lock(multi), RLOCK_ALREADY_HELD);
    assert_error("stock");
    int count = 0;
    assert_ok(rlock_get_hold_count(locks[0], &count));
    cr_assert(count == 1 && is_held(multi));
    assert_ok(rlock_unlock(multi));
    rlock *twice[] = {locks[1], locks[1]};
    assert_status(rlock_lock(made_of(rlock_get_multi_lock, twice, 2)), RLOCK_ALREADY_HELD);
    assert_no_keys();
}

Test(multi_lock, takes_a_reentrant_member_as_often_as_it_is_there)
{
    rlock *twice[] = {lock_of(stage.client, "order"), lock_of(stage.client, "order")};
    rlock *multi = made_of(rlock_get_multi_lock, twice, 2);
    assert_ok(rlock_try_lock(multi, 500, 10000));
    assert_held_alone("order", stage.client, 2, 10000, now_ms() - 1000);
    assert_ok(rlock_unlock(multi));
    assert_no_keys();
}

Test(multi_lock, may_be_made_of_multi_and_red_locks)
{
    rlock *parts[] = {multi_of(stage.client), made_on_places(rlock_get_red_lock, true, "quorum"),
                      lock_of(stage.client, "last")};
    rlock *nest = made_of(rlock_get_multi_lock, parts, 3);
    assert_ok(rlock_try_lock(nest, 10000, 10000));
    cr_assert(is_held(nest) && is_held(parts[0]) && is_held(parts[1]));
    assert_between(rlock_valid_for(nest), 9898 - at_most_ms(1898), 9898);
    cr_assert(held_at(0, "quorum") && held_at(1, "quorum") && held_at(2, "quorum"));
    rlock *named = owned_by(nest, 3);
    assert_status(rlock_try_lock(named, 200, 10000), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(nest));
    assert_ok(rlock_try_lock(named, 10000, 10000));
    assert_ok(rlock_unlock(named));
    assert_no_keys();
    cr_assert(!held_at(1, "quorum") && !held_at(2, "quorum"));
}

/* --- waiting --- */

Test(multi_lock, waits_until_all_are_given_back)
{
    rlock *multi = multi_of(stage.client), *theirs = multi_of(stage.other);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(multi));
    actor_begin_lock(waiter, theirs);
    cr_assert(!actor_ended(waiter, 1000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_unlock(multi));
    assert_ok(actor_finish(waiter, 5000));
    assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(300));
    assert_ok(actor_unlock(waiter, theirs));
    assert_no_keys();
    actor_end(waiter);
}

TimedTest(multi_lock, on_three_servers_is_refused_each_time_while_another_holds_it)
{
    rlock *multi = made_on_places(rlock_get_multi_lock, true, "order");
    rlock *theirs = made_on_places(rlock_get_multi_lock, false, "order");
    assert_ok(rlock_lock(multi));
    actor *other = actor_start();
    assert_status(actor_try(other, theirs, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(actor_try(other, theirs, 0, 5000), RLOCK_TIMEOUT);
    actor_begin_try(other, theirs, 5000, 5000);
    cr_assert(actor_asleep(other, 5000));
    assert_ok(rlock_unlock(multi));
    assert_ok(actor_finish(other, 5000));
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(held_at(i, "order"));
    assert_ok(actor_unlock(other, theirs));
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(!held_at(i, "order"));
    actor_end(other);
}

/* Whichever of the three is another's: within the wait, and after it nothing is left of the try. */
TimedTest(multi_lock, leaves_nothing_when_one_member_is_held_elsewhere)
{
    rlock *multi = multi_of(stage.client);
    static const int64_t leases_ms[] = {RLOCK_WATCHDOG, 5000, 100};
    for (size_t i = 0; i < NAMES; i++) {
        foreign_hold(names[i], 60000);
        for (int j = 0; j < 3; j++) {
            int64_t since_ms = now_ms();
            assert_status(rlock_try_lock(multi, 0, leases_ms[j]), RLOCK_TIMEOUT);
            assert_error(names[i]);
            assert_between(now_ms() - since_ms, 0, at_most_ms(200));
            since_ms = now_ms();
            assert_status(rlock_try_lock(multi, 400, leases_ms[j]), RLOCK_TIMEOUT);
            assert_between(now_ms() - since_ms, 399, at_most_ms(700));
            cr_assert(wait_key_count(1, 1000)); /* a hold that had just ended by itself, after 100 ms at the server too */
            assert_status(rlock_unlock(multi), RLOCK_NOT_OWNER);
        }
        foreign_release(names[i]);
    }
    cr_assert(wait_no_channels(5000));
    assert_no_keys();
}

Test(multi_lock, rounds_are_as_long_as_redissons)
{
    for (int i = 0; i < 200; i++) {
        cr_assert(rli_round_ms(3, RLOCK_WATCHDOG) == 4500);
        assert_between(rli_round_ms(3, 4500), 2250, 4500);
        assert_between(rli_round_ms(3, 1000), 500, 1000);
        assert_between(rli_round_ms(3, 10000), 4500, 10000);
        assert_between(rli_round_ms(1, 1), 1, 1);
        assert_between(rli_round_ms(1024, RLOCK_LEASE_MAX_MS), 1024 * 1500, RLOCK_LEASE_MAX_MS);
        assert_between(rli_patience_ms(0, 4500), 16, 32);
        assert_between(rli_patience_ms(3, 4500), 1024, 2048);
        cr_assert(rli_patience_ms(4, 4500) == 4500 && rli_patience_ms(1000, 4500) == 4500);
        cr_assert(rli_patience_ms(0, 1) == 1 && rli_patience_ms(0, -5) == 1);
        assert_between(rli_patience_ms(1000, INT64_MAX / 4), INT64_MAX / 64, INT64_MAX / 4);
    }
}

/* What it has while it waits for the rest is others' within a round, and it goes on after that. */
Test(multi_lock, lets_others_have_its_first_while_it_waits_for_its_last)
{
    rlock *pair = pair_of(stage.client, "order", "stock"), *first = lock_of(stage.other, "order");
    actor *waiter = actor_start();
    foreign_hold("stock", 60000);
    actor_begin_lock(waiter, pair);
    cr_assert(wait_listened("stock", 5000));
    for (int i = 0; i < 3; i++) {
        int64_t since_ms = now_ms();
        assert_ok(rlock_try_lock(first, 20000, 60000));
        assert_between(now_ms() - since_ms, 0, at_most_ms(3000));
        assert_ok(rlock_unlock(first));
    }
    foreign_release("stock");
    assert_ok(actor_finish(waiter, 10000));
    cr_assert(actor_holds(waiter, pair));
    assert_ok(actor_unlock(waiter, pair));
    assert_no_keys();
    actor_end(waiter);
}

/* A lease shorter than the wait: the first member's must not run out while the last is waited for. */
TimedTest(multi_lock, has_its_lease_from_the_last_member_on)
{
    enum { LEASE_MS = 8000 };
    for (int kind = 0; kind < KINDS; kind++) {
        rlock *locks[] = {of_kind(kind, stage.client, "order"), lock_of(stage.client, "stock")};
        rlock *multi = made_of(rlock_get_multi_lock, locks, 2);
        actor *waiter = actor_start();
        foreign_hold("stock", 60000);
        actor_begin_try(waiter, multi, 20000, LEASE_MS);
        for (int64_t ttl_ms; (ttl_ms = pttl_of("order")) < 0 || ttl_ms > LEASE_MS * 8 / 10;) {
            cr_assert(ttl_ms <= LEASE_MS, "kind %d: the key would outlive its lease by %lld ms", kind,
                      (long long)ttl_ms - LEASE_MS);
            cr_assert(!actor_ended(waiter, 1));
        }
        foreign_release("stock");
        assert_ok(actor_finish(waiter, 5000));
        /* More than before: a tenth of the lease may have passed, and a tenth is left for a late test. */
        assert_between(pttl_of("order"), LEASE_MS * 8 / 10 + 1, LEASE_MS);
        assert_between(pttl_of("stock"), LEASE_MS * 8 / 10 + 1, LEASE_MS);
        assert_between(actor_valid_for(waiter, multi), LEASE_MS * 8 / 10 + 1, LEASE_MS * 99 / 100);
        assert_ok(actor_unlock(waiter, multi));
        cr_assert(!held_at(0, "order") && !held_at(0, "stock"));
        actor_end(waiter);
        freeReplyObject(server_command(stage.server, "FLUSHALL"));
    }
}

TimedTest(multi_lock, with_a_lease_that_ends_at_once_is_not_tried_for_ever)
{
    assert_status(rlock_lock_lease(multi_of(stage.client), 1), RLOCK_TIMEOUT);
    assert_error("expired or was lost");
    for (size_t i = 0; i < NAMES; i++)
        cr_assert(wait_free_at(0, names[i], 10000));
}

/* --- many at once --- */

/* Every turn is counted, and none was beside another. */
static void run_crowd(crowd *many, int64_t ms)
{
    crowd_run(many, ms);
    cr_assert(atomic_load(&many->counter) == many->count * many->turns, "%d turns were counted of %d",
              atomic_load(&many->counter), many->count * many->turns);
    cr_assert(atomic_load(&many->most_inside) == 1);
    assert_no_keys();
}

Test(multi_lock, of_many_threads_and_clients_counts_exactly)
{
    static crowd many = {.name = "order", .turns = 20};
    for (int i = 0; i < 8; i++) {
        crowd_add(&many, i % 2 ? stage.client : stage.other);
        many.members[i].lock = multi_of(i % 2 ? stage.client : stage.other);
    }
    run_crowd(&many, at_most_ms(30000));
}

/* Each holds what the other waits for: the deadlock ends, and nobody starves. */
TimedTest(multi_lock, in_opposite_orders_ends_and_counts_exactly)
{
    static crowd many = {.name = "order", .turns = 20};
    for (int i = 0; i < 8; i++) {
        rlock_client *client = i % 4 < 2 ? stage.client : stage.other;
        crowd_add(&many, client);
        many.members[i].lock = i % 2 ? pair_of(client, "order", "stock") : pair_of(client, "stock", "order");
    }
    run_crowd(&many, at_most_ms(30000));
}

/* Rings of three, all overlapping, with single locks between. */
TimedTest(multi_lock, in_a_ring_and_among_single_locks_ends_and_counts_exactly)
{
    static crowd many = {.name = "order", .turns = 10};
    for (int i = 0; i < 9; i++) {
        rlock_client *client = i % 2 ? stage.client : stage.other;
        const char *const ring[] = {names[i % 3], names[(i + 1) % 3], names[(i + 2) % 3]};
        crowd_add(&many, client);
        many.members[i].lock = made_of_names(rlock_get_multi_lock, client, ring, 3);
    }
    for (int i = 0; i < 3; i++)
        crowd_add(&many, stage.client); /* "order" alone */
    run_crowd(&many, at_most_ms(60000));
}

/* Two that met head on part long before a round of 3 s is over. */
Test(multi_lock, gives_way_soon_to_one_that_holds_its_last)
{
    actor *first = actor_start(), *second = actor_start();
    rlock *order = lock_of(stage.client, "order"), *stock = lock_of(stage.other, "stock");
    rlock *ours = pair_of(stage.client, "order", "stock");
    /* By hand: the other one holds `stock` and waits for `order` without giving way. */
    assert_ok(actor_lock(second, stock));
    assert_ok(rlock_lock(order));
    actor_begin_lock(first, ours);
    cr_assert(actor_asleep(first, 5000));
    assert_ok(rlock_unlock(order)); /* first has it, and waits for `stock` */
    rlock *theirs = lock_of(stage.other, "order");
    actor_begin_lock(second, theirs);
    assert_ok(actor_finish(second, 5000));
    assert_between(actor_took(second), 0, at_most_ms(1000));
    assert_ok(actor_unlock(second, theirs));
    assert_ok(actor_unlock(second, stock));
    assert_ok(actor_finish(first, 5000));
    assert_ok(actor_unlock(first, ours));
    assert_no_keys();
    actor_end(first);
    actor_end(second);
}

/* Redisson had two holders where the lease was shorter than the wait. */
TimedTest(multi_lock, with_a_lease_shorter_than_the_wait_has_one_holder)
{
    rlock *multi = multi_of(stage.client), *theirs = multi_of(stage.other);
    actor *other = actor_start();
    for (int i = 0; i < 5; i++) {
        int64_t since_ms = now_ms();
        assert_ok(rlock_try_lock(multi, 3000, 600));
        actor_begin_try(other, theirs, 30000, 10000);
        assert_ok(actor_finish(other, 10000));
        assert_between(actor_ended_at(other) - since_ms, 590, at_most_ms(1200));
        cr_assert(rlock_valid_for(multi) == 0);
        assert_ok(actor_unlock(other, theirs));
        assert_status(rlock_unlock(multi), RLOCK_LOST);
    }
    assert_no_keys();
    actor_end(other);
}

/* --- cancelling and closing --- */

Test(multi_lock, cancelled_in_the_middle_leaves_no_member_held)
{
    rlock *multi = multi_of(stage.client);
    for (size_t i = 0; i < NAMES; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.cancel = token;
        actor *waiter = actor_start();
        foreign_hold(names[i], 60000);
        actor_begin_with(waiter, multi, &options);
        cr_assert(wait_listened(names[i], 5000));
        cr_assert(!actor_ended(waiter, 150));
        int64_t since_ms = now_ms();
        rlock_cancel_fire(token);
        assert_status(actor_finish(waiter, 5000), RLOCK_CANCELLED);
        assert_between(actor_ended_at(waiter) - since_ms, 0, at_most_ms(200));
        cr_assert(!actor_holds(waiter, multi));
        foreign_release(names[i]);
        for (size_t j = 0; j < NAMES; j++)
            cr_assert(wait_free_at(0, names[j], 10000));
        actor_end(waiter);
        rlock_cancel_free(token);
    }
    cr_assert(wait_no_channels(5000));
}

TimedTest(multi_lock, cancelled_at_any_moment_leaves_no_member_held)
{
    rlock *multi = made_on_places(rlock_get_multi_lock, true, "order");
    actor *caller = actor_start();
    for (int i = 0; i < 200; i++) {
        rlock_cancel *token = rlock_cancel_new();
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.cancel = token;
        options.wait_ms = i % 3 ? RLOCK_FOREVER : 0;
        options.lease_ms = i % 2 ? RLOCK_WATCHDOG : 60000;
        actor_begin_with(caller, multi, &options);
        for (volatile int spin = 0; spin < i * 300; spin++)
            continue;
        rlock_cancel_fire(token);
        rlock_status status = actor_finish(caller, 5000);
        if (status == RLOCK_OK)
            assert_ok(actor_unlock(caller, multi));
        else
            assert_status(status, RLOCK_CANCELLED);
        rlock_cancel_free(token);
    }
    for (size_t i = 0; i < PLACES; i++) {
        cr_assert(wait_free_at(i, "order", 5000));
        cr_assert(!server_wait_exists(places[i].server, "order", true, 500));
    }
    actor_end(caller);
}

/* Whichever member's client is closed, the wait ends, and what the others had granted is given back. */
Test(multi_lock, ends_its_wait_when_a_members_client_is_closed)
{
    rlock *locks[] = {lock_of(places[1].ours, "order"), lock_of(places[2].ours, "order")};
    rlock *multi = made_of(rlock_get_multi_lock, locks, 2);
    actor *waiter = actor_start();
    foreign_hold_at(2, "order");
    actor_begin_lock(waiter, multi);
    cr_assert(server_wait_subscribers(places[2].server, channel_of("order"), 1, 5000));
    rlock_client_close(places[2].ours);
    assert_status(actor_finish(waiter, 5000), RLOCK_CLOSED);
    cr_assert(wait_free_at(1, "order", 10000));
    assert_status(rlock_lock(multi), RLOCK_CLOSED);
    places[2].ours = NULL;
    actor_end(waiter);
}

/* --- servers in trouble --- */

/* Nothing stands on the servers, now or when the one that was frozen runs what it was sent. */
static void assert_nothing_comes(const char *name)
{
    for (size_t i = 0; i < PLACES; i++) {
        cr_assert(wait_free_at(i, name, 5000), "place %zu is left locked", i);
        cr_assert(!server_wait_exists(places[i].server, name, true, 500), "place %zu was locked late", i);
    }
}

TimedTest(multi_lock_outage, with_a_frozen_server_is_unavailable_in_time_and_leaves_nothing)
{
    rlock *multi = made_on_places(rlock_get_multi_lock, true, "order");
    for (size_t frozen = 0; frozen < PLACES; frozen++) {
        assert_ok(rlock_try_lock(multi, 10000, 30000));
        assert_ok(rlock_unlock(multi));
        server_freeze(places[frozen].server);
        static const int64_t waits_ms[] = {0, 700, RLOCK_FOREVER};
        for (int i = 0; i < 3; i++) {
            int64_t since_ms = now_ms();
            assert_status(rlock_try_lock(multi, waits_ms[i], 30000), RLOCK_UNAVAILABLE);
            assert_between(now_ms() - since_ms, 0, at_most_ms(2000));
        }
        for (size_t i = 0; i < PLACES; i++)
            cr_assert(i == frozen || !held_at(i, "order"));
        server_thaw(places[frozen].server);
        assert_nothing_comes("order");
    }
}

TimedTest(multi_lock_outage, with_a_killed_server_is_unavailable_until_it_is_back)
{
    rlock *multi = made_on_places(rlock_get_multi_lock, true, "order");
    assert_ok(rlock_lock(multi));
    server_kill(places[1].server);
    rlock_status status = rlock_unlock(multi);
    assert_status(status, RLOCK_UNAVAILABLE);
    cr_assert(!held_at(0, "order") && !held_at(2, "order"), "one that failed kept others from being released");
    assert_status(rlock_try_lock(multi, 500, 30000), RLOCK_UNAVAILABLE);
    assert_status(rlock_lock(multi), RLOCK_UNAVAILABLE);
    cr_assert(!held_at(0, "order") && !held_at(2, "order"));
    server_restart(places[1].server);
    assert_ok(rlock_try_lock(multi, 5000, 30000));
    for (size_t i = 0; i < PLACES; i++)
        cr_assert(held_at(i, "order"));
    assert_ok(rlock_unlock(multi));
    assert_nothing_comes("order");
}

/* A server that answers slowly is no reason to start over for ever. */
TimedTest(multi_lock, waits_for_a_server_that_comes_back)
{
    rlock *multi = made_on_places(rlock_get_multi_lock, true, "order");
    actor *waiter = actor_start();
    assert_ok(actor_lock(waiter, multi));
    assert_ok(actor_unlock(waiter, multi));
    server_freeze(places[2].server);
    actor_begin_lock(waiter, multi);
    cr_assert(!actor_ended(waiter, 1500));
    cr_assert(!held_at(0, "order") && !held_at(1, "order"), "it holds some while it waits for a server");
    server_thaw(places[2].server);
    assert_ok(actor_finish(waiter, 10000));
    cr_assert(actor_holds(waiter, multi));
    assert_ok(actor_unlock(waiter, multi));
    assert_nothing_comes("order");
    actor_end(waiter);
}

/* Not for all of its client's attempts, some 12 s here: the other members are to be freed, too. */
TimedTest(multi_lock, unlock_is_held_up_by_a_frozen_server_for_one_attempt)
{
    rlock_client *patient = stage_client("timeout=300&retryAttempts=20&retryBaseDelay=300&retryMaxDelay=300");
    rlock *locks[] = {lock_of(patient, "order"), lock_of(places[1].ours, "order")};
    rlock *multi = made_of(rlock_get_multi_lock, locks, 2);
    assert_ok(rlock_lock(multi));
    server_freeze(places[0].server);
    int64_t since_ms = now_ms();
    assert_status(rlock_unlock(multi), RLOCK_UNAVAILABLE);
    assert_between(now_ms() - since_ms, 290, at_most_ms(1000));
    cr_assert(!held_at(1, "order"));
    assert_status(rlock_unlock(multi), RLOCK_NOT_OWNER);
    server_thaw(places[0].server);
    assert_nothing_comes("order");
}

TimedTest(multi_lock, refused_by_a_server_holds_nothing)
{
    freeReplyObject(server_command(stage.server, "SET %s text", names[1]));
    rlock *multi = multi_of(stage.client);
    assert_status(rlock_lock(multi), RLOCK_SERVER);
    assert_error("WRONGTYPE");
    assert_status(rlock_try_lock(multi, 500, 1000), RLOCK_SERVER);
    cr_assert(server_integer(stage.server, "DBSIZE") == 1);
}

/* --- losing --- */

Test(multi_lock, unlock_releases_all_though_one_was_lost)
{
    for (size_t i = 0; i < NAMES; i++) {
        rlock *multi = multi_of(stage.client);
        assert_ok(rlock_lock(multi));
        assert_ok(rlock_force_unlock(lock_of(stage.client, names[i]), NULL));
        cr_assert(rlock_valid_for(multi) == 0 && !is_held(multi));
        assert_status(rlock_unlock(multi), RLOCK_LOST);
        assert_error(names[i]);
        assert_no_keys();
    }
}

Test(multi_lock, losing_one_member_is_told_by_that_members_name)
{
    rlock_client *quick = stage_client(STAGE_QUICK);
    losses heard;
    losses_init(&heard);
    rlock_on_lost(quick, losses_note, &heard);
    rlock *multi = multi_of(quick);
    assert_ok(rlock_lock(multi));
    foreign_vanish(names[1]);
    cr_assert(event_wait_ms(&heard.came, 5000));
    cr_assert(strcmp(heard.all[0].name, names[1]) == 0 && heard.count == 1);
    cr_assert(rlock_valid_for(multi) == 0);
    assert_status(rlock_unlock(multi), RLOCK_LOST);
    assert_no_keys();
    rlock_on_lost(quick, NULL, NULL);
    event_destroy(&heard.came);
}

/* --- bad input --- */

Test(multi_lock, of_none_or_null_is_invalid)
{
    rlock *one = lock_of(stage.client, "order"), *holed[] = {one, one, NULL, one};
    cr_assert(rlock_get_multi_lock(NULL, 0) == NULL);
    assert_error("at least one lock");
    cr_assert(rlock_get_multi_lock(&one, 0) == NULL);
    assert_error("at least one lock");
    cr_assert(rlock_get_multi_lock(NULL, 3) == NULL);
    assert_error("the array of the 3 locks of a multi lock is NULL");
    cr_assert(rlock_get_multi_lock(holed, 4) == NULL);
    assert_error("locks[2]");
    rlock *beside_multi[] = {stage_keep(rlock_get_multi_lock(holed, 2)), NULL};
    cr_assert(rlock_get_multi_lock(beside_multi, 2) == NULL);
    assert_error("locks[1] of the 2");
    cr_assert(rlock_get_multi_lock(&one, SIZE_MAX) == NULL);
    assert_error("1000000");
}

Test(multi_lock, has_no_count_no_state_no_force_no_token_and_no_name)
{
    rlock *multi = multi_of(stage.client);
    int count = 77;
    bool flag = true;
    int64_t ms = 77;
    uint64_t token = 77;
    assert_status(rlock_get_hold_count(multi, &count), RLOCK_UNSUPPORTED);
    assert_status(rlock_is_locked(multi, &flag), RLOCK_UNSUPPORTED);
    assert_status(rlock_remain_time_to_live(multi, &ms), RLOCK_UNSUPPORTED);
    assert_status(rlock_force_unlock(multi, &flag), RLOCK_UNSUPPORTED);
    assert_error("force unlock is not supported by this kind of lock; ask its members");
    assert_status(rlock_get_token(multi, &token), RLOCK_UNSUPPORTED);
    assert_error("; make it with rlock_get_fenced_lock()");
    assert_status(rlock_lock_and_get_token(multi, &token), RLOCK_UNSUPPORTED);
    cr_assert(flag && count == 77 && ms == 77 && token == 77, "an answer was set");
    cr_assert(rlock_name(multi) == NULL);
    assert_status(rlock_try_lock(multi, 0, 0), RLOCK_INVALID);
    assert_status(rlock_unlock(multi), RLOCK_NOT_OWNER);
    assert_no_keys();
}

Test(multi_lock, is_left_by_rlock_with)
{
    rlock *multi = multi_of(stage.client);
    rlock_status status = RLOCK_UNKNOWN;
    bool inside = false;
    RLOCK_WITH_STATUS(multi, &status) {
        inside = rlock_valid_for(multi) > 0;
        break;
    }
    cr_assert(inside);
    assert_ok(status);
    assert_no_keys();
}

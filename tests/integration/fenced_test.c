/* The fenced lock: each acquisition has a token greater than all before it, whatever happened between. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fenced, .init = stage_quick, .fini = stage_close);

#define NAME "order"
#define COUNTER "redisson_lock_token:{order}"

static rlock *fenced_of(rlock_client *client)
{
    return kind_of(&kind_fenced, client, NAME);
}

/* 95. */
Test(fenced, tokens_count_acquisitions)
{
    rlock *lock = fenced_of(stage.client);
    uint64_t token = 0;
    assert_ok(rlock_lock_and_get_token(lock, &token));
    cr_assert(token == 1 && token_of(lock) == 1);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock_and_get_token(lock, &token));
    cr_assert(token == 2);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock(lock));
    cr_assert(token_of(lock) == 3);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock_lease(lock, 10000));
    cr_assert(token_of(lock) == 4);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_try_lock_and_get_token(lock, 0, 10000, &token));
    cr_assert(token == 5);
    assert_ok(rlock_unlock(lock));
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 5);
    cr_assert(pttl_of(COUNTER) == -1);
}

/* Re-entry has a token of its own, which stays that of the hold. */
Test(fenced, reentry_counts_too)
{
    rlock *lock = fenced_of(stage.client);
    uint64_t token = 0;
    for (uint64_t i = 1; i <= 3; i++) {
        assert_ok(rlock_lock_and_get_token(lock, &token));
        cr_assert(token == i && token_of(lock) == i);
    }
    for (int i = 0; i < 3; i++) {
        cr_assert(token_of(lock) == 3);
        assert_ok(rlock_unlock(lock));
    }
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 3);
}

/* The lease is honoured by the calls that give the token, too. */
TimedTest(fenced, lease_of_a_try_with_a_token_is_kept)
{
    rlock *lock = fenced_of(stage.client);
    uint64_t token = 0;
    assert_ok(rlock_try_lock_and_get_token(lock, 100, 60000, &token));
    assert_between(pttl_of(NAME), 60000 - at_most_ms(1000), 60000);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_lock_and_get_token(lock, &token));
    assert_between(pttl_of(NAME), 1, QUICK_MS);
    assert_kept(NAME, lock, KEPT_MS);
    cr_assert(token_of(lock) == 2, "a renewal is no acquisition");
    assert_ok(rlock_unlock(lock));
}

/* Nothing is counted for who does not get it. */
Test(fenced, refused_try_counts_nothing)
{
    rlock *lock = fenced_of(stage.client), *theirs = fenced_of(stage.other);
    uint64_t token = 77;
    assert_ok(rlock_lock(lock));
    assert_status(rlock_try_lock_and_get_token(theirs, 0, 1000, &token), RLOCK_TIMEOUT);
    assert_status(rlock_try_lock_and_get_token(theirs, 100, 1000, &token), RLOCK_TIMEOUT);
    cr_assert(token == 77);
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) == 1);
    assert_status(rlock_get_token(theirs, &token), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(lock));
}

/* Whoever comes after a hold that ended has a greater one: expired, forced open, deleted. */
TimedTest(fenced, tokens_grow_across_holds_that_were_lost)
{
    rlock *lock = fenced_of(stage.client), *theirs = fenced_of(stage.other);
    uint64_t token = 0, last = 0;
    for (int way = 0; way < 3; way++) {
        assert_ok(rlock_try_lock_and_get_token(lock, 0, 100, &token));
        cr_assert(token > last);
        last = token;
        if (way == 0)
            pass_ms(120);
        else if (way == 1)
            assert_ok(rlock_force_unlock(theirs, NULL));
        else
            foreign_vanish(NAME);
        assert_ok(rlock_try_lock_and_get_token(theirs, 1000, 10000, &token));
        cr_assert(token > last);
        last = token;
        assert_ok(rlock_unlock(theirs));
        assert_status(rlock_unlock(lock), RLOCK_LOST);
        assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    }
}

/* Holders and waiters whose connections break again and again. */
Test(fenced, tokens_grow_across_clients_that_wait)
{
    rlock *lock = fenced_of(stage.client), *theirs = fenced_of(stage.other);
    actor *waiter = actor_start();
    uint64_t last = 0;
    for (int i = 0; i < 5; i++) {
        assert_ok(rlock_lock(lock));
        cr_assert(token_of(lock) > last);
        last = token_of(lock);
        actor_begin_lock(waiter, theirs);
        cr_assert(server_wait_subscribers(stage.server, kind_channel(&kind_fenced, NAME), 1, 5000));
        freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE normal SKIPME yes"));
        freeReplyObject(server_command(stage.server, "CLIENT KILL TYPE pubsub"));
        assert_ok(rlock_unlock(lock));
        assert_ok(actor_finish(waiter, 5000));
        assert_ok(actor_unlock(waiter, theirs));
    }
    cr_assert(server_integer(stage.server, "GET %s", COUNTER) >= 10);
    actor_end(waiter);
}

/* The token is the owner's alone. */
Test(fenced, token_without_a_hold_is_refused)
{
    rlock *lock = fenced_of(stage.client);
    uint64_t token = 77;
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    assert_ok(rlock_lock(lock));
    assert_status(rlock_get_token(fenced_of(stage.other), &token), RLOCK_NOT_OWNER);
    assert_status(rlock_get_token(owned_by(lock, 1), &token), RLOCK_NOT_OWNER);
    cr_assert(token == 77 && token_of(fenced_of(stage.client)) == 1);
    assert_ok(rlock_unlock(lock));
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    assert_error(NAME);
}

TimedTest(fenced, token_of_a_lease_that_ended_is_refused)
{
    rlock *lock = fenced_of(stage.client);
    uint64_t token = 77;
    assert_ok(rlock_lock_lease(lock, 50));
    pass_ms(60);
    assert_status(rlock_get_token(lock, &token), RLOCK_NOT_OWNER);
    cr_assert(token == 77);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

/* It asks nobody. */
Test(fenced, token_is_known_without_the_server)
{
    rlock *lock = fenced_of(stage.client);
    assert_ok(rlock_lock_lease(lock, 60000));
    server_freeze(stage.server);
    int64_t since_ms = now_ms();
    cr_assert(token_of(lock) == 1);
    assert_between(now_ms() - since_ms, 0, at_most_ms(200));
    server_thaw(stage.server);
    assert_ok(rlock_unlock(lock));
}

Test(fenced, token_of_another_kind_is_unsupported)
{
    for (int i = 0; i < KINDS; i++) {
        if (all_kinds[i] == &kind_fenced)
            continue;
        rlock *lock = kind_of(all_kinds[i], stage.client, all_kinds[i]->name);
        uint64_t token = 77;
        assert_status(rlock_lock_and_get_token(lock, &token), RLOCK_UNSUPPORTED);
        assert_status(rlock_try_lock_and_get_token(lock, 0, 1000, &token), RLOCK_UNSUPPORTED);
        assert_error("token");
        assert_no_keys();
        assert_ok(rlock_lock(lock));
        assert_status(rlock_get_token(lock, &token), RLOCK_UNSUPPORTED);
        assert_ok(rlock_unlock(lock));
        cr_assert(token == 77);
    }
}

/* --- the counter --- */

/* A key of another type where the counter should be: refused, and nothing is held. */
Test(fenced, counter_of_another_type_is_named_and_left_alone)
{
    static const char *const commands[] = {"RPUSH " COUNTER " 5", "SET " COUNTER " five", "HSET " COUNTER " a 1"};
    rlock *lock = fenced_of(stage.client);
    uint64_t token = 77;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        freeReplyObject(server_command(stage.server, commands[i]));
        char *before = server_keyspace(stage.server);
        assert_status(rlock_lock(lock), RLOCK_SERVER);
        cr_assert(strstr(rlock_last_error(), i == 1 ? "not an integer" : "WRONGTYPE"), "%s", rlock_last_error());
        assert_status(rlock_try_lock_and_get_token(lock, 100, 1000, &token), RLOCK_SERVER);
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
        char *after = server_keyspace(stage.server);
        cr_assert(strcmp(before, after) == 0, "was:\n%s\nis:\n%s", before, after);
        free(before);
        free(after);
        freeReplyObject(server_command(stage.server, "DEL " COUNTER));
    }
    cr_assert(token == 77);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
}

static void set_counter(const char *number)
{
    freeReplyObject(server_command(stage.server, "SET " COUNTER " %s", number));
}

/* As a number without a sign it would be greater than all tokens, and those after it less again. */
Test(fenced, counter_that_is_negative_is_named_and_left_alone)
{
    static const char *const numbers[] = {"-3", "-1", "-9007199254740993"};
    rlock *lock = fenced_of(stage.client);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        set_counter("6");
        assert_ok(rlock_lock(lock));
        set_counter(numbers[i]);
        assert_status(rlock_lock(lock), RLOCK_SERVER); /* a re-entry */
        cr_assert(token_of(lock) == 7 && rlock_valid_for(lock) > 0);
        assert_ok(rlock_unlock(lock));
        assert_status(rlock_lock(lock), RLOCK_SERVER);
        assert_error("\"order\"", COUNTER " is negative");
        assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
        cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
        cr_assert(server_integer(stage.server, "GET " COUNTER) == strtoll(numbers[i], NULL, 10));
    }
    set_counter("0");
    assert_ok(rlock_lock(lock));
    cr_assert(token_of(lock) == 1);
    assert_ok(rlock_unlock(lock));
}

/* Nor is it handed over then to a waiter, which is refused. */
Test(fenced, counter_that_is_negative_gives_no_waiter_the_lock)
{
    rlock *lock = fenced_of(stage.client);
    actor *waiter = actor_start();
    assert_ok(rlock_lock(lock));
    actor_begin_lock(waiter, lock);
    cr_assert(wait_listened(NAME, 10000));
    set_counter("-3");
    assert_ok(rlock_unlock(lock));
    assert_status(actor_finish(waiter, 10000), RLOCK_SERVER);
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0 && server_integer(stage.server, "GET " COUNTER) == -3);
    actor_end(waiter);
}

/* It came while the lock was held: a re-entry is refused, the hold stays as it was. */
Test(fenced, counter_of_another_type_spoils_no_hold)
{
    rlock *lock = fenced_of(stage.client);
    assert_ok(rlock_lock(lock));
    freeReplyObject(server_command(stage.server, "DEL " COUNTER));
    freeReplyObject(server_command(stage.server, "RPUSH " COUNTER " 5"));
    assert_status(rlock_lock(lock), RLOCK_SERVER);
    int count = 0;
    assert_ok(rlock_get_hold_count(lock, &count));
    cr_assert(count == 1 && token_of(lock) == 1 && rlock_valid_for(lock) > 0);
    assert_ok(rlock_unlock(lock));
    cr_assert(!server_wait_exists(stage.server, NAME, true, 20));
}

/* A counter that was set, as to a time in nanoseconds, goes on from there: no two tokens are one. */
Test(fenced, tokens_beyond_what_a_double_tells_apart_differ)
{
    static const char *const starts[] = {"9007199254740990", "1795242840144000000", "9223372036854775800"};
    rlock *lock = fenced_of(stage.client);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        uint64_t start = strtoull(starts[i], NULL, 10);
        freeReplyObject(server_command(stage.server, "SET " COUNTER " %s", starts[i]));
        for (uint64_t n = 1; n <= 6; n++) {
            uint64_t token = 0;
            assert_ok(rlock_lock_and_get_token(lock, &token));
            cr_assert(token == start + n, "%llu, not %llu", (unsigned long long)token, (unsigned long long)(start + n));
            assert_ok(rlock_unlock(lock));
        }
    }
    freeReplyObject(server_command(stage.server, "SET " COUNTER " 9223372036854775807"));
    assert_status(rlock_lock(lock), RLOCK_SERVER); /* there is no greater one */
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
}

/* --- many --- */

typedef struct taker {
    rlock *lock;
    pthread_t thread;
    uint64_t tokens[40];
    int failed;
} taker;

static void *take_tokens(void *arg)
{
    taker *self = arg;
    for (int i = 0; i < 40; i++) {
        self->failed += rlock_lock_and_get_token(self->lock, &self->tokens[i]) != RLOCK_OK;
        self->failed += rlock_unlock(self->lock) != RLOCK_OK;
    }
    return NULL;
}

/* Threads of two clients: each sees growing tokens, and no token is given twice. */
Test(fenced, no_token_is_given_twice)
{
    static taker takers[6];
    static bool given[6 * 40 + 1];
    for (int i = 0; i < 6; i++) {
        takers[i].lock = fenced_of(i % 2 ? stage.client : stage.other);
        cr_assert(pthread_create(&takers[i].thread, NULL, take_tokens, &takers[i]) == 0);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(takers[i].thread, NULL);
    for (int i = 0; i < 6; i++) {
        cr_assert(takers[i].failed == 0);
        for (int n = 0; n < 40; n++) {
            uint64_t token = takers[i].tokens[n];
            cr_assert(n == 0 || token > takers[i].tokens[n - 1]);
            assert_between(token, 1, 240);
            cr_assert(!given[token]);
            given[token] = true;
        }
    }
}

/* As in Redisson, it is one lock with the reentrant one of its name: a re-entry through that has no token. */
Test(fenced, token_outlasts_a_reentry_without_one)
{
    rlock *lock = fenced_of(stage.client), *plain = kind_of(&kind_reentrant, stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(plain));
    cr_assert(token_of(lock) == 1);
    assert_ok(rlock_unlock(plain));
    cr_assert(token_of(lock) == 1);
    assert_ok(rlock_unlock(lock));
}

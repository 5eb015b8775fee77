/* Inspecting: what the server holds under a name, whoever holds it and whichever object it is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(inspect, .init = stage_open, .fini = stage_close);

#define NAME "order"

static rlock_inspection *look(const char *name)
{
    rlock_inspection *inspection = NULL;
    assert_ok(rlock_inspect(stage.client, name, &inspection));
    cr_assert(inspection != NULL);
    return inspection;
}

Test(inspect, shows_a_free_lock)
{
    rlock_inspection *seen = look(NAME);
    cr_assert(strcmp(seen->kind, "free") == 0);
    cr_assert(seen->ttl_ms == RLOCK_NOT_THERE && seen->holder_count == 0 && seen->waiter_count == 0);
    cr_assert(!seen->mode && !seen->has_token && !seen->has_permits && seen->permit_count == 0);
    rlock_inspection_free(seen);
    assert_no_keys();
}

TimedTest(inspect, shows_holder_count_and_ttl)
{
    char owner[80];
    rlock *lock = lock_of(stage.other, NAME);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 5000));
    assert_ok(rlock_lock_lease(lock, 5000));
    snprintf(owner, sizeof owner, "%s:%lld", rlock_client_id(stage.other), (long long)wire_number(NAME, stage.other));
    rlock_inspection *seen = look(NAME);
    cr_assert(strcmp(seen->kind, "lock") == 0);
    cr_assert(seen->holder_count == 1 && seen->holders[0].hold_count == 2);
    cr_assert(strcmp(seen->holders[0].owner, owner) == 0);
    assert_between(seen->ttl_ms, 5000 - (now_ms() - since_ms) - 2, 5000);
    cr_assert(!seen->holders[0].side && seen->holders[0].left_ms == seen->ttl_ms);
    rlock_inspection_free(seen);
    assert_held_alone(NAME, stage.other, 2, 5000, since_ms);
}

Test(inspect, shows_a_lock_without_ttl)
{
    foreign_hold(NAME, RLOCK_WATCHDOG);
    rlock_inspection *seen = look(NAME);
    cr_assert(seen->ttl_ms == RLOCK_NO_END && seen->holder_count == 1);
    cr_assert(strcmp(seen->holders[0].owner, FOREIGN_CLIENT ":1") == 0);
    rlock_inspection_free(seen);
}

Test(inspect, puts_the_clients_prefix_before_the_name)
{
    rlock_client *client = stage_client("namePrefix=shop:");
    rlock_inspection *seen = NULL;
    foreign_hold("shop:" NAME, 60000);
    assert_ok(rlock_inspect(client, NAME, &seen));
    cr_assert(seen->holder_count == 1);
    rlock_inspection_free(seen);
}

/* --- keys as Redisson leaves them --- */

static void put(const char *command)
{
    freeReplyObject(server_command(stage.server, command));
}

static int64_t server_ms(void)
{
    redisReply *time = server_command(stage.server, "TIME");
    int64_t ms = strtoll(time->element[0]->str, NULL, 10) * 1000 + strtoll(time->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(time);
    return ms;
}

#define A       "aaaaaaaa-0000-4000-8000-000000000001"
#define B       "bbbbbbbb-0000-4000-8000-000000000001"
#define C       "cccccccc-0000-4000-8000-000000000001"
#define QUEUE "redisson_lock_queue:{" NAME "}"
#define TIMEOUTS "redisson_lock_timeout:{" NAME "}"
#define PERMITS "{" NAME "}:timeout"

/* In order; the second has no score, the third's is over. */
static void put_queue(void)
{
    put("RPUSH " QUEUE " a:1 b:2 c:3");
    freeReplyObject(server_command(stage.server, "ZADD " TIMEOUTS " %lld a:1 5 c:3", (long long)server_ms() + 60000));
}

static void assert_queue(const rlock_inspection *seen)
{
    static const char *const owners[] = {"a:1", "b:2", "c:3"};
    cr_assert(seen->waiter_count == 3);
    for (size_t i = 0; i < 3; i++)
        cr_assert(strcmp(seen->waiters[i].owner, owners[i]) == 0, "%zu is %s", i, seen->waiters[i].owner);
    assert_between(seen->waiters[0].left_ms, 60000 - at_most_ms(5000), 60000);
    cr_assert(seen->waiters[1].left_ms == RLOCK_NO_END && seen->waiters[2].left_ms == 0);
}

Test(inspect, shows_the_queue_of_a_fair_lock_that_is_held)
{
    put("HSET " NAME " " A ":4 1");
    put_queue();
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "fair");
    cr_assert(seen->holder_count == 1 && strcmp(seen->holders[0].owner, A ":4") == 0);
    assert_queue(seen);
    rlock_inspection_free(seen);
}

/* Its next holder is on the way, or dead. */
Test(inspect, shows_the_queue_of_a_fair_lock_that_is_free)
{
    put_queue();
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "fair");
    cr_assert(seen->ttl_ms == RLOCK_NOT_THERE && seen->holder_count == 0);
    assert_queue(seen);
    rlock_inspection_free(seen);
}

/* An answer of several megabytes. */
Test(inspect, shows_a_queue_of_a_hundred_thousand)
{
    enum { WAITERS = 100000 };
    freeReplyObject(server_command(stage.server, "EVAL %s 2 " QUEUE " " TIMEOUTS " %d", "for n = 1, ARGV[1] do "
                                   "local owner = '01234567-0123-4123-8123-0123456789ab:' .. n "
                                   "redis.call('rpush', KEYS[1], owner) redis.call('zadd', KEYS[2], n, owner) end", WAITERS));
    rlock_inspection *seen = look(NAME);
    cr_assert(seen->waiter_count == WAITERS);
    cr_assert_str_eq(seen->waiters[WAITERS - 1].owner, "01234567-0123-4123-8123-0123456789ab:100000");
    rlock_inspection_free(seen);
}

Test(inspect, shows_the_token_of_a_fenced_lock_held_and_free)
{
    rlock *lock = rlock_get_fenced_lock(stage.client, NAME);
    uint64_t token = 0;
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock_and_get_token(lock, &token));
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "fenced");
    cr_assert(seen->has_token && seen->token == token && token == 2);
    cr_assert(seen->holder_count == 1 && seen->holders[0].hold_count == 2);
    rlock_inspection_free(seen);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    seen = look(NAME);
    cr_assert_str_eq(seen->kind, "fenced");
    cr_assert(seen->has_token && seen->token == 2 && seen->holder_count == 0 && seen->ttl_ms == RLOCK_NOT_THERE);
    rlock_inspection_free(seen);
    rlock_free(lock);
}

/* Its keys have other names than the lock; what else has such a name is none. */
Test(inspect, shows_a_signal_list_lock_by_its_name)
{
    rlock *lock = kind_of(&kind_signal, stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, 20000));
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "signal");
    cr_assert(seen->holder_count == 1 && strstr(seen->holders[0].owner, rlock_client_id(stage.client)));
    assert_between(seen->ttl_ms, 1, 20000);
    rlock_inspection_free(seen);
    assert_ok(rlock_unlock(lock));
    static const char *const others[] = {"SET lock:" NAME " 5", "HSET lock:" NAME " a 1", "RPUSH lock:" NAME " a"};
    for (int i = 0; i < 3; i++) {
        freeReplyObject(server_command(stage.server, "DEL lock:" NAME));
        freeReplyObject(server_command(stage.server, others[i]));
        seen = look(NAME);
        cr_assert_str_eq(seen->kind, "free", "%s", others[i]);
        rlock_inspection_free(seen);
    }
}

static const rlock_holder *holder(const rlock_inspection *seen, const char *owner, const char *side)
{
    for (size_t i = 0; i < seen->holder_count; i++) {
        if (strcmp(seen->holders[i].owner, owner) == 0 && seen->holders[i].side && strcmp(seen->holders[i].side, side) == 0)
            return &seen->holders[i];
    }
    cr_assert_fail("%s of %s is not shown", side, owner);
    return NULL;
}

/* Each reader has the time of that of its holds which lasts longest; the third's are over. */
Test(inspect, shows_each_reader_of_a_read_write_lock)
{
    put("HSET " NAME " mode read " A ":1 2 " B ":2 1 " C ":3 4");
    put("PEXPIRE " NAME " 90000");
    put("SET {" NAME "}:" A ":1:rwlock_timeout:1 1 PX 50000");
    put("SET {" NAME "}:" A ":1:rwlock_timeout:2 1 PX 20000");
    put("SET {" NAME "}:" B ":2:rwlock_timeout:1 1");
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "read-write");
    cr_assert_str_eq(seen->mode, "read");
    cr_assert(seen->holder_count == 3);
    cr_assert(holder(seen, A ":1", "read")->hold_count == 2);
    assert_between(holder(seen, A ":1", "read")->left_ms, 50000 - at_most_ms(5000), 50000);
    cr_assert(holder(seen, B ":2", "read")->left_ms == RLOCK_NO_END);
    cr_assert(holder(seen, C ":3", "read")->hold_count == 4 && holder(seen, C ":3", "read")->left_ms == 0);
    assert_between(seen->ttl_ms, 90000 - at_most_ms(5000), 90000);
    rlock_inspection_free(seen);
}

/* A writer that reads as well, as before a downgrade; also under a name with braces of its own. */
Test(inspect, shows_the_writer_of_a_read_write_lock_and_what_it_reads)
{
    static const char *const names[] = {NAME, "{tag}:" NAME};
    for (size_t i = 0; i < 2; i++) {
        rlock_read_write_lock *both = rlock_get_read_write_lock(stage.client, names[i]);
        rlock *read = rlock_read_lock(both), *write = rlock_write_lock(both);
        assert_ok(rlock_lock_lease(write, 60000));
        assert_ok(rlock_lock_lease(read, 40000));
        rlock_inspection *seen = look(names[i]);
        cr_assert_str_eq(seen->kind, "read-write");
        cr_assert_str_eq(seen->mode, "write");
        cr_assert(seen->holder_count == 2);
        const char *owner = seen->holders[0].owner, *id = rlock_client_id(stage.client);
        cr_assert(strncmp(owner, id, strlen(id)) == 0 && !strstr(owner, ":write"), "%s", owner);
        cr_assert(holder(seen, owner, "write")->hold_count == 1);
        cr_assert(holder(seen, owner, "write")->left_ms == seen->ttl_ms);
        assert_between(holder(seen, owner, "read")->left_ms, 40000 - at_most_ms(5000), 40000);
        rlock_inspection_free(seen);
        assert_ok(rlock_unlock(read));
        assert_ok(rlock_unlock(write));
        rlock_free(read);
        rlock_free(write);
        rlock_read_write_lock_free(both);
    }
    assert_no_keys();
}

/* A count of levels that no lock has does not keep the server busy. */
Test(inspect, is_not_held_up_by_an_absurd_hold_count)
{
    put("HSET " NAME " mode read " A ":1 900000000000000");
    int64_t begin_ms = now_ms();
    rlock_inspection *seen = look(NAME);
    assert_between(now_ms() - begin_ms, 0, at_most_ms(1000));
    cr_assert(holder(seen, A ":1", "read")->hold_count == INT64_C(900000000000000));
    rlock_inspection_free(seen);
}

Test(inspect, shows_a_number_as_a_semaphore_or_a_latch)
{
    static const char *const values[] = {"5", "0", "-3", "2147483647"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        freeReplyObject(server_command(stage.server, "SET " NAME " %s PX 60000", values[i]));
        rlock_inspection *seen = look(NAME);
        cr_assert_str_eq(seen->kind, "semaphore-or-latch");
        cr_assert(seen->has_permits && seen->available == strtoll(values[i], NULL, 10) && seen->permit_count == 0);
        cr_assert(seen->holder_count == 0);
        assert_between(seen->ttl_ms, 60000 - at_most_ms(5000), 60000);
        rlock_inspection_free(seen);
    }
}

/* Raw ids on the server, digits in what is shown; one permit is over and counts as available again. */
Test(inspect, shows_the_permits_of_a_permit_expirable_semaphore)
{
    static const unsigned char ids[3][16] = {{0}, {0xc1, '\r', '\n', '%', 0x7f, [15] = 0xff}, {[15] = 1}};
    put("SET " NAME " 4");
    freeReplyObject(server_command(stage.server, "ZADD " PERMITS " %lld %b 922337203685477 %b 5 %b",
                                   (long long)server_ms() + 60000, ids[0], (size_t)16, ids[1], (size_t)16, ids[2],
                                   (size_t)16));
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "permit-expirable");
    cr_assert(seen->has_permits && seen->available == 5 && seen->permit_count == 2);
    cr_assert_str_eq(seen->permits[0].id, "00000000000000000000000000000000");
    assert_between(seen->permits[0].left_ms, 60000 - at_most_ms(5000), 60000);
    cr_assert_str_eq(seen->permits[1].id, "c10d0a257f00000000000000000000ff");
    cr_assert(seen->permits[1].left_ms == RLOCK_NO_END);
    rlock_inspection_free(seen);
}

/* All taken: the counter may have been deleted, too. */
Test(inspect, shows_a_permit_expirable_semaphore_without_a_counter)
{
    put("ZADD " PERMITS " 922337203685477 0123456789abcdef");
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "permit-expirable");
    cr_assert(seen->ttl_ms == RLOCK_NOT_THERE && seen->has_permits && seen->available == 0 && seen->permit_count == 1);
    cr_assert_str_eq(seen->permits[0].id, "30313233343536373839616263646566");
    rlock_inspection_free(seen);
}

/* Digits may be a token, too. */
Test(inspect, shows_a_number_that_no_counter_has_as_a_token)
{
    put("SET " NAME " 9223372036854775807");
    rlock_inspection *seen = look(NAME);
    cr_assert(seen->has_permits && seen->available == INT64_MAX);
    rlock_inspection_free(seen);
    put("SET " NAME " 9223372036854775808");
    seen = look(NAME);
    cr_assert_str_eq(seen->kind, "token");
    cr_assert_str_eq(seen->holders[0].owner, "9223372036854775808");
    rlock_inspection_free(seen);
}

static void assert_refused(const char *word)
{
    rlock_inspection *seen = NULL;
    assert_status(rlock_inspect(stage.client, NAME, &seen), RLOCK_SERVER);
    cr_assert(!seen && strstr(rlock_last_error(), NAME) && strstr(rlock_last_error(), word), "%s", rlock_last_error());
    put("DEL " NAME);
}

RealTest(inspect, refuses_what_is_none_of_these)
{
    static const char *const commands[] = {"RPUSH " NAME " x", "SADD " NAME " x", "ZADD " NAME " 1 x",
                                           "XADD " NAME " * a b"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        put(commands[i]);
        assert_refused("WRONGTYPE");
    }
    put("HSET " NAME " " FOREIGN_CLIENT ":1 high");
    assert_refused("not a hold count");
    static const char *const fields[] = {"apple", "apple:1", "mode", FOREIGN_CLIENT, FOREIGN_CLIENT ":", FOREIGN_CLIENT ":1x",
                                         FOREIGN_CLIENT ":1:write", "x:expire_time"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char expected[160];
        snprintf(expected, sizeof expected, "has the field \"%s\", which names no owner", fields[i]);
        freeReplyObject(server_command(stage.server, "HSET " NAME " %s 3", fields[i]));
        assert_refused(expected);
    }
    put("HSET " NAME " " FOREIGN_CLIENT ":1 1 pear 2");
    assert_refused("\"pear\", which names no owner");
}

/* Two thousand fields, each of that form, with a number. */
static void put_fields(const char *form)
{
    freeReplyObject(server_command(stage.server, "EVAL %s 1 " NAME " %s",
                                   "for i = 1, 2000 do redis.call('hset', KEYS[1], string.format(ARGV[1], i), '1') end", form));
}

/* The server would stand still while it lists them, and locks of others would be lost meanwhile. */
RealTest(inspect, does_not_list_the_fields_of_another_programs_large_hash)
{
    put_fields("user:%d");
    int64_t before = server_times(stage.server, "hgetall");
    assert_refused("names no owner");
    cr_assert(server_times(stage.server, "hgetall") == before);
}

Test(inspect, shows_all_of_many_readers)
{
    put("HSET " NAME " mode read");
    put_fields(FOREIGN_CLIENT ":%d");
    rlock_inspection *seen = look(NAME);
    cr_assert(strcmp(seen->kind, "read-write") == 0 && seen->holder_count == 2000, "%s, %zu", seen->kind, seen->holder_count);
    rlock_inspection_free(seen);
}

Test(inspect, shows_who_holds_many_values_of_a_group)
{
    put_fields("%022d:" FOREIGN_CLIENT ":1:lock_count");
    freeReplyObject(server_command(stage.server, "EVAL %s 1 " NAME " " FOREIGN_CLIENT ":1",
                                   "for i = 1, 2000 do local v = string.format('%022d', i) "
                                   "redis.call('hset', KEYS[1], v, ARGV[1], v .. ':' .. ARGV[1] .. ':expire_time', '9000000000000') end"));
    rlock_inspection *seen = look(NAME);
    cr_assert(strcmp(seen->kind, "group") == 0 && seen->holder_count == 1 && seen->value_counts[0] == 2000, "%s", seen->kind);
    rlock_inspection_free(seen);
}

/* Such as a lock called {order}:timeout. */
Test(inspect, leaves_out_further_keys_that_are_anothers)
{
    foreign_hold(NAME, 60000);
    put("SET " QUEUE " 1");
    put("SET " TIMEOUTS " 1");
    put("HSET " PERMITS " a:1 1");
    put("SET redisson_lock_token:{" NAME "} text");
    rlock_inspection *seen = look(NAME);
    cr_assert_str_eq(seen->kind, "lock");
    cr_assert(seen->holder_count == 1 && seen->waiter_count == 0 && !seen->has_token && !seen->has_permits);
    rlock_inspection_free(seen);
}

Test(inspect, changes_nothing)
{
    put("SET " NAME " 4");
    put("ZADD " PERMITS " 5 0123456789abcdef");
    put("RPUSH " QUEUE " a:1");
    put("ZADD " TIMEOUTS " 5 a:1");
    char *before = server_keyspace(stage.server);
    rlock_inspection_free(look(NAME));
    char *after = server_keyspace(stage.server);
    cr_assert_str_eq(after, before);
    free(before);
    free(after);
}

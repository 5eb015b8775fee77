/* One run of a script, where what it finds is rare: a field of a session that is over, a late request, a place that has
 * ended. Such states need a lost reply or a dead process at the right moment, so they are made by hand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scripts.h"

#include "tests/integration/support/fair.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(script_run, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define CHANNEL "redisson_lock__channel:{" NAME "}"

/* The name by which the server has it from now on. */
static const char *loaded(const rli_script *script)
{
    server_load(stage.server, script, RLI_COUNTED);
    return script->sha1[RLI_COUNTED];
}

__attribute__((format(printf, 1, 2))) static void set_up(const char *command, ...)
{
    va_list args;
    char text[300];
    va_start(args, command);
    vsnprintf(text, sizeof text, command, args);
    va_end(args);
    redisReply *reply = server_command(stage.server, text);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", text, reply->str);
    freeReplyObject(reply);
}

/* --- who is registered as a waiter sleeps until it is told on its client's own channel --- */

/* A lock with a field of "old", and one that waits. */
static void hold_and_register(void)
{
    set_up("DEL " NAME);
    set_up("HSET " NAME " old 1");
    set_up("PEXPIRE " NAME " 600000");
    set_up("DEL rlock_waiters:{" NAME "}");
    cr_assert(server_integer(stage.server, "ZADD rlock_waiters:{" NAME "} 1 %s", "client:7 30000") == 1);
    server_listen(stage.server);
}

static void assert_registrant_is_told(redisReply *reply)
{
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s", reply->str);
    freeReplyObject(reply);
    assert_between(pttl_of(NAME), 1, 60000);
    cr_assert(server_heard(stage.server, CHANNEL ":client", "7 0", 10000), "the one that is registered is not told");
}

Test(script_run, of_an_acquire_that_replaces_a_field_tells_a_registered_waiter)
{
    hold_and_register();
    assert_registrant_is_told(server_command(stage.server, "EVALSHA %s 1 " NAME " new 60000 1 old " CHANNEL,
                                             loaded(&rli_script_lock_acquire)));
}

Test(script_run, of_a_fenced_acquire_that_replaces_a_field_tells_a_registered_waiter)
{
    hold_and_register();
    assert_registrant_is_told(server_command(stage.server, "EVALSHA %s 2 " NAME " counter new 60000 1 old " CHANNEL,
                                             loaded(&rli_script_fenced_acquire)));
}

/* They were told of a longer lease. */
Test(script_run, of_a_handoff_to_a_shorter_lease_tells_a_registered_waiter)
{
    hold_and_register();
    assert_registrant_is_told(server_command(stage.server, "EVALSHA %s 1 " NAME " " CHANNEL " old new 60000 %s %s %s",
                                             loaded(&rli_script_lock_handoff), "", "", ""));
}

/* A client that knows this server alone waits; one that reaches it through sentinels, say, releases the lock. Nobody can
 * say who else listens, so the lock is offered to nobody. */
Test(script_run, where_subscribers_are_scattered_tells_a_registered_waiter_to_ask)
{
    redisContext *listening = foreign_subscribe(CHANNEL ":client");
    server_load(stage.server, &rli_script_lock_release, RLI_SCATTERED);
    server_load(stage.server, &rli_script_lock_handoff, RLI_SCATTERED);
    hold_and_register();
    cr_assert(server_integer(stage.server, "EVALSHA %s 1 " NAME " " CHANNEL " old 0 30000",
                             rli_script_lock_release.sha1[RLI_SCATTERED]) == 1);
    cr_assert(pttl_of(NAME) == -2 && server_heard(stage.server, CHANNEL ":client", "7 0", 10000));
    hold_and_register();
    cr_assert(server_integer(stage.server, "EVALSHA %s 1 " NAME " " CHANNEL " old heir:8 30000 0 %s %s",
                             rli_script_lock_handoff.sha1[RLI_SCATTERED], "", "") == -1);
    cr_assert(pttl_of(NAME) == -2 && server_heard(stage.server, CHANNEL ":client", "7 0", 10000));
    redisFree(listening);
}

/* --- a handoff beside a listener of another library --- */

/* The owner "old" hands over to "heir:8". since: of its registration. */
static int64_t hand_over_beside(int ours, const char *since)
{
    return server_integer(stage.server, "EVALSHA %s 1 " NAME " " CHANNEL " old heir:8 30000 %d 30000 %s",
                          loaded(&rli_script_lock_handoff), ours, since);
}

/* Since when the successor has waited, as the registry has it. */
static int64_t heir_since(void)
{
    return server_integer(stage.server, "EVAL %s 0", "return tonumber(redis.call('zscore', 'rlock_waiters:{" NAME
                                                     "}', 'heir:8 30000'))");
}

Test(script_run, of_a_handoff_leaves_the_lock_to_others_and_says_so_in_order)
{
    hold_and_register();
    redisContext *listening = foreign_subscribe(CHANNEL);
    freeReplyObject(redisCommand(listening, "SUBSCRIBE " CHANNEL ":client"));
    freeReplyObject(redisCommand(listening, "SUBSCRIBE " CHANNEL ":guards"));
    redisContext *other = foreign_subscribe(CHANNEL); /* than the guard above */
    cr_assert(hand_over_beside(0, "2") == 5);
    static const char *const expected[][2] = {{CHANNEL, "0"}, {CHANNEL ":guards", "others"}, {CHANNEL ":client", "others"}};
    redisReply *reply = NULL;
    for (int i = 0; i < 3; i++) {
        cr_assert(redisGetReply(listening, (void **)&reply) == REDIS_OK && reply->elements == 3);
        cr_assert_str_eq(reply->element[1]->str, expected[i][0]);
        cr_assert_str_eq(reply->element[2]->str, expected[i][1]);
        freeReplyObject(reply);
    }
    cr_assert(pttl_of(NAME) == -2);
    cr_assert(server_integer(stage.server, "ZCARD rlock_waiters:{" NAME "}") == 1); /* who was told has left it */
    cr_assert(heir_since() == 2);
    assert_between(server_integer(stage.server, "PTTL rlock_waiters:{" NAME "}"), 1, 90000);
    redisFree(other);
    redisFree(listening);
}

/* A place that it has already is older, and stays. */
Test(script_run, of_a_handoff_that_leaves_the_lock_to_others_keeps_the_successors_place)
{
    hold_and_register();
    cr_assert(server_integer(stage.server, "ZADD rlock_waiters:{" NAME "} 2 %s", "heir:8 30000") == 1);
    redisContext *listening = foreign_subscribe(CHANNEL ":client"), *other = foreign_subscribe(CHANNEL);
    cr_assert(hand_over_beside(0, "0") == 5);
    cr_assert(heir_since() == 2);
    redisFree(other);
    redisFree(listening);
}

/* Nobody hears whose turn it is after the others: the successor has to look by itself. */
Test(script_run, of_a_handoff_that_can_tell_no_waiter_says_how_many_others_there_are)
{
    redisContext *other = foreign_subscribe(CHANNEL);
    hold_and_register();
    cr_assert(hand_over_beside(0, "0") == -1);
    cr_assert(pttl_of(NAME) == -2 && server_integer(stage.server, "EXISTS rlock_waiters:{" NAME "}") == 0);
    hold_and_register();
    set_up("DEL rlock_waiters:{" NAME "}");
    set_up("SET rlock_waiters:{" NAME "} text");
    cr_assert(hand_over_beside(0, "0") == -1);
    redisFree(other);
}

/* The successor came first, but its client does not hear at the moment: it has lost its place to one that does. */
Test(script_run, of_a_handoff_that_takes_the_successor_out_lets_it_look_by_itself)
{
    hold_and_register();
    cr_assert(server_integer(stage.server, "ZADD rlock_waiters:{" NAME "} 0 %s", "heir:8 30000") == 1);
    redisContext *listening = foreign_subscribe(CHANNEL ":client"), *other = foreign_subscribe(CHANNEL);
    cr_assert(hand_over_beside(0, "0") == -1);
    cr_assert(pttl_of(NAME) == -2 && server_integer(stage.server, "EXISTS rlock_waiters:{" NAME "}") == 0);
    redisFree(other);
    redisFree(listening);
}

/* For those that poll; who listens to releases is told as ever. */
Test(script_run, of_a_handoff_that_frees_the_lock_in_any_case_tells_a_registered_waiter_to_ask)
{
    hold_and_register();
    redisContext *listening = foreign_subscribe(CHANNEL ":client"), *other = foreign_subscribe(CHANNEL);
    cr_assert(hand_over_beside(-1, "0") == -1);
    cr_assert(server_heard(stage.server, CHANNEL ":client", "7 0", 10000));
    redisFree(other);
    redisFree(listening);
}

/* --- a request that comes late, or once more --- */

/* The answer was lost, and an earlier acquire of the successor ran since, with a shorter lease. */
Test(script_run, of_a_handoff_that_is_repeated_gives_the_whole_lease)
{
    set_up("HSET " NAME " new 1");
    set_up("PEXPIRE " NAME " 20000");
    cr_assert(server_integer(stage.server, "EVALSHA %s 1 " NAME " " CHANNEL " old new 60000 %s %s %s",
                             loaded(&rli_script_lock_handoff), "", "", "") == 3);
    assert_between(pttl_of(NAME), 20001, 60000);
}

/* While a slot moves, the hash and the keys that time its holds may be at two servers. */
Test(script_run, of_a_look_at_a_read_hold_without_its_times_does_not_call_it_gone)
{
    set_up("HSET " NAME " mode read me 1");
    set_up("PEXPIRE " NAME " 60000");
    redisReply *reply = server_command(stage.server, "EVALSHA %s 1 " NAME " me", loaded(&rli_script_read_look));
    cr_assert(reply->elements == 1 && reply->element[0]->integer == -3);
    freeReplyObject(reply);
}

/* --- a lock is not to stand without an end: its owner may end as soon as it is refused --- */

/* Either right suffices to take back what was written. */
static const char *const left_to_it[] = {"-del", "-hdel"};
enum { LEFT = sizeof left_to_it / sizeof *left_to_it };

static const char *loaded_without_right(const rli_script *script, const char *other)
{
    const char *sha1 = loaded(script);
    set_up("ACL SETUSER default -pexpire %s", other);
    return sha1;
}

static void assert_nothing_stands(redisReply *reply)
{
    cr_assert(reply->type == REDIS_REPLY_ERROR);
    freeReplyObject(reply);
    set_up("ACL SETUSER default +pexpire +del +hdel");
    cr_assert(server_integer(stage.server, "EXISTS " NAME) == 0);
}

RealTest(script_run, of_an_acquire_without_the_right_to_a_lease_takes_nothing)
{
    for (int i = 0; i < LEFT; i++) {
        const char *sha1 = loaded_without_right(&rli_script_lock_acquire, left_to_it[i]);
        assert_nothing_stands(server_command(stage.server, "EVALSHA %s 1 " NAME " me 60000 1 %s", sha1, ""));
    }
}

RealTest(script_run, of_a_fenced_acquire_without_the_right_to_a_lease_takes_nothing)
{
    for (int i = 0; i < LEFT; i++) {
        const char *sha1 = loaded_without_right(&rli_script_fenced_acquire, left_to_it[i]);
        assert_nothing_stands(
            server_command(stage.server, "EVALSHA %s 2 " NAME " counter me 60000 1 %s " CHANNEL, sha1, ""));
    }
}

RealTest(script_run, of_a_read_acquire_without_the_right_to_a_lease_takes_nothing)
{
    for (int i = 0; i < LEFT; i++) {
        const char *sha1 = loaded_without_right(&rli_script_read_acquire, left_to_it[i]);
        assert_nothing_stands(
            server_command(stage.server, "EVALSHA %s 2 " NAME " {" NAME "}: me 60000 1 %s %s", sha1, "", ""));
    }
}

RealTest(script_run, of_a_write_acquire_without_the_right_to_a_lease_takes_nothing)
{
    for (int i = 0; i < LEFT; i++) {
        const char *sha1 = loaded_without_right(&rli_script_write_acquire, left_to_it[i]);
        assert_nothing_stands(server_command(stage.server,
                                             "EVALSHA %s 2 " NAME " {" NAME "}: redisson_rwlock:{" NAME "} me 60000 1 %s",
                                             sha1, ""));
    }
}

/* --- a fair lock's queue --- */

#define FAIR_KEYS "4 " NAME " redisson_lock_queue:{" NAME "} redisson_lock_timeout:{" NAME "} " CHANNEL

static int64_t in_ms(int64_t ms)
{
    return server_time_ms() + ms;
}

static void queue_up_until(const char *owner, int64_t until_ms)
{
    set_up("RPUSH redisson_lock_queue:{" NAME "} %s", owner);
    set_up("ZADD redisson_lock_timeout:{" NAME "} %lld %s", (long long)until_ms, owner);
}

/* Its outer holds are gone, and so is the head of the queue: the lock is free, and the next one must know. */
Test(script_run, of_a_fair_re_entry_that_comes_too_late_tells_the_new_head)
{
    server_listen(stage.server);
    queue_up_until("dead", in_ms(-1));
    queue_up_until("next", in_ms(60000));
    cr_assert(server_integer(stage.server, "EVALSHA %s " FAIR_KEYS " me 30000 2 %s 0 %s 0", loaded(&rli_script_fair_acquire), "",
                             "") == -3);
    cr_assert(server_heard(stage.server, CHANNEL ":next", "0", 10000), "the new head is not told");
}

/* Another thread of the owner took the lock as another kind while this one queued: those behind it gain its place. */
Test(script_run, of_a_fair_acquire_by_the_holder_ends_its_own_place)
{
    set_up("HSET " NAME " me 1");
    set_up("PEXPIRE " NAME " 30000");
    queue_up_until("me", in_ms(100000));
    int64_t until_ms = in_ms(200000);
    queue_up_until("next", until_ms);
    freeReplyObject(server_command(stage.server, "EVALSHA %s " FAIR_KEYS " me 30000 2 %s 50000 %s 50000",
                                   loaded(&rli_script_fair_acquire), "", ""));
    char *score = server_text(stage.server, "ZSCORE redisson_lock_timeout:{" NAME "} next");
    cr_assert(score && strtoll(score, NULL, 10) == until_ms - 50000, "%s", score);
    free(score);
    cr_assert(server_integer(stage.server, "LLEN redisson_lock_queue:{" NAME "}") == 1);
}

RealTest(script_run, of_a_fair_acquire_without_the_right_to_a_lease_takes_nothing)
{
    for (int i = 0; i < LEFT; i++) {
        const char *sha1 = loaded_without_right(&rli_script_fair_acquire, left_to_it[i]);
        assert_nothing_stands(server_command(stage.server, "EVALSHA %s " FAIR_KEYS " me 60000 1 %s 0 %s 0", sha1, "", ""));
    }
}

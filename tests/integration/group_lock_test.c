/* Group locks: which values exclude each other, what stands on the server, and what is left of others. What every lock
 * does, the tests of all kinds show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/answers.h"
#include "tests/integration/support/called.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/losses.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(group_lock, .init = stage_open, .fini = stage_close);

#define GROUP "class_100"

/* The fields of the values "a", "b" and "c" under StringCodec. */
#define A "qwvAS12pR0CgRitaypEjUw"
#define B "Q5CdP+xmkHdTGWYr64Lw6A"
#define FOREIGN FOREIGN_CLIENT ":7"

/* One value a character. */
static rlock *of_values(rlock_client *client, const char *values)
{
    return group_of(client, GROUP, values);
}

/* --- what it excludes --- */

Test(group_lock, excludes_those_with_a_value_in_common_and_no_others)
{
    rlock *ab = of_values(stage.client, "ab"), *bc = of_values(stage.other, "bc"), *c = of_values(stage.other, "c");
    actor *another = actor_start();
    assert_ok(rlock_lock(ab));
    assert_status(actor_try(another, bc, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_try(another, c, 0, RLOCK_WATCHDOG));
    cr_assert(is_locked(bc) && is_locked(ab) && is_locked(c));
    assert_ok(rlock_unlock(ab));
    assert_status(rlock_try_lock(of_values(stage.client, "bc"), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(actor_unlock(another, c));
    assert_ok(actor_try(another, bc, 0, RLOCK_WATCHDOG));
    assert_ok(actor_unlock(another, bc));
    actor_end(another);
    assert_no_keys();
}

/* Nothing is held of a lock that was refused. */
Test(group_lock, takes_all_values_or_none)
{
    rlock *b = of_values(stage.other, "b"), *abc = of_values(stage.client, "abc");
    assert_ok(rlock_lock(b));
    assert_status(rlock_try_lock(abc, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(of_values(stage.client, "ac"), 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(of_values(stage.client, "ac")));
    assert_ok(rlock_unlock(b));
    assert_no_keys();
}

/* A release wakes whoever waits for some of its values, whatever else they wait for; in the process of the releaser, too. */
Test(group_lock, wakes_waiters_of_other_sets_of_values)
{
    rlock *abc = of_values(stage.client, "abc");
    actor *waiters[4];
    const char *const wants[] = {"a", "bx", "cy", "abcz"};
    for (int i = 0; i < 4; i++)
        waiters[i] = actor_start();
    assert_ok(rlock_lock(abc));
    for (int i = 0; i < 3; i++)
        actor_begin_lock(waiters[i], of_values(i == 1 ? stage.client : stage.other, wants[i]));
    for (int i = 0; i < 3; i++)
        cr_assert(actor_asleep(waiters[i], 5000));
    assert_ok(rlock_unlock(abc));
    for (int i = 0; i < 3; i++)
        assert_ok(actor_finish(waiters[i], 5000));
    for (int i = 0; i < 3; i++)
        assert_ok(actor_unlock(waiters[i], of_values(i == 1 ? stage.client : stage.other, wants[i])));
    for (int i = 0; i < 4; i++)
        actor_end(waiters[i]);
    assert_no_keys();
}

/* Java's clients would hold the same values beside C. */
Test(group_lock, follows_the_codec_of_the_configuration)
{
    static const char *const texts[] = {"a"};
    static const int64_t numbers[] = {1};
    rlock_client *strings = stage_client("codec=STRING"), *odd = stage_client("codec=OTHER");
    cr_assert(!rlock_get_group_lock_of_strings(strings, GROUP, RLOCK_CODEC_KRYO5, texts, 1));
    assert_error("KRYO5", "the configuration says STRING", "RLOCK_CODEC_STRING");
    cr_assert(!rlock_get_group_lock_of_longs(odd, GROUP, RLOCK_CODEC_CONFIGURED, numbers, 1));
    assert_error("rlock_get_group_lock()");
    cr_assert(!rlock_get_group_lock_of_longs(odd, GROUP, RLOCK_CODEC_STRING, numbers, 1));
    cr_assert(!rlock_get_group_lock_of_longs(stage_client("codec=KRYO5"), GROUP, RLOCK_CODEC_STRING, numbers, 1));
    assert_error("the configuration says KRYO5");
    rlock *bytes = stage_keep(rlock_get_group_lock(odd, GROUP, &(rlock_value){"any", 3}, 1)); /* as the message advises */
    assert_ok(rlock_lock(bytes));
    assert_ok(rlock_unlock(bytes));
    rlock *own = stage_keep(rlock_get_group_lock_of_strings(strings, GROUP, RLOCK_CODEC_CONFIGURED, texts, 1));
    rlock *same = stage_keep(rlock_get_group_lock_of_strings(stage.other, GROUP, RLOCK_CODEC_STRING, texts, 1));
    rlock *usual = stage_keep(rlock_get_group_lock_of_strings(stage.other, GROUP, RLOCK_CODEC_CONFIGURED, texts, 1));
    assert_ok(rlock_lock(own));
    assert_status(rlock_try_lock(same, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(usual, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(usual));
    assert_ok(rlock_unlock(own));
    assert_no_keys();
}

/* The owner would wait for itself for ever. */
Test(group_lock, tells_an_owner_that_it_holds_a_part_already)
{
    rlock *ab = of_values(stage.client, "ab"), *bc = of_values(stage.client, "bc");
    actor *another = actor_start();
    assert_ok(rlock_lock(ab));
    assert_status(rlock_lock(bc), RLOCK_ALREADY_HELD);
    assert_error(GROUP, "at once");
    assert_status(rlock_try_lock(bc, 0, RLOCK_WATCHDOG), RLOCK_ALREADY_HELD);
    assert_status(actor_try(another, bc, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_status(rlock_try_lock(owned_by(bc, 3), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_lock(of_values(stage.client, "cd")));
    assert_ok(rlock_unlock(ab));
    assert_ok(rlock_unlock(of_values(stage.client, "cd")));
    assert_ok(rlock_lock(bc));
    assert_ok(rlock_unlock(bc));
    actor_end(another);
    assert_no_keys();
}

/* Whichever of the two values the server finds first. */
Test(group_lock, tells_it_so_while_another_owner_of_the_client_holds_the_rest)
{
    static const char *const parts[][2] = {{"a", "b"}, {"b", "a"}};
    rlock *both = of_values(stage.client, "ab");
    actor *another = actor_start();
    for (int i = 0; i < 2; i++) {
        rlock *own = of_values(stage.client, parts[i][0]), *theirs = of_values(stage.client, parts[i][1]);
        assert_ok(rlock_lock(own));
        assert_ok(actor_try(another, theirs, 0, RLOCK_WATCHDOG));
        assert_status(rlock_lock(both), RLOCK_ALREADY_HELD);
        assert_ok(actor_unlock(another, theirs));
        assert_ok(rlock_unlock(own));
    }
    actor_end(another);
    assert_no_keys();
}

Test(group_lock, is_the_same_in_any_order_and_with_values_given_twice)
{
    rlock *one = of_values(stage.client, "abc"), *other = of_values(stage.client, "cabbac");
    assert_ok(rlock_lock(one));
    assert_ok(rlock_lock(other));
    cr_assert(hold_count(one) == 2);
    assert_ok(rlock_unlock(one));
    assert_ok(rlock_unlock(one));
    assert_status(rlock_unlock(other), RLOCK_NOT_OWNER);
    assert_no_keys();
}

/* --- what stands on the server --- */

static int64_t field_of(const char *field)
{
    char *text = server_text(stage.server, "HGET " GROUP " %s", field);
    int64_t number = text ? strtoll(text, NULL, 10) : -1;
    free(text);
    return number;
}

static char *own_field(const char *value, const char *what)
{
    static char field[160];
    char *owner = server_text(stage.server, "HGET " GROUP " %s", value);
    cr_assert(owner != NULL);
    snprintf(field, sizeof field, "%s:%s:%s", value, owner, what);
    free(owner);
    return field;
}

Test(group_lock, leaves_redissons_fields)
{
    rlock *ab = of_values(stage.client, "ab");
    assert_ok(rlock_lock_lease(ab, 60000));
    assert_ok(rlock_lock_lease(ab, 10000));
    cr_assert(server_integer(stage.server, "HLEN " GROUP) == 6);
    const char *const values[] = {A, B};
    for (int i = 0; i < 2; i++) {
        assert_between(field_of(own_field(values[i], "lock_count")), 2, 2);
        assert_between(field_of(own_field(values[i], "expire_time")) - server_now_ms(), 60000 - at_most_ms(2000), 60000);
    }
    assert_between(pttl_of(GROUP), 60000 - at_most_ms(2000), 60000);
    assert_ok(rlock_unlock(ab));
    assert_between(field_of(own_field(A, "lock_count")), 1, 1);
    assert_ok(rlock_unlock(ab));
    assert_no_keys();
}

/* The longest lease stands, whichever came first. */
Test(group_lock, is_held_until_the_longest_of_its_leases_ends)
{
    rlock *ab = of_values(stage.client, "ab");
    assert_ok(rlock_lock_lease(ab, 10000));
    assert_ok(rlock_lock_lease(ab, 60000));
    assert_between(field_of(own_field(A, "expire_time")) - server_now_ms(), 60000 - at_most_ms(2000), 60000);
    assert_between(field_of(own_field(B, "expire_time")) - server_now_ms(), 60000 - at_most_ms(2000), 60000);
    assert_ok(rlock_unlock(ab));
    assert_ok(rlock_unlock(ab));
    assert_no_keys();
}

/* The time to live of the hash serves all holds in it. */
Test(group_lock, raises_the_time_to_live_of_the_hash_and_never_lowers_it)
{
    rlock *a = of_values(stage.client, "a"), *b = of_values(stage.client, "b"), *c = of_values(stage.client, "c");
    assert_ok(rlock_lock_lease(a, 60000));
    assert_ok(rlock_lock_lease(b, 5000));
    assert_between(pttl_of(GROUP), 60000 - at_most_ms(2000), 60000);
    assert_ok(rlock_lock_lease(c, 90000));
    assert_ok(rlock_unlock(c));
    assert_between(pttl_of(GROUP), 60000, 90000);
    assert_ok(rlock_unlock(b));
    assert_ok(rlock_unlock(a));
    assert_no_keys();
}

/* --- what others leave --- */

/* A hold by a program that is not there: until `left_ms` from now. */
static void foreign_value(const char *value, int64_t left_ms)
{
    char end[32];
    snprintf(end, sizeof end, "%lld", (long long)(server_now_ms() + left_ms));
    freeReplyObject(server_command(stage.server, "HSET " GROUP " %s %s %s:%s:expire_time %s %s:%s:lock_count 1", value,
                                   FOREIGN, value, FOREIGN, end, value, FOREIGN));
    freeReplyObject(server_command(stage.server, "PEXPIRE " GROUP " 600000"));
}

/* Nobody leaves a hash without an end; it gets one that all holds in it outlive. */
Test(group_lock, ends_no_hold_of_another_with_its_own)
{
    rlock *b = of_values(stage.client, "b");
    foreign_value(A, 600000);
    assert_between(server_integer(stage.server, "PERSIST " GROUP), 1, 1);
    assert_ok(rlock_lock_lease(b, 10000));
    assert_between(pttl_of(GROUP), 600000 - at_most_ms(2000), 600000);
    assert_ok(rlock_unlock(b));
    assert_between(pttl_of(GROUP), 600000 - at_most_ms(2000), 600000);
}

/* Redisson leaves the fields of an expired hold; with them its owner could still release what is another's now. */
Test(group_lock, takes_over_what_has_expired_and_clears_it_away)
{
    rlock *ab = of_values(stage.client, "ab");
    foreign_value(A, -1000);
    cr_assert(!is_locked(ab));
    assert_ok(rlock_lock(ab));
    cr_assert(server_integer(stage.server, "HLEN " GROUP) == 6);
    cr_assert(field_of(A ":" FOREIGN ":expire_time") == -1);
    assert_ok(rlock_unlock(ab));
    assert_no_keys();
}

TimedTest(group_lock, waits_until_the_last_of_the_holds_has_ended)
{
    rlock *ab = of_values(stage.client, "ab");
    foreign_value(A, 300);
    foreign_value(B, 700);
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(ab));
    assert_between(now_ms() - since_ms, 700, 720);
    assert_ok(rlock_unlock(ab));
    assert_no_keys();
}

/* Fields that no program writes are waited for no longer than they say, and never trusted. */
Test(group_lock, copes_with_odd_fields)
{
    static const char *const ends[] = {"", "abc", "nan", "-inf", "-5", "1e3", "0x7"};
    rlock *ab = of_values(stage.client, "ab");
    for (int i = 0; i < 7; i++) {
        freeReplyObject(server_command(stage.server, "HSET " GROUP " %s %s %s:%s:expire_time %s", A, FOREIGN, A, FOREIGN, ends[i]));
        assert_ok(rlock_try_lock(ab, 0, RLOCK_WATCHDOG));
        assert_ok(rlock_unlock(ab));
        assert_no_keys();
    }
    freeReplyObject(server_command(stage.server, "HSET " GROUP " %s %s", A, FOREIGN)); /* no end at all */
    assert_ok(rlock_try_lock(ab, 0, RLOCK_WATCHDOG));
    assert_ok(rlock_unlock(ab));
    freeReplyObject(server_command(stage.server, "HSET " GROUP " %s %s %s:%s:expire_time inf", A, FOREIGN, A, FOREIGN));
    assert_status(rlock_try_lock(ab, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
}

/* --- losing a part --- */

/* Somebody took one value away: the hold is lost as a whole, and nothing of it stays. */
Test(group_lock, that_has_lost_a_value_is_released_as_a_whole)
{
    rlock *ab = of_values(stage.client, "ab");
    bool was_locked;
    assert_ok(rlock_lock_lease(ab, 60000));
    assert_ok(rlock_force_unlock(of_values(stage.other, "a"), &was_locked));
    cr_assert(was_locked);
    cr_assert(!is_held(ab));
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    assert_no_keys();
}

/* A re-entry finds out, too, whoever has the values now: it does not wait for them, as no lock of one name does. */
Test(group_lock, that_has_lost_a_value_is_not_taken_again)
{
    rlock *ab = of_values(stage.client, "ab"), *b = of_values(stage.other, "b");
    for (int i = 0; i < 2; i++) {
        bool was_locked;
        assert_ok(rlock_lock_lease(ab, 60000));
        assert_ok(rlock_force_unlock(of_values(stage.other, i ? "ab" : "b"), &was_locked));
        assert_ok(rlock_lock_lease(b, 60000));
        assert_status(rlock_try_lock(ab, 60000, 60000), RLOCK_LOST);
        cr_assert(rlock_valid_for(ab) == 0 && is_held(b));
        assert_status(rlock_unlock(ab), RLOCK_LOST);
        assert_status(rlock_unlock(ab), RLOCK_NOT_OWNER);
        assert_ok(rlock_unlock(b));
        cr_assert(server_wait_exists(stage.server, GROUP, false, 5000), "of the lost hold, something stays");
    }
}

/* The watchdog finds out, tells of it, and frees the others at once. */
TimedTest(group_lock, that_has_lost_a_value_is_told_of_and_frees_the_others)
{
    losses lost;
    losses_init(&lost);
    rlock_on_lost(stage.client, losses_note, &lost);
    rlock *ab = of_values(stage.client, "ab");
    bool was_locked;
    assert_ok(rlock_lock(ab));
    assert_ok(rlock_force_unlock(of_values(stage.other, "a"), &was_locked));
    losses_await(&lost, 1, 11000);
    cr_assert(lost.all[0].reason == RLOCK_LOST_GONE);
    cr_assert(server_wait_exists(stage.server, GROUP, false, 1000));
    assert_status(rlock_unlock(ab), RLOCK_LOST);
}

TimedTest(group_lock, is_renewed_while_it_is_held)
{
    rlock *ab = of_values(stage.client, "ab");
    assert_ok(rlock_lock(ab));
    pass_ms(100000);
    assert_between(field_of(own_field(B, "expire_time")) - server_now_ms(), 19900, 30000);
    cr_assert(rlock_valid_for(ab) > 0 && is_held(ab));
    assert_status(rlock_try_lock(of_values(stage.other, "b"), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(ab));
    assert_no_keys();
}

/* An owner that died leaves values that others take when their ends have passed. */
TimedTest(group_lock, is_free_when_its_lease_has_ended)
{
    rlock *ab = of_values(stage.client, "ab");
    assert_ok(rlock_lock_lease(ab, 1000));
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(of_values(stage.other, "b")));
    assert_between(now_ms() - since_ms, 990, 1020);
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    cr_assert(is_held(of_values(stage.other, "b")));
    assert_ok(rlock_unlock(of_values(stage.other, "b")));
    assert_no_keys();
}

/* --- inspection --- */

Test(group_lock, shows_who_holds_how_many_values)
{
    rlock_inspection *found = NULL;
    rlock *ab = of_values(stage.client, "ab"), *c = of_values(stage.other, "c");
    foreign_value("AAAAAAAAAAAAAAAAAAAAAA", -1000); /* over: nobody's */
    assert_ok(rlock_inspect(stage.client, GROUP, &found));
    cr_assert(strcmp(found->kind, "group") == 0 && found->holder_count == 0);
    rlock_inspection_free(found);
    assert_ok(rlock_lock_lease(ab, 60000));
    assert_ok(rlock_lock_lease(ab, 60000));
    assert_ok(rlock_lock_lease(c, 10000));
    assert_ok(rlock_inspect(stage.client, GROUP, &found));
    cr_assert(strcmp(found->kind, "group") == 0 && found->holder_count == 2 && !found->mode);
    for (int i = 0; i < 2; i++) {
        bool first = strncmp(found->holders[i].owner, rlock_client_id(stage.client), 36) == 0;
        cr_assert(found->value_counts[i] == (first ? 2 : 1) && found->holders[i].hold_count == (first ? 2 : 1));
        assert_between(found->holders[i].left_ms, first ? 10001 : 1, first ? 60000 : 10000);
        cr_assert(!found->holders[i].side);
    }
    rlock_inspection_free(found);
    assert_ok(rlock_unlock(ab));
    assert_ok(rlock_unlock(ab));
    assert_ok(rlock_unlock(c));
}

/* --- many --- */

__attribute__((unused)) static rlock *of_numbers(rlock_client *client, int64_t from, size_t count)
{
    int64_t *numbers = malloc(count * sizeof *numbers);
    cr_assert(numbers != NULL);
    for (size_t i = 0; i < count; i++)
        numbers[i] = from + (int64_t)i;
    rlock *lock = stage_keep(rlock_get_group_lock_of_longs(client, GROUP, RLOCK_CODEC_KRYO5, numbers, count));
    free(numbers);
    return lock;
}

/* On a busy machine each of these scripts takes seconds: no lease, answer or patience of the server ends meanwhile. */
RealTest(group_lock, has_tens_of_thousands_of_values)
{
    static const char patient[] = "lockWatchdogTimeout=3600000&timeout=600000";
    rlock_client *client = stage_client(patient), *other = stage_client(patient);
    freeReplyObject(server_command(stage.server, "CONFIG SET lua-time-limit 0"));
    rlock *many = of_numbers(client, 0, 30000), *two = of_numbers(other, 30000, 2);
    assert_ok(rlock_lock(many));
    assert_ok(rlock_lock(many));
    cr_assert(server_integer(stage.server, "HLEN " GROUP) == 90000);
    assert_status(rlock_try_lock(of_numbers(other, 29999, 2), 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_try_lock(two, 0, RLOCK_WATCHDOG));
    cr_assert(hold_count(many) == 2);
    assert_ok(rlock_extend(many, 7200000));
    assert_ok(rlock_unlock(many));
    assert_ok(rlock_unlock(many));
    assert_ok(rlock_unlock(two));
    assert_no_keys();
}

/* --- handles and arguments --- */

Test(group_lock, is_a_member_of_other_locks_and_acts_for_named_owners)
{
    rlock *members[] = {of_values(stage.client, "ab"), lock_of(stage.client, "order"), of_values(stage.client, "c")};
    rlock *multi = stage_keep(rlock_get_multi_lock(members, 3)), *own = owned_by(members[0], 4);
    assert_ok(rlock_lock(multi));
    assert_status(rlock_try_lock(own, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    assert_ok(rlock_unlock(multi));
    assert_ok(rlock_lock(own));
    cr_assert(strcmp(rlock_name(own), GROUP) == 0);
    assert_status(rlock_unlock(members[0]), RLOCK_NOT_OWNER);
    assert_ok(rlock_unlock(own));
    assert_no_keys();
}

RealTest(group_lock, works_without_a_thread)
{
    rlock *ab = of_values(stage.client, "ab");
    assert_ok(called_lock(stage.client, ab, 1, RLOCK_FOREVER));
    assert_status(called_lock(stage.client, of_values(stage.client, "bc"), 2, 0), RLOCK_TIMEOUT);
    assert_status(called_lock(stage.client, of_values(stage.client, "bc"), 1, 0), RLOCK_ALREADY_HELD);
    assert_ok(called_unlock(stage.client, ab, 1));
    assert_no_keys();
}

/* However long it is. */
Test(group_lock, has_the_values_that_their_bytes_say)
{
    static char text[1001];
    memset(text, 'x', 1000);
    for (size_t length = 1000; length > 0; length = length * 2 / 3) {
        const char *const texts[] = {text};
        const rlock_value value = {text, length};
        text[length] = 0;
        rlock *one = rlock_get_group_lock_of_strings(stage.client, GROUP, RLOCK_CODEC_STRING, texts, 1);
        rlock *other = rlock_get_group_lock(stage.other, GROUP, &value, 1);
        assert_ok(rlock_lock(one));
        assert_status(rlock_try_lock(other, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
        assert_ok(rlock_unlock(one));
        rlock_free(one);
        rlock_free(other);
    }
}

Test(group_lock, refuses_wrong_values)
{
    static const char *const texts[] = {"a", NULL}, *const no_utf8[] = {"a\xff"};
    static const int64_t numbers[] = {1};
    static const rlock_value no_bytes = {NULL, 1}, empty = {NULL, 0};
    cr_assert(!rlock_get_group_lock_of_strings(stage.client, GROUP, RLOCK_CODEC_STRING, texts, 2));
    assert_error("NULL");
    cr_assert(!rlock_get_group_lock_of_strings(stage.client, GROUP, RLOCK_CODEC_KRYO5, no_utf8, 1));
    assert_error("UTF-8");
    cr_assert(!rlock_get_group_lock_of_strings(stage.client, GROUP, RLOCK_CODEC_KRYO5, NULL, 1));
    cr_assert(!rlock_get_group_lock_of_strings(stage.client, "", RLOCK_CODEC_KRYO5, texts, 1));
    assert_error("empty");
    cr_assert(!rlock_get_group_lock_of_longs(stage.client, GROUP, (rlock_codec)3, numbers, 1));
    assert_error("rlock_codec");
    cr_assert(!rlock_get_group_lock_of_longs(stage.client, GROUP, RLOCK_CODEC_KRYO5, numbers, 0));
    cr_assert(!rlock_get_group_lock_of_longs(stage.client, GROUP, RLOCK_CODEC_KRYO5, numbers, RLOCK_GROUP_VALUES_MAX + 1));
    assert_error("1000000");
    cr_assert(!rlock_get_group_lock(stage.client, GROUP, &no_bytes, 1));
    cr_assert(!rlock_get_group_lock(NULL, GROUP, &empty, 1));
    rlock *lock = stage_keep(rlock_get_group_lock(stage.client, GROUP, &empty, 1));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    freeReplyObject(server_command(stage.server, "SET " GROUP " x"));
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_SERVER);
}

TimedTest(group_lock, of_one_client_are_renewed_each)
{
    rlock *a = of_values(stage.client, "a"), *bc = of_values(stage.client, "bc");
    assert_ok(rlock_lock(a));
    assert_ok(rlock_lock(bc));
    pass_ms(100000);
    cr_assert(rlock_valid_for(a) > 0 && rlock_valid_for(bc) > 0 && is_held(a) && is_held(bc));
    assert_ok(rlock_unlock(a));
    assert_ok(rlock_unlock(bc));
    assert_no_keys();
}

/* It was deleted, which nobody tells. */
TimedTest(group_lock, unlock_that_finds_nothing_lets_a_waiter_for_a_shared_value_ask)
{
    rlock *ab = of_values(stage.client, "ab"), *bc = of_values(stage.client, "bc");
    assert_ok(rlock_try_lock(ab, 0, 600000));
    actor *waiter = actor_start();
    actor_begin_try(waiter, bc, 300000, 600000);
    pass_ms(2000); /* it sleeps */
    foreign_vanish(GROUP);
    int64_t since_ms = now_ms();
    assert_status(rlock_unlock(ab), RLOCK_LOST);
    assert_ok(actor_finish(waiter, 300000));
    cr_assert(now_ms() - since_ms <= at_most_ms(1000), "it was free for %lld ms", (long long)(now_ms() - since_ms));
    assert_ok(actor_unlock(waiter, bc));
    actor_end(waiter);
}

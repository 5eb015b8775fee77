/* The keyspace: an RLock leaves the keys, values, TTLs and messages that Redisson's leaves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/integration/support/traffic.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(keyspace, .init = stage_open, .fini = stage_close);

#define WATCHDOG_MS 30000

/* Names with the channels that Redisson 4.7.0 uses for them; NULL: as the general rule says. */
static const struct {
    const char *name, *channel;
} names[] = {
    {"order:42", "redisson_lock__channel:{order:42}"},
    {"a{x}b", "redisson_lock__channel:a{x}b"},
    {"{x}", "redisson_lock__channel:{x}"},
    {"a{b", "redisson_lock__channel:a{b"},
    {"a}b", "redisson_lock__channel:{a}b}"},
    {"two words and  two blanks ", "redisson_lock__channel:{two words and  two blanks }"},
    {"Schlo\xc3\x9f \xe9\x94\x81 \xf0\x9f\x94\x92", "redisson_lock__channel:{Schlo\xc3\x9f \xe9\x94\x81 \xf0\x9f\x94\x92}"},
    {"100%s%d%n", "redisson_lock__channel:{100%s%d%n}"},
    {"line\r\nbreak\ttab", "redisson_lock__channel:{line\r\nbreak\ttab}"},
    {"quote\"'\\back*[a-z]?", "redisson_lock__channel:{quote\"'\\back*[a-z]?}"},
};

/* Writes CLIENT where the id stands. */
static void hide_client(char *said, const char *id)
{
    static const char shown[] = "CLIENT";
    size_t length = strlen(id);
    for (char *at = said; (at = strstr(at, id));) {
        memcpy(at, shown, sizeof shown - 1);
        memmove(at + sizeof shown - 1, at + length, strlen(at + length) + 1);
    }
}

static void assert_messaging(monitor *tap, const char *expected)
{
    char *said = monitor_messaging(tap);
    hide_client(said, rlock_client_id(stage.client));
    cr_assert(strcmp(said, expected) == 0, "said:\n%s\nexpected:\n%s", said, expected);
    free(said);
    monitor_forget(tap);
}

/* Redisson's steps "rlock": lock, lock again, unlock 1, unlock 2, tryLock 0,5000, force. */
TimedTest(keyspace, of_lock_and_unlock_is_redissons)
{
    rlock *lock = lock_of(stage.client, "order:42");
    monitor *tap = monitor_open();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(lock));
    int64_t number = assert_held_alone("order:42", stage.client, 1, WATCHDOG_MS, since_ms);
    assert_ok(rlock_lock(lock));
    cr_assert(assert_held_alone("order:42", stage.client, 2, WATCHDOG_MS, since_ms) == number);
    assert_ok(rlock_unlock(lock));
    cr_assert(assert_held_alone("order:42", stage.client, 1, WATCHDOG_MS, since_ms) == number);
    assert_messaging(tap, "");
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
    assert_messaging(tap, "PUBLISH redisson_lock__channel:{order:42} 0\n");
    since_ms = now_ms();
    assert_ok(rlock_try_lock(lock, 0, 5000));
    assert_held_alone("order:42", stage.client, 1, 5000, since_ms);
    bool was_locked = false;
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(was_locked);
    assert_no_keys();
    assert_messaging(tap, "PUBLISH redisson_lock__channel:{order:42} 0\n");
    monitor_close(tap);
}

/* The waiter has a channel of its client's, on which the release tells it alone, and leaves it after a while. */
Test(keyspace, of_a_waiter_is_its_place_and_its_channel)
{
    rlock *held = lock_of(stage.other, "order:42"), *awaited = lock_of(stage.client, "order:42");
    monitor *tap = monitor_open();
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, awaited);
    cr_assert(wait_listened("order:42", 5000));
    assert_held_alone("order:42", stage.other, 1, WATCHDOG_MS, since_ms);
    int64_t released_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_held_alone("order:42", stage.client, 1, WATCHDOG_MS, released_ms);
    cr_assert(wait_no_channels(5000));
    assert_ok(actor_unlock(waiter, awaited));
    assert_no_keys();
    assert_messaging(tap, "SUBSCRIBE redisson_lock__channel:{order:42}:CLIENT\n"
                          "PUBLISH redisson_lock__channel:{order:42}:CLIENT 1 5000\n"
                          "UNSUBSCRIBE redisson_lock__channel:{order:42}:CLIENT\n"
                          "PUBLISH redisson_lock__channel:{order:42} 0\n");
    actor_end(waiter);
    monitor_close(tap);
}

/* As with Redisson's steps "rlock braces". */
Test(keyspace, of_a_name_with_braces_has_redissons_channel)
{
    rlock *held = lock_of(stage.other, "a{x}b"), *awaited = lock_of(stage.client, "a{x}b");
    monitor *tap = monitor_open();
    actor *waiter = actor_start();
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, awaited);
    cr_assert(wait_listened("a{x}b", 5000));
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    cr_assert(wait_no_channels(5000));
    assert_ok(actor_unlock(waiter, awaited));
    assert_messaging(tap, "SUBSCRIBE redisson_lock__channel:a{x}b:CLIENT\n"
                          "PUBLISH redisson_lock__channel:a{x}b:CLIENT 1 5000\n"
                          "UNSUBSCRIBE redisson_lock__channel:a{x}b:CLIENT\n"
                          "PUBLISH redisson_lock__channel:a{x}b 0\n");
    actor_end(waiter);
    monitor_close(tap);
}

/* Redisson's steps "rlock not owner": the wrong unlock leaves everything as it is, unsaid. */
Test(keyspace, of_an_unlock_by_another_owner_stays_as_it_was)
{
    rlock *held = lock_of(stage.other, "order:42"), *wrong = lock_of(stage.client, "order:42");
    monitor *tap = monitor_open();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(held));
    assert_status(rlock_unlock(wrong), RLOCK_NOT_OWNER);
    assert_held_alone("order:42", stage.other, 1, WATCHDOG_MS, since_ms);
    assert_ok(rlock_unlock(held));
    assert_messaging(tap, "PUBLISH redisson_lock__channel:{order:42} 0\n");
    monitor_close(tap);
}

Test(keyspace, of_a_forced_free_lock_is_empty_and_silent)
{
    rlock *lock = lock_of(stage.client, "order:42");
    monitor *tap = monitor_open();
    bool was_locked = true;
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(!was_locked);
    assert_no_keys();
    assert_messaging(tap, "");
    monitor_close(tap);
}

/* Held, waited for, handed over and freed under `name`: its key is the name itself, byte by byte,
 * and the waiter listens on just its client's part of that channel. */
static void round_of(const char *name, const char *channel)
{
    rlock *held = lock_of(stage.other, name), *awaited = lock_of(stage.client, name);
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock(held));
    cr_assert(strcmp(rlock_name(held), name) == 0);
    assert_held_alone(name, stage.other, 1, WATCHDOG_MS, since_ms);
    actor_begin_lock(waiter, awaited);
    cr_assert(server_wait_subscribers(stage.server, channel, 1, 5000), "no one listens on %s", channel);
    redisReply *channels = server_command(stage.server, "PUBSUB CHANNELS");
    cr_assert(channels->elements == 1);
    hide_client(channels->element[0]->str, rlock_client_id(stage.client));
    size_t length = strlen(channel);
    cr_assert(strncmp(channels->element[0]->str, channel, length) == 0 &&
              strcmp(channels->element[0]->str + length, ":CLIENT") == 0);
    freeReplyObject(channels);
    int64_t released_ms = now_ms();
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_held_alone(name, stage.client, 1, WATCHDOG_MS, released_ms);
    assert_ok(actor_unlock(waiter, awaited));
    assert_no_keys();
    cr_assert(wait_no_channels(5000));
    actor_end(waiter);
}

Test(keyspace, takes_names_of_any_bytes, .lasts = 20)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        round_of(names[i].name, names[i].channel);
}

/* A name of 4 KiB, and one longer than what a line of a log or a stack buffer would take. */
Test(keyspace, takes_long_names)
{
    static const size_t lengths[] = {4096, 7000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *name = malloc(lengths[i] + 1);
        cr_assert(name != NULL);
        for (size_t at = 0; at < lengths[i]; at++)
            name[at] = (char)('a' + at % 26);
        name[lengths[i]] = 0;
        char *channel = strdup(channel_of(name));
        round_of(name, channel);
        free(channel);
        free(name);
    }
}

/* Names that differ in one byte, case or blank are different locks. */
TimedTest(keyspace, keeps_similar_names_apart)
{
    static const char *const similar[] = {"order", "Order", "order ", " order", "{order}", "order:"};
    size_t count = sizeof similar / sizeof *similar;
    for (size_t i = 0; i < count; i++)
        assert_ok(rlock_try_lock(lock_of(i % 2 ? stage.other : stage.client, similar[i]), 0, 5000));
    cr_assert(server_integer(stage.server, "DBSIZE") == (int64_t)count);
}

/* The client's prefix stands before key and channel; the handle keeps the name as given. */
Test(keyspace, carries_the_name_prefix)
{
    rlock_client *prefixed = stage_client("namePrefix=shop:");
    rlock *held = lock_of(stage.client, "shop:order"), *awaited = lock_of(prefixed, "order");
    actor *waiter = actor_start();
    int64_t since_ms = now_ms();
    cr_assert(strcmp(rlock_name(awaited), "order") == 0);
    assert_ok(rlock_lock(held));
    actor_begin_lock(waiter, awaited);
    cr_assert(server_wait_subscribers(stage.server, "redisson_lock__channel:{shop:order}", 1, 5000));
    assert_ok(rlock_unlock(held));
    assert_ok(actor_finish(waiter, 5000));
    assert_held_alone("shop:order", prefixed, 1, WATCHDOG_MS, since_ms);
    assert_ok(actor_unlock(waiter, awaited));
    actor_end(waiter);
}

/* Redisson's unlock latch, the key of another process's unlock under way, is not ours to see. */
Test(keyspace, leaves_redissons_unlock_latch_alone)
{
    rlock *lock = lock_of(stage.client, "order:42");
    freeReplyObject(server_command(stage.server, "SET redisson_unlock_latch:{order:42}:0af3 1"));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    bool was_locked = true;
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(!was_locked);
    char *keys = server_keyspace(stage.server);
    cr_assert(strstr(keys, "redisson_unlock_latch:{order:42}:0af3 string 1") != NULL, "%s", keys);
    free(keys);
    cr_assert(server_integer(stage.server, "DBSIZE") == 1);
}

/* A server that tells of its key events (`Egx`) tells of one deletion at the last unlock. */
Test(keyspace, unlock_is_one_deletion)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events Egx"));
    server_listen(stage.server);
    rlock *lock = lock_of(stage.client, "order:42");
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    cr_assert(server_heard(stage.server, "redisson_lock__channel:{order:42}", "0", 5000));
    freeReplyObject(server_command(stage.server, "PUBLISH end end"));
    cr_assert(server_heard(stage.server, "end", "end", 5000));
    char *heard = server_heard_all(stage.server);
    const char *first = strstr(heard, "__keyevent@0__:del order:42\n");
    cr_assert(first && !strstr(first + 1, "__keyevent@0__:del order:42\n"), "%s", heard);
    cr_assert(strstr(heard, "expired") == NULL, "%s", heard);
    free(heard);
}

/* A lease that runs out is one expiry, soon after its end; the late unlock is no deletion. */
TimedTest(keyspace, lease_end_is_one_expiry)
{
    freeReplyObject(server_command(stage.server, "CONFIG SET notify-keyspace-events Egx"));
    server_listen(stage.server);
    rlock *lock = lock_of(stage.client, "order:42");
    int64_t since_ms = now_ms();
    assert_ok(rlock_lock_lease(lock, 1000));
    cr_assert(server_heard(stage.server, "__keyevent@0__:expired", "order:42", 5000));
    assert_between(now_ms() - since_ms, 998, 1000 + at_most_ms(1000));
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    freeReplyObject(server_command(stage.server, "PUBLISH end end"));
    cr_assert(server_heard(stage.server, "end", "end", 5000));
    char *heard = server_heard_all(stage.server);
    cr_assert(strstr(heard, "__keyevent@0__:del ") == NULL, "%s", heard);
    free(heard);
}

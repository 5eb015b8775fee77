/* rlock inspect and rlock force-unlock: what they say, in words and in JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_json.h"
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(command_answers, .init = stage_open, .fini = stage_close);

#define NAME "order:42"
#define A    "aaaaaaaa-0000-4000-8000-000000000001"
#define C    "cccccccc-0000-4000-8000-000000000001"

static outcome ask(const char *const *words)
{
    outcome found = command_outcome(server_url(stage.server), words);
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    cr_assert_str_eq(found.err, "");
    return found;
}

static void assert_matches(const char *text, const char *pattern)
{
    regex_t regex;
    cr_assert(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
    cr_assert(regexec(&regex, text, 0, NULL, 0) == 0, "%s\ndoes not match\n%s", text, pattern);
    regfree(&regex);
}

static void assert_member(const char *object, const char *name, const char *expected)
{
    char *value = json_member(object, name);
    cr_assert(value && strcmp(value, expected) == 0, "%s is %s, not %s, in %s", name, value, expected, object);
    free(value);
}

Test(command_answers, inspect_shows_the_holder_in_words)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    outcome found = ask(COMMAND("inspect", NAME));
    char expected[256];
    snprintf(expected, sizeof expected,
             "^order:42: locked, for [0-9.]+ s more unless renewed \\(lock\\)\n"
             "  held by client %s, number [0-9]+ \\(process %ld on [^ ]+, .*:0\\), count 2\n$", rlock_client_id(stage.client),
             (long)getpid());
    assert_matches(found.out, expected);
    outcome_free(&found);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    found = ask(COMMAND("inspect", NAME));
    cr_assert_str_eq(found.out, NAME ": free\n");
    outcome_free(&found);
}

/* A duration in the unit of its size: the rest of an hour or a minute is less than 60 of the next smaller one. */
Test(command_answers, inspect_shows_times_in_units_that_fit)
{
    static const struct {
        int64_t ms;
        const char *shown;
    } cases[] = {{59900, ", for [0-9]{1,2}\\.[0-9] s more"},
                 {119900, ", for 1?[0-9]{1,2}\\.[0-9] s more"},
                 {7199900, ", for 11[0-9] min [1-5]?[0-9] s more"},
                 {10799900, ", for 2 h [1-5]?[0-9] min more"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[100];
        foreign_hold(NAME, cases[i].ms);
        outcome found = ask(COMMAND("inspect", NAME));
        snprintf(expected, sizeof expected, "^" NAME ": locked%s unless renewed \\(lock\\)\n", cases[i].shown);
        assert_matches(found.out, expected);
        outcome_free(&found);
        foreign_vanish(NAME);
    }
}

Test(command_answers, inspect_shows_the_holder_in_json)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_try_lock(lock, 0, 60000));
    outcome found = ask(COMMAND("inspect", NAME, "--json"));
    cr_assert(json_is_valid(found.out), "%s", found.out);
    assert_member(found.out, "name", NAME);
    assert_member(found.out, "kind", "lock");
    assert_member(found.out, "locked", "true");
    char *ttl_ms = json_member(found.out, "ttl_ms"), *holders = json_member(found.out, "holders");
    assert_between(strtoll(ttl_ms, NULL, 10), 30000, 60000);
    char *holder = json_element(holders, 0), number[24];
    snprintf(number, sizeof number, "%lld", (long long)wire_number(NAME, stage.client));
    assert_member(holder, "client", rlock_client_id(stage.client));
    assert_member(holder, "number", number);
    assert_member(holder, "hold_count", "1");
    assert_member(holder, "side", "null");
    cr_assert(json_element(holders, 1) == NULL);
    char *process = json_member(holder, "process"), pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_member(process, "pid", pid);
    free(process);
    free(ttl_ms);
    free(holders);
    free(holder);
    outcome_free(&found);
    assert_ok(rlock_unlock(lock));
}

Test(command_answers, inspect_shows_a_free_lock_in_json)
{
    outcome found = ask(COMMAND("inspect", "--json", NAME));
    cr_assert_str_eq(found.out, "{\"name\":\"" NAME "\",\"kind\":\"free\",\"locked\":false,\"ttl_ms\":null,\"mode\":null,"
                                "\"holders\":[],\"waiters\":[],\"token\":null,\"available\":null,\"permits\":null}\n");
    outcome_free(&found);
}

/* Written by another program: no TTL, and an owner that is not of the usual form. */
Test(command_answers, inspect_shows_what_it_does_not_understand_as_it_is)
{
    freeReplyObject(server_command(stage.server, "SET %s %s", NAME, "it's \"me\"\n"));
    outcome found = ask(COMMAND("inspect", "--json", NAME));
    assert_member(found.out, "ttl_ms", "null");
    assert_member(found.out, "locked", "true");
    char *holders = json_member(found.out, "holders"), *holder = json_element(holders, 0);
    assert_member(holder, "owner", "it's \"me\"\n");
    assert_member(holder, "number", "null");
    assert_member(holder, "hold_count", "1");
    free(holders);
    free(holder);
    outcome_free(&found);
    found = ask(COMMAND("inspect", NAME));
    cr_assert(strstr(found.out, "\n  held by token it's \"me\"\\n, count 1\n"), "%s", found.out);
    outcome_free(&found);
}

static void assert_refused(const char *const *words, const char *complaint)
{
    outcome found = command_outcome(server_url(stage.server), words);
    cr_assert(found.status == 76, "%d: %s", found.status, found.err);
    cr_assert_str_eq(found.out, "");
    cr_assert(strncmp(found.err, "rlock: ", 7) == 0 && strstr(found.err, complaint), "%s", found.err);
    outcome_free(&found);
}

/* Nothing changes. */
static void assert_not_forced(const char *complaint)
{
    char *before = server_keyspace(stage.server);
    assert_refused(COMMAND("force-unlock", NAME), complaint);
    char *after = server_keyspace(stage.server);
    cr_assert_str_eq(after, before);
    free(before);
    free(after);
}

/* A session, a basket of fruit, and others that no lock is. */
Test(command_answers, force_unlock_leaves_data_of_programs_alone)
{
    static const char *const fields[] = {"apple 3 pear 2", "item:7 1", A ":1 1 pear 2", "mode read apple 1",
                                         "apple:expire_time 3 pear 2"};
    freeReplyObject(server_command(stage.server, "SET " NAME " alice"));
    assert_not_forced("\"" NAME "\" is a string, which may be a token lock or any other value of a program; nothing was "
                      "changed. If it is a lock: rlock force-unlock --kind token " NAME);
    outcome found = ask(COMMAND("force-unlock", "--kind", "token", NAME));
    cr_assert_str_eq(found.out, NAME ": was locked, is free now\n");
    outcome_free(&found);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char line[160];
        snprintf(line, sizeof line, "HSET " NAME " %s", fields[i]);
        freeReplyObject(server_command(stage.server, line));
        assert_not_forced(", which names no owner: it is not a lock of rlock or Redisson; nothing was changed");
        assert_refused(COMMAND("inspect", NAME), ", which names no owner: it is not a lock of rlock or Redisson");
        freeReplyObject(server_command(stage.server, "DEL " NAME));
    }
}

Test(command_answers, inspect_and_force_unlock_know_a_signal_list_lock)
{
    freeReplyObject(server_command(stage.server, "SET lock:%s cafe1234", NAME));
    outcome found = ask(COMMAND("inspect", NAME));
    cr_assert_str_eq(found.out, NAME ": locked, without end (a string with \"lock:\" before the name: a signal-list lock, "
                                     "if programs use it as one)\n  held by token cafe1234, count 1\n");
    outcome_free(&found);
    assert_not_forced("\"lock:" NAME "\" is a string, which may be a token lock or any other value of a program; nothing was "
                      "changed. If it is a lock: rlock force-unlock --kind signal " NAME);
    found = ask(COMMAND("force-unlock", "--kind", "signal", NAME));
    cr_assert_str_eq(found.out, NAME ": was locked, is free now\n");
    outcome_free(&found);
    cr_assert(server_integer(stage.server, "LLEN lock-signal:%s", NAME) == 1, "nobody is signalled to");
}

Test(command_answers, inspect_shows_whose_a_token_is)
{
    freeReplyObject(server_command(stage.server, "SET %s cafe1234", NAME));
    outcome found = ask(COMMAND("inspect", NAME));
    cr_assert_str_eq(found.out, NAME ": locked, without end (a string: a token lock, if programs use it as one)\n"
                                     "  held by token cafe1234, count 1\n");
    outcome_free(&found);
    freeReplyObject(server_command(stage.server, "DEL %s", NAME));
    freeReplyObject(server_command(stage.server, "SET %s 2", NAME));
    found = ask(COMMAND("inspect", NAME));
    cr_assert(strstr(found.out, "\n  (if it is meant as a lock, see docs/broken-locks.md)\n"), "%s", found.out);
    outcome_free(&found);
}

/* --- what other objects leave on the server --- */

static void put(const char *redis_command)
{
    freeReplyObject(server_command(stage.server, redis_command));
}

/* By the server's clock. */
static long long tomorrow_ms(void)
{
    return server_integer(stage.server, "EVAL %s 0", "return redis.call('time')[1]") * 1000 + 86400000;
}

static void assert_inspected(const char *pattern)
{
    outcome found = ask(COMMAND("inspect", NAME));
    assert_matches(found.out, pattern);
    outcome_free(&found);
}

/* The JSON of NAME is valid; its member `name`, with numbers of ms as "#". */
static void assert_json(const char *name, const char *expected)
{
    outcome found = ask(COMMAND("inspect", "--json", NAME));
    cr_assert(json_is_valid(found.out), "%s", found.out);
    char *value = json_member(found.out, name), *from = value, *to = value;
    cr_assert(value, "no %s in %s", name, found.out);
    while (*from) { /* "left_ms":123 as "left_ms":# */
        bool ms = strncmp(from, "_ms\":", 5) == 0;
        for (int i = 0; i < (ms ? 5 : 1); i++)
            *to++ = *from++;
        size_t digits = ms ? strspn(from, "0123456789") : 0;
        from += digits;
        if (digits > 1)
            *to++ = '#';
        else if (digits)
            *to++ = from[-1];
    }
    *to = 0;
    cr_assert_str_eq(value, expected);
    free(value);
    outcome_free(&found);
}

Test(command_answers, inspect_shows_the_queue_of_a_fair_lock)
{
    put("HSET " NAME " " C ":1 1");
    put("RPUSH redisson_lock_queue:{" NAME "} a:2 b:3");
    freeReplyObject(server_command(stage.server, "ZADD redisson_lock_timeout:{" NAME "} %lld a:2 5 b:3", tomorrow_ms()));
    assert_inspected("^order:42: locked, without end \\(fair\\)\n"
                     "  held by client " C ", number 1, count 1\n"
                     "  waiter 1: client a, number 2, for (23 h 59|24 h 0) min more\n"
                     "  waiter 2: client b, number 3, over\n$");
    assert_json("kind", "fair");
    assert_json("waiters", "[{\"owner\":\"a:2\",\"client\":\"a\",\"number\":2,\"left_ms\":#,\"process\":null},"
                           "{\"owner\":\"b:3\",\"client\":\"b\",\"number\":3,\"left_ms\":0,\"process\":null}]");
    put("DEL " NAME);
    assert_inspected("^order:42: free \\(fair\\)\n  waiter 1: client a.*\n  nobody holds it: the next waiter takes it");
    assert_json("locked", "false");
}

Test(command_answers, inspect_shows_the_token_of_a_fenced_lock)
{
    put("SET redisson_lock_token:{" NAME "} 17");
    assert_inspected("^order:42: free \\(fenced\\)\n  last token 17\n$");
    assert_json("kind", "fenced");
    assert_json("token", "17");
}

Test(command_answers, inspect_shows_who_reads_and_who_writes)
{
    put("HSET " NAME " mode write " A ":1:write 2 " A ":1 1");
    put("SET {" NAME "}:" A ":1:rwlock_timeout:1 1 PX 100000");
    assert_inspected("^order:42: locked for writing, without end \\(read-write\\)\n"
                     "  written by client " A ", number 1, count 2\n"
                     "  read by client " A ", number 1, count 1, for [0-9.]+ s more unless renewed\n$");
    assert_json("kind", "read-write");
    assert_json("mode", "write");
    assert_json("holders",
                "[{\"owner\":\"" A ":1\",\"client\":\"" A "\",\"number\":1,\"hold_count\":2,\"side\":\"write\",\"left_ms\":null,\"process\":null},"
                "{\"owner\":\"" A ":1\",\"client\":\"" A "\",\"number\":1,\"hold_count\":1,\"side\":\"read\",\"left_ms\":#,\"process\":null}]");
    put("DEL " NAME);
    put("HSET " NAME " mode read " A ":1 1");
    assert_inspected("^order:42: locked for reading, without end");
    assert_json("mode", "read");
}

/* An owner of a form that is not ours: what is no number in JSON must not pass for one. */
Test(command_answers, inspect_shows_no_number_that_is_too_long_for_one)
{
    static const char *const owners[] = {"c:123456789012345678901234", "c:007", "c:"};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        freeReplyObject(server_command(stage.server, "SET %s %s PX 60000", NAME, owners[i]));
        outcome found = ask(COMMAND("inspect", "--json", NAME));
        char *holders = json_member(found.out, "holders"), *holder = json_element(holders, 0);
        assert_member(holder, "owner", owners[i]);
        assert_member(holder, "number", "null");
        free(holders);
        free(holder);
        outcome_free(&found);
        foreign_vanish(NAME);
    }
}

Test(command_answers, inspect_shows_when_a_semaphore_expires)
{
    freeReplyObject(server_command(stage.server, "SET %s 3 PX 60000", NAME));
    outcome found = ask(COMMAND("inspect", NAME));
    assert_matches(found.out, "^" NAME ": 3 available, for [0-9]{1,2}\\.[0-9] s more \\(a semaphore");
    outcome_free(&found);
}

Test(command_answers, inspect_shows_a_semaphore)
{
    put("SET " NAME " -3");
    assert_inspected("^order:42: -3 available \\(a semaphore, or a latch with that count: both are stored as a number\\)\n$");
    assert_json("kind", "semaphore-or-latch");
    assert_json("available", "-3");
    assert_json("locked", "null");
    assert_json("permits", "null");
}

Test(command_answers, inspect_shows_the_permits_that_are_out)
{
    put("SET " NAME " 0");
    freeReplyObject(server_command(stage.server, "ZADD {" NAME "}:timeout %lld %b 922337203685477 %s", tomorrow_ms(),
                                   "\xff\0\n\"\\", (size_t)5, "0123456789abcdef"));
    assert_inspected("^order:42: 0 available, 2 taken \\(permit-expirable semaphore\\)\n"
                     "  permit ff000a225c, for (23 h 59|24 h 0) min more\n"
                     "  permit 30313233343536373839616263646566, without end\n$");
    assert_json("kind", "permit-expirable");
    assert_json("permits", "[{\"id\":\"ff000a225c\",\"left_ms\":#},"
                           "{\"id\":\"30313233343536373839616263646566\",\"left_ms\":null}]");
}

/* Names of any kind give valid JSON that says the name; what is no UTF-8 is replaced. */
Test(command_answers, any_name_makes_valid_json)
{
    static const struct {
        const char *name, *said;
    } cases[] = {
        {"plain", NULL},
        {"two words", NULL},
        {"with \"quotes\" and \\ and /", NULL},
        {"lines\nand\ttabs\r\b\f\x01\x1f\x7f", NULL},
        {"Grüße, 東京, 🔒", NULL},
        {"\xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf", NULL},
        {"{tag}:a", NULL},
        {"--json", NULL},
        {"bad \xff byte", "bad \xef\xbf\xbd byte"},
        {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd"},
        {"surrogate \xed\xa0\x80", "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"beyond \xf4\x90\x80\x80", "beyond \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = cases[i].name, *said = cases[i].said ? cases[i].said : name;
        foreign_hold(name, 60000);
        outcome found = ask(COMMAND("inspect", "--json", "--", name));
        cr_assert(json_is_valid(found.out), "name %zu: %s", i, found.out);
        assert_member(found.out, "name", said);
        assert_member(found.out, "locked", "true");
        outcome_free(&found);
        found = ask(COMMAND("force-unlock", "--json", "--", name));
        cr_assert(json_is_valid(found.out), "name %zu: %s", i, found.out);
        assert_member(found.out, "name", said);
        assert_member(found.out, "was_locked", "true");
        outcome_free(&found);
    }
    assert_no_keys();
}

/* A name must not drive the terminal of the one who looks at it. */
Test(command_answers, control_characters_are_not_printed)
{
    outcome found = ask(COMMAND("inspect", "a\n\x1b[2J"));
    cr_assert_str_eq(found.out, "a\\n\\x1b[2J: free\n");
    outcome_free(&found);
}

Test(command_answers, force_unlock_says_whether_it_was_locked)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock(lock));
    server_listen(stage.server);
    outcome found = ask(COMMAND("force-unlock", NAME));
    cr_assert_str_eq(found.out, NAME ": was locked, is free now\n");
    outcome_free(&found);
    cr_assert(server_heard(stage.server, channel_of(NAME), "0", 5000), "no waiter was woken");
    assert_no_keys();
    found = ask(COMMAND("force-unlock", NAME));
    cr_assert_str_eq(found.out, NAME ": was not locked\n");
    outcome_free(&found);
    found = ask(COMMAND("force-unlock", NAME, "--json"));
    cr_assert_str_eq(found.out, "{\"name\":\"" NAME "\",\"was_locked\":false}\n");
    outcome_free(&found);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
}

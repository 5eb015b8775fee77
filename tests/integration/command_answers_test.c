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

TestSuite(command_answers, .init = stage_open, .fini = stage_close, .timeout = 120);

#define NAME "order:42"

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
             "  held by client %s, number [0-9]+, count 2\n$", rlock_client_id(stage.client));
    assert_matches(found.out, expected);
    outcome_free(&found);
    assert_ok(rlock_unlock(lock));
    assert_ok(rlock_unlock(lock));
    found = ask(COMMAND("inspect", NAME));
    cr_assert_str_eq(found.out, NAME ": free\n");
    outcome_free(&found);
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
    cr_assert(json_element(holders, 1) == NULL);
    free(ttl_ms);
    free(holders);
    free(holder);
    outcome_free(&found);
    assert_ok(rlock_unlock(lock));
}

Test(command_answers, inspect_shows_a_free_lock_in_json)
{
    outcome found = ask(COMMAND("inspect", "--json", NAME));
    cr_assert_str_eq(found.out, "{\"name\":\"" NAME "\",\"kind\":\"free\",\"locked\":false,\"ttl_ms\":null,\"holders\":[]}\n");
    outcome_free(&found);
}

/* Written by another program: no TTL, and an owner that is not of the usual form. */
Test(command_answers, inspect_shows_what_it_does_not_understand_as_it_is)
{
    freeReplyObject(server_command(stage.server, "HSET %s %s 3", NAME, "it's \"me\"\n"));
    outcome found = ask(COMMAND("inspect", "--json", NAME));
    assert_member(found.out, "ttl_ms", "null");
    assert_member(found.out, "locked", "true");
    char *holders = json_member(found.out, "holders"), *holder = json_element(holders, 0);
    assert_member(holder, "owner", "it's \"me\"\n");
    assert_member(holder, "number", "null");
    assert_member(holder, "hold_count", "3");
    free(holders);
    free(holder);
    outcome_free(&found);
    found = ask(COMMAND("inspect", NAME));
    cr_assert_str_eq(found.out, NAME ": locked, without end (lock)\n  held by client it's \"me\"\\n, count 3\n");
    outcome_free(&found);
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

/* rlock ls: the locks that are held, and nothing else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/rights.h"
#include "tests/integration/support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_ls, .init = stage_open, .fini = stage_close);

static void say(const char *words)
{
    redisReply *reply = server_command(stage.server, words);
    cr_assert(reply && reply->type != REDIS_REPLY_ERROR, "%s: %s", words, reply ? reply->str : "");
    freeReplyObject(reply);
}

static void run_script(const char *text)
{
    redisReply *reply = server_command(stage.server, "EVAL %s 0", text);
    cr_assert(reply && reply->type != REDIS_REPLY_ERROR, "%s: %s", text, reply ? reply->str : "");
    freeReplyObject(reply);
}

static void assert_in(const char *text, const char *words)
{
    cr_assert(strstr(text, words), "\"%s\" is not in: %s", words, text);
}

static int count(const char *text, const char *words)
{
    int found = 0;
    for (; (text = strstr(text, words)); text += strlen(words))
        found++;
    return found;
}

/* Runs rlock ls; freed by the caller. */
static char *list(const char *const *words)
{
    outcome found = run(words);
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    cr_assert_str_eq(found.err, "");
    free(found.err);
    return found.out;
}

/* All that are held, in the order of their names; other hashes, strings, and what is free are none of them. */
Test(command_ls, shows_all_held_locks_and_no_other_keys)
{
    rlock *locks[] = {rlock_get_lock(stage.client, "b:plain"), rlock_get_fenced_lock(stage.client, "c:fenced"),
                      rlock_get_fair_lock(stage.client, "a:fair")};
    rlock_read_write_lock *both = rlock_get_read_write_lock(stage.client, "d:read");
    rlock *reader = rlock_read_lock(both), *freed = rlock_get_lock(stage.client, "e:free");
    for (int i = 0; i < 3; i++)
        assert_ok(rlock_lock(locks[i]));
    assert_ok(rlock_lock(reader));
    assert_ok(rlock_lock(freed));
    assert_ok(rlock_unlock(freed));
    say("HSET f:user name Jo mode read");
    say("HSET f:empty mode read");
    say("SET g:text hello");
    say("RPUSH h:list a b");
    char *out = list(COMMAND("ls"));
    cr_assert(count(out, "\n") == 4 && count(out, rlock_client_id(stage.client)) == 4, "%s", out);
    const char *first = strstr(out, "  a:fair\n"), *last = strstr(out, "  d:read\n");
    cr_assert(first && last && first < last, "%s", out);
    assert_in(out, "  b:plain\n");
    cr_assert(strncmp(out, "lock ", 5) == 0 && strstr(out, "\nfenced ") && strstr(out, "\nread "), "%s", out);
    free(out);
    out = list(COMMAND("ls", "[bc]:*"));
    cr_assert(count(out, "\n") == 2 && strstr(out, "b:plain") && strstr(out, "c:fenced"), "%s", out);
    free(out);
    out = list(COMMAND("ls", "nothing*"));
    cr_assert_str_eq(out, "");
    free(out);
    for (int i = 0; i < 3; i++)
        rlock_free(locks[i]);
    rlock_free(reader);
    rlock_free(freed);
    rlock_read_write_lock_free(both);
}

Test(command_ls, all_shows_strings_and_numbers_too)
{
    rlock *token = rlock_get_token_lock(stage.client, "token");
    assert_ok(rlock_lock(token));
    say("SET permits 3");
    say("RPUSH list a");
    run_script("redis.call('set', 'long', string.rep('x', 2000))");
    char *out = list(COMMAND("ls"));
    cr_assert_str_eq(out, "");
    free(out);
    out = list(COMMAND("ls", "-a"));
    cr_assert(count(out, "\n") == 2, "%s", out);
    assert_in(out, "  token\n");
    assert_in(out, "3 available  permits\n");
    free(out);
    rlock_free(token);
}

Test(command_ls, long_and_json_lead_to_the_process)
{
    char words[64];
    command *c = start_under(COMMAND("order", UNTIL_LINE));
    char *out = list(COMMAND("ls", "--long"));
    snprintf(words, sizeof words, "(process %d on ", (int)command_pid(c));
    assert_in(out, words);
    free(out);
    foreign_hold("other", 60000);
    out = list(COMMAND("ls", "--json"));
    cr_assert(count(out, "\n") == 2 && count(out, "{\"name\":\"o") == 2, "%s", out);
    snprintf(words, sizeof words, "\"pid\":%d,", (int)command_pid(c));
    assert_in(out, words);
    free(out);
    end_under(c);
}

/* A group lock has three fields for each value, and none of them is an owner. */
Test(command_ls, shows_a_group_lock)
{
    static const char *const seats[] = {"a7", "a8", "a9"};
    rlock *group = rlock_get_group_lock_of_strings(stage.client, "seats", RLOCK_CODEC_KRYO5, seats, 3);
    assert_ok(rlock_lock(group));
    char *out = list(COMMAND("ls"));
    cr_assert(count(out, "\n") == 1 && strncmp(out, "group ", 6) == 0, "%s", out);
    assert_in(out, rlock_client_id(stage.client));
    free(out);
    assert_ok(rlock_unlock(group));
    rlock_free(group);
}

/* More than fit into one answer; each once, and without KEYS, which would block the server. */
Test(command_ls, goes_through_many_keys_with_scan)
{
    run_script("for i = 1, 2500 do redis.call('hset', 'many:' .. i, '" FOREIGN_CLIENT ":' .. i, 1) "
               "redis.call('hset', 'other:' .. i, 'field', i) end");
    char *out = list(COMMAND("ls"));
    cr_assert(count(out, "  many:") == 2500 && count(out, "\n") == 2500, "%d", count(out, "\n"));
    cr_assert(count(out, "without end") == 2500);
    free(out);
    char *stats = server_text(stage.server, "INFO commandstats");
    cr_assert(strstr(stats, "cmdstat_scan:") && !strstr(stats, "cmdstat_keys:"), "%s", stats);
    free(stats);
}

/* The prefix is no pattern. */
Test(command_ls, shows_names_without_the_prefix_and_only_those_that_have_it)
{
    char url[512];
    foreign_hold("a*[b]:order", 60000);
    foreign_hold("axb:other", 60000);
    foreign_hold("a*[b]:", 60000);
    snprintf(url, sizeof url, "%s%snamePrefix=a*%%5Bb%%5D:", server_url(stage.server),
             strchr(server_url(stage.server), '?') ? "&" : "?");
    outcome found = command_outcome(url, COMMAND("ls"));
    cr_assert(found.status == 0, "%s", found.err);
    cr_assert(count(found.out, "\n") == 1, "%s", found.out);
    assert_in(found.out, "  order\n");
    outcome_free(&found);
    found = command_outcome(url, COMMAND("ls", "o*"));
    assert_in(found.out, "  order\n");
    outcome_free(&found);
}

Test(command_ls, control_characters_in_names_do_not_reach_the_terminal)
{
    foreign_hold("odd\x1b[31m", 60000);
    char *out = list(COMMAND("ls"));
    assert_in(out, "odd\\x1b[31m\n");
    free(out);
}

Test(command_ls, shows_the_counter_of_a_fenced_lock_as_that)
{
    say("SET redisson_lock_token:{order} 7");
    say("SET places 7");
    char *out = list(COMMAND("ls", "-a"));
    assert_in(out, "token-counter ");
    assert_in(out, "  last token 7  redisson_lock_token:{order}\n");
    assert_in(out, "  7 available  places\n");
    free(out);
}

Test(command_ls, tells_of_a_missing_right_with_76)
{
    char url[256];
    rights_give(stage.server, RIGHTS);
    foreign_hold("app:order", 60000);
    snprintf(url, sizeof url, "redis://locks:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("ls"));
    cr_assert(found.status == 76, "%d: %s", found.status, found.err);
    assert_in(found.err, "refused SCAN: NOPERM");
    assert_in(found.err, "the right to SCAN and HSCAN");
    outcome_free(&found);
    say("ACL SETUSER locks +scan");
    found = command_outcome(url, COMMAND("ls"));
    cr_assert(found.status == 76, "%d: %s", found.status, found.err);
    assert_in(found.err, "refused HSCAN: NOPERM");
    outcome_free(&found);
    say("ACL SETUSER locks +hscan");
    found = command_outcome(url, COMMAND("ls", "app:*"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_in(found.out, "  app:order\n");
    outcome_free(&found);
    found = command_outcome(url, COMMAND("inspect", "app:order"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_in(found.out, "\n  (process and host unknown: the user has no right to CLIENT LIST)\n");
    outcome_free(&found);
}

Test(command_ls, passes_over_what_the_user_may_not_read)
{
    char url[256];
    foreign_hold("app:order", 60000);
    foreign_hold("other", 60000);
    say("ACL SETUSER bob on >secret ~*app:* +@all");
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("ls"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_in(found.out, "  app:order\n");
    cr_assert(!strstr(found.out, "other"), "%s", found.out);
    outcome_free(&found);
}

/* Strings are found without a look at them, so that the look which follows is refused. */
Test(command_ls, of_all_passes_over_strings_that_the_user_may_not_read)
{
    char url[256];
    foreign_hold("app:order", 60000);
    say("SET secret:number 5");
    say("ACL SETUSER bob on >secret ~*app:* +@all");
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("ls", "--all"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_in(found.out, "  app:order\n");
    cr_assert(!strstr(found.out, "secret"), "%s", found.out);
    outcome_free(&found);
}

/* The user may read the lock, and not the keys beside it. */
Test(command_ls, passes_over_locks_whose_other_keys_the_user_may_not_read)
{
    char url[256];
    foreign_hold("app:order", 60000);
    foreign_hold("other", 60000);
    say("ACL SETUSER bob on >secret ~*app:* ~other +@all");
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("ls"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_in(found.out, "  app:order\n");
    assert_in(found.err, "names with keys that the user may not read are not shown: 1; rlock inspect other says more of the first");
    outcome_free(&found);
}

/* Digits, but more than an int64_t holds: as a 64-bit hash of another program. It is neither a lock nor a number of permits. */
Test(command_ls, of_all_goes_on_beside_a_number_that_no_semaphore_has)
{
    foreign_hold("order", 60000);
    say("SET hash 18446744073709551615");
    char *out = list(COMMAND("ls", "-a"));
    assert_in(out, "  order\n");
    free(out);
}

/* The user may read the keys of the lock itself, but not those of its read holds. */
Test(command_ls, passes_over_read_holds_whose_timeouts_the_user_may_not_read)
{
    char url[256];
    rlock *reader = rlock_read_lock(rlock_get_read_write_lock(stage.client, "both"));
    assert_ok(rlock_lock(reader));
    foreign_hold("app:order", 60000);
    say("ACL SETUSER bob on >secret ~app:* ~{app:* ~redisson_lock_*:{* ~both ~{both}:timeout ~lock:* +@all");
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("ls"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_in(found.out, "  app:order\n");
    outcome_free(&found);
}

Test(command_ls, passes_over_a_name_that_is_too_long)
{
    run_script("redis.call('hset', string.rep('x', 4 * 1024 * 1024), '00000000-0000-0000-0000-000000000000:1', '1')");
    foreign_hold("order", 60000);
    char *out = list(COMMAND("ls"));
    assert_in(out, "  order\n");
    free(out);
}

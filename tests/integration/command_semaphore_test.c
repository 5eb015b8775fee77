/* rlock run --kind semaphore: as many commands at once as there are permits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/disk.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/refusing.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_semaphore, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define PERMITS_CHANNEL "redisson_sc:{" NAME "}"
#define SOON_MS 10000

static void assert_available(int64_t permits)
{
    int64_t found = server_integer(stage.server, "GET " NAME);
    cr_assert(found == permits, "%lld permits, not %lld", (long long)found, (long long)permits);
}

static void set_permits(int permits)
{
    freeReplyObject(server_command(stage.server, "SET " NAME " %d", permits));
}

#define SEMAPHORE "run", "--kind", "semaphore"

/* Two of two run at once; the third when one of them has ended. */
Test(command_semaphore, as_many_run_under_a_semaphore_as_it_has_permits)
{
    command *first = start_under(COMMAND(SEMAPHORE, "--set-permits", "2", NAME, "--", UNTIL_LINE));
    assert_available(1);
    command *second = start_under(COMMAND(SEMAPHORE, "--set-permits", "2", NAME, "--", UNTIL_LINE));
    assert_available(0);
    command *third = start(COMMAND(SEMAPHORE, "--set-permits", "5", NAME, "--", UNTIL_LINE));
    cr_assert(server_wait_subscribers(stage.server, PERMITS_CHANNEL, 1, SOON_MS));
    cr_assert_str_eq(command_out(third), "");
    end_under(first);
    cr_assert(command_says(third, "under", SOON_MS));
    end_under(second);
    end_under(third);
    assert_available(2);
}

Test(command_semaphore, several_permits_are_taken_and_given_back_together)
{
    set_permits(5);
    command *c = start_under(COMMAND(SEMAPHORE, "--permits", "3", NAME, "--", UNTIL_LINE));
    assert_available(2);
    cr_assert(status_of(COMMAND(SEMAPHORE, "--permits", "3", "--wait", "0", NAME, "--", "true")) == 75);
    cr_assert(status_of(COMMAND(SEMAPHORE, "--permits=2", "--wait", "0", NAME, "--", "sh", "-c", "exit 8")) == 8);
    end_under(c);
    assert_available(5);
}

/* Whatever becomes of the command. */
Test(command_semaphore, permits_come_back_however_the_command_ends)
{
    set_permits(1);
    cr_assert(status_of(COMMAND(SEMAPHORE, NAME, "--", "sh", "-c", "exit 42")) == 42);
    assert_available(1);
    cr_assert(status_of(COMMAND(SEMAPHORE, NAME, "--", "sh", "-c", "kill -KILL $$")) == 128 + SIGKILL);
    assert_available(1);
    cr_assert(status_of(COMMAND(SEMAPHORE, NAME, "--", "no-such-command")) == 127);
    assert_available(1);
    command *c = start_under(COMMAND(SEMAPHORE, NAME, "--", "sh", "-c", "echo under; exec cat"));
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM);
    assert_available(1);
    command_free(c);
}

Test(command_semaphore, a_semaphore_that_nobody_made_is_told_with_76)
{
    outcome found = run(COMMAND(SEMAPHORE, NAME, "--", "echo", "ran"));
    cr_assert(found.status == 76, "%d", found.status);
    cr_assert_str_eq(found.out, "");
    cr_assert_str_eq(found.err, "rlock: the semaphore \"" NAME "\" does not exist; --set-permits N creates it\n");
    outcome_free(&found);
    assert_no_keys();
}

Test(command_semaphore, a_wait_for_permits_ends_with_75)
{
    set_permits(1);
    int64_t begin_ms = now_ms();
    outcome found = run(COMMAND(SEMAPHORE, "--permits", "2", "--wait", "300ms", NAME, "--", "echo", "ran"));
    assert_between(now_ms() - begin_ms, 300, at_most_ms(1500));
    cr_assert(found.status == 75 && *found.out == 0, "%d %s", found.status, found.out);
    cr_assert(strstr(found.err, "did not have 2 permits in time"), "%s", found.err);
    outcome_free(&found);
    assert_available(1);
    cr_assert(wait_no_channels(SOON_MS));
}

Test(command_semaphore, a_signal_ends_the_wait_for_permits)
{
    set_permits(0);
    command *c = start(COMMAND(SEMAPHORE, NAME, "--", "echo", "ran"));
    cr_assert(server_wait_subscribers(stage.server, PERMITS_CHANNEL, 1, SOON_MS));
    command_signal(c, SIGINT);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGINT);
    cr_assert_str_eq(command_err(c), "rlock: a signal ended the wait for the semaphore \"" NAME "\": Interrupt\n");
    cr_assert_str_eq(command_out(c), "");
    command_free(c);
    assert_available(0);
}

#define DELETED                                                                                                             \
    "rlock: the semaphore \"" NAME "\" was deleted during the wait; once no command runs under it any more, "               \
    "--set-permits N creates it anew\n"

/* Nobody ever releases a permit of it any more. */
Test(command_semaphore, a_wait_ends_with_76_when_the_semaphore_is_gone)
{
    set_permits(0);
    command *c = start(COMMAND(SEMAPHORE, NAME, "--", "echo", "ran"));
    cr_assert(server_wait_subscribers(stage.server, PERMITS_CHANNEL, 1, SOON_MS));
    foreign_vanish(NAME);
    cr_assert(command_wait(c, SOON_MS) == 76, "%s", command_err(c));
    cr_assert_str_eq(command_err(c), DELETED);
    cr_assert_str_eq(command_out(c), "");
    command_free(c);
    assert_no_keys();
}

/* Its next request finds nothing, before the look that comes now and then. */
Test(command_semaphore, a_wait_that_asks_again_ends_with_76_when_the_semaphore_is_gone)
{
    set_permits(0);
    command *c = start(COMMAND(SEMAPHORE, NAME, "--", "echo", "ran"));
    cr_assert(server_wait_subscribers(stage.server, PERMITS_CHANNEL, 1, SOON_MS));
    foreign_vanish(NAME);
    freeReplyObject(server_command(stage.server, "PUBLISH " PERMITS_CHANNEL " 1"));
    cr_assert(command_wait(c, SOON_MS) == 76, "%s", command_err(c));
    cr_assert_str_eq(command_err(c), DELETED);
    command_free(c);
}

/* The one that runs would give back a permit that a new semaphore never had. */
Test(command_semaphore, a_wait_does_not_make_the_semaphore_anew)
{
    command *first = start_under(COMMAND(SEMAPHORE, "--set-permits", "1", NAME, "--", UNTIL_LINE));
    command *c = start(COMMAND(SEMAPHORE, "--set-permits", "1", NAME, "--", "echo", "ran"));
    cr_assert(server_wait_subscribers(stage.server, PERMITS_CHANNEL, 1, SOON_MS));
    foreign_vanish(NAME);
    cr_assert(command_wait(c, SOON_MS) == 76, "%s", command_err(c));
    cr_assert_str_eq(command_err(c), DELETED);
    command_free(c);
    end_under(first);
    assert_no_keys();
}

/* Permits of the old one are not there in the new one. */
Test(command_semaphore, a_wait_makes_a_semaphore_of_permits_with_leases_anew)
{
    command *first = start_under(COMMAND("run", "--kind", "permit", "--set-permits", "1", NAME, "--", UNTIL_LINE));
    command *c = start(COMMAND("run", "--kind", "permit", "--set-permits", "1", NAME, "--", "echo", "ran"));
    cr_assert(server_wait_subscribers(stage.server, PERMITS_CHANNEL, 1, SOON_MS));
    freeReplyObject(server_command(stage.server, "FLUSHALL"));
    cr_assert(command_wait(c, SOON_MS) == 0, "%s", command_err(c));
    cr_assert_str_eq(command_out(c), "ran\n");
    command_free(c);
    command_write(first, "\n");
    command_wait(first, SOON_MS); /* it has lost its permit */
    command_free(first);
    assert_available(1);
}

/* The lock stands under another name. */
Test(command_semaphore, is_not_there_though_a_signal_list_lock_of_its_name_is)
{
    freeReplyObject(server_command(stage.server, "SET lock:" NAME " x"));
    command *c = start(COMMAND(SEMAPHORE, NAME, "--", "echo", "ran"));
    int status = command_wait(c, SOON_MS);
    cr_assert(status == 76, "%d %s", status, command_err(c));
    command_free(c);
}

/* Its permits ended with it. */
Test(command_semaphore, a_semaphore_that_is_gone_is_not_made_anew)
{
    set_permits(3);
    command *c = start_under(COMMAND(SEMAPHORE, NAME, "--", UNTIL_LINE));
    foreign_vanish(NAME);
    end_under(c);
    assert_no_keys();
}

Test(command_semaphore, a_lock_is_no_semaphore_and_a_semaphore_no_lock)
{
    foreign_hold(NAME, 60000);
    cr_assert(status_of(COMMAND(SEMAPHORE, NAME, "--", "true")) == 76);
    cr_assert(status_of(COMMAND(SEMAPHORE, "--set-permits", "2", NAME, "--", "true")) == 76);
    foreign_vanish(NAME);
    set_permits(1);
    cr_assert(status_of(COMMAND("run", NAME, "--", "true")) == 76);
    assert_available(1);
}

/* --- a semaphore whose answers are lost --- */

static const char *through(proxy *between)
{
    static char text[600];
    snprintf(text, sizeof text, "unix://%s?timeout=2000&retryAttempts=1", proxy_socket(between));
    return text;
}

/* Loads the script first, so that it goes by its SHA1, and cuts the connection behind the first request for
 * it: the server has run it, nobody hears so. */
static void lose_answer(proxy *between, const rli_script *script)
{
    server_load(stage.server, script, RLI_COUNTED);
    proxy_add(between, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = script->sha1[RLI_COUNTED], .times = 1});
}

Test(command_semaphore, does_not_run_when_nobody_knows_whether_permits_were_taken)
{
    proxy *between = proxy_start(stage.server);
    set_permits(5);
    lose_answer(between, &rli_script_semaphore_acquire);
    outcome found = command_outcome(through(between), COMMAND(SEMAPHORE, "--permits", "2", NAME, "--", "echo", "ran"));
    cr_assert(found.status == 69, "%d %s", found.status, found.err);
    cr_assert_str_eq(found.out, "");
    cr_assert(strstr(found.err, "rlock: 2 permits may have been acquired") == found.err, "%s", found.err);
    outcome_free(&found);
    assert_available(3);
    proxy_stop(between);
}

/* That permits may be gone is more than that a signal came. */
Test(command_semaphore, says_so_too_when_a_signal_ended_the_wait_for_the_answer)
{
    const rli_script *acquire = &rli_script_semaphore_acquire;
    proxy *between = proxy_start(stage.server);
    set_permits(5);
    server_load(stage.server, acquire, RLI_COUNTED);
    int rule = proxy_add(between, &(proxy_rule){.act = PROXY_HOLD_REPLY, .text = acquire->sha1[RLI_COUNTED]});
    command *c = command_start(through(between), COMMAND(SEMAPHORE, "--permits", "2", NAME, "--", "echo", "ran"));
    cr_assert(proxy_await(between, rule, PROXY_ANSWERED, 1, SOON_MS));
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 69, "%s", command_err(c));
    cr_assert(strncmp(command_err(c), "rlock: 2 permits may have been acquired", 39) == 0, "%s", command_err(c));
    cr_assert_str_eq(command_out(c), "");
    command_free(c);
    assert_available(3);
    proxy_stop(between);
}

Test(command_semaphore, does_not_run_when_nobody_knows_whether_the_semaphore_was_made)
{
    proxy *between = proxy_start(stage.server);
    lose_answer(between, &rli_script_semaphore_set);
    outcome found = command_outcome(through(between), COMMAND(SEMAPHORE, "--set-permits", "2", NAME, "--", "echo", "ran"));
    cr_assert(found.status == 69 && *found.out == 0, "%d %s", found.status, found.out);
    outcome_free(&found);
    assert_available(2);
    proxy_stop(between);
}

/* The work is done: its status counts. */
Test(command_semaphore, says_that_nobody_knows_whether_permits_came_back)
{
    proxy *between = proxy_start(stage.server);
    set_permits(5);
    lose_answer(between, &rli_script_semaphore_release);
    outcome found = command_outcome(through(between), COMMAND(SEMAPHORE, NAME, "--", "sh", "-c", "exit 7"));
    cr_assert(found.status == 7, "%d %s", found.status, found.err);
    cr_assert(strstr(found.err, "rlock: it is unknown whether 1 permit came back: semaphore \"" NAME "\"") == found.err,
              "%s", found.err);
    outcome_free(&found);
    assert_available(5);
    proxy_stop(between);
}

/* No request got through: they are not back for certain. */
Test(command_semaphore, says_that_permits_did_not_come_back)
{
    proxy *between = proxy_start(stage.server);
    set_permits(5);
    command *c = command_start(through(between), COMMAND(SEMAPHORE, "--permits", "2", NAME, "--", "sh", "-c",
                                                       "echo under; read line; exit 6"));
    cr_assert(command_says(c, "under", SOON_MS));
    proxy_accept(between, false);
    proxy_cut(between);
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 6, "%s", command_err(c));
    cr_assert(strstr(command_err(c),
                     "rlock: could not release 2 permits; redis-cli incrby " NAME " 2 makes up for that: "
                     "semaphore \"" NAME "\""),
              "%s", command_err(c));
    command_free(c);
    assert_available(3);
    proxy_stop(between);
}

/* The work is done, but nobody ever has those permits again unless somebody sees to it. */
Test(command_semaphore, permits_that_did_not_come_back_turn_success_into_failure)
{
    proxy *between = proxy_start(stage.server);
    set_permits(5);
    command *c = command_start(through(between), COMMAND(SEMAPHORE, NAME, "--", UNTIL_LINE));
    cr_assert(command_says(c, "under", SOON_MS));
    proxy_accept(between, false);
    proxy_cut(between);
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 69, "%s", command_err(c));
    command_free(c);
    proxy_stop(between);
}

/* --- a semaphore whose server refuses --- */

Test(command_semaphore, permits_come_back_when_the_server_takes_them_again)
{
    set_permits(2);
    command *c = start_under(COMMAND(SEMAPHORE, "--permits", "2", NAME, "--", UNTIL_LINE));
    disk_spoil(stage.server);
    command_write(c, "\n");
    server_await_errors(stage.server, "MISCONF", 2);
    disk_mend(stage.server);
    cr_assert(command_wait(c, SOON_MS) == 0, "%s", command_err(c));
    cr_assert_str_eq(command_err(c), "");
    command_free(c);
    assert_available(2);
}

Test(command_semaphore, permits_that_the_server_does_not_take_are_told_with_76)
{
    set_permits(2);
    command *c = start_under(COMMAND(SEMAPHORE, NAME, "--", UNTIL_LINE));
    disk_spoil(stage.server);
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 76, "%s", command_err(c));
    assert_words(command_err(c),
                 "rlock: could not release 1 permit; redis-cli incrby " NAME " 1 makes up for that: ", "MISCONF");
    command_free(c);
    disk_mend(stage.server);
    assert_available(1);
}

/* The command gives one permit back as a user who lacks a right. */
static outcome run_as_bob(const char *rights)
{
    char url[512], rule[256];
    set_permits(1);
    snprintf(rule, sizeof rule, "ACL SETUSER bob on >secret ~* +@all %s", rights);
    freeReplyObject(server_command(stage.server, rule));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    return command_outcome(url, COMMAND(SEMAPHORE, NAME, "--", "true"));
}

/* They came back; those who wait were not told. */
Test(command_semaphore, permits_that_came_back_without_a_message_are_told)
{
    outcome found = run_as_bob("resetchannels");
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_words(found.err, "rlock: 1 permit came back, but waiters were not notified: ", "channel");
    outcome_free(&found);
    assert_available(1);
}

/* Where a right to a command is missing, the script may have ended behind the release. */
Test(command_semaphore, a_release_without_a_right_to_a_command_may_have_been_carried_out)
{
    outcome found = run_as_bob("&* -publish");
    cr_assert(found.status == 76, "%d: %s", found.status, found.err);
    assert_words(found.err, "rlock: it is unknown whether 1 permit came back: ", "docs/security.md");
    outcome_free(&found);
    assert_available(1);
}

/* The user may use this semaphore, and no other key: a run needs no look at the keys of other objects. */
Test(command_semaphore, runs_for_a_user_who_may_read_the_semaphore_alone)
{
    char url[256];
    freeReplyObject(server_command(stage.server, "SET places 1"));
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~places ~redisson_sc:{places} &redisson_sc:{places} +@all"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome set = command_outcome(url, COMMAND("run", "--kind", "semaphore", "--set-permits", "1", "places", "--", "true"));
    cr_assert(set.status == 0, "with --set-permits %d: %s", set.status, set.err);
    outcome_free(&set);
    outcome found = command_outcome(url, COMMAND("run", "--kind", "semaphore", "places", "--", "true"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    outcome_free(&found);
}

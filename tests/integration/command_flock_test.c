/* rlock as flock's users write it: without a sub-command, and with flock's options. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_flock, .init = stage_open, .fini = stage_close);

#define NAME    "order"
#define SOON_MS 10000

static void assert_says(const char *const *words, const char *expected)
{
    outcome found = run(words);
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    cr_assert_str_eq(found.out, expected);
    cr_assert_str_eq(found.err, "");
    outcome_free(&found);
}

/* Options of the command are its own, also those that rlock has. */
/* It cannot know whether the outer one has the same server, so it waits. */
Test(command_flock, one_within_another_of_the_name_says_that_it_may_wait_for_itself)
{
    command *c = start(COMMAND(NAME, "sh", "-c", "exec \"$RLOCK_COMMAND\" -w 30 " NAME " true"));
    cr_assert(command_complains(c, "\"" NAME "\", ", SOON_MS) && strstr(command_err(c), "it may wait for itself"), "%s", command_err(c));
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM);
    command_free(c);
    assert_no_keys();
}

/* The one within says who holds the lock that it waits for, after all else that it has to say. */
Test(command_flock, one_within_another_of_another_name_waits_for_its_holder)
{
    foreign_hold(NAME, 600000);
    command *c = start(COMMAND("outer", "sh", "-c", "exec \"$RLOCK_COMMAND\" -v -w 300 " NAME " true"));
    cr_assert(command_complains(c, FOREIGN_CLIENT, SOON_MS), "%s", command_err(c));
    cr_assert(!strstr(command_err(c), "wait for itself"), "%s", command_err(c));
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM);
    command_free(c);
}

Test(command_flock, name_and_command_are_enough)
{
    assert_says(COMMAND(NAME, "echo", "a", "-n", "--", "b"), "a -n -- b\n");
    assert_says(COMMAND(NAME, "--", "echo", "a", "-n"), "a -n\n");
    assert_says(COMMAND("run", NAME, "echo", "a"), "a\n");
    assert_says(COMMAND("-w5", NAME, "-E", "3", "echo", "a"), "a\n");
    assert_says(COMMAND("--", "ls", "sh", "-c", "echo $RLOCK_NAME"), "ls\n");
    assert_says(COMMAND("-n", "--", "-x", "sh", "-c", "echo $RLOCK_NAME"), "-x\n");
    assert_no_keys();
}

Test(command_flock, c_hands_the_command_to_the_shell)
{
    assert_says(COMMAND("-c", "echo $RLOCK_NAME | tr a-z A-Z", NAME), "ORDER\n");
    assert_says(COMMAND(NAME, "-c", "echo a; echo b"), "a\nb\n");
    cr_assert(status_of(COMMAND(NAME, "-c", "exit 7")) == 7);
    cr_assert(setenv("SHELL", "/bin/echo", 1) == 0);
    assert_says(COMMAND(NAME, "-c", "echo a"), "-c echo a\n");
    cr_assert(setenv("SHELL", "", 1) == 0);
    assert_says(COMMAND(NAME, "-c", "echo a"), "a\n");
}

Test(command_flock, lock_is_held_meanwhile_and_free_afterwards)
{
    command *c = start_under(COMMAND(NAME, UNTIL_LINE));
    cr_assert(status_of(COMMAND("-n", NAME, "true")) == 75);
    end_under(c);
    cr_assert(status_of(COMMAND("-n", NAME, "true")) == 0);
    assert_no_keys();
}

/* As flock(1) has it: only the failure to acquire is told by that status. */
Test(command_flock, conflict_has_the_exit_status_of_E)
{
    foreign_hold(NAME, 60000);
    cr_assert(status_of(COMMAND("-n", NAME, "true")) == 75);
    cr_assert(status_of(COMMAND("-nE", "0", NAME, "true")) == 0);
    cr_assert(status_of(COMMAND("-E9", "-w", ".01", NAME, "true")) == 9);
    cr_assert(status_of(COMMAND("--conflict-exit-code=255", "--timeout", "0", NAME, "true")) == 255);
    cr_assert(status_of(COMMAND("-n", "-E", "9", "other", "sh", "-c", "exit 3")) == 3);
    cr_assert(status_of(COMMAND("-n", "-E", "9", "--url", "unix:///no/server/here", "other", "true")) == 69);
    outcome found = run(COMMAND("-n", NAME, "true"));
    cr_assert_str_eq(found.err, "rlock: the lock \"" NAME "\" is held by another; rlock inspect " NAME " shows by whom\n");
    outcome_free(&found);
}

/* Like flock -n. An error of the name or the server is still reported. */
Test(command_flock, quiet_command_gives_up_in_silence)
{
    static const char *const gives_up[][7] = {{"-qn", NAME, "true"}, {"-q", "-w", "10ms", NAME, "true"},
                                              {"--quiet", "-n", "--kind", "fair", NAME, "true"}};
    foreign_hold(NAME, 60000);
    for (size_t i = 0; i < sizeof gives_up / sizeof *gives_up; i++) {
        outcome found = run(gives_up[i]);
        cr_assert(found.status == 75 && !*found.err, "%d: %s", found.status, found.err);
        outcome_free(&found);
    }
    freeReplyObject(server_command(stage.server, "HSET apples red 3"));
    outcome odd = run(COMMAND("-qn", "apples", "true"));
    cr_assert(odd.status == 76 && strstr(odd.err, "it is not a lock"), "%d: %s", odd.status, odd.err);
    outcome_free(&odd);
    outcome alone = run(COMMAND("-qn", "--url", "unix:///no/server/here", NAME, "true"));
    cr_assert(alone.status == 69 && *alone.err, "%d: %s", alone.status, alone.err);
    outcome_free(&alone);
    outcome both = run(COMMAND("-qv", NAME, "true"));
    cr_assert(both.status == 64 && strstr(both.err, "-q and -v contradict each other"), "%s", both.err);
    outcome_free(&both);
}

/* What a message suggests may be pasted into a shell. */
Test(command_flock, suggested_command_has_the_name_in_quotes)
{
    static const struct {
        const char *name, *typed;
    } cases[] = {{"two words", "rlock inspect 'two words' shows"},
                 {"{a}$b;c", "rlock inspect '{a}$b;c' shows"},
                 {"it's", "rlock inspect NAME shows"},
                 {"line\nbreak", "rlock inspect NAME shows"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        foreign_hold(cases[i].name, 60000);
        outcome found = run(COMMAND("-n", cases[i].name, "true"));
        cr_assert(strstr(found.err, cases[i].typed), "%s", found.err);
        outcome_free(&found);
    }
}

Test(command_flock, shared_locks_share_and_exclude_all_others)
{
    command *reader = start_under(COMMAND("-s", NAME, UNTIL_LINE));
    cr_assert(status_of(COMMAND("-sn", NAME, "true")) == 0);
    cr_assert(status_of(COMMAND("-xn", NAME, "true")) == 75);
    cr_assert(status_of(COMMAND("-en", NAME, "true")) == 75);
    cr_assert(status_of(COMMAND("-n", NAME, "true")) == 75);
    end_under(reader);
    command *writer = start_under(COMMAND("-x", NAME, UNTIL_LINE));
    cr_assert(status_of(COMMAND("-sn", NAME, "true")) == 75);
    cr_assert(status_of(COMMAND("--shared", "--nb", NAME, "true")) == 75);
    cr_assert(status_of(COMMAND("-n", NAME, "true")) == 75);
    end_under(writer);
    assert_no_keys();
}

Test(command_flock, plain_lock_excludes_shared_ones)
{
    command *c = start_under(COMMAND(NAME, UNTIL_LINE));
    cr_assert(status_of(COMMAND("-sn", NAME, "true")) == 75);
    cr_assert(status_of(COMMAND("-xn", NAME, "true")) == 75);
    end_under(c);
}

/* Who mistypes a sub-command gets to know what became of it. */
Test(command_flock, command_that_is_not_found_comes_with_the_sub_commands)
{
    outcome found = run(COMMAND("inspekt", "no-such-program-here"));
    cr_assert(found.status == 127);
    cr_assert(strstr(found.err, "could not run the command \"no-such-program-here\""), "%s", found.err);
    cr_assert(strstr(found.err, "\"inspekt\" was taken as the name of a lock; the sub-commands are run, ls"), "%s",
              found.err);
    outcome_free(&found);
    assert_no_keys();
}

/* --- what is said during the wait --- */

Test(command_flock, verbose_wait_tells_the_holder_and_how_long_it_took)
{
    foreign_hold(NAME, 60000);
    command *silent = start(COMMAND(NAME, "true")), *c = start(COMMAND("-v", NAME, "true"));
    cr_assert(command_complains(c, "rlock: waiting for the lock \"" NAME "\", ", SOON_MS), "%s", command_err(c));
    cr_assert(command_complains(c, " held by client " FOREIGN_CLIENT ", number ", SOON_MS), "%s", command_err(c));
    cr_assert(command_complains(c, " more unless renewed", SOON_MS), "%s", command_err(c));
    foreign_release(NAME);
    cr_assert(command_wait(c, SOON_MS) == 0 && command_wait(silent, SOON_MS) == 0);
    cr_assert(strstr(command_err(c), "rlock: acquired the lock \"" NAME "\" after "), "%s", command_err(c));
    cr_assert_str_eq(command_err(silent), "");
    command_free(c);
    command_free(silent);
}

Test(command_flock, wait_on_a_terminal_tells_the_holder)
{
    command *holder = start_under(COMMAND(NAME, UNTIL_LINE));
    command *c = command_start_program(server_url(stage.server),
                                       COMMAND("script", "-qec", "exec \"$RLOCK_COMMAND\" " NAME " true", "/dev/null"));
    char process[64];
    snprintf(process, sizeof process, "(process %d on ", (int)command_pid(holder));
    cr_assert(command_says(c, "rlock: waiting for the lock \"" NAME "\", ", SOON_MS), "%s", command_out(c));
    cr_assert(command_says(c, process, SOON_MS), "%s is not in: %s", process, command_out(c));
    end_under(holder);
    cr_assert(command_wait(c, SOON_MS) == 0, "%s", command_out(c));
    cr_assert(!strstr(command_out(c), "acquired"), "%s", command_out(c));
    command_free(c);
}

/* Its release is published where this wait does not listen. */
Test(command_flock, wait_for_a_holder_of_another_kind_is_warned_of)
{
    command *reader = start_under(COMMAND("-s", NAME, UNTIL_LINE)), *c = start(COMMAND("-v", NAME, "true"));
    cr_assert(command_complains(c, "read by client ", SOON_MS), "%s", command_err(c));
    cr_assert(command_complains(c, "use -s or -x here, too", SOON_MS), "%s", command_err(c));
    command_signal(c, 15);
    cr_assert(command_wait(c, SOON_MS) == 128 + 15);
    command_free(c);
    end_under(reader);
}

/* A hash of another program looks like a lock that is held for ever. */
Test(command_flock, hash_that_is_no_lock_is_told)
{
    static const char why[] = "the hash \"" NAME "\" has the field \"apple\", which names no owner: it is not a lock";
    freeReplyObject(server_command(stage.server, "HSET " NAME " apple 3"));
    static const char *const gives_up[][6] = {{"-n", NAME, "true"}, {"-w", "10ms", NAME, "true"}, {"-n", "-E", "1", NAME, "true"}};
    for (size_t i = 0; i < sizeof gives_up / sizeof *gives_up; i++) {
        outcome found = run(gives_up[i]);
        cr_assert(found.status == 76 && strstr(found.err, why), "%d: %s", found.status, found.err);
        outcome_free(&found);
    }
    command *c = start(COMMAND("-v", NAME, "true"));
    cr_assert(command_complains(c, why, SOON_MS), "%s", command_err(c));
    command_signal(c, 15);
    cr_assert(command_wait(c, SOON_MS) == 128 + 15);
    command_free(c);
}

Test(command_flock, verbose_wait_for_permits_tells_how_many_there_are)
{
    freeReplyObject(server_command(stage.server, "SET mail 1"));
    command *c = start(COMMAND("-v", "--kind", "semaphore", "--permits", "2", "mail", "true"));
    cr_assert(command_complains(c, "waiting for the semaphore \"mail\", ", SOON_MS), "%s", command_err(c));
    cr_assert(command_complains(c, ": 1 permit available, 2 needed\n", SOON_MS), "%s", command_err(c));
    freeReplyObject(server_command(stage.server, "SET mail 0"));
    cr_assert(command_complains(c, ": 0 permits available, 2 needed\n", SOON_MS), "%s", command_err(c));
    command_signal(c, 15);
    cr_assert(command_wait(c, SOON_MS) == 128 + 15);
    command_free(c);
}

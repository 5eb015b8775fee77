/* rlock run: what becomes of the command when the lock is lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/refusing.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/shell.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(command_loss, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define SOON_MS 10000

static const char *quick_url(void)
{
    return server_url_with(stage.server, STAGE_QUICK);
}

static void force_unlock(void)
{
    outcome found = run(COMMAND("force-unlock", NAME));
    cr_assert(found.status == 0 && strstr(found.out, "was locked"), "%s%s", found.out, found.err);
    outcome_free(&found);
}

Test(command_loss, force_unlock_ends_the_running_command)
{
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c", "echo $$; exec cat"));
    pid_t pid = (pid_t)command_number(c, "", SOON_MS);
    force_unlock();
    int64_t begin_ms = now_ms();
    cr_assert(command_wait(c, SOON_MS) == 70);
    assert_between(now_ms() - begin_ms, 0, at_most_ms(QUICK_MS));
    cr_assert(wait_process_gone(pid, 0));
    cr_assert(strncmp(command_err(c), "rlock: the lock \"" NAME "\" was lost: it was forced open", 47) == 0, "%s",
              command_err(c));
    command_free(c);
}

/* With SIGTERM a command can put its things in order. */
Test(command_loss, the_command_may_end_itself_on_sigterm)
{
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c",
        "exec 3<&0; trap 'echo tidy; exit 9' TERM; cat <&3 & echo under; wait"));
    cr_assert(command_says(c, "under", SOON_MS));
    force_unlock();
    cr_assert(command_wait(c, SOON_MS) == 70);
    cr_assert_str_eq(command_out(c), "under\ntidy\n");
    command_free(c);
}

/* Neither the command nor what it started goes on, though both ignore SIGTERM. */
Test(command_loss, what_ignores_sigterm_is_killed_with_all_that_it_started)
{
    command *c = command_start(quick_url(), COMMAND("run", "--kill-after", "300ms", NAME, "--", "sh", "-c",
        "exec 3<&0; trap '' TERM; cat <&3 & echo child $!; (cat <&3 & echo orphan $!); echo all $$; wait"));
    command_number(c, "all ", SOON_MS);
    pid_t pids[] = {(pid_t)command_number(c, "child ", 0), (pid_t)command_number(c, "orphan ", 0),
                    (pid_t)command_number(c, "all ", 0)};
    int64_t begin_ms = now_ms(); /* not behind it: by then it may have been killed */
    force_unlock();
    cr_assert(command_complains(c, "was lost", SOON_MS));
    cr_assert(command_wait(c, SOON_MS) == 70);
    assert_between(now_ms() - begin_ms, 300, at_most_ms(QUICK_MS + 1000));
    for (int i = 0; i < 3; i++)
        cr_assert(wait_process_gone(pids[i], 0), "process %d of 3 is still there", i + 1);
    cr_assert(strstr(command_err(c), "did not end within 300 ms: killing it"), "%s", command_err(c));
    command_free(c);
}

/* Without --kill-after, it has the five seconds that the help and the manual name. */
Test(command_loss, what_ignores_sigterm_has_five_seconds)
{
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c", "trap '' TERM; echo $$; exec cat"));
    pid_t pid = (pid_t)command_number(c, "", SOON_MS);
    force_unlock();
    cr_assert(command_complains(c, "did not end within 5.0 s: killing it", SOON_MS), "%s", command_err(c));
    cr_assert(command_wait(c, SOON_MS) == 70);
    cr_assert(wait_process_gone(pid, 0));
    command_free(c);
}

/* The list of all processes has such a name as it is. */
Test(command_loss, what_is_named_as_if_another_had_started_it_is_ended_as_well)
{
    char line[4400];
    snprintf(line, sizeof line, "ln -s \"$(command -v sleep)\" '%s/a) R 1 1 (b'; echo $$; exec '%s/a) R 1 1 (b' 600",
             scratch_folder(), scratch_folder());
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c", line));
    pid_t pid = (pid_t)command_number(c, "", SOON_MS);
    force_unlock();
    cr_assert(command_wait(c, SOON_MS) == 70);
    cr_assert(wait_process_gone(pid, 0));
    command_free(c);
    scratch_remove();
}

Test(command_loss, a_stopped_command_is_ended_as_well)
{
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c", "echo $$; exec cat"));
    pid_t pid = (pid_t)command_number(c, "", SOON_MS);
    cr_assert(kill(pid, SIGSTOP) == 0);
    force_unlock();
    int64_t begin_ms = now_ms();
    cr_assert(command_wait(c, SOON_MS) == 70);
    assert_between(now_ms() - begin_ms, 0, at_most_ms(4000)); /* before SIGKILL would come */
    command_free(c);
}

/* A stopped process can't run its handler, so it is continued as well. */
Test(command_loss, a_stopped_command_with_a_trap_comes_to_it)
{
    char line[4400];
    snprintf(line, sizeof line, "exec 3<&0; trap 'echo trapped >%s/told; exit 9' TERM; cat <&3 & echo $$; wait",
             scratch_folder());
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c", line));
    pid_t pid = (pid_t)command_number(c, "", SOON_MS);
    cr_assert(kill(pid, SIGSTOP) == 0);
    force_unlock();
    cr_assert(command_wait(c, SOON_MS) == 70);
    snprintf(line, sizeof line, "%s/told", scratch_folder());
    cr_assert(access(line, F_OK) == 0, "it was killed before it could end");
    command_free(c);
    scratch_remove();
}

Test(command_loss, a_lease_that_runs_out_ends_the_command)
{
    int64_t begin_ms = now_ms();
    /* killed much later: this is about the end of the lease */
    command *c = start(COMMAND("run", "--lease", "700ms", "--kill-after", "1h", NAME, "--", "cat"));
    cr_assert(command_wait(c, SOON_MS) == 70);
    assert_between(now_ms() - begin_ms, 650, at_most_ms(1700));
    cr_assert_str_eq(command_err(c), "rlock: the lock \"" NAME "\" was lost: its --lease of 700 ms has ended; ending the "
                                     "command\n");
    command_free(c);
}

Test(command_loss, a_server_that_is_gone_ends_the_command_in_time)
{
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "sh", "-c", "echo under; exec cat"));
    cr_assert(command_says(c, "under", SOON_MS)); /* the key alone may be there before rlock hears of it */
    server_kill(stage.server);
    int64_t begin_ms = now_ms();
    cr_assert(command_wait(c, SOON_MS) == 70);
    assert_between(now_ms() - begin_ms, 0, at_most_ms(QUICK_MS + 500));
    command_free(c);
}

/* By the clock, it knows of the loss some moments before the library reports why; here both have slept too long. */
Test(command_loss, a_refused_renewal_is_said_to_be_the_reason)
{
    char url[512];
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~* &* +@all"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d?" STAGE_QUICK, server_port(stage.server));
    command *c = command_start(url, COMMAND("run", NAME, "--", "sh", "-c", "echo under; exec cat"));
    cr_assert(command_says(c, "under", SOON_MS));
    freeReplyObject(server_command(stage.server, "CONFIG RESETSTAT"));
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob -pexpire"));
    server_await_errors(stage.server, "ERR", 2); /* by the second, it has read the first one */
    command_signal(c, SIGSTOP);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS + QUICK_MS));
    command_signal(c, SIGCONT);
    cr_assert(command_wait(c, SOON_MS) == 70);
    cr_assert_str_eq(command_err(c),
                     "rlock: the lock \"" NAME "\" was lost: the server refused to renew it: the user lacks a "
                     "right (see docs/security.md); ending the command\n");
    command_free(c);
}

/* The command has done its work, but not for certain alone. */
Test(command_loss, a_loss_found_at_the_end_is_told_by_the_exit_status)
{
    command *c = start(COMMAND("run", NAME, "--", "sh", "-c", "echo under; read line"));
    cr_assert(command_says(c, "under", SOON_MS));
    force_unlock();
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 70);
    cr_assert(strncmp(command_err(c), "rlock: ", 7) == 0, "%s", command_err(c));
    command_free(c);
}

/* A lost lock may be another's by now: rlock must not free it. */
Test(command_loss, leaves_the_next_holders_lock_alone)
{
    command *c = command_start(quick_url(), COMMAND("run", NAME, "--", "cat"));
    cr_assert(server_wait_exists(stage.server, NAME, true, SOON_MS));
    foreign_vanish(NAME);
    foreign_hold(NAME, 60000);
    cr_assert(command_wait(c, SOON_MS) == 70);
    cr_assert_str_eq(holder_of(NAME), FOREIGN_CLIENT);
    command_free(c);
}

/* The command did its work under the lock, so its status counts; but others wait for the lock until its TTL ends. */
Test(command_loss, lock_that_cannot_be_given_back_is_told)
{
    const char *url = server_url_with(stage.server, "retryAttempts=0&timeout=1000&connectTimeout=1000");
    command *c = command_start(url, COMMAND("run", NAME, "--", "sh", "-c", "echo under; exec cat"));
    cr_assert(command_says(c, "under", SOON_MS));
    server_kill(stage.server);
    command_close_input(c);
    cr_assert(command_wait(c, SOON_MS) == 0);
    const char *said = command_err(c);
    assert_words(said, "rlock: could not release the lock \"" NAME "\"", "until its TTL ends", "Redis at");
    command_free(c);
}

/* The other parts of a sharded lock, which are free, say nothing of the one that could not be given back. */
Test(command_loss, part_that_cannot_be_given_back_is_told)
{
    char url[512], holds[256];
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~* &* +@all"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    command *c = command_start(url, COMMAND("run", "--kind", "sharded", "--shards", "4", NAME, "--", "sh", "-c",
                                            "echo part $RLOCK_SHARD; exec cat"));
    cr_assert(command_says(c, "part ", SOON_MS));
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob -del"));
    command_close_input(c);
    cr_assert(command_wait(c, SOON_MS) == 0);
    snprintf(holds, sizeof holds, NAME ":%d", atoi(strstr(command_out(c), "part ") + 5));
    cr_assert(server_integer(stage.server, "EXISTS %s", holds) == 1);
    assert_words(command_err(c), "rlock: could not release the lock \"" NAME "\"", "until its TTL ends", holds);
    command_free(c);
}

/* Nor of the one that was given back without a message. */
Test(command_loss, part_that_was_given_back_without_a_message_is_told)
{
    char url[512];
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~* +@all resetchannels"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("run", "--kind", "sharded", "--shards", "1", NAME, "--", "echo", "ran"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    assert_words(found.err, "rlock: the lock \"" NAME "\" is free", "may wait until its TTL would have ended");
    outcome_free(&found);
}

/* A user without the right to the channel: the server frees the lock and then cannot tell those who wait. So the message
 * must not say that the lock is still held. */
Test(command_loss, release_that_told_no_waiter_is_said_to_have_freed_the_lock)
{
    char url[512];
    freeReplyObject(server_command(stage.server, "ACL SETUSER bob on >secret ~* +@all resetchannels"));
    snprintf(url, sizeof url, "redis://bob:secret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("run", NAME, "--", "echo", "ran"));
    cr_assert(found.status == 0, "%d: %s", found.status, found.err);
    cr_assert(server_wait_exists(stage.server, NAME, false, SOON_MS));
    assert_words(found.err, "rlock: the lock \"" NAME "\" is free", "may wait until its TTL would have ended", "channel");
    cr_assert(strstr(found.err, "could not release") == NULL, "%s", found.err);
    outcome_free(&found);
}

/* The script becomes rlock, and says "started PID" of a process that its command did not start. */
static void assert_goes_on(const char *script)
{
    command *c = command_start_program(quick_url(), COMMAND("sh", "-c", script));
    pid_t other = (pid_t)command_number(c, "started ", SOON_MS), under = (pid_t)command_number(c, "under ", SOON_MS);
    force_unlock();
    cr_assert(command_wait(c, SOON_MS) == 70, "%s", command_err(c));
    cr_assert(wait_process_gone(under, 0));
    cr_assert(kill(other, SIGKILL) == 0, "it was ended as well");
    command_free(c);
}

Test(command_loss, what_the_script_began_before_it_became_rlock_goes_on)
{
    assert_goes_on("sleep 600 & echo started $!; exec \"$RLOCK_COMMAND\" run " NAME
                   " -- sh -c 'sleep 600 & echo under $!; wait'");
}

/* Nor did the command start what such a job has left behind before. */
Test(command_loss, what_a_job_of_the_script_left_behind_goes_on)
{
    assert_goes_on("(sleep 600 & echo started $!; exec sleep 0.3) & sleep 0.1; exec \"$RLOCK_COMMAND\" run " NAME
                   " -- sh -c 'sleep 0.4; sleep 600 & echo under $!; wait'");
}

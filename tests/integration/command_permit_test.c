/* rlock run --kind permit: as many commands at once as there are permits, which come back by themselves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/scripts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_permit, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define TAKEN "{" NAME "}:timeout"
#define SOON_MS 10000
#define LEASE_MS 30000 /* of a permit that is renewed, every third of it */

#define PERMIT "run", "--kind", "permit"

static void set_permits(int permits)
{
    freeReplyObject(server_command(stage.server, "SET " NAME " %d", permits));
}

static void assert_permits(int64_t available, int64_t taken)
{
    int64_t found = server_integer(stage.server, "GET " NAME), out = server_integer(stage.server, "ZCARD " TAKEN);
    cr_assert(found == available && out == taken, "%lld available and %lld taken, not %lld and %lld", (long long)found,
              (long long)out, (long long)available, (long long)taken);
}

/* When the first permit to expire does, in ms from now by the server's clock. */
static int64_t expires_in_ms(void)
{
    return server_integer(stage.server, "EVAL %s 1 " TAKEN,
                          "local t = redis.call('time')\n"
                          "return redis.call('zrange', KEYS[1], 0, 0, 'withscores')[2] - t[1] * 1000 - t[2] / 1000");
}

/* Two of two run at once; the third when one of them has ended. */
Test(command_permit, as_many_run_as_there_are_permits)
{
    command *first = start_under(COMMAND(PERMIT, "--set-permits", "2", NAME, "--", UNTIL_LINE));
    assert_permits(1, 1);
    assert_between(expires_in_ms(), LEASE_MS - at_most_ms(5000), LEASE_MS);
    command *second = start_under(COMMAND(PERMIT, "--set-permits", "2", NAME, "--", UNTIL_LINE));
    command *third = start(COMMAND(PERMIT, NAME, "--", UNTIL_LINE));
    cr_assert(server_wait_subscribers(stage.server, "redisson_sc:{" NAME "}", 1, SOON_MS));
    cr_assert_str_eq(command_out(third), "");
    end_under(first);
    cr_assert(command_says(third, "under", SOON_MS));
    end_under(second);
    end_under(third);
    assert_permits(2, 0);
}

Test(command_permit, several_are_taken_and_given_back_together)
{
    set_permits(5);
    command *c = start_under(COMMAND(PERMIT, "--permits", "3", NAME, "--", UNTIL_LINE));
    assert_permits(2, 3);
    cr_assert(status_of(COMMAND(PERMIT, "--permits", "3", "--wait", "0", NAME, "--", "true")) == 75);
    cr_assert(status_of(COMMAND(PERMIT, "--permits", "2", "--wait", "0", NAME, "--", "sh", "-c", "exit 8")) == 8);
    end_under(c);
    assert_permits(5, 0);
}

/* Of a lease that outlives a standstill between the permit and the command. */
Test(command_permit, a_lease_that_runs_out_ends_the_command, .lasts = 5)
{
    set_permits(1);
    int64_t begin_ms = now_ms();
    command *c = start(COMMAND(PERMIT, "--lease", "5s", NAME, "--", "cat"));
    cr_assert(command_wait(c, SOON_MS) == 70);
    assert_between(now_ms() - begin_ms, 4950, at_most_ms(6000));
    cr_assert(strncmp(command_err(c), "rlock: the permit of the semaphore \"" NAME "\" was lost: its --lease of 5 s", 71) == 0, "%s",
              command_err(c));
    command_free(c);
    cr_assert(status_of(COMMAND(PERMIT, "--wait", "5s", NAME, "--", "true")) == 0);
}

/* Whether that is found out before the command begins or after it. */
Test(command_permit, a_lease_that_is_over_at_once_is_told_with_70)
{
    set_permits(1);
    outcome found = run(COMMAND(PERMIT, "--lease", "1ms", NAME, "--", "true"));
    cr_assert(found.status == 70 && strncmp(found.err, "rlock: the permit of the semaphore \"" NAME "\" was lost", 51) == 0, "%d %s",
              found.status, found.err);
    outcome_free(&found);
}

/* Which those of --kind semaphore do not. */
Test(command_permit, the_permit_of_a_killed_run_comes_back_when_its_lease_ends, .lasts = 5)
{
    enum { KILLED_LEASE_MS = 5000 };
    set_permits(1);
    int64_t begin_ms = now_ms();
    command *c = start(COMMAND(PERMIT, "--lease", "5s", NAME, "--", "sh", "-c", "kill -KILL $PPID"));
    int status = command_wait(c, SOON_MS);
    cr_assert(status == -SIGKILL, "%d: %s", status, command_err(c));
    command_free(c);
    cr_assert(status_of(COMMAND(PERMIT, NAME, "--", "true")) == 0);
    assert_between(now_ms() - begin_ms, KILLED_LEASE_MS, KILLED_LEASE_MS + at_most_ms(1500));
}

/* Renewed as long as the command runs; when one is gone, which the next renewal finds, the command ends, and the other comes
 * back. */
Test(command_permit, is_renewed_and_its_loss_ends_the_command, .lasts = 20)
{
    set_permits(2);
    command *c = start_under(COMMAND(PERMIT, "--permits", "2", NAME, "--", "sh", "-c", "echo under; exec cat"));
    int64_t least_ms = LEASE_MS;
    for (int64_t end_ms = now_ms() + LEASE_MS / 2, left_ms = least_ms; left_ms <= least_ms; pass_ms(50)) {
        cr_assert(now_ms() < end_ms, "not renewed");
        least_ms = left_ms;
        left_ms = expires_in_ms();
    }
    assert_between(least_ms, LEASE_MS / 2, LEASE_MS);
    freeReplyObject(server_command(stage.server, "ZREMRANGEBYRANK " TAKEN " 0 0"));
    cr_assert(command_wait(c, LEASE_MS / 2) == 70, "%s", command_err(c));
    cr_assert(strncmp(command_err(c), "rlock: the permit of the semaphore \"" NAME "\" was lost: it was forced open or deleted", 77) == 0, "%s",
              command_err(c));
    command_free(c);
    assert_permits(1, 0);
}

/* The work is done, but perhaps beside more than there were to be. Those that are left come back. */
Test(command_permit, a_loss_found_at_the_end_is_told_by_the_exit_status)
{
    for (int rank = 0; rank < 3; rank++) {
        foreign_vanish(NAME);
        set_permits(3);
        command *c = start_under(COMMAND(PERMIT, "--permits", "3", NAME, "--", "sh", "-c", "echo under; read line"));
        assert_permits(0, 3);
        freeReplyObject(server_command(stage.server, "ZREMRANGEBYRANK " TAKEN " %d %d", rank, rank));
        command_write(c, "\n");
        cr_assert(command_wait(c, SOON_MS) == 70);
        cr_assert_str_eq(command_err(c), "rlock: the permit of the semaphore \"" NAME "\" was lost before the command ended\n");
        command_free(c);
        assert_permits(2, 0);
    }
}

Test(command_permit, a_wait_ends_with_75_and_a_signal_ends_it)
{
    set_permits(0);
    cr_assert(status_of(COMMAND(PERMIT, "--wait", "200ms", NAME, "--", "true")) == 75);
    command *c = start(COMMAND(PERMIT, NAME, "--", "echo", "ran"));
    cr_assert(server_wait_subscribers(stage.server, "redisson_sc:{" NAME "}", 1, SOON_MS));
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM);
    cr_assert_str_eq(command_err(c), "rlock: a signal ended the wait for the permit of the semaphore \"" NAME "\": Terminated\n");
    cr_assert_str_eq(command_out(c), "");
    command_free(c);
    assert_permits(0, 0);
}

/* Nobody can give back a permit that the semaphore does not have. */
Test(command_permit, a_wait_for_more_permits_than_there_are_is_told)
{
    command *c = start(COMMAND("-v", "--kind", "permit", "--set-permits", "2", "--permits", "3", NAME, "--", "true"));
    cr_assert(command_complains(c, ": 2 permits available, 3 needed; the semaphore has only 2, so", SOON_MS), "%s",
              command_err(c));
    command_signal(c, SIGTERM);
    cr_assert(command_wait(c, SOON_MS) == 128 + SIGTERM);
    command_free(c);
}

Test(command_permit, a_semaphore_that_nobody_made_is_told_with_76)
{
    cr_assert(status_of(COMMAND(PERMIT, NAME, "--", "true")) == 76);
    assert_no_keys();
}

/* What is taken and given back by id may be asked for twice. */
Test(command_permit, runs_although_answers_were_lost)
{
    const rli_script *scripts[] = {&rli_script_permit_semaphore_acquire, &rli_script_permit_semaphore_release_many};
    proxy *between = proxy_start(stage.server);
    char url[600];
    snprintf(url, sizeof url, "unix://%s?timeout=2000&retryAttempts=2", proxy_socket(between));
    set_permits(5);
    for (int i = 0; i < 2; i++) {
        server_load(stage.server, scripts[i], RLI_COUNTED);
        int rule = proxy_add(between, &(proxy_rule){.act = PROXY_CUT_AFTER, .text = scripts[i]->sha1[RLI_COUNTED], .times = 1});
        outcome found = command_outcome(url, COMMAND(PERMIT, "--permits", "2", NAME, "--", "echo", "ran"));
        cr_assert(proxy_count(between, rule, PROXY_ACTED) == 1);
        cr_assert(found.status == 0, "%d %s", found.status, found.err);
        cr_assert_str_eq(found.out, "ran\n");
        outcome_free(&found);
        assert_permits(5, 0);
    }
    proxy_stop(between);
}

/* rlock run: a command under a lock, alone there, with its own exit status. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_json.h"
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_run, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define SOON_MS 10000

static const char *url(void)
{
    return server_url(stage.server);
}

/* Any exit status, deaths by signal, and commands that cannot be run. The lock is free after each. */
Test(command_run, passes_the_exit_status_on)
{
    const struct {
        const char *const *words;
        int status;
    } cases[] = {
        {COMMAND("run", NAME, "--", "true"), 0},
        {COMMAND("run", NAME, "--", "false"), 1},
        {COMMAND("run", NAME, "--", "sh", "-c", "exit 42"), 42},
        {COMMAND("run", NAME, "--", "sh", "-c", "exit 255"), 255},
        {COMMAND("run", NAME, "--", "sh", "-c", "exit 70"), 70}, /* as rlock itself when the lock is lost, */
        {COMMAND("run", NAME, "--", "sh", "-c", "exit 75"), 75}, /* and when it is not acquired in time */
        {COMMAND("run", NAME, "--", "sh", "-c", "kill -KILL $$"), 128 + SIGKILL},
        {COMMAND("run", NAME, "--", "sh", "-c", "kill -TERM $$"), 128 + SIGTERM},
        {COMMAND("run", NAME, "--", "no-such-command"), 127},
        {COMMAND("run", NAME, "--", "/no/such/file"), 127},
        {COMMAND("run", NAME, "--", "/etc/passwd"), 126},
        {COMMAND("run", NAME, "--", "/"), 126},
        {COMMAND("run", NAME, "--wait=3s", "--lease", "1m", "--", "sh", "-c", "exit 3"), 3},
        {COMMAND("run", "--", "-h", "--", "sh", "-c", "exit 4"), 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = status_of(cases[i].words);
        cr_assert(status == cases[i].status, "case %zu: %d, not %d", i, status, cases[i].status);
        assert_no_keys();
    }
}

Test(command_run, says_why_a_command_cannot_be_run)
{
    outcome found = run(COMMAND("run", NAME, "--", "no-such-command"));
    cr_assert_str_eq(found.err, "rlock: could not run the command \"no-such-command\": No such file or directory\n");
    outcome_free(&found);
}

/* The key stands while the command runs; the command's own words reach it untouched. */
Test(command_run, holds_the_lock_while_the_command_runs)
{
    command *c = start(COMMAND("run", NAME, "--", UNTIL_LINE));
    cr_assert(command_says(c, "under", SOON_MS));
    assert_between(pttl_of(NAME), 30000 - SOON_MS, 30000);
    cr_assert(server_integer(stage.server, "HLEN %s", NAME) == 1);
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 0);
    cr_assert_str_eq(command_out(c), "under\nover\n");
    cr_assert_str_eq(command_err(c), "");
    assert_no_keys();
    command_free(c);
}

Test(command_run, the_command_has_the_input_and_the_name)
{
    command *c = start(COMMAND("run", "a b\"ü", "--", "sh", "-c", "cat; echo \"$RLOCK_NAME\" >&2"));
    command_write(c, "one\ntwo");
    command_close_input(c);
    cr_assert(command_wait(c, SOON_MS) == 0);
    cr_assert_str_eq(command_out(c), "one\ntwo");
    cr_assert_str_eq(command_err(c), "a b\"ü\n");
    command_free(c);
}

/* The signals of a line of /proc/PID/status, without 32 and 33: those are the C library's, whose posix_spawn() has them
 * ignored in some programs and not in others. */
static unsigned long long signals_in(const char *text, const char *label)
{
    const char *line = strstr(text, label);
    cr_assert(line, "no %s in %s", label, text);
    return strtoull(line + strlen(label), NULL, 16) & ~(3ULL << 31);
}

/* No socket, no eventfd, no blocked signal: the command is as if rlock were not there. */
Test(command_run, the_command_inherits_nothing_of_rlock)
{
    outcome found = run(COMMAND("run", NAME, "--", "sh", "-c",
        "ls -l /proc/self/fd; grep -E '^Sig(Blk|Ign)' /proc/self/status"));
    cr_assert(found.status == 0, "%s", found.err);
    cr_assert(!strstr(found.out, "socket:") && !strstr(found.out, "anon_inode"), "%s", found.out);
    command *bare = command_start_program(url(), COMMAND("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"));
    cr_assert(command_wait(bare, SOON_MS) == 0);
    const char *out = command_out(bare);
    cr_assert(signals_in(found.out, "SigBlk:") == signals_in(out, "SigBlk:"), "%s instead of\n%s", found.out, out);
    cr_assert(signals_in(found.out, "SigIgn:") == signals_in(out, "SigIgn:"), "%s instead of\n%s", found.out, out);
    command_free(bare);
    outcome_free(&found);
}

/* How many error replies the server gives during a run of `script`. */
static int64_t error_replies(const char *script, int status)
{
    int64_t before = server_info(stage.server, "total_error_replies");
    command *c = command_start_program(url(), COMMAND("sh", "-c", script));
    cr_assert(command_wait(c, SOON_MS) == status, "%s: %s", script, command_err(c));
    command_free(c);
    return server_info(stage.server, "total_error_replies") - before;
}

/* A connection must not take the place of a descriptor that came closed: what is meant for
 * stderr or stdout would go to the server. */
Test(command_run, closed_standard_descriptors_are_no_connections)
{
    const char *const run = "exec \"$RLOCK_COMMAND\" run " NAME " -- sh -c 'echo noise; exit 5' <&- >&- 2>&-";
    error_replies(run, 5); /* which loads the scripts */
    cr_assert(error_replies(run, 5) == 0);
    assert_no_keys();
    freeReplyObject(server_command(stage.server, "RPUSH %s text", NAME));
    error_replies("exec \"$RLOCK_COMMAND\" inspect " NAME, 76);
    int64_t usual = error_replies("exec \"$RLOCK_COMMAND\" inspect " NAME, 76);
    cr_assert(error_replies("exec \"$RLOCK_COMMAND\" inspect " NAME " 2>&-", 76) == usual);
}

/* The second is woken by the first one's unlock. */
Test(command_run, two_of_one_name_never_run_at_once)
{
    command *first = start(COMMAND("run", NAME, "--", UNTIL_LINE));
    cr_assert(command_says(first, "under", SOON_MS));
    command *second = start(COMMAND("run", NAME, "--", UNTIL_LINE));
    cr_assert(wait_listened(NAME, SOON_MS));
    cr_assert_str_eq(command_out(second), "");
    command_write(first, "\n");
    cr_assert(command_says(second, "under", SOON_MS));
    cr_assert_str_eq(command_out(first), "under\nover\n");
    cr_assert(command_wait(first, SOON_MS) == 0);
    command_write(second, "\n");
    cr_assert(command_wait(second, SOON_MS) == 0);
    command_free(first);
    command_free(second);
}

/* A file as the counter, read and written by ten processes that know nothing of each other. */
Test(command_run, many_of_one_name_take_turns)
{
    enum { RUNS = 10 };
    char file[256];
    snprintf(file, sizeof file, "%s.counter", server_socket(stage.server)); /* in its folder: goes with it */
    FILE *counter = fopen(file, "w");
    cr_assert(counter && fputs("0\n", counter) >= 0 && fclose(counter) == 0);
    command *runs[RUNS];
    for (int i = 0; i < RUNS; i++)
        runs[i] = start(COMMAND("run", NAME, "--", "sh", "-c",
            "read n < \"$0\"; sleep 0.01; echo $((n + 1)) > \"$0\"", file));
    for (int i = 0; i < RUNS; i++) {
        cr_assert(command_wait(runs[i], 60000) == 0, "%s", command_err(runs[i]));
        command_free(runs[i]);
    }
    char text[16] = "";
    counter = fopen(file, "r");
    cr_assert(counter && fgets(text, sizeof text, counter) != NULL);
    fclose(counter);
    cr_assert(atoi(text) == RUNS, "%d runs counted to %s", RUNS, text);
}

Test(command_run, gives_up_with_75_when_the_wait_is_over)
{
    foreign_hold(NAME, 60000);
    int64_t begin_ms = now_ms();
    outcome found = run(COMMAND("run", "--wait", "300ms", NAME, "--", "echo", "ran"));
    assert_between(now_ms() - begin_ms, 300, at_most_ms(1500));
    cr_assert(found.status == 75);
    cr_assert_str_eq(found.out, "");
    cr_assert_str_eq(found.err, "rlock: the lock \"" NAME "\" did not become free within 300 ms; rlock inspect " NAME
                                " shows its holder\n");
    outcome_free(&found);
    found = run(COMMAND("-w", "1", NAME, "true"));
    cr_assert(strstr(found.err, "did not become free within 1 s; rlock"), "%s", found.err);
    outcome_free(&found);
    found = run(COMMAND("-w", "1.1", NAME, "true"));
    cr_assert(strstr(found.err, "did not become free within 1.1 s; rlock"), "%s", found.err);
    outcome_free(&found);
    found = run(COMMAND("-n", NAME, "true"));
    cr_assert_str_eq(found.err, "rlock: the lock \"" NAME "\" is held by another; rlock inspect " NAME " shows by whom\n");
    outcome_free(&found);
    cr_assert(wait_no_channels(SOON_MS));
}

Test(command_run, a_wait_of_0_tries_once)
{
    cr_assert(status_of(COMMAND("run", "--wait", "0", NAME, "--", "true")) == 0);
    foreign_hold(NAME, 60000);
    outcome found = run(COMMAND("run", "--wait", "0", NAME, "--", "echo", "ran"));
    cr_assert(found.status == 75);
    cr_assert_str_eq(found.out, "");
    outcome_free(&found);
}

/* rlock within rlock is another process, and so another owner. */
Test(command_run, is_not_reentrant_across_processes)
{
    outcome found = run(COMMAND("run", NAME, "--", "sh", "-c",
        "\"$RLOCK_COMMAND\" run --wait 0 " NAME " -- echo ran"));
    cr_assert(found.status == 75, "%d %s", found.status, found.err);
    cr_assert_str_eq(found.out, "");
    outcome_free(&found);
}

/* rlock and its command are gone; their lock goes when the lease that nobody renews ends. */
Test(command_run, a_killed_holder_is_followed_when_its_lease_ends, .lasts = 5)
{
    enum { LEASE_MS = 5000 };
    int64_t begin_ms = now_ms();
    command *first = start(COMMAND("run", "--lease", "5s", NAME, "--", "sh", "-c", "echo $$; kill -KILL $PPID; exec cat"));
    int status = command_wait(first, SOON_MS);
    cr_assert(status == -SIGKILL, "%d: %s", status, command_err(first));
    pid_t pid = (pid_t)command_number(first, "", SOON_MS);
    cr_assert(wait_process_gone(pid, SOON_MS), "the command outlived rlock");
    cr_assert(status_of(COMMAND("run", NAME, "--", "true")) == 0);
    assert_between(now_ms() - begin_ms, LEASE_MS, LEASE_MS + at_most_ms(1500));
    command_free(first);
}

/* The watchdog renews: the lock outlives its first TTL by far. */
Test(command_run, the_lock_is_renewed_as_long_as_the_command_runs, .lasts = 13)
{
    command *c = command_start(server_url_with(stage.server, STAGE_QUICK),
                               COMMAND("run", NAME, "--", UNTIL_LINE));
    cr_assert(command_says(c, "under", SOON_MS));
    for (int64_t end_ms = now_ms() + KEPT_MS; now_ms() < end_ms; pass_ms(50))
        assert_between(pttl_of(NAME), 1, QUICK_MS);
    command_write(c, "\n");
    cr_assert(command_wait(c, SOON_MS) == 0, "%s", command_err(c));
    command_free(c);
}

/* Every unit, with decimals; the server has the lease in milliseconds. */
Test(command_run, reads_durations_in_every_unit)
{
    static const struct {
        const char *lease;
        int64_t ms;
    } cases[] = {
        {"5500ms", 5500}, {"7", 7000}, {"7.25", 7250}, {"8s", 8000}, {"1.5m", 90000}, {"2h", 7200000},
        {".5h", 1800000}, {"0.001h", 3600}, {"10000.0000000001ms", 10001}, {"876600h", INT64_C(3155760000000)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome found = run(COMMAND("run", "--lease", cases[i].lease, NAME, "--", "sh", "-c",
            "\"$RLOCK_COMMAND\" inspect --json " NAME));
        char *ttl_ms = json_member(found.out, "ttl_ms");
        cr_assert(ttl_ms, "%s: %s%s", cases[i].lease, found.out, found.err);
        int64_t low_ms = cases[i].ms > 1000 ? cases[i].ms - at_most_ms(400) : 1;
        assert_between(strtoll(ttl_ms, NULL, 10), low_ms, cases[i].ms);
        free(ttl_ms);
        outcome_free(&found);
    }
}

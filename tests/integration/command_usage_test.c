/* The rlock command: help, and what it says and exits with when something is wrong from the start. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_usage, .init = stage_open, .fini = stage_close);

#define NAME "order"

/* Exits with `status`, prints nothing, and complains in one line that has `words` in it. */
static void assert_refused(const char *url, const char *const *arguments, int status, const char *words)
{
    outcome found = command_outcome(url, arguments);
    cr_assert(found.status == status, "%d instead of %d (%s): %s", found.status, status, words, found.err);
    cr_assert_str_eq(found.out, "");
    cr_assert(strncmp(found.err, "rlock: ", 7) == 0, "%s", found.err);
    cr_assert(strchr(found.err, '\n') == found.err + strlen(found.err) - 1, "not one line: %s", found.err);
    cr_assert(strstr(found.err, words), "\"%s\" is not in: %s", words, found.err);
    outcome_free(&found);
}

/* No server is asked for these: there is none at that address. */
Test(command_usage, wrong_words_are_refused_with_64)
{
    const struct {
        const char *const *words;
        const char *complaint;
    } cases[] = {
        {COMMAND(NULL), "write rlock NAME COMMAND…, or one of the sub-commands run, ls, inspect"},
        {COMMAND(NAME), "the COMMAND is missing: write rlock [OPTION…] " NAME " COMMAND…, or one of the sub-commands run, ls"},
        {COMMAND(NAME, "--"), "the COMMAND is missing: write rlock [OPTION…] " NAME " COMMAND…"},
        {COMMAND("--", "ls"), "the COMMAND is missing: write rlock [OPTION…] -- ls COMMAND…"},
        {COMMAND("ls", ""), "ls: the PATTERN is empty: leave it out to see all locks"},
        {COMMAND("--wait", "3"), "the NAME of the lock is missing: write rlock run [OPTION…] NAME COMMAND…"},
        {COMMAND("-w", "3", NAME), "the COMMAND is missing"},
        {COMMAND("-w", "3", "inspect", NAME), "inspect is a sub-command: write it before the options, or write -- inspect"},
        {COMMAND("-z", NAME, "true"), "unknown option \"-z\""},
        {COMMAND("-nz", NAME, "true"), "unknown option \"-z\""},
        {COMMAND("-n5", NAME, "true"), "no value may follow \"-n\""},
        {COMMAND("-url", "redis://h", NAME, "true"), "unknown option \"-url\" (did you mean --url?)"},
        {COMMAND("-u", "redis://h", NAME, "true"), "there is no -u: the lock is freed when COMMAND ends; rlock force-unlock frees it "
                                                   "before (--url names the server)"},
        {COMMAND("run", "-wait", "3", NAME, "--", "true"), "unknown option \"-wait\" (did you mean --wait?)"},
        {COMMAND("-nw"), "a value is missing after \"-w\""},
        {COMMAND("-wsoon", NAME, "true"), "-w \"soon\" is not a duration"},
        {COMMAND("-E", "256", NAME, "true"), "-E \"256\" is not a whole number from 0 to 255"},
        {COMMAND("-E", "-1", NAME, "true"), "-E \"-1\" is not a whole number from 0"},
        {COMMAND("--kind", "sharded", "--shards", "1025", NAME, "true"),
         "--shards \"1025\" is not a whole number from 1 to 1024"},
        {COMMAND("force-unlock", "--kind", "semaphore", NAME), "a semaphore is not a lock: --kind must be lock, fair"},
        {COMMAND("force-unlock", "--kind", "sharded", NAME), "a part of a sharded lock has a name: write NAME:0, NAME:1"},
        {COMMAND("force-unlock", "--kind", "group", NAME), "a group is freed without --kind"},
        {COMMAND("bench", "--kind", "nosuch"), "unknown kind \"nosuch\": it must be lock, fair, spin, token, signal, read, write or"},
        {COMMAND("bench", "--kind", "sharded"), "--kind sharded is not measured: it must be lock, fair"},
        {COMMAND("-s", "--kind", "fair", NAME, "true"), "-s asks for --kind read, so --kind fair must not be given"},
        {COMMAND("-x", "--kind", "lock", NAME, "true"), "-x asks for --kind write"},
        {COMMAND("-u", NAME, "true"), "there is no -u: the lock is freed when COMMAND ends"},
        {COMMAND("-no", NAME, "true"), "there is no -o: COMMAND inherits nothing"},
        {COMMAND("--no-fork", NAME, "true"), "there is no --no-fork: rlock must stay"},
        {COMMAND("-F", NAME, "true"), "there is no -F: rlock must stay"},
        {COMMAND("-c", "true", NAME, "true"), "the whole command must stand behind -c, in quotes"},
        {COMMAND("ls", "a*", "b*"), "unexpected argument \"b*\": write rlock ls [OPTION…] [PATTERN]"},
        {COMMAND("ls", "a*", "--", "true"), "nothing may follow PATTERN"},
        {COMMAND("ls", "a*", "--"), "nothing may follow PATTERN, not even --"},
        {COMMAND("ls", "-w", "3"), "unknown option \"-w\""},
        {COMMAND("doctor", NAME, "other"), "unexpected argument \"other\": write rlock doctor [OPTION…] [NAME]"},
        {COMMAND("doctor", NAME, "--", "true"), "nothing may follow NAME"},
        {COMMAND("doctor", NAME, "--"), "nothing may follow NAME, not even --"},
        {COMMAND("doctor", "--long"), "unknown option \"--long\""},
        {COMMAND("run"), "run: the NAME of the lock is missing"},
        {COMMAND("run", "--", NAME), "the COMMAND is missing"},
        {COMMAND("run", NAME), "the COMMAND is missing"},
        {COMMAND("run", NAME, "--"), "the COMMAND is missing"},
        {COMMAND("run", "", "--", "true"), "NAME of the lock is empty"},
        {COMMAND("run", "--json", NAME, "--", "true"), "there is no --json: it is of the other commands"},
        {COMMAND("--json", "inspect", NAME), "comes after their word: rlock inspect --json NAME"},
        {COMMAND("run", "-z", "3", NAME, "--", "true"), "unknown option \"-z\""},
        {COMMAND("run", "--wai", "3", NAME, "--", "true"), "unknown option \"--wai\" (did you mean --wait?)"},
        {COMMAND("run", "--no", NAME, "--", "true"), "unknown option \"--no\" (did you mean --nonblock?)"},
        {COMMAND("run", "--s", NAME, "--", "true"), "unknown option \"--s\"; see rlock run --help"},
        {COMMAND("inspect", "--j", NAME), "unknown option \"--j\" (did you mean --json?)"},
        {COMMAND("run", NAME, "--wait"), "a value is missing after \"--wait\""},
        {COMMAND("run", "--wait", "", NAME, "--", "true"), "--wait \"\" is not a duration"},
        {COMMAND("run", "--wait", "--", NAME, "--", "true"), "--wait \"--\" is not a duration"},
        {COMMAND("run", "--wait", "abc", NAME, "--", "true"), "not a duration; write"},
        {COMMAND("run", "--wait", "5 s", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "5sec", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "1m30s", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "1.", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", ".s", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "1e3", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "0x10", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "inf", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait", "+5", NAME, "--", "true"), "not a duration"},
        {COMMAND("run", "--wait=-5s", NAME, "--", "true"), "--wait \"-5s\" is negative"},
        {COMMAND("run", "--wait", "-0.5", NAME, "--", "true"), "negative"},
        {COMMAND("run", "--wait", "876601h", NAME, "--", "true"), "longer than 100 years"},
        {COMMAND("run", "--wait", "876600.1h", NAME, "--", "true"), "longer than 100 years"},
        {COMMAND("run", "--wait", "9223372036854775808ms", NAME, "--", "true"), "longer than 100 years"},
        {COMMAND("run", "--wait", "99999999999999999999999999h", NAME, "--", "true"), "longer than 100 years"},
        {COMMAND("run", "--lease", "0", NAME, "--", "true"), "--lease is 0"},
        {COMMAND("run", "--lease", "0.0ms", NAME, "--", "true"), "--lease is 0"},
        {COMMAND("run", "--kill-after", "soon", NAME, "--", "true"), "--kill-after \"soon\""},
        {COMMAND("help"), "did you mean rlock --help?"},
        {COMMAND("version"), "did you mean rlock --version?"},
        {COMMAND("--", "help"), "the COMMAND is missing: write rlock [OPTION…] -- help COMMAND…"},
        {COMMAND("lss"), "did you mean rlock ls?"},
        {COMMAND("inspct"), "did you mean rlock inspect?"},
        {COMMAND("force-unlock", "--kind", "bogus", NAME), "read, write or non-reentrant; see"},
        {COMMAND("run", "--kind", "red", NAME, "--", "true"), "unknown kind \"red\": it must be lock, fair"},
        {COMMAND("run", "--kind", "", NAME, "--", "true"), "unknown kind \"\""},
        {COMMAND("run", "--permits", "2", NAME, "--", "true"), "add --kind semaphore or --kind permit"},
        {COMMAND("run", "--kind", "fair", "--set-permits", "2", NAME, "--", "true"), "only a semaphore has permits"},
        {COMMAND("run", "--kind", "semaphore", "--lease", "3s", NAME, "--", "true"), "permits of --kind semaphore have no lease"},
        {COMMAND("force-unlock", "--kind", "permit", NAME), "a permit is not a lock"},
        {COMMAND("run", "--kind", "semaphore", "--permits", "0", NAME, "--", "true"), "--permits \"0\" is not a whole number"},
        {COMMAND("run", "--kind", "semaphore", "--permits", "-1", NAME, "--", "true"), "\"-1\" is not a whole number from 1"},
        {COMMAND("run", "--kind", "semaphore", "--permits", "2x", NAME, "--", "true"), "\"2x\" is not a whole number"},
        {COMMAND("run", "--kind", "semaphore", "--permits", "", NAME, "--", "true"), "\"\" is not a whole number"},
        {COMMAND("run", "--kind", "semaphore", "--permits", "2147483648", NAME, "--", "true"), "to 2147483647"},
        {COMMAND("run", "--kind", "semaphore", "--set-permits", "99999999999999999999", NAME, "--", "true"), "--set-permits"},
        {COMMAND("inspect", "--kind", "lock", NAME), "unknown option \"--kind\""},
        {COMMAND("force-unlock", "--kind", "semaphore", NAME), "a semaphore is not a lock: --kind must be lock"},
        {COMMAND("inspect"), "inspect: the NAME of the lock is missing"},
        {COMMAND("inspect", NAME, "other"), "unexpected argument \"other\""},
        {COMMAND("inspect", NAME, "--", "true"), "nothing may follow NAME"},
        {COMMAND("inspect", NAME, "--"), "nothing may follow NAME, not even --"},
        {COMMAND("inspect", "--json=yes", NAME), "no value may follow \"--json\""},
        {COMMAND("inspect", "--wait", "3", NAME), "unknown option \"--wait\""},
        {COMMAND("force-unlock"), "force-unlock: the NAME of the lock is missing"},
        {COMMAND("force-unlock", "--force", NAME), "unknown option \"--force\""},
        {COMMAND("bench", NAME), "unexpected argument \"" NAME "\": write rlock bench [OPTION…]"},
        {COMMAND("bench", "--", NAME), "unexpected argument"},
        {COMMAND("bench", "--threads", "0"), "--threads \"0\" is not a list of up to 16 whole numbers from 1 to 4096"},
        {COMMAND("bench", "--threads", ""), "--threads \"\" is not a list"},
        {COMMAND("bench", "--threads", "1,,2"), "is not a list"},
        {COMMAND("bench", "--threads", "1,2,"), "is not a list"},
        {COMMAND("bench", "--threads", "1 2"), "is not a list"},
        {COMMAND("bench", "--threads", "4097"), "is not a list"},
        {COMMAND("bench", "--threads", "99999999999999999999"), "is not a list"},
        {COMMAND("bench", "--threads", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"), "is not a list of up to 16"},
        {COMMAND("bench", "--time", "0"), "--time must be more than 0 and at most 1h"},
        {COMMAND("bench", "--time", "61m"), "--time must be more than 0 and at most 1h"},
        {COMMAND("bench", "--time", "soon"), "not a duration"},
        {COMMAND("bench", "--time", "1", "--hold", "2"), "--hold is longer than --time"},
        {COMMAND("bench", "--kind", "permit"), "--kind permit is not measured: it must be lock, fair, spin"},
        {COMMAND("bench", "--kind", "fenced"), "the counter of a fenced lock would stay"},
        {COMMAND("bench", "--kind", "read", "--one-name"), "readers do not exclude each other"},
        {COMMAND("bench", "--yes=1"), "no value may follow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused("unix:///no/server/here", cases[i].words, 64, cases[i].complaint);
}

/* A message that repeats a wrong word leaves out what may be a password, escapes control characters, and does not cut a
 * character in half. */
Test(command_usage, wrong_words_are_shown_in_safe_parts)
{
    static const char *const url = "unix:///no/server/here";
    assert_refused(url, COMMAND("ls", "a*", "redis://:secret@host"), 64, "unexpected argument \"redis://…\": write");
    assert_refused(url, COMMAND("bench", "--time", "redis://:secret@host"), 64, "--time \"redis://…\" is not");
    assert_refused(url, COMMAND("run", "--kind", "redis://:secret@host"), 64, "unknown kind \"redis://…\"");
    assert_refused(url, COMMAND("ls", "--pass=secret"), 64, "unknown option \"--pass\"; see");
    assert_refused(url, COMMAND("ls", "a*", "x\033[2J\177y"), 64, "unexpected argument \"x\\x1b[2J\\x7fy\": write");
    char words[2][1000];
    for (int odd = 0; odd < 2; odd++) { /* wherever it is cut */
        snprintf(words[odd], sizeof words[odd], "%s", odd ? "a" : "");
        while (strlen(words[odd]) < 900)
            strcat(words[odd], "ü");
        outcome found = command_outcome(url, COMMAND("ls", "a*", words[odd]));
        cr_assert(found.status == 64 && strstr(found.err, "ü…\": write") && !strstr(found.err, "\\x"), "%s", found.err);
        outcome_free(&found);
    }
}

/* A duration above zero is none of zero, however small: 69 says that the words were right. */
Test(command_usage, durations_are_rounded_up)
{
    static const char *const url = "unix:///no/server/here";
    assert_refused(url, COMMAND("--lease", "0.0000000001ms", NAME, "true"), 69, "/no/server/here");
    assert_refused(url, COMMAND("--lease", ".0000001", NAME, "true"), 69, "/no/server/here");
    assert_refused(url, COMMAND("--lease", "0.0000000000ms", NAME, "true"), 64, "--lease is 0");
}

Test(command_usage, help_and_version_need_no_server)
{
    const struct {
        const char *const *words;
        const char *out;
    } cases[] = {
        {COMMAND("--help"), "rlock force-unlock"},
        {COMMAND("-h"), "rlock force-unlock"},
        {COMMAND("--version"), "rlock " RLOCK_VERSION "\n"},
        {COMMAND("-V"), "rlock " RLOCK_VERSION "\n"},
        {COMMAND("inspect", "-V"), "rlock " RLOCK_VERSION "\n"},
        {COMMAND("-n", "-h"), "--kill-after DUR"},
        {COMMAND("ls", "--help"), "rlock ls [OPTION…] [PATTERN]"},
        {COMMAND("doctor", "--help"), "--strict"},
        {COMMAND("run", "--help"), "--kill-after DUR"},
        {COMMAND("run", NAME, "--wait", "3", "--help"), "--kill-after DUR"},
        {COMMAND("inspect", "--help"), "rlock inspect [OPTION…] NAME"},
        {COMMAND("force-unlock", "-h"), "rlock force-unlock [OPTION…] NAME"},
        {COMMAND("bench", "--help"), "--one-name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome found = command_outcome("unix:///no/server/here", cases[i].words);
        cr_assert(found.status == 0, "case %zu: %d %s", i, found.status, found.err);
        cr_assert(strstr(found.out, cases[i].out), "case %zu: %s", i, found.out);
        cr_assert_str_eq(found.err, "");
        outcome_free(&found);
    }
}

/* Each sub-command that takes a URL, from the option and from the environment. */
Test(command_usage, a_bad_url_is_refused_with_64)
{
    assert_refused("nonsense", COMMAND("inspect", NAME), 64, "RLOCK_URL");
    assert_refused("redis://h:99999", COMMAND("force-unlock", NAME), 64, "port");
    assert_refused(server_url(stage.server), COMMAND("run", "--url", "redis://", NAME, "--", "true"), 64, "--url");
    assert_refused("redis://h?lockWatchdogTimeout=soon", COMMAND("inspect", NAME), 64, "lockWatchdogTimeout");
}

Test(command_usage, no_server_is_told_with_69)
{
    assert_refused("unix:///no/server/here", COMMAND("inspect", NAME), 69, "/no/server/here");
    assert_refused("unix:///no/server/here", COMMAND("force-unlock", NAME), 69, "/no/server/here");
    assert_refused("unix:///no/server/here", COMMAND("run", NAME, "--", "true"), 69, "/no/server/here");
}

Test(command_usage, the_option_goes_before_the_environment)
{
    outcome found = command_outcome("unix:///no/server/here",
                                    COMMAND("inspect", "--url", server_tcp_url(stage.server), NAME));
    cr_assert(found.status == 0, "%s", found.err);
    outcome_free(&found);
}

Test(command_usage, a_key_of_another_type_is_refused_with_76)
{
    freeReplyObject(server_command(stage.server, "RPUSH %s text", NAME));
    static const char nothing_of_scripts[] = "WRONGTYPE neither a lock nor a number but a list; the name, or a key that goes "
                                             "with it, is in use for another kind of value: use another name";
    assert_refused(server_url(stage.server), COMMAND("inspect", NAME), 76, nothing_of_scripts);
    assert_refused(server_url(stage.server), COMMAND("force-unlock", NAME), 76, nothing_of_scripts);
    assert_refused(server_url(stage.server), COMMAND("run", NAME, "--", "true"), 76,
                   "rlock: \"" NAME "\" is a list, no lock: use another name");
    char *text = server_text(stage.server, "LINDEX %s 0", NAME);
    cr_assert_str_eq(text, "text");
    free(text);
    freeReplyObject(server_command(stage.server, "SET %s text", NAME));
    assert_refused(server_url(stage.server), COMMAND(NAME, "true"), 76,
                   "rlock: \"" NAME "\" is a string, such as a lock of redis-py: use --kind token, or another name");
    freeReplyObject(server_command(stage.server, "SET %s 5", NAME));
    assert_refused(server_url(stage.server), COMMAND(NAME, "true"), 76,
                   "rlock: \"" NAME "\" is a number, such as a semaphore or a latch: use --kind semaphore, or another name");
}

Test(command_usage, a_missing_right_is_told_with_the_name_of_the_lock)
{
    char url[256];
    freeReplyObject(server_command(stage.server, "ACL SETUSER few on >secret ~other:* &* +@all"));
    snprintf(url, sizeof url, "redis://few:secret@127.0.0.1:%d", server_port(stage.server));
    assert_refused(url, COMMAND(NAME, "true"), 76, "allow the ACL user all keys of \"" NAME "\", also those with more around "
                                                   "the name, by the patterns in docs/security.md; ACL LOG on the server "
                                                   "names the refused key");
}

Test(command_usage, a_wrong_password_is_refused_and_not_shown)
{
    char url[512];
    snprintf(url, sizeof url, "redis://alice:se%%63ret@127.0.0.1:%d", server_port(stage.server));
    outcome found = command_outcome(url, COMMAND("inspect", NAME));
    cr_assert(found.status == 76, "%d %s", found.status, found.err);
    cr_assert(strncmp(found.err, "rlock: ", 7) == 0);
    cr_assert(!strstr(found.err, "secret") && !strstr(found.err, "se%63ret"), "%s", found.err);
    outcome_free(&found);
}

/* A full disk must not pass for an answer. */
Test(command_usage, output_that_cannot_be_written_is_told_with_74)
{
    command *c = command_start_program(server_url(stage.server),
                                       COMMAND("sh", "-c", "\"$RLOCK_COMMAND\" inspect " NAME " > /dev/full"));
    cr_assert(command_wait(c, 10000) == 74);
    cr_assert(strstr(command_err(c), "No space left"), "%s", command_err(c));
    command_free(c);
    /* The report is lost; the status still says that there was a problem. */
    c = command_start_program(server_url(stage.server),
                              COMMAND("sh", "-c", "\"$RLOCK_COMMAND\" doctor --strict " NAME " > /dev/full"));
    cr_assert(command_wait(c, 10000) == 1);
    cr_assert(strstr(command_err(c), "No space left"), "%s", command_err(c));
    command_free(c);
}

/* The exit status of what the shell makes of `line`. */
static int status_of_line(const char *line)
{
    command *c = command_start_program(server_url(stage.server), COMMAND("sh", "-c", line));
    int status = command_wait(c, 10000);
    command_free(c);
    return status;
}

Test(command_usage, closed_output_is_told_with_74)
{
    static const char *const lines[] = {"\"$RLOCK_COMMAND\" inspect " NAME " >&-", "\"$RLOCK_COMMAND\" ls >&-",
                                        "\"$RLOCK_COMMAND\" force-unlock " NAME " >&-",
                                        "\"$RLOCK_COMMAND\" doctor >&-", "\"$RLOCK_COMMAND\" --help >&-"};
    foreign_hold(NAME, 60000);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int status = status_of_line(lines[i]);
        cr_assert(status == 74, "%s: %d", lines[i], status);
    }
    cr_assert(status_of_line("\"$RLOCK_COMMAND\" inspect " NAME " <&-") == 0);
}

/* A command has the standard descriptors of rlock, also those that are closed. */
Test(command_usage, a_closed_descriptor_is_closed_in_the_command)
{
    for (int fd = 0; fd <= 2; fd++) {
        char line[200];
        snprintf(line, sizeof line, "\"$RLOCK_COMMAND\" " NAME " sh -c 'test ! -e /proc/self/fd/%d' %d>&-", fd, fd);
        cr_assert(status_of_line(line) == 0, "%d is open", fd);
        snprintf(line, sizeof line, "\"$RLOCK_COMMAND\" " NAME " sh -c 'test -e /proc/self/fd/%d' %d>/dev/null", fd, fd);
        cr_assert(status_of_line(line) == 0, "%d is closed", fd);
    }
    cr_assert(status_of_line("\"$RLOCK_COMMAND\" " NAME " sh -c 'echo hi' >&-") == status_of_line("sh -c 'echo hi' >&-"));
    assert_no_keys();
}

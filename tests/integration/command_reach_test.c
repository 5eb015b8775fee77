/* rlock run where it cannot find, or may not signal, the processes that it started. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(command_reach, .init = stage_open, .fini = stage_close);

#define NAME "order"
#define SOON_MS 15000
/* A shell that becomes rlock in a mount namespace without /proc, where the loader does not find what is beside a program.
 * /proc is made private first, so that what is mounted over it is seen nowhere else; in a chroot, / is no mount. */
#define WITHOUT_PROC "unshare", "-m", "--propagation", "unchanged", "sh", "-c", \
    "mount --make-private /proc && mount -t tmpfs none /proc && " \
    "LD_LIBRARY_PATH=\"${RLOCK_COMMAND%/*}\" exec \"$RLOCK_COMMAND\" \"$@\"", "sh"
/* A root that may start programs as another user, but not signal them: as with a command that sudo starts. */
#define WITHOUT_KILL "setpriv", "--bounding-set=-kill", "sh", "-c", "exec \"$RLOCK_COMMAND\" \"$@\"", "sh"
#define AS_NOBODY "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static void need_root(void)
{
    if (geteuid() != 0)
        cr_skip_test("only root can take /proc away, or become another user");
}

/* Sanitizers and valgrind read /proc themselves. */
static void need_no_proc(void)
{
    need_root();
    if (is_set("SAN") || is_set("VALGRIND"))
        cr_skip_test("sanitizers and valgrind need /proc");
}

static void force_unlock(void)
{
    cr_assert(server_wait_exists(stage.server, NAME, true, SOON_MS));
    outcome found = run(COMMAND("force-unlock", NAME));
    cr_assert(found.status == 0, "%s", found.err);
    outcome_free(&found);
}

/* The command is a child, which needs no finding. */
Test(command_reach, without_proc_a_lost_lock_ends_the_command)
{
    need_no_proc();
    command *c = command_start_program(server_url(stage.server), COMMAND(WITHOUT_PROC, "run", NAME, "--", "sh", "-c",
                                                                         "echo pid $$; exec cat"));
    pid_t pid = (pid_t)command_number(c, "pid ", SOON_MS);
    force_unlock();
    cr_assert(command_wait(c, SOON_MS) == 70, "%s", command_err(c));
    cr_assert(wait_process_gone(pid, SOON_MS));
    command_free(c);
}

Test(command_reach, without_proc_a_command_that_ignores_sigterm_is_killed)
{
    need_no_proc();
    command *c = command_start_program(server_url(stage.server), COMMAND(WITHOUT_PROC, "run", "--kill-after", "100ms", NAME,
                                                                         "--", "sh", "-c",
                                                                         "trap '' TERM; echo pid $$; exec cat"));
    pid_t pid = (pid_t)command_number(c, "pid ", SOON_MS);
    force_unlock();
    cr_assert(command_wait(c, SOON_MS) == 70, "%s", command_err(c));
    cr_assert(wait_process_gone(pid, SOON_MS));
    command_free(c);
}

/* Processes that the command started cannot be found; rlock says so, and does not wait for them. */
Test(command_reach, without_proc_what_the_command_leaves_behind_is_told)
{
    need_no_proc();
    command *c = command_start_program(server_url(stage.server), COMMAND(WITHOUT_PROC, "run", "--kill-after", "100ms", NAME,
                                                                         "--", "sh", "-c", "exec 3<&0; cat <&3 & "
                                                                         "echo child $!; exec cat"));
    pid_t child = (pid_t)command_number(c, "child ", SOON_MS);
    force_unlock();
    cr_assert(command_complains(c, "may still run without the lock", SOON_MS));
    cr_assert(command_wait(c, SOON_MS) == 70);
    const char *said = command_err(c);
    assert_words(said, "/proc");
    command_close_input(c);
    cr_assert(wait_process_gone(child, SOON_MS));
    command_free(c);
}

/* It goes on without the lock, which cannot be helped; whoever started rlock is told, and not kept waiting. */
Test(command_reach, command_that_may_not_be_signalled_is_told)
{
    need_root();
    command *c = command_start_program(server_url(stage.server), COMMAND(WITHOUT_KILL, "run", "--kill-after", "100ms", NAME,
                                                                         "--", AS_NOBODY, "sh", "-c",
                                                                         "echo pid $$; exec cat"));
    pid_t pid = (pid_t)command_number(c, "pid ", SOON_MS);
    force_unlock();
    cr_assert(command_complains(c, "may still run without the lock", SOON_MS));
    cr_assert(command_wait(c, SOON_MS) == 70);
    const char *said = command_err(c);
    assert_words(said, "another user", "may not signal");
    cr_assert(kill(pid, 0) == 0, "the command has ended, too");
    command_close_input(c);
    cr_assert(wait_process_gone(pid, SOON_MS));
    command_free(c);
}

Test(command_reach, signal_that_may_not_be_passed_on_is_told)
{
    need_root();
    command *c = command_start_program(server_url(stage.server), COMMAND(WITHOUT_KILL, "run", NAME, "--", AS_NOBODY, "sh",
                                                                         "-c", "echo pid $$; exec cat"));
    command_number(c, "pid ", SOON_MS);
    command_signal(c, SIGTERM);
    cr_assert(command_complains(c, "could not pass", SOON_MS));
    command_close_input(c);
    cr_assert(command_wait(c, SOON_MS) == 0);
    command_free(c);
}

/* rlock run, when nobody reads what it says: a pager that stands still, a terminal stopped with Ctrl-S. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_stage.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "order"
#define SOON_MS 20000

static int ends[2];

/* A pipe that takes nothing more, for the command as well. */
static void open_stuck(void)
{
    static const char some[4096] = "x";
    stage_open();
    cr_assert(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    while (write(ends[1], some, sizeof some) > 0 || write(ends[1], some, 1) > 0)
        continue;
    cr_assert(errno == EAGAIN && fcntl(ends[1], F_SETFL, 0) == 0);
}

static void close_stuck(void)
{
    close(ends[0]);
    close(ends[1]);
    stage_close();
}

TestSuite(command_stuck, .init = open_stuck, .fini = close_stuck);

/* Starts rlock with the words of a shell. */
static command *start_stuck(const char *words)
{
    char script[512];
    snprintf(script, sizeof script, "exec \"$RLOCK_COMMAND\" %s 2>/dev/fd/%d", words, ends[1]);
    return command_start_program(server_url_with(stage.server, STAGE_QUICK), COMMAND("sh", "-c", script));
}

static void assert_ends(command *c, int status)
{
    int ended = command_wait(c, SOON_MS);
    cr_assert(ended == status, "%d: %s", ended, command_out(c));
    command_free(c);
}

Test(command_stuck, runs_the_command)
{
    command *c = start_stuck("run -v " NAME " -- echo ran");
    cr_assert(command_says(c, "ran", SOON_MS));
    assert_ends(c, 0);
    assert_no_keys();
}

Test(command_stuck, ends_the_wait_in_time)
{
    foreign_hold(NAME, 600000);
    assert_ends(start_stuck("run -v -w 1500ms " NAME " -- echo ran"), 75);
}

Test(command_stuck, ends_a_command_that_has_lost_its_lock)
{
    command *c = start_stuck("run --kill-after 300ms " NAME " -- sh -c 'trap \"\" TERM; echo $$; cat <&3' 3<&0");
    pid_t pid = (pid_t)command_number(c, "", SOON_MS);
    rlock *others = lock_of(stage.other, NAME);
    assert_ok(rlock_force_unlock(others, NULL));
    assert_ends(c, 70);
    cr_assert(wait_process_gone(pid, 0));
}

/* A write beyond the limit for the size of a file raises SIGXFSZ. The stderr of this command is a file. */
Test(command_stuck, outlives_a_file_that_may_not_grow)
{
    static const char script[] = "ulimit -f 0; exec \"$RLOCK_COMMAND\" run -v " NAME " -- true";
    assert_ends(command_start_program(server_url_with(stage.server, STAGE_QUICK), COMMAND("sh", "-c", script)), 0);
    assert_no_keys();
}

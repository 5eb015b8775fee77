/* Stopping a process of the test, which then stands still until the test continues it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/stand_still.h"

#include "tests/support/event.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The file that tells the stopper. Without a folder of the run there is no stopper. */
static void tell(pid_t pid, bool stands)
{
    char path[4200];
    const char *folder = getenv("TMPDIR");
    if (!folder || snprintf(path, sizeof path, "%s/stands-still.%d", folder, (int)pid) >= (int)sizeof path)
        return;
    int fd = stands ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
    if (!stands)
        unlink(path);
}

bool stand_still(pid_t child)
{
    int how = 0;
    tell(child, true);
    /* Again and again: a SIGCONT that was on its way takes back a SIGSTOP, and leaves no trace of either. */
    while (kill(child, SIGSTOP) == 0 && waitpid(child, &how, WUNTRACED | WNOHANG) == 0)
        pass_ms(1);
    return WIFSTOPPED(how);
}

void stand_still_here(void)
{
    tell(getpid(), true);
    raise(SIGSTOP);
}

bool stand_still_await(pid_t child)
{
    int how = 0;
    while (waitpid(child, &how, WUNTRACED) < 0 && errno == EINTR)
        ;
    return WIFSTOPPED(how);
}

void stand_still_no_more(pid_t child)
{
    tell(child, false);
    kill(child, SIGCONT);
}

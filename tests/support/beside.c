/* Beside: a part of a test that runs in a process of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/beside.h"

#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct beside {
    pid_t pid;
};

static bool is_kept(int fd, const int *kept)
{
    while (*kept >= 0 && *kept != fd)
        kept++;
    return *kept == fd;
}

static void close_others(const int *kept)
{
    for (int fd = 3; fd < 1024; fd++) {
        if (!is_kept(fd, kept))
            close(fd);
    }
}

beside *beside_start(void (*live)(void *argument), void *argument, const int *kept)
{
    beside *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    pid_t parent = getpid();
    self->pid = fork();
    if (self->pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(125);
        close_others(kept);
        live(argument);
        beside_leave();
    }
    cr_assert(self->pid > 0, "fork: %s", strerror(errno));
    return self;
}

_Noreturn void beside_leave(void)
{
    _exit(0);
}

void beside_await(beside *self)
{
    while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(self);
}

void beside_kill(beside *self)
{
    kill(self->pid, SIGKILL);
    beside_await(self);
}

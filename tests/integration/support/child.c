/* A child: part of a test in a forked process, which tells what was wrong. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/child.h"

#include "tests/integration/support/tasks.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 20

void child_await_rest(void)
{
    for (int64_t end_ms = limit_end_ms(5000); !tasks_others_sleep(); pass_ms(1))
        cr_assert(now_ms() < end_ms, "the other threads never rest");
}

child child_start(child_part *part)
{
    int said[2], go[2];
    cr_assert(pipe(said) == 0 && pipe(go) == 0, "pipe: %s", strerror(errno));
    pid_t parent = getpid();
    child self = {.pid = fork()};
    cr_assert(self.pid >= 0, "fork: %s", strerror(errno));
    if (self.pid == 0) {
        alarm(LIMIT_S); /* a deadlock ends, too */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(1);
        close(said[0]);
        close(go[1]);
        self.said = said[1];
        self.go = go[0];
        const char *wrong = part(&self);
        ssize_t written = wrong ? write(self.said, wrong, strlen(wrong)) : 0;
        _exit(written < 0 ? 2 : 0);
    }
    close(said[1]);
    close(go[0]);
    self.said = said[0];
    self.go = go[1];
    return self;
}

void child_await(child *self)
{
    char byte;
    while (read(self->go, &byte, 1) < 0 && errno == EINTR)
        continue;
}

void child_go(child *self)
{
    cr_assert(write(self->go, "", 1) == 1);
}

void child_end(child *self)
{
    char wrong[512];
    size_t length = 0;
    for (ssize_t n; length < sizeof wrong - 1; length += (size_t)n) {
        n = read(self->said, wrong + length, sizeof wrong - 1 - length);
        if (n <= 0)
            break;
    }
    wrong[length] = 0;
    int status = 0;
    while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(self->said);
    close(self->go);
    cr_assert(length == 0, "in the child: %s", wrong);
    cr_assert(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
    cr_assert(WEXITSTATUS(status) == 0, "the child ended with %d", WEXITSTATUS(status));
}

void in_child(child_part *part)
{
    child self = child_start(part);
    child_end(&self);
}

/* Child: the command that runs under the lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"

#include "cli/exits.h"
#include "cli/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the new process, in which the parent's other threads do not exist: only async-signal-safe calls are allowed.
 */
static _Noreturn void become(char *const *command, char *const *environment, const cli_signals *signals, pid_t parent,
                             int report_fd)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_SYSTEM); /* the parent died before the death signal was set */
    signals_restore(signals);
    execvpe(command[0], command, environment);
    int error = errno;
    while (write(report_fd, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(EXIT_NOT_EXECUTABLE);
}

/* Reads what the new process reports: errno of a failed exec; 0 if exec closed the pipe. */
static int read_report(int fd)
{
    int error = 0;
    ssize_t got;
    do {
        got = read(fd, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

static int failed_to_start(const char *what, int error)
{
    complain("the command cannot be started: %s: %s", what, strerror(error));
    return EXIT_SYSTEM;
}

int child_start(cli_child *self, char *const *command, char *const *environment, const cli_signals *signals)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return failed_to_start("no pipe", errno);
    /* Orphaned descendants of the command become children of this process, so that it can end them, too, when
     * the lock is lost. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t parent = getpid();
    *self = (cli_child){.pid = fork()};
    if (self->pid == 0)
        become(command, environment, signals, parent, report[1]);
    int error = self->pid < 0 ? errno : 0;
    close(report[1]);
    if (self->pid < 0) {
        close(report[0]);
        return failed_to_start("no process", error);
    }
    error = read_report(report[0]);
    close(report[0]);
    if (!error)
        return EXIT_DONE;
    char shown[SHOWN_SIZE];
    complain("the command \"%s\" cannot be run: %s", shorten(command[0], shown), strerror(error));
    while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

bool child_reap(cli_child *self)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == self->pid) {
            self->ended = true;
            self->status = status;
        }
    }
    return pid == 0;
}

void child_pass_on(const cli_child *self, cli_signal_note note)
{
    if (self->ended || note.number == SIGCHLD)
        return;
    if (note.from_terminal && getpgid(self->pid) == getpgrp())
        return;
    if (kill(self->pid, note.number) != 0 && errno == EPERM)
        complain("%s cannot be passed on to the command, which runs as another user: %s", strsignal(note.number),
                 strerror(EPERM));
}

int child_exit(const cli_child *self)
{
    return WIFSIGNALED(self->status) ? EXIT_SIGNAL + WTERMSIG(self->status) : WEXITSTATUS(self->status);
}

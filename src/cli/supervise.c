/* Supervise: the command that runs under the lock, from its start to its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/supervise.h"

#include "base/clock.h"
#include "cli/descendants.h"
#include "cli/message.h"
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the command, a child process --- */

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
    complain("could not start the command: %s: %s", what, strerror(error));
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
    *self = (cli_child){0};
    elders_note(&self->elders);
    self->pid = fork();
    if (self->pid == 0)
        become(command, environment, signals, parent, report[1]);
    int error = self->pid < 0 ? errno : 0;
    elders_note_command(&self->elders, self->pid);
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
    complain("could not run the command \"%s\": %s", shorten(command[0], shown), strerror(error));
    while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Whether /proc shows a process that the command started. waitpid() does not tell: older ones are children, too. */
static bool any_runs(const cli_child *self)
{
    cli_reach reach = descendants_signal(0, 0, &self->elders);
    return reach.unknown || reach.found > 0;
}

/* Reaps the command, and processes that it left behind, if they have ended; does not wait. Returns whether at
 * least one of these processes may still exist. */
static bool child_reap(cli_child *self)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == self->pid) {
            self->ended = true;
            self->status = status;
        }
        elders_forget(&self->elders, pid);
    }
    return pid == 0 && (!self->ended || any_runs(self));
}

/* Passes a signal on to the command, unless the terminal has sent it there already. */
static void child_pass_on(const cli_child *self, cli_signal_note note)
{
    if (self->ended || note.number == SIGCHLD)
        return;
    if (note.from_terminal && getpgid(self->pid) == getpgrp())
        return;
    if (kill(self->pid, note.number) != 0 && errno == EPERM)
        complain("could not pass %s on to the command, which runs as another user: %s", strsignal(note.number),
                 strerror(EPERM));
}

int child_exit(const cli_child *self)
{
    return WIFSIGNALED(self->status) ? EXIT_SIGNAL + WTERMSIG(self->status) : WEXITSTATUS(self->status);
}

/* --- waiting for its end, and ending it --- */

#define REPORT_MS 500 /* how long the report of a loss is waited for */
#define SWEEP_MS  50  /* pause between two searches for processes that SIGKILL has not reached */

/* Waits for a signal, for a loss (loss_fd -1: not for that), or for `ms` at most; passes signals on. */
static void wait_a_while(const cli_child *child, int loss_fd, const cli_signals *signals, int64_t ms)
{
    struct pollfd fds[] = {{signals->fd, POLLIN, 0}, {loss_fd, POLLIN, 0}};
    poll(fds, 2, ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms);
    cli_signal_note note;
    while (signals_next(signals, &note))
        child_pass_on(child, note);
}

static cli_reach signal_all(const cli_child *child, int signal)
{
    return descendants_signal(signal, child->ended ? 0 : child->pid, &child->elders);
}

/* Some processes cannot be ended; waiting for them could take for ever. */
static void give_up(const cli_child *child, cli_reach reach)
{
    complain("%s may still run without the lock: %s", child->ended ? "what the command started" : "the command",
             reach.refused ? "it runs as another user, which rlock may not signal; run rlock as that user"
                           : "/proc does not show the processes that descend from rlock");
}

/* Says why the command ends. By the local clock a loss is known some ms before its report comes. */
static void complain_of_loss(const cli_child *child, cli_loss *loss, const cli_signals *signals)
{
    int64_t until_ms = rli_now_ms() + REPORT_MS;
    while (loss_is_unexplained(loss) && rli_now_ms() < until_ms)
        wait_a_while(child, loss->fd, signals, until_ms - rli_now_ms());
    complain("the %s \"%s\" was lost: %s; %s", hold_word(loss->hold), loss->hold->shown, loss_words(loss),
             child->ended ? "the command ended meanwhile" : "ending the command");
}

static void end_command(cli_child *child, cli_loss *loss, const cli_signals *signals, int64_t kill_after_ms)
{
    int64_t kill_at_ms = rli_now_ms() + kill_after_ms;
    cli_reach reach = {0};
    bool killing = false;
    signal_all(child, SIGTERM);
    signal_all(child, SIGCONT); /* a stopped process does not handle SIGTERM */
    complain_of_loss(child, loss, signals);
    while (child_reap(child)) {
        int64_t left_ms = kill_at_ms - rli_now_ms();
        if (killing && (reach.refused || (reach.unknown && child->ended))) {
            give_up(child, reach);
            return;
        }
        if (left_ms <= 0) {
            char shown[DURATION_SHOWN];
            if (!killing)
                complain("the command did not end within %s: killing it", duration_show(kill_after_ms, shown));
            killing = true;
            reach = signal_all(child, SIGKILL);
            left_ms = SWEEP_MS;
        }
        wait_a_while(child, -1, signals, left_ms);
    }
}

bool supervise(cli_child *child, cli_loss *loss, const cli_signals *signals, int64_t kill_after_ms)
{
    for (child_reap(child); !child->ended && !loss_happened(loss); child_reap(child))
        wait_a_while(child, loss->fd, signals, hold_valid_for(loss->hold));
    if (!loss_happened(loss))
        return true;
    end_command(child, loss, signals, kill_after_ms);
    return false;
}

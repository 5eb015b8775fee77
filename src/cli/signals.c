/* Signals: read from a descriptor instead of interrupting. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool signals_open(cli_signals *signals)
{
    sigset_t watched, blocked;
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        struct sigaction now;
        if (sigaction(passed_on[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&watched, passed_on[i]);
    }
    /* If SIGCHLD is ignored, which is inherited, exit statuses of children are lost. */
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &plain, &signals->child_before);
    sigaddset(&watched, SIGCHLD);

    blocked = watched;
    sigaddset(&blocked, SIGPIPE); /* writing to a closed stderr must not end rlock while it holds the lock */
    pthread_sigmask(SIG_BLOCK, &blocked, &signals->mask_before);
    signals->fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

bool signals_next(const cli_signals *signals, cli_signal_note *note)
{
    struct signalfd_siginfo info;
    if (read(signals->fd, &info, sizeof info) != sizeof info)
        return false;
    note->number = (int)info.ssi_signo;
    note->from_terminal = info.ssi_code == SI_KERNEL && (note->number == SIGINT || note->number == SIGQUIT);
    return true;
}

void signals_restore(const cli_signals *signals)
{
    sigaction(SIGCHLD, &signals->child_before, NULL);
    pthread_sigmask(SIG_SETMASK, &signals->mask_before, NULL);
}

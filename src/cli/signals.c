/* Signals: read from a descriptor instead of interrupting; one that comes during the wait for a lock ends the wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include "base/clock.h"
#include "cli/message.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,  SIGALRM,
                                SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSTKFLT};

/* Adds the signal, unless it is ignored. */
static void watch(sigset_t *watched, int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(watched, number);
}

bool signals_open(cli_signals *signals)
{
    sigset_t watched, blocked;
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        watch(&watched, passed_on[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        watch(&watched, number);
    /* If SIGCHLD is ignored, which is inherited, exit statuses of children are lost. */
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &plain, &signals->child_before);
    sigaddset(&watched, SIGCHLD);

    blocked = watched;
    /* A message to a closed pipe, or to a file of the greatest size, must not end rlock while it holds the lock. */
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
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

/* --- the end of a wait: a signal handler may not call rlock_cancel_fire(), so a thread reads signals meanwhile --- */

static bool asks_to_end(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* A program that ends a group of processes may send two signals in a row, as timeout(1) does. */
#define AGAIN_MS 500

/* One that comes during a release may have been meant for the command, which has ended just now. */
static void heard_releasing(cli_interruption *self, int number)
{
    if (!asks_to_end(number))
        return;
    if (!self->signal) {
        self->signal = number;
        self->signal_ms = rli_now_ms();
    } else if (rli_now_ms() - self->signal_ms >= AGAIN_MS) {
        complain("%s", self->last_words);
        _exit(EXIT_SIGNAL + number);
    }
}

static void heard_waiting(cli_interruption *self, int number)
{
    pthread_mutex_lock(&self->mutex);
    if (!self->waiting)
        _exit(EXIT_SIGNAL + number); /* under the mutex, so that the wait cannot begin meanwhile */
    if (!self->signal)
        self->signal = number;
    pthread_mutex_unlock(&self->mutex);
    rlock_cancel_fire(self->cancel);
}

static void *listen_to_signals(void *argument)
{
    cli_interruption *self = argument;
    struct pollfd fds[] = {{self->signals->fd, POLLIN, 0}, {self->stop_fd, POLLIN, 0}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[1].revents)
            return NULL;
        cli_signal_note note;
        if (fds[0].revents && signals_next(self->signals, &note) && note.number != SIGCHLD)
            (self->last_words ? heard_releasing : heard_waiting)(self, note.number);
    }
}

static bool start(cli_interruption *self)
{
    self->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (self->stop_fd < 0)
        return false;
    errno = pthread_create(&self->thread, NULL, listen_to_signals, self);
    if (errno == 0)
        return true;
    close(self->stop_fd);
    return false;
}

bool interruption_start(cli_interruption *self, const cli_signals *signals, rlock_cancel *cancel)
{
    *self = (cli_interruption){.signals = signals, .cancel = cancel, .mutex = PTHREAD_MUTEX_INITIALIZER};
    return start(self);
}

bool interruption_start_releasing(cli_interruption *self, const cli_signals *signals, const char *last_words)
{
    *self = (cli_interruption){.signals = signals, .last_words = last_words};
    return start(self);
}

void interruption_wait_begins(cli_interruption *self)
{
    pthread_mutex_lock(&self->mutex);
    self->waiting = true;
    pthread_mutex_unlock(&self->mutex);
}

int interruption_stop(cli_interruption *self)
{
    eventfd_write(self->stop_fd, 1);
    pthread_join(self->thread, NULL);
    close(self->stop_fd);
    return self->signal;
}

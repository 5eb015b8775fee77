/* Interruption: ends the wait for a lock when a signal comes. A signal handler may not call
 * rlock_cancel_fire(), so a thread reads signals while the main thread waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interruption.h"

#include "cli/exits.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void heard(cli_interruption *self, int number)
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
            heard(self, note.number);
    }
}

bool interruption_start(cli_interruption *self, const cli_signals *signals, rlock_cancel *cancel)
{
    *self = (cli_interruption){.signals = signals, .cancel = cancel, .mutex = PTHREAD_MUTEX_INITIALIZER};
    self->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (self->stop_fd < 0)
        return false;
    errno = pthread_create(&self->thread, NULL, listen_to_signals, self);
    if (errno == 0)
        return true;
    close(self->stop_fd);
    return false;
}

void interruption_wait_begins(cli_interruption *self)
{
    pthread_mutex_lock(&self->mutex);
    self->waiting = true;
    pthread_mutex_unlock(&self->mutex);
}

int interruption_stop(cli_interruption *self)
{
    const uint64_t one = 1;
    while (write(self->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(self->thread, NULL);
    close(self->stop_fd);
    return self->signal;
}

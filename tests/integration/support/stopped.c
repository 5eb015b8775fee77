/* Stopped threads: an actor's thread is kept in a signal handler until it is let go on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stopped.h"

#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static int gate[2], stopped[2]; /* pipes */

static char next_byte(int from)
{
    char byte = 0;
    while (read(from, &byte, 1) < 0 && errno == EINTR)
        continue;
    return byte;
}

static void stop_here(int number)
{
    (void)number;
    int error = errno;
    if (write(stopped[1], "s", 1) == 1)
        next_byte(gate[0]);
    errno = error;
}

void actor_stop(actor *self)
{
    struct sigaction action = {.sa_handler = stop_here};
    cr_assert(pipe(gate) == 0 && pipe(stopped) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    actor_signal(self, SIGUSR1);
    cr_assert(next_byte(stopped[0]) == 's');
}

void actor_go_on(void)
{
    cr_assert(write(gate[1], "g", 1) == 1);
    for (int i = 0; i < 2; i++)
        close(stopped[i]); /* the handler may still read from the gate */
}

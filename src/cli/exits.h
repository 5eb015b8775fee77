/* Exit statuses of the command, based on <sysexits.h>. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

#include <rlock/status.h>

enum exits {
    EXIT_DONE = 0,
    EXIT_USAGE = 64,       /* the command line or the URL is wrong */
    EXIT_UNAVAILABLE = 69, /* no server answered */
    EXIT_LOST = 70,        /* the lock was lost while the command ran */
    /* The system refused memory, a process or a file descriptor. */
    EXIT_SYSTEM = 71,
    EXIT_OUTPUT = 74,  /* standard output could not be written */
    EXIT_TIMEOUT = 75, /* the lock was not acquired in time */
    /* The server refused: wrong password, no permission, or a key of another type. */
    EXIT_REFUSED = 76,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128 /* plus the signal's number */
};

/* The exit status for a call of the library that returned `status`. */
int exit_for(rlock_status status);

#endif

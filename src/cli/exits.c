/* Exit statuses of the command, based on <sysexits.h>. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exits.h"

int exit_for(rlock_status status)
{
    switch (status) {
    case RLOCK_OK:
        return EXIT_DONE;
    case RLOCK_INVALID:
    case RLOCK_UNSUPPORTED:
        return EXIT_USAGE;
    case RLOCK_TIMEOUT:
        return EXIT_TIMEOUT;
    case RLOCK_LOST:
    case RLOCK_NOT_OWNER:
        return EXIT_LOST;
    case RLOCK_UNAVAILABLE:
    case RLOCK_UNKNOWN:
    case RLOCK_NOT_SYNCED:
        return EXIT_UNAVAILABLE;
    case RLOCK_SERVER:
        return EXIT_REFUSED;
    case RLOCK_ALREADY_HELD:
    case RLOCK_CANCELLED:
    case RLOCK_NO_MEMORY:
    case RLOCK_CLOSED:
    case RLOCK_FORKED:
        return EXIT_SYSTEM;
    }
    return EXIT_SYSTEM;
}

/* What a command runs under: a lock of some kind, or permits of a semaphore, which may have a lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include "cli/kind.h"
#include "cli/message.h"
#include "cli/permits.h"

#include <rlock/lock.h>
#include <rlock/semaphore.h>

typedef struct cli_hold {
    const cli_kind *kind;
    /* one of the three */
    rlock *lock;
    rlock_semaphore *semaphore;
    cli_permits *leased;
    int permits;
    char shown[SHOWN_SIZE]; /* its name, for messages */
} cli_hold;

/* Makes the handle; asks no server. End with hold_close. `permits` is for a semaphore. */
rlock_status hold_open(cli_hold *hold, rlock_client *client, const cli_kind *kind, const char *name, int permits);
void hold_close(cli_hold *hold);

/* Makes a semaphore with so many permits, unless there is one. */
rlock_status hold_set_permits(cli_hold *hold, int permits);

/* Waits for it as the options say; a plain semaphore has no lease. */
rlock_status hold_take(cli_hold *hold, const rlock_lock_options *how);

/* For how many more ms it is held for certain; what has no lease has no end. */
int64_t hold_valid_for(const cli_hold *hold);

/* Gives it back. RLOCK_LOST: somebody else may have had it meanwhile. Permits without a lease stay taken
 * when it fails, and RLOCK_UNKNOWN says that nobody knows. */
rlock_status hold_give_back(cli_hold *hold);

/* "lock", "semaphore" or "permit". */
const char *hold_word(const cli_hold *hold);

#endif

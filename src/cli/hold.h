/* What a command runs under: a lock of some kind, or permits of a semaphore. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include "cli/kind.h"
#include "cli/message.h"

#include <rlock/lock.h>
#include <rlock/semaphore.h>

typedef struct cli_hold {
    const cli_kind *kind;
    rlock *lock;                /* NULL: a semaphore */
    rlock_semaphore *semaphore;
    int permits;
    char shown[SHOWN_SIZE];     /* its name, for messages */
} cli_hold;

/* Makes the handle; asks no server. End with hold_close. `permits` is for a semaphore. */
rlock_status hold_open(cli_hold *hold, rlock_client *client, const cli_kind *kind, const char *name, int permits);
void hold_close(cli_hold *hold);

/* Waits for it as the options say; the lease is for locks. */
rlock_status hold_take(cli_hold *hold, const rlock_lock_options *how);

/* For how many more ms it is held for certain; permits have no end. */
int64_t hold_valid_for(const cli_hold *hold);

/* Gives it back. Permits stay taken when that fails, and RLOCK_UNKNOWN says that nobody knows. */
rlock_status hold_give_back(cli_hold *hold);

/* "lock" or "semaphore". */
const char *hold_word(const cli_hold *hold);

#endif

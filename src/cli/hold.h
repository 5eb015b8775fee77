/* Hold: what a command runs under; a lock of any kind, or permits of a semaphore, with or without a lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include "cli/message.h"
#include "cli/options.h"
#include "cli/permits.h"

#include <rlock/group_lock.h>
#include <rlock/inspect.h>
#include <rlock/lock.h>
#include <rlock/semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cli_hold {
    const cli_kind *kind;
    /* One of these three is set. */
    rlock *lock;
    rlock_semaphore *semaphore;
    cli_permits *leased;
    rlock *part; /* since hold_take(), of a sharded lock: the part that was acquired; NULL: unknown */
    int permits;
    bool must_exist;            /* a semaphore that does not exist is not waited for */
    int64_t lease_ms;           /* since hold_take(): as asked for, or RLOCK_WATCHDOG */
    char shown[SHOWN_SIZE];     /* name, for messages */
    char typed[SHOWN_SIZE + 2]; /* and in commands that these suggest */
} cli_hold;

/* The values of a group lock. */
typedef struct cli_values {
    cli_list given;
    rlock_codec codec;
} cli_values;

/* Makes the handle; does not ask the server. End it with hold_close, also after a failure. `count`: how many permits to
 * take of a semaphore, how many parts a sharded lock has. */
rlock_status hold_open(cli_hold *hold, rlock_client *client, const cli_kind *kind, const char *name, int count,
                       const cli_values *values);
void hold_close(cli_hold *hold);

/* Whether a semaphore exists, by what was found under its name. */
bool hold_exists(const rlock_inspection *found);
/* Creates a semaphore with `permits` permits, unless it exists. */
rlock_status hold_set_permits(cli_hold *hold, int permits);

/* Acquires it as the options say; the lease is ignored for a plain semaphore. client, name: as for hold_open. */
rlock_status hold_take(cli_hold *hold, rlock_client *client, const char *name, const rlock_lock_options *how);

/* For how many more ms it is certainly held; INT64_MAX if it has no lease. */
int64_t hold_valid_for(const cli_hold *hold);

/* Releases it. RLOCK_LOST: another owner may have had it meanwhile. After another failure, permits without a
 * lease stay taken; RLOCK_UNKNOWN: it is unknown whether they do. */
rlock_status hold_give_back(cli_hold *hold);

/* Returns "lock", "semaphore" or "permit of the semaphore", to which the name is added. */
const char *hold_word(const cli_hold *hold);

/* Whether a hold is still held. */
typedef struct cli_loss {
    const cli_hold *hold;
    int fd;            /* eventfd: readable once a loss was reported */
    atomic_int reason; /* the reported rlock_lost_reason; -1: none */
    char said[128];    /* the library's words for it, with RLOCK_LOST_REFUSED */
    char words[64];    /* what loss_words() returns */
} cli_loss;

/* Starts to watch `hold`, the only hold of `client`. False: it could not, and has said why. End it with
 * loss_unwatch(). */
bool loss_watch(cli_loss *loss, rlock_client *client, const cli_hold *hold);
void loss_unwatch(cli_loss *loss, rlock_client *client);

/* Whether the hold is lost. The local clock is enough to know: no report has to arrive. */
bool loss_happened(cli_loss *loss);
/* Whether a report is to come, which says why it is lost. */
bool loss_is_unexplained(cli_loss *loss);

/* Why the hold was lost, in words; only after loss_happened() returned true. */
const char *loss_words(cli_loss *loss);

#endif

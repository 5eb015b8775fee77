/* Kind: an object that a command can run under, as named by --kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_KIND_H
#define CLI_KIND_H

#include <rlock/lock.h>
#include <stdbool.h>

typedef struct cli_kind {
    const char *name;
    /* Makes a handle for a lock of this kind; NULL: the kind is a semaphore. */
    rlock *(*lock)(rlock_client *client, const char *name);
    bool fenced;
    bool leased; /* a semaphore whose permits have ids and leases */
} cli_kind;

#define KIND_LOCKS "lock, fair, spin, fenced, read, write or non-reentrant"
#define KIND_ALL   "lock, fair, spin, fenced, read, write, non-reentrant, semaphore or permit"

extern const cli_kind kind_plain; /* the default of --kind */

/* The kind of that name; NULL: there is none. */
const cli_kind *kind_find(const char *name);

#endif

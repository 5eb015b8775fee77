/* Read-write lock: a pair of locks on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <rlock/read_write_lock.h>

#include "base/error.h"
#include "locks/single.h"

#include <stdlib.h>

struct rlock_read_write_lock {
    /* Holds the name and the reference to the client. */
    rlock *read;
    rlock_client *client;
};

rlock_read_write_lock *rlock_get_read_write_lock(rlock_client *client, const char *name)
{
    rlock *read = rli_single_make(client, name, &rli_kind_read, NULL);
    rlock_read_write_lock *lock = read ? malloc(sizeof *lock) : NULL;
    if (lock) {
        *lock = (rlock_read_write_lock){read, client};
    } else if (read) {
        rlock_free(read);
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a lock's handle");
    }
    return lock;
}

static rlock *side(rlock_read_write_lock *lock, const rli_kind *kind)
{
    if (lock)
        return rli_single_make(lock->client, rlock_name(lock->read), kind, NULL);
    rli_fail_null("read-write lock");
    return NULL;
}

rlock *rlock_read_lock(rlock_read_write_lock *lock)
{
    return side(lock, &rli_kind_read);
}

rlock *rlock_write_lock(rlock_read_write_lock *lock)
{
    return side(lock, &rli_kind_write);
}

const char *rlock_read_write_lock_name(const rlock_read_write_lock *lock)
{
    return lock ? rlock_name(lock->read) : NULL;
}

void rlock_read_write_lock_free(rlock_read_write_lock *lock)
{
    if (!lock)
        return;
    rlock_free(lock->read);
    free(lock);
}

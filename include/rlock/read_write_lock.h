/* RReadWriteLock: many readers or one writer, shared with every process, C or Java. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_READ_WRITE_LOCK_H
#define RLOCK_READ_WRITE_LOCK_H

#include <rlock/client.h>
#include <rlock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_read_write_lock rlock_read_write_lock;

/* Makes a handle for the read-write lock `name` (1 byte to 512 MiB, none of them 0; copied). Does not ask the server,
 * and does not keep a lock held. Threads may share the handle. It keeps a reference to the client. NULL:
 * rlock_last_error() says why. End it with rlock_read_write_lock_free(). Follows
 * org.redisson.RedissonReadWriteLock. */
RLOCK_API rlock_read_write_lock *rlock_get_read_write_lock(rlock_client *client, const char *name);

/* The two sides of a read-write lock: locks with all operations of <rlock/lock.h>. Each has its own handle, which may
 * outlive the read-write lock's handle; end it with rlock_free(). NULL: rlock_last_error() says why.
 *
 * Many owners may hold the read side at once, or one owner the write side. Both sides are reentrant. The
 * writer may take the read side as well, and keeps it when it releases the write side: a downgrade, at which
 * waiting readers get the lock too. There is no upgrade: an owner that reads and asks for the write side
 * waits for every reader, itself included.
 * Each read hold has its own lease: the read side is held as long as any of them lasts. Re-entering the
 * write side adds the lease to what is left of the first one.
 * rlock_is_locked says whether this side is held. rlock_force_unlock of the read side frees the lock if only
 * readers hold it; of the write side if a writer holds it, together with the read holds of that writer.
 * Otherwise it changes nothing, and *was_locked is false. */
RLOCK_API rlock *rlock_read_lock(rlock_read_write_lock *lock);
RLOCK_API rlock *rlock_write_lock(rlock_read_write_lock *lock);

/* The name that the handle was made with; owned by the handle. NULL for NULL. */
RLOCK_API const char *rlock_read_write_lock_name(const rlock_read_write_lock *lock);

/* Frees the handle. Locks that are held stay held, and the handles of the sides stay valid. NULL is allowed. */
RLOCK_API void rlock_read_write_lock_free(rlock_read_write_lock *lock);

#ifdef __cplusplus
}
#endif
#endif

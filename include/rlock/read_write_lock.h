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

/* A handle on the read-write lock called `name` (UTF-8, 1 byte to 512 MiB; copied). Cheap; asks no
 * server; keeps no lock alive; may be shared by threads. It keeps a reference on the client.
 * NULL: rlock_last_error() says why. End with rlock_read_write_lock_free().
 * Follows org.redisson.RedissonReadWriteLock. */
RLOCK_API rlock_read_write_lock *rlock_get_read_write_lock(rlock_client *client, const char *name);

/* Its two sides: locks with all the operations of <rlock/lock.h>, each a handle of its own that may
 * outlive the pair; end it with rlock_free(). NULL: rlock_last_error() says why.
 *
 * Many owners may hold the read side at once, or one owner the write side. Both are reentrant.
 * The writer may take the read side, too, and keeps that when it gives the write side back: a
 * downgrade, upon which waiting readers come in. There is no upgrade: who reads and asks for the
 * write side waits for every reader, itself included.
 * Each read hold has a lease of its own: the read side is held as long as any of them lasts.
 * A write hold taken again adds its lease to what is left of the first.
 * Of the questions, is_locked says whether anybody reads, or writes; force unlock of the
 * read side frees the lock when readers alone hold it, of the write side when a writer does, with the read
 * holds of that writer; else it changes nothing (*was_locked is false). */
RLOCK_API rlock *rlock_read_lock(rlock_read_write_lock *lock);
RLOCK_API rlock *rlock_write_lock(rlock_read_write_lock *lock);

/* The name the handle was made with; owned by it. NULL for NULL. */
RLOCK_API const char *rlock_read_write_lock_name(const rlock_read_write_lock *lock);

/* Frees the pair; what is held stays held, and the sides stay valid. NULL is allowed. */
RLOCK_API void rlock_read_write_lock_free(rlock_read_write_lock *lock);

#ifdef __cplusplus
}
#endif
#endif

/* Turns: a counter in a file that only the lock protects, and who counted how far. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURNS_H
#define TURNS_H

#include <rlock/rlock.h>
#include <stdint.h>

/* Makes the file, in memory, with the counter at 0: eight bytes in the machine's order, as Java's
 * Turns has it too. Gives a path, to be freed, that other processes can open while this one lives. */
char *turns_file(void);
int64_t turns_count(const char *path);

/* Takes turns until the counter stands at `total`: lock, read, let others run, write, unlock.
 * Two inside at once lose a turn, so that all turns together are more than the counter shows.
 * *turns: how many were the caller's. Asserts nothing, for it runs in children. */
rlock_status turns_take(rlock *lock, const char *path, int64_t total, int64_t *turns);

/* The same in `threads` threads at once, each with a handle of its own; the first failure, and
 * its words on stderr. */
rlock_status turns_take_many(rlock_client *client, const char *name, int threads, const char *path,
                             int64_t total, int64_t *turns);

#endif

/* Sides: handles on both sides of the stage's read-write lock, and what stands under its name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIDES_H
#define SIDES_H

#include <rlock/rlock.h>
#include <stdint.h>

/* Handles to be freed. */
rlock *get_read(rlock_client *client, const char *name);
rlock *get_write(rlock_client *client, const char *name);
/* Handles that the stage keeps. */
rlock *read_of(rlock_client *client, const char *name);
rlock *write_of(rlock_client *client, const char *name);

/* The PTTL of the one timeout key of an n-th read hold, whose ever it is; -2: there is none. Fails the
 * test when there are several. */
int64_t timeout_of(int n);
/* How many timeout keys there are. */
int timeouts(void);

/* What another process's try answers; what it takes it gives back. */
rlock_status others_read(const char *name);
rlock_status others_write(const char *name);

#endif

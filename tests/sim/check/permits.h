/* Permits that have ids and leases: who may rely on which. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_PERMITS_H
#define SIM_PERMITS_H

#include <stdbool.h>
#include <stdint.h>

#define PERMITS_MADE 2 /* of each semaphore, by all that make it */

/* It was taken by a call that began then, with that lease (-1: none). More than were made may not be taken at a time. */
void permits_take(int resource, const char *id, int64_t began_ns, int64_t lease_ms, const char *who);
/* Its client renews it, and says that it may be relied on for that long. */
void permits_rely(int resource, const char *id, int64_t valid_ms);
/* It is being given back, for good, or its lease is being changed. Until when it could still be relied on. */
int64_t permits_give(int resource, const char *id, bool for_good);
/* The server had it no more, though it could be relied on when the release was answered, which began then. */
void permits_missing(int resource, int64_t began_ns, const char *who);
/* Its client was told that it is lost; `gone`: that the server has it no more. */
void permits_told(const char *id, bool gone, const char *who);
/* Nobody gives it back any more. */
void permits_abandon(int resource);
/* All is over: so many are available, so many are taken, and so many of those have not expired. */
void permits_check(int resource, int64_t available, int64_t taken, int64_t valid);

#endif

/* Back-off: how long a waiter that polls sleeps between two requests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BACK_OFF_H
#define RLI_BACK_OFF_H

#include <rlock/lock.h>

/* Copies the back-off of a program that was built with any version into *full, which has the defaults. RLOCK_OK;
 * RLOCK_INVALID: `given` is NULL, has the size of no version, or has a value out of range. */
rlock_status rli_back_off_read(rlock_back_off *full, const rlock_back_off *given);

/* Returns the pause after `denied` denied requests before the last one; 1 ms or more. */
int64_t rli_back_off_ms(const rlock_back_off *back_off, int denied);

#endif

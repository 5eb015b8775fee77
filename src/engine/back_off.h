/* Back-off: how long a spin lock's waiter sleeps between two questions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BACK_OFF_H
#define RLI_BACK_OFF_H

#include <rlock/lock.h>

/* Copies what a program of any version gave into *full. RLOCK_OK, or RLOCK_INVALID: it is NULL or of no version, or has
 * a value of 0 or less, or beyond what makes sense. */
rlock_status rli_back_off_read(rlock_back_off *full, const rlock_back_off *given);

/* After so many denied questions before this one; ms, 1 or more. */
int64_t rli_back_off_ms(const rlock_back_off *back_off, int denied);

#endif

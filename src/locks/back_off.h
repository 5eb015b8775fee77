/* Back-off: how long a spin lock's waiter sleeps between two questions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BACK_OFF_H
#define RLI_BACK_OFF_H

#include <rlock/lock.h>

/* RLOCK_OK, or RLOCK_INVALID: a value of 0 or less, or beyond what makes sense. */
rlock_status rli_back_off_check(const rlock_back_off *back_off);

/* After so many denied questions before this one; ms, 1 or more. */
int64_t rli_back_off_ms(const rlock_back_off *back_off, int denied);

#endif

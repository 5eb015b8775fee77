/* Scale: how large a stress is; RLOCK_STRESS_FULL=1 in the environment asks for the scenarios' size. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALE_H
#define SCALE_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_full(void)
{
    const char *full = getenv("RLOCK_STRESS_FULL");
    return full && *full && *full != '0';
}

static inline int scaled(int reduced, int full)
{
    return is_full() ? full : reduced;
}

#endif

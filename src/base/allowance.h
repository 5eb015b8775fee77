/* Allowance: so many within a time, and no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ALLOWANCE_H
#define RLI_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* Begins as zeros. Whoever owns it guards it. */
typedef struct rli_allowance {
    int64_t since_ms;
    int taken;
} rli_allowance;

/* Takes one of the `most` that are allowed within `span_ms`, counted from the first of them. False: all are taken. */
bool rli_allowance_take(rli_allowance *allowance, int most, int64_t span_ms);

#endif

/* Levels: the holds of one owner on a red lock or on a member of it, the innermost first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LEVELS_H
#define RLI_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rli_levels {
    int count, renewed;    /* how many there are, and how many of them the watchdog renews */
    uint64_t renewed_bits; /* which: bit 0 is the innermost */
    uint64_t missed_bits;  /* the holds of the red lock, bit 0 the innermost: 1 where it took one without this member */
} rli_levels;

/* How many holds of the red lock they are of. */
int rli_levels_depth(const rli_levels *levels);
/* For levels of a red lock itself, of which no hold is missed: adds an innermost hold; removes it, if there is one.
 * Where there are more than 64, only the numbers are known of the outer ones. */
void rli_levels_add(rli_levels *levels, bool renewed);
void rli_levels_remove(rli_levels *levels);

#endif

/* Dice: numbers that a seed determines, the same on every machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DICE_H
#define DICE_H

#include <stddef.h>
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

dice dice_seeded(uint64_t seed);
/* From 0 to below `sides`. */
int dice_roll(dice *rolled, int sides);
/* An index into the weights; each comes as often as its weight says. */
int dice_weighted(dice *rolled, const int *weights, size_t count);

#endif

/* Dice: numbers that a seed determines, the same on every machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/dice.h"

dice dice_seeded(uint64_t seed)
{
    return (dice){seed};
}

/* A step of a Weyl sequence, mixed: seeds that are neighbours give unlike numbers (splitmix64). */
static uint64_t next(dice *self)
{
    uint64_t mixed = self->state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

int dice_roll(dice *self, int sides)
{
    /* A product instead of a remainder: the simulation rolls millions of times a second, and a division takes longest. */
    return (int)((next(self) >> 32) * (uint64_t)sides >> 32);
}

int dice_weighted(dice *self, const int *weights, size_t count)
{
    int total = 0;
    for (size_t i = 0; i < count; i++)
        total += weights[i];
    int rolled = dice_roll(self, total);
    size_t at = 0;
    while (rolled >= weights[at])
        rolled -= weights[at++];
    return (int)at;
}

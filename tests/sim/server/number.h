/* Numbers that are not whole, as the versions of the server write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SERVER_NUMBER_H
#define SIM_SERVER_NUMBER_H

#include <stddef.h>

typedef enum number_style {
    NUMBER_17_DIGITS, /* up to Redis 7.0: as printf's %.17g */
    NUMBER_SHORTEST,  /* from 7.2 on: the fewest digits that read as the same number, 1e+15 for 10^15 */
    NUMBER_WHOLE      /* and whole numbers in all their digits: scores from 7.2 on, Lua's numbers from 8.0 on */
} number_style;

#define NUMBER_ROOM 64

/* How many bytes it wrote; `to` has NUMBER_ROOM. */
size_t number_write(char *to, double number, number_style style);

#endif

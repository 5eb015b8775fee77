/* Values: well-formed RESP of all sorts, odd numbers and texts in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_VALUES_H
#define HOSTILE_VALUES_H

#include "tests/fault/support/bytes.h"
#include "tests/support/dice.h"

#include <stdint.h>

#define HOSTILE_PORTS 4

/* Where the server listens; all of it is one process. */
typedef struct hostile_ports {
    int all[HOSTILE_PORTS];
} hostile_ports;

void add_text(bytes *to, const char *text);
__attribute__((format(printf, 2, 3))) void add_format(bytes *to, const char *format, ...);
void add_bulk(bytes *to, const char *text);

/* An integer at the end of some range. */
void add_integer_text(dice *by, bytes *to);
/* An error: of all sorts, redirects to odd places among them. */
void add_error(dice *by, const hostile_ports *ports, bytes *to);
/* Any value, arrays up to `depth` deep. */
void add_value(dice *by, const hostile_ports *ports, int depth, bytes *to);
/* A message, confirmation or the like that nobody asked for, on `channel` or another. */
void add_push(dice *by, const char *channel, bytes *to);

#endif

/* Wires: one connection of an actor, and the commands and answers that go over it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ACTORS_WIRE_H
#define SIM_ACTORS_WIRE_H

#include "tests/sim/world/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLY_TEXT 120
#define REPLY_PARTS 8

typedef enum reply_kind { REPLY_NIL, REPLY_INTEGER, REPLY_TEXT_OR_STATUS, REPLY_ERROR, REPLY_LIST } reply_kind;

/* A list has parts, as far as there is room for them; lists within lists are not kept. */
typedef struct reply_part {
    reply_kind kind;
    int64_t number; /* of a list: how many parts the server said */
    char text[REPLY_TEXT];
} reply_part;
typedef struct reply {
    reply_part self, parts[REPLY_PARTS];
} reply;

/* A word of a command: any bytes. */
typedef struct word {
    const char *at;
    size_t length;
} word;

typedef struct wire {
    connection *connection; /* NULL: none */
    char *bytes;            /* heard and not yet understood */
    size_t have, room;
} wire;

/* Whatever happens to it wakes those who sleep by `on`. */
void wire_open(wire *self, machine *of, const host *to, const void *on);
void wire_close(wire *self);
/* EINPROGRESS, 0, or why it failed. */
int wire_state(const wire *self);
/* False: the connection is broken. */
bool wire_say(wire *self, const word *words, size_t count);
/* False: there is no whole answer yet; *broken: nor will there be. */
bool wire_hear(wire *self, reply *to, bool *broken);

#endif

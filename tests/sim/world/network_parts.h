/* The parts of the network, for network.c and local.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_NETWORK_PARTS_H
#define SIM_NETWORK_PARTS_H

#include "tests/sim/world/network.h"
#include "tests/sim/world/stream.h"

typedef enum phase {
    CONNECTING,
    OPEN,
    REFUSED,
    RESET,  /* the client finds out with its next call */
    FINISHED /* nobody has it any more, on either side */
} phase;

struct connection {
    connection *next, *next_noted;
    bool is_noted;
    int number;
    machine *client;
    host *to;             /* NULL: a process of the world's, or nobody */
    connection *other;    /* the end that such a process has; NULL: none (any more) */
    in_port_t port;       /* where that listens */
    bool local;           /* both are of one machine: the one knows at once that the other is closed */
    phase phase;
    const void *watched_by; /* NULL */
    sim_link *link;       /* NULL: the server has not, or no more */
    stream up, down;      /* to the server (or to the other end), and from it */
    char *received;       /* by the client's system… */
    size_t have, room;    /* …and not yet by the client */
    bool ended;           /* the client's system has heard the end of the stream */
    bool closed;          /* the client has no descriptor any more */
    bool speaks, hung_up; /* the server has said something, or has ended it; and nobody has seen to it yet */
};

connection *connection_make(machine *client, host *to);
/* The host's server has it from now on, or refuses it. */
void connection_open_link(connection *self);
/* A piece has arrived at this end. */
void connection_take(connection *self, const piece *arrived);
void connection_wake(connection *self);

/* --- to a process of the world's (local.c) --- */

/* What this end has sent has arrived at the other. */
void connection_arrive_over(connection *self, const piece *arrived);
/* As answer_connect: refused, connected, or neither. */
void connection_answer_over(connection *self);

#endif

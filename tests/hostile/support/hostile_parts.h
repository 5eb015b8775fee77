/* The parts of the hostile server's process: its state, and one connection to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_PARTS_H
#define HOSTILE_PARTS_H

#include "tests/fault/support/place.h"
#include "tests/hostile/support/distort.h"
#include "tests/hostile/support/topologies.h"

#include <poll.h>
#include <stdatomic.h>

/* Shared with the test's process. */
typedef struct counts {
    atomic_long answers, distortions;
} counts;

typedef struct foe {
    place server_at;
    topologies world;
    past past;
    uint64_t seed;
    counts *counts;
} foe;

/* A request whose answer is to come: from the server behind, or it is there. */
typedef struct owed {
    struct owed *next;
    bool own;
    bytes answer;
} owed;

typedef struct peer {
    struct peer *next;
    foe *of;
    int at;              /* which port */
    int client, server;
    dice dice;
    int calm;            /* one answer in so many is distorted */
    bytes from_client, to_server, from_server, to_client;
    owed *first, *last;
    char channel[256];   /* that it subscribed to last; "": none */
    int64_t silent_until_ms;
    bool drips, silent, ending, resets;
} peer;

/* NULL: the server behind is not there. `number`: of connections so far. */
peer *peer_open(foe *of, int at, int client, int number);
void peer_close(peer *peer);
void peer_wants(const peer *peer, struct pollfd polled[2]);
/* Reads, answers, writes. False: it is over. */
bool peer_step(peer *peer, const struct pollfd polled[2], int64_t now_ms);

#endif

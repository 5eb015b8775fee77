/* Streams: the bytes of one direction of a connection, on their way. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "tests/sim/world/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct piece {
    struct piece *next;
    int64_t due_ns;
    bool end; /* of the stream; without bytes */
    size_t length;
    char bytes[];
} piece;

typedef struct stream {
    piece *first, *last;
    size_t bytes;            /* on their way */
    int64_t silent_until_ns; /* nothing arrives before */
    const machine *receiver; /* takes nothing while it stands still; NULL: its system does */
    bool planned;            /* an event is, for the first piece */
    bool closed;             /* nothing is taken any more */
    /* A piece has arrived. */
    void (*arrive)(void *connection, const piece *arrived);
    void *connection;
} stream;

/* Sends bytes, in one piece or several, so much later at the earliest. */
void stream_send(stream *of, const char *bytes, size_t length, int64_t after_ns);
void stream_end(stream *of, int64_t after_ns);
void stream_silence(stream *of, int64_t until_ns);
void stream_speak(stream *of);
/* Throws away what is on its way. */
void stream_drop(stream *of);

#endif

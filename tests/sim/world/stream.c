/* Streams: bytes on their way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/stream.h"

#include "tests/sim/world/network.h"
#include "tests/sim/world/threads.h"

#include <stdlib.h>
#include <string.h>

static void plan(stream *self);

/* When the first piece arrives. */
static int64_t arrives_ns(const stream *self)
{
    int64_t at_ns = self->first->due_ns > self->silent_until_ns ? self->first->due_ns : self->silent_until_ns;
    if (self->receiver && self->receiver->stopped_until_ns > at_ns)
        at_ns = self->receiver->stopped_until_ns;
    return at_ns;
}

static void deliver(void *argument)
{
    stream *self = argument;
    self->planned = false;
    piece *first = self->first;
    if (!first)
        return;
    if (arrives_ns(self) > world_now_ns()) {
        plan(self);
        return;
    }
    self->first = first->next;
    if (!self->first)
        self->last = NULL;
    self->bytes -= first->length;
    world_note(first->length + 7);
    plan(self);
    self->arrive(self->connection, first);
    free(first);
}

static void plan(stream *self)
{
    if (self->planned || !self->first)
        return;
    int64_t at_ns = arrives_ns(self);
    if (at_ns == WORLD_NEVER)
        return;
    self->planned = true;
    event_at(at_ns > world_now_ns() ? at_ns : world_now_ns(), deliver, self);
}

static void append(stream *self, const char *bytes, size_t length, bool end, int64_t after_ns)
{
    piece *fresh = malloc(sizeof *fresh + length);
    if (!fresh)
        abort();
    int64_t due_ns = world_now_ns() + after_ns + network.latency_ns;
    if (network.jitter_ns)
        due_ns += (int64_t)world_chance((uint64_t)network.jitter_ns);
    if (self->last && self->last->due_ns > due_ns)
        due_ns = self->last->due_ns;
    *fresh = (piece){.due_ns = due_ns, .end = end, .length = length};
    if (length)
        memcpy(fresh->bytes, bytes, length);
    if (self->last)
        self->last->next = fresh;
    else
        self->first = fresh;
    self->last = fresh;
    self->bytes += length;
    plan(self);
}

void stream_send(stream *self, const char *bytes, size_t length, int64_t after_ns)
{
    if (self->closed)
        return;
    while (length > 1 && world_happens(network.splits)) {
        size_t part = 1 + (size_t)world_chance(length - 1);
        append(self, bytes, part, false, after_ns);
        bytes += part;
        length -= part;
    }
    append(self, bytes, length, false, after_ns);
}

void stream_end(stream *self, int64_t after_ns)
{
    if (!self->closed)
        append(self, NULL, 0, true, after_ns);
    self->closed = true;
}

void stream_silence(stream *self, int64_t until_ns)
{
    if (until_ns > self->silent_until_ns)
        self->silent_until_ns = until_ns;
}

void stream_speak(stream *self)
{
    self->silent_until_ns = 0;
    plan(self);
}

void stream_drop(stream *self)
{
    while (self->first) {
        piece *next = self->first->next;
        free(self->first);
        self->first = next;
    }
    self->last = NULL;
    self->bytes = 0;
    self->closed = true;
}

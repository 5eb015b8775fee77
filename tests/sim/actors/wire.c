/* Wires: one connection of an actor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/wire.h"

#include "tests/sim/world/threads.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the connection --- */

void wire_open(wire *self, machine *of, const host *to, const void *on)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = to->address, .sin_port = htons(to->port)};
    wire_close(self);
    self->connection = connection_open(of, &address);
    connection_watch(self->connection, on);
}

void wire_close(wire *self)
{
    if (self->connection)
        connection_close(self->connection);
    free(self->bytes);
    *self = (wire){0};
}

int wire_state(const wire *self)
{
    return self->connection ? connection_state(self->connection) : ENOTCONN;
}

/* --- commands --- */

static size_t put(char *to, const word *words, size_t count)
{
    size_t length = (size_t)sprintf(to, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        length += (size_t)sprintf(to + length, "$%zu\r\n", words[i].length);
        memcpy(to + length, words[i].at, words[i].length);
        length += words[i].length;
        memcpy(to + length, "\r\n", 2);
        length += 2;
    }
    return length;
}

bool wire_say(wire *self, const word *words, size_t count)
{
    size_t room = 32, done = 0;
    for (size_t i = 0; i < count; i++)
        room += words[i].length + 32;
    char *bytes = malloc(room);
    if (!bytes)
        abort();
    size_t length = put(bytes, words, count);
    while (done < length) {
        sim_point();
        ssize_t sent = self->connection ? connection_send(self->connection, bytes + done, length - done) : -ENOTCONN;
        if (sent < 0)
            break;
        done += (size_t)sent;
    }
    free(bytes);
    return done == length;
}

/* --- answers --- */

/* Where the line ends that begins there; NULL: not yet. */
static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : NULL;
}

static void keep_text(reply_part *to, const char *at, size_t length)
{
    if (length >= REPLY_TEXT)
        length = REPLY_TEXT - 1;
    memcpy(to->text, at, length);
    to->text[length] = 0;
}

/* Behind what stands there; NULL: it is not whole yet. */
static const char *understand(const char *at, const char *end, reply_part *to, reply_part *parts)
{
    const char *next = at < end ? line_end(at, end) : NULL;
    if (!next)
        return NULL;
    *to = (reply_part){.number = atoll(at + 1)};
    switch (*at) {
    case ':':
        to->kind = REPLY_INTEGER;
        return next;
    case '$':
        to->kind = to->number < 0 ? REPLY_NIL : REPLY_TEXT_OR_STATUS;
        if (to->number < 0)
            return next;
        if (end - next < to->number + 2)
            return NULL;
        keep_text(to, next, (size_t)to->number);
        return next + to->number + 2;
    case '*':
        to->kind = to->number < 0 ? REPLY_NIL : REPLY_LIST;
        for (int64_t i = 0; i < to->number && next; i++) {
            reply_part beyond;
            next = understand(next, end, parts && i < REPLY_PARTS ? &parts[i] : &beyond, NULL);
        }
        return next;
    default:
        to->kind = *at == '-' ? REPLY_ERROR : REPLY_TEXT_OR_STATUS;
        keep_text(to, at + 1, (size_t)(next - at) - 3);
        return next;
    }
}

/* False: there is nothing more. */
static bool take_in(wire *self, bool *broken)
{
    char bytes[4096];
    ssize_t got = connection_receive(self->connection, bytes, sizeof bytes);
    *broken = got == 0 || (got < 0 && got != -EAGAIN);
    if (got <= 0)
        return false;
    if (self->have + (size_t)got > self->room) {
        self->room = 2 * (self->have + (size_t)got);
        self->bytes = realloc(self->bytes, self->room);
        if (!self->bytes)
            abort();
    }
    memcpy(self->bytes + self->have, bytes, (size_t)got);
    self->have += (size_t)got;
    return true;
}

bool wire_hear(wire *self, reply *to, bool *broken)
{
    *broken = !self->connection;
    while (self->connection && wire_state(self) != EINPROGRESS) {
        const char *end = self->have ? self->bytes + self->have : NULL;
        const char *next = end ? understand(self->bytes, end, &to->self, to->parts) : NULL;
        if (next) {
            self->have = (size_t)(end - next);
            memmove(self->bytes, next, self->have);
            return true;
        }
        if (!take_in(self, broken))
            return false;
    }
    return false;
}

/* Listeners: sockets of the world's own processes that others connect to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/listener.h"

#include "tests/sim/world/network.h"
#include "tests/sim/world/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define FIRST_PORT 20000
#define QUEUE 512

struct listener {
    listener *next;
    in_port_t port; /* 0: it has a path */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    bool open;
    size_t backlog;
    connection *queue[QUEUE];
    size_t count;
};

static listener *listeners;
static in_port_t last_port = FIRST_PORT;

listener *listener_of_port(in_port_t port)
{
    listener *one = listeners;
    while (one && !(one->open && one->port == port && port))
        one = one->next;
    return one;
}

listener *listener_of_path(const char *path)
{
    listener *one = listeners;
    while (one && !(one->open && *one->path && strcmp(one->path, path) == 0))
        one = one->next;
    return one;
}

listener *listener_bind(const struct sockaddr *at)
{
    listener *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    if (at->sa_family == AF_UNIX) {
        snprintf(self->path, sizeof self->path, "%s", ((const struct sockaddr_un *)(const void *)at)->sun_path);
    } else {
        self->port = ntohs(((const struct sockaddr_in *)(const void *)at)->sin_port);
        if (!self->port)
            self->port = ++last_port;
    }
    self->next = listeners;
    listeners = self;
    return self;
}

void listener_address(const listener *of, struct sockaddr_in *address)
{
    *address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(of->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int listener_open(listener *self, int backlog)
{
    listener *there = *self->path ? listener_of_path(self->path) : listener_of_port(self->port);
    if (there && there != self)
        return -EADDRINUSE;
    self->backlog = backlog < 0 ? 0 : backlog < QUEUE ? (size_t)backlog : QUEUE - 1;
    self->open = true;
    return 0;
}

void listener_close(listener *self)
{
    for (size_t i = 0; i < self->count; i++)
        connection_abort(self->queue[i]);
    listener **place = &listeners;
    while (*place != self)
        place = &(*place)->next;
    *place = self->next;
    free(self);
}

/* --- those that connect --- */

bool listener_has_room(const listener *of)
{
    return of->count <= of->backlog;
}

void listener_add(listener *self, connection *end)
{
    self->queue[self->count++] = end;
    watch_changed(self);
}

connection *listener_accept(listener *self)
{
    if (self->count == 0)
        return NULL;
    connection *first = self->queue[0];
    memmove(self->queue, self->queue + 1, --self->count * sizeof first);
    return first;
}

bool listener_has_any(const listener *of)
{
    return of->count > 0;
}

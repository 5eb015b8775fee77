/* Connections between two of the world's own processes, and by paths. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/listener.h"
#include "tests/sim/world/network_parts.h"

#include <errno.h>

static connection *open_other(connection *self)
{
    self->other = connection_make(self->client, NULL);
    self->other->other = self;
    self->other->local = self->local;
    self->other->phase = self->phase = OPEN;
    return self->other;
}

/* At the other end. Where that is closed, nobody reads it, and the sender hears of that. */
void connection_arrive_over(connection *self, const piece *arrived)
{
    if (self->phase != OPEN)
        return;
    connection_wake(self); /* there is room for more */
    if (self->other && !self->other->closed)
        connection_take(self->other, arrived);
    else if (!arrived->end && !self->closed)
        connection_reset(self, false);
}

void connection_answer_over(connection *self)
{
    listener *there = listener_of_port(self->port);
    if (!there)
        self->phase = REFUSED;
    else if (listener_has_room(there))
        listener_add(there, open_other(self));
}

connection *connection_open_local(machine *client, const char *path, int *error)
{
    host *to = host_with_path(path);
    listener *there = to ? NULL : listener_of_path(path);
    *error = !to && !there ? ECONNREFUSED : there && !listener_has_room(there) ? EAGAIN : 0;
    if (*error)
        return NULL;
    connection *self = connection_make(client, to);
    self->local = true;
    if (to)
        connection_open_link(self);
    else
        listener_add(there, open_other(self));
    if (self->phase == OPEN)
        return self;
    self->closed = true;
    *error = ECONNREFUSED;
    return NULL;
}

void connection_pair(machine *of, connection *ends[2])
{
    ends[0] = connection_make(of, NULL);
    ends[0]->local = true;
    ends[1] = open_other(ends[0]);
}

void connection_abort(connection *self)
{
    if (self->other)
        connection_reset(self->other, false);
    else
        connection_reset(self, true);
    self->have = 0;
    self->phase = RESET;
    connection_close(self);
}

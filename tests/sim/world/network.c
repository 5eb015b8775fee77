/* Network: hosts, and the connections to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/network.h"

#include "tests/sim/world/network_parts.h"
#include "tests/sim/world/threads.h"
#include "tests/sim/world/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 64

network_settings network = {.window = 1 << 20};

static host *hosts[HOSTS];
static int host_count;
static connection *connections, **last_connection = &connections;
static int connection_count;

/* --- hosts --- */

host *host_make(const char *name, const char *address, int port)
{
    host *self = calloc(1, sizeof *self);
    if (!self || host_count == HOSTS || inet_pton(AF_INET, address, &self->address) != 1)
        abort();
    self->port = (in_port_t)port;
    self->machine = machine_make(name, (int)world_chance(4001) - 2000,
                                 (INT64_C(1700000000000) + (int64_t)world_chance(100000000)) * 1000000);
    self->service_ns = 2000;
    self->planned_ns = WORLD_NEVER;
    hosts[host_count++] = self;
    return self;
}

host *host_at(struct in_addr address, in_port_t port)
{
    for (int i = 0; i < host_count; i++) {
        if (hosts[i]->address.s_addr == address.s_addr && hosts[i]->port == port)
            return hosts[i];
    }
    return NULL;
}

host *host_with_path(const char *path)
{
    for (int i = 0; i < host_count; i++) {
        if (hosts[i]->path && strcmp(hosts[i]->path, path) == 0)
            return hosts[i];
    }
    return NULL;
}

host *host_number(int number)
{
    return number < host_count ? hosts[number] : NULL;
}

/* --- what arrives --- */

void connection_wake(connection *self)
{
    threads_wake(self, INT_MAX, ~0u);
    watch_changed(self);
    if (self->watched_by)
        threads_wake(self->watched_by, INT_MAX, ~0u);
}

static void take_output(connection *self)
{
    char bytes[16384];
    size_t length;
    self->speaks = false;
    while (self->link && (length = sim_link_take(self->link, bytes, sizeof bytes)) > 0)
        stream_send(&self->down, bytes, length, self->to->service_ns);
}

static void hang_up(connection *self)
{
    sim_link *link = self->link;
    self->link = NULL;
    if (link)
        sim_link_close(link);
}

/* What the server's hooks have said: they may not ask it anything. */
static connection *noted;
static bool looks;

static void look_at_noted(void *nothing)
{
    (void)nothing;
    looks = false;
    while (noted) {
        connection *self = noted;
        noted = self->next_noted;
        self->is_noted = false;
        take_output(self);
        if (!self->hung_up)
            continue;
        self->hung_up = false;
        hang_up(self);
        stream_end(&self->down, 0);
    }
}

static void note(connection *self)
{
    if (!self->is_noted) {
        self->next_noted = noted;
        noted = self;
        self->is_noted = true;
    }
    if (!looks)
        event_at(world_now_ns(), look_at_noted, NULL);
    looks = true;
}

static void keep(connection *self, const char *bytes, size_t length)
{
    if (self->have + length > self->room) {
        self->room = (self->have + length) * 2;
        self->received = realloc(self->received, self->room);
        if (!self->received)
            abort();
    }
    memcpy(self->received + self->have, bytes, length);
    self->have += length;
}

void connection_take(connection *self, const piece *arrived)
{
    if (arrived->end)
        self->ended = true;
    else
        keep(self, arrived->bytes, arrived->length);
    connection_wake(self);
}

static void arrive_up(void *argument, const piece *arrived)
{
    connection *self = argument;
    if (!self->to) {
        connection_arrive_over(self, arrived);
        return;
    }
    connection_wake(self);
    if (!self->link)
        return;
    if (arrived->end) {
        hang_up(self);
        stream_end(&self->down, 0); /* for a client that only sends no more */
        return;
    }
    sim_link_hear(self->link, arrived->bytes, arrived->length);
    host_plan(self->to);
}

static void arrive_down(void *argument, const piece *arrived)
{
    connection *self = argument;
    if (self->phase == OPEN)
        connection_take(self, arrived);
}

void network_spoke(void *peer)
{
    connection *self = peer;
    self->speaks = true;
    note(self);
}

void network_hung_up(void *peer)
{
    connection *self = peer;
    self->hung_up = true;
    note(self);
}

/* --- what a server does by itself --- */

static void do_by_itself(void *argument)
{
    host *self = argument;
    self->planned_ns = WORLD_NEVER;
    if (!self->server)
        return;
    if (self->machine->stopped_until_ns <= world_now_ns())
        sim_server_run(self->server);
    host_plan(self);
}

void host_plan(host *self)
{
    if (self->called)
        self->called(self);
    int64_t due_us = self->server ? sim_server_due_us(self->server) : INT64_MAX;
    if (due_us == INT64_MAX)
        return;
    int64_t at_ns = machine_instant_ns(self->machine, CLOCK_REALTIME, due_us * 1000);
    if (at_ns < self->machine->stopped_until_ns)
        at_ns = self->machine->stopped_until_ns;
    if (at_ns <= world_now_ns())
        at_ns = world_now_ns() + 1000;
    if (at_ns >= self->planned_ns)
        return;
    self->planned_ns = at_ns;
    event_at(at_ns, do_by_itself, self);
}

/* --- connecting --- */

connection *connection_make(machine *client, host *to)
{
    connection *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->number = connection_count++;
    self->client = client;
    self->to = to;
    self->up = (stream){.arrive = arrive_up, .connection = self, .receiver = to ? to->machine : NULL};
    self->down = (stream){.arrive = arrive_down, .connection = self};
    *last_connection = self;
    last_connection = &self->next;
    return self;
}

void connection_open_link(connection *self)
{
    bool listens = self->to->server && !self->to->refuses;
    self->link = listens ? sim_link_open(self->to->server, self) : NULL;
    self->phase = self->link ? OPEN : REFUSED;
}

static void answer_connect(void *argument)
{
    connection *self = argument;
    if (self->phase != CONNECTING)
        return;
    if (!self->to)
        connection_answer_over(self);
    bool unheard = self->to ? self->to->deaf || (self->to->hidden_from >> self->client->number & 1) : self->phase == CONNECTING;
    if (unheard) { /* a SYN that is lost comes again; for a process that stands still its system answers */
        event_at(world_now_ns() + INT64_C(1000000000), answer_connect, self);
        return;
    }
    if (self->to)
        connection_open_link(self);
    connection_wake(self);
}

static bool is_loopback(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

connection *connection_open(machine *client, const struct sockaddr_in *to)
{
    connection *self = connection_make(client, host_at(to->sin_addr, ntohs(to->sin_port)));
    self->port = ntohs(to->sin_port);
    if (self->to || is_loopback(to->sin_addr))
        event_at(world_now_ns() + 2 * network.latency_ns + 1000, answer_connect, self);
    return self; /* an address without a machine never answers */
}

void connection_watch(connection *self, const void *on)
{
    self->watched_by = on;
}

int connection_state(const connection *self)
{
    static const int states[] = {
        [CONNECTING] = EINPROGRESS, [OPEN] = 0, [REFUSED] = ECONNREFUSED, [RESET] = ECONNRESET, [FINISHED] = EBADF};
    return states[self->phase];
}

/* --- the client's calls --- */

ssize_t connection_send(connection *self, const char *bytes, size_t length)
{
    if (self->phase != OPEN)
        return self->phase == CONNECTING ? -ENOTCONN : -ECONNRESET;
    if (self->up.closed || (self->local && !self->to && (!self->other || self->other->closed)))
        return -EPIPE;
    size_t room = network.window > self->up.bytes ? network.window - self->up.bytes : 0;
    if (room == 0)
        return -EAGAIN;
    if (length > room)
        length = room;
    if (length > 1 && world_happens(200))
        length = 1 + (size_t)world_chance(length);
    stream_send(&self->up, bytes, length, 0);
    return (ssize_t)length;
}

ssize_t connection_receive(connection *self, char *bytes, size_t length)
{
    if (self->phase == RESET || self->phase == REFUSED)
        return -ECONNRESET;
    if (self->have == 0)
        return self->ended ? 0 : -EAGAIN;
    if (length > self->have)
        length = self->have;
    if (length > 1 && world_happens(100))
        length = 1 + (size_t)world_chance(length);
    memcpy(bytes, self->received, length);
    self->have -= length;
    memmove(self->received, self->received + length, self->have);
    return (ssize_t)length;
}

ssize_t connection_look(const connection *self, char *bytes, size_t length)
{
    if (self->phase == RESET || self->phase == REFUSED)
        return -ECONNRESET;
    if (self->have == 0)
        return self->ended ? 0 : -EAGAIN;
    size_t most = length < self->have ? length : self->have;
    memcpy(bytes, self->received, most);
    return (ssize_t)most;
}

short connection_events(const connection *self)
{
    if (self->phase == REFUSED || self->phase == RESET)
        return POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP;
    if (self->phase != OPEN)
        return 0;
    short events = 0;
    if (self->have > 0 || self->ended)
        events |= POLLIN;
    if (self->ended)
        events |= POLLRDHUP;
    if (self->up.closed || self->up.bytes < network.window)
        events |= POLLOUT;
    if (self->ended && (self->up.closed || self->local))
        events |= POLLHUP;
    return events;
}

void connection_shutdown(connection *self, bool both)
{
    if (self->phase != OPEN)
        return;
    stream_end(&self->up, 0);
    self->ended = self->ended || both;
    connection_wake(self);
}

void connection_close(connection *self)
{
    if (self->other && self->phase == OPEN && self->have > 0) {
        connection_abort(self); /* as the system does, when something is unread */
        return;
    }
    self->closed = true;
    if (self->phase == OPEN)
        stream_end(&self->up, 0);
    if (self->phase == CONNECTING)
        self->phase = FINISHED;
    free(self->received);
    self->received = NULL;
    self->have = self->room = 0;
    stream_drop(&self->down);
}

/* --- what goes wrong --- */

connection *connection_number(int number)
{
    for (connection *self = connections; self; self = self->next) {
        if (connection_is_open(self) && number-- == 0)
            return self;
    }
    return NULL;
}

host *connection_host(const connection *self)
{
    return self->to;
}

const machine *connection_client(const connection *self)
{
    return self->client;
}

bool connection_is_open(const connection *self)
{
    return self->phase == OPEN && !self->closed;
}

void connection_reset(connection *self, bool late)
{
    if (self->phase != OPEN)
        return;
    self->phase = RESET;
    stream_drop(&self->down);
    if (late) {
        stream_end(&self->up, 0);
    } else {
        stream_drop(&self->up);
        hang_up(self);
    }
    connection_wake(self);
}

void connection_silence(connection *self, bool to_server, bool to_client, int64_t until_ns)
{
    if (to_server)
        stream_silence(&self->up, until_ns);
    if (to_client)
        stream_silence(&self->down, until_ns);
}

void network_heal(void)
{
    for (connection *self = connections; self; self = self->next) {
        stream_speak(&self->up);
        stream_speak(&self->down);
    }
}

void host_end_connections(host *of)
{
    for (connection *self = connections; self; self = self->next) {
        if (self->to != of)
            continue;
        if (self->phase == OPEN && self->up.first) {
            connection_reset(self, false);
        } else {
            stream_drop(&self->up);
            hang_up(self);
            stream_end(&self->down, 0);
        }
    }
}

void host_go_on(host *of)
{
    of->machine->stopped_until_ns = world_now_ns();
    for (connection *self = connections; self; self = self->next) {
        if (self->to == of)
            stream_speak(&self->up);
    }
    host_plan(of);
}

void host_drop_connections(host *of)
{
    for (connection *self = connections; self; self = self->next) {
        if (self->to != of)
            continue;
        connection_reset(self, false);
        hang_up(self);
        stream_drop(&self->up);
    }
}

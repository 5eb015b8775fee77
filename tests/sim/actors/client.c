/* Clients: an actor's two connections, and what goes over them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/actor.h"

#include "tests/sim/program/servers.h"
#include "tests/sim/world/finding.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MS INT64_C(1000000)
#define WORD(text) (word){text, strlen(text)}

const char *actor_name_of(const actor *self, int object)
{
    (void)self;
    return run_of->objects[object].name;
}

/* As time is kept in a network: some milliseconds apart. */
int64_t actor_wall_ms(const actor *self)
{
    return machine_clock_ns(servers_host(0)->machine, CLOCK_REALTIME, world_now_ns()) / MS + self->skew_ms;
}

/* --- what arrives --- */

static void hang_up_commands(actor *self)
{
    if (self->command_id && self->old_count < ACTOR_OLD)
        self->old[self->old_count++] = self->command_id;
    renewals_unheard(self);
    self->command_id = 0;
    self->count = 0;
    wire_close(&self->commands);
}

static void hang_up_messages(actor *self)
{
    self->listens = false;
    self->heard++; /* who waits for one looks for itself */
    wire_close(&self->messages);
}

void actor_hang_up(actor *self)
{
    hang_up_commands(self);
    hang_up_messages(self);
}

static void take_answer(actor *self, const reply *answer)
{
    if (self->count == 0 && answer->self.kind == REPLY_ERROR)
        return; /* it refuses the connection, and closes it */
    if (self->count == 0)
        finding("%s hears an answer that it did not ask for: %s", self->machine->name, answer->self.text);
    const pending of = self->awaited[self->first];
    self->first = (self->first + 1) % 64;
    self->count--;
    if (of.renews) {
        renewal_answered(self, &of, answer);
        return;
    }
    self->answer = *answer;
    self->has_answer = true;
}

static void take_message(actor *self, const reply *message)
{
    const reply_part *parts = message->parts;
    if (message->self.kind != REPLY_LIST || message->self.number < 3 || strcmp(parts[1].text, self->channel) != 0)
        return;
    if (strcmp(parts[0].text, "subscribe") == 0)
        self->listens = true;
    if (strcmp(parts[0].text, "message") == 0) {
        self->heard++;
        timeline(thread_title(self->thread), "hears %s on %s", parts[2].text, self->channel);
    }
}

/* Whether there was anything; *ended: there will be no more. */
static bool hear(actor *self, wire *from, void (*take)(actor *, const reply *), bool *ended)
{
    static reply heard; /* one thread at a time, and none gives way between hearing and taking */
    bool any = false;
    *ended = false;
    while (from->connection && wire_hear(from, &heard, ended)) {
        take(self, &heard);
        any = true;
    }
    int state = wire_state(from);
    *ended = from->connection && (*ended || (state != 0 && state != EINPROGRESS));
    return any;
}

/* A connection that has ended has said all that it will. */
static bool hear_all(actor *self)
{
    bool commands_end, messages_end;
    bool any = hear(self, &self->commands, take_answer, &commands_end);
    any |= hear(self, &self->messages, take_message, &messages_end);
    if (commands_end)
        hang_up_commands(self);
    if (messages_end)
        hang_up_messages(self);
    return any || commands_end || messages_end;
}

void actor_turn(actor *self, int64_t until_ns)
{
    int commands = wire_state(&self->commands), messages = wire_state(&self->messages);
    sim_point();
    if (self->command_id && renewal_due_ns(self) <= world_now_ns())
        renewal_ask(self);
    bool any = hear_all(self);
    if (any || wire_state(&self->commands) != commands || wire_state(&self->messages) != messages)
        return;
    int64_t due_ns = self->command_id ? renewal_due_ns(self) : WORLD_NEVER;
    thread_sleep(self, due_ns < until_ns ? due_ns : until_ns, ~0u, "an answer, or a message");
}

void actor_pause(actor *self, int64_t span_ns)
{
    int64_t until_ns = world_now_ns() + span_ns;
    while (world_now_ns() < until_ns)
        actor_turn(self, until_ns);
}

/* --- commands --- */

static bool say(actor *self, const word *words, size_t count)
{
    if (self->count == 64 || !wire_say(&self->commands, words, count))
        return false;
    self->awaited[(self->first + self->count++) % 64] = (pending){.sent_ns = world_now_ns()};
    return true;
}

/* The next answer that is the program's. */
static bool await_answer(actor *self, int64_t until_ns)
{
    while (!self->has_answer && self->commands.connection && world_now_ns() < until_ns)
        actor_turn(self, until_ns);
    return self->has_answer;
}

static bool ask_once(actor *self, const word *words, size_t count, int64_t until_ns)
{
    self->has_answer = false;
    return say(self, words, count) && await_answer(self, until_ns);
}

static bool open_wire(actor *self, wire *one, int64_t until_ns)
{
    wire_open(one, self->machine, servers_host(0), self);
    while (one->connection && wire_state(one) == EINPROGRESS && world_now_ns() < until_ns)
        actor_turn(self, until_ns);
    return wire_state(one) == 0;
}

/* What was sent on connections of before runs no more from now on. */
static bool kill_old(actor *self, int64_t until_ns)
{
    while (self->old_count > 0) {
        char id[24];
        snprintf(id, sizeof id, "%" PRId64, self->old[self->old_count - 1]);
        const word words[] = {WORD("CLIENT"), WORD("KILL"), WORD("ID"), WORD(id)};
        if (self->old[self->old_count - 1] != self->command_id &&
            (!ask_once(self, words, 4, until_ns) || self->answer.self.kind == REPLY_ERROR))
            return false;
        self->old_count--;
    }
    return true;
}

static bool connect_commands(actor *self, int64_t until_ns)
{
    const word words[] = {WORD("CLIENT"), WORD("ID")};
    if (self->commands.connection && wire_state(&self->commands) == 0 && self->command_id)
        return true;
    hang_up_commands(self);
    if (!open_wire(self, &self->commands, until_ns) || !ask_once(self, words, 2, until_ns) ||
        self->answer.self.kind != REPLY_INTEGER || !self->commands.connection)
        return false;
    self->command_id = self->answer.self.number;
    return kill_old(self, until_ns);
}

bool actor_ask(actor *self, const word *words, size_t count)
{
    int64_t until_ns = world_now_ns() + self->timeout_ms * MS;
    bool done = connect_commands(self, until_ns) && ask_once(self, words, count, until_ns);
    if (!done) {
        timeline(thread_title(self->thread), "has no answer, and hangs up");
        hang_up_commands(self);
    }
    return done && self->answer.self.kind != REPLY_ERROR;
}

/* --- messages --- */

bool actor_listen(actor *self, const char *channel)
{
    const word words[] = {WORD("SUBSCRIBE"), WORD(channel)};
    int64_t until_ns = world_now_ns() + self->timeout_ms * MS;
    if (self->listens && strcmp(channel, self->channel) == 0)
        return true;
    snprintf(self->channel, sizeof self->channel, "%s", channel);
    self->listens = false;
    bool open = wire_state(&self->messages) == 0 || open_wire(self, &self->messages, until_ns);
    if (open && wire_say(&self->messages, words, 2)) {
        while (!self->listens && self->messages.connection && world_now_ns() < until_ns)
            actor_turn(self, until_ns);
    }
    if (!self->listens)
        hang_up_messages(self);
    return self->listens;
}

void actor_unlisten(actor *self)
{
    const word words[] = {WORD("UNSUBSCRIBE"), WORD(self->channel)};
    if (self->listens && !wire_say(&self->messages, words, 2))
        hang_up_messages(self);
    self->listens = false;
    *self->channel = 0;
}

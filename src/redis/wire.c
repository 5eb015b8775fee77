/* A wire: one connection of a lane with what is queued, sent and unanswered on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/wire.h"

#include "clock.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct rli_wire {
    rli_guard *guard;
    rli_connection connection;
    int64_t guarded_until_ms;    /* when the guard ends the receive under way; RLI_NEVER: none of its */
    int64_t guarded_from_ms;     /* a receive with that much time ahead is the guard's to limit */
    rli_slot *head, *tail;   /* unanswered requests, oldest first */
    int pending;             /* how many */
    int sent;                /* how many of them have left */
    rli_buffer queued, leaving;  /* bytes not yet sent; bytes that a thread is sending */
    bool leading, sending;   /* a thread receives; a thread sends */
    bool ended;
    int users;
};

/* So many unanswered requests are a batch worth waiting for: a request that comes then is sent
 * together with others when the leader has read the next replies. */
#define BATCH_AT 4

rlock_status rli_wire_open(rli_wire **wire, const rli_settings *settings, const rli_address *address,
                           rli_guard *guard, const rli_patience *patience)
{
    rli_wire *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    fresh->guard = guard;
    fresh->guarded_until_ms = RLI_NEVER;
    fresh->guarded_from_ms = settings->timeout_ms - 1;
    fresh->users = 1;
    rlock_status status = rli_connection_open(&fresh->connection, settings, address, patience);
    if (status != RLOCK_OK)
        free(fresh);
    else
        *wire = fresh;
    return status;
}

void rli_wire_enter(rli_wire *wire)
{
    wire->users++;
}

void rli_wire_leave(rli_wire *wire)
{
    if (--wire->users > 0)
        return;
    rli_connection_close(&wire->connection);
    rli_buffer_free(&wire->queued);
    rli_buffer_free(&wire->leaving);
    free(wire);
}

uint64_t rli_wire_run(const rli_wire *wire)
{
    return wire->connection.run;
}

/* --- sending --- */

bool rli_wire_queue(rli_wire *wire, rli_slot *slot, rli_parker *parker, const rli_command *command)
{
    *slot = (rli_slot){.parker = parker, .previous = wire->tail, .since_ms = rli_now_ms()};
    if (!rli_buffer_command(&wire->queued, command))
        return false;
    if (wire->tail)
        wire->tail->next = slot;
    else
        wire->head = slot;
    wire->tail = slot;
    wire->pending++;
    return true;
}

bool rli_wire_wants_flush(const rli_wire *wire)
{
    /* A first request is sent by its thread as the leader, in lead(). */
    return wire->leading && !wire->sending && wire->sent < BATCH_AT;
}

/* What could not be sent goes back before what was queued meanwhile. */
static bool put_back(rli_wire *wire, size_t sent)
{
    rli_buffer rest = {0};
    if (!rli_buffer_append(&rest, wire->leaving.bytes + sent, wire->leaving.length - sent) ||
        !rli_buffer_append(&rest, wire->queued.bytes, wire->queued.length)) {
        rli_buffer_free(&rest);
        return false;
    }
    rli_buffer_free(&wire->queued);
    wire->queued = rest;
    return true;
}

bool rli_wire_flush(rli_wire *wire, pthread_mutex_t *mutex)
{
    bool alive = true, room = true;
    while (alive && room && wire->queued.length && !wire->sending && !wire->ended) {
        rli_buffer leaving = wire->queued;
        wire->queued = wire->leaving;
        wire->queued.length = 0;
        wire->leaving = leaving;
        wire->sent = wire->pending;
        wire->sending = true;
        pthread_mutex_unlock(mutex);
        ssize_t n = rli_connection_send(&wire->connection, leaving.bytes, leaving.length);
        pthread_mutex_lock(mutex);
        wire->sending = false;
        alive = n >= 0;
        room = alive && (size_t)n == leaving.length;
        if (alive && !room)
            alive = put_back(wire, (size_t)n);
    }
    return alive;
}

/* --- receiving --- */

/* The slot's caller may return as soon as its mutex is free. */
static void finish(rli_slot *slot, rli_outcome outcome, redisReply *reply)
{
    rli_parker *parker = slot->parker;
    if (!parker) {
        if (reply)
            freeReplyObject(reply);
        free(slot);
        return;
    }
    pthread_mutex_lock(&parker->mutex);
    slot->outcome = outcome;
    slot->reply = reply;
    slot->finished = true;
    parker->token = true;
    pthread_cond_signal(&parker->cond);
    pthread_mutex_unlock(&parker->mutex);
}

static void unlink_slot(rli_wire *wire, rli_slot *slot)
{
    if (slot->previous)
        slot->previous->next = slot->next;
    else
        wire->head = slot->next;
    if (slot->next)
        slot->next->previous = slot->previous;
    else
        wire->tail = slot->previous;
}

static rli_slot *pop(rli_wire *wire)
{
    rli_slot *slot = wire->head;
    if (!slot)
        return NULL;
    unlink_slot(wire, slot);
    wire->pending--;
    wire->sent--;
    slot->popped = true;
    return slot;
}

#define AT_ONCE 64

/* Takes the replies that have come whole; *garbled: what follows them is none. */
static int parse(rli_wire *wire, redisReply *replies[AT_ONCE], bool *garbled)
{
    int count = 0;
    while (count < AT_ONCE) {
        void *reply = NULL;
        *garbled = redisReaderGetReply(wire->connection.context->reader, &reply) != REDIS_OK;
        if (*garbled || !reply)
            break;
        replies[count++] = reply;
    }
    return count;
}

/* Pairs replies with the oldest slots and wakes their callers, without the mutex: a woken thread
 * would only run into it. */
static bool hand_over(rli_wire *wire, pthread_mutex_t *mutex, redisReply *replies[AT_ONCE], int count)
{
    rli_slot *slots[AT_ONCE];
    int paired = 0;
    pthread_mutex_lock(mutex);
    while (paired < count && (slots[paired] = pop(wire)))
        paired++;
    pthread_mutex_unlock(mutex);
    for (int i = 0; i < paired; i++)
        finish(slots[i], RLI_ANSWERED, replies[i]);
    for (int i = paired; i < count; i++)
        freeReplyObject(replies[i]); /* nobody asked: the stream is out of step, or has ended */
    return paired == count;
}

/* With the whole timeout ahead, a little lateness does not matter. Halfway through it (a follower
 * that became leader), within a short wait, or with a token to look at, only poll will do. */
static bool is_for_guard(const rli_wire *wire, int64_t deadline_ms, int wake_fd, bool room_wanted)
{
    return wire->guard && wake_fd < 0 && !room_wanted && deadline_ms - rli_now_ms() >= wire->guarded_from_ms;
}

static rli_received wait_for_bytes(rli_wire *wire, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd)
{
    bool room_wanted = wire->queued.length > 0 && !wire->sending;
    bool guarded = is_for_guard(wire, deadline_ms, wake_fd, room_wanted);
    wire->guarded_until_ms = guarded ? deadline_ms : RLI_NEVER;
    pthread_mutex_unlock(mutex);
    if (guarded && rli_guard_call(wire->guard))
        return rli_connection_block(&wire->connection);
    return rli_connection_receive(&wire->connection, deadline_ms, wake_fd, room_wanted);
}

rli_received rli_wire_receive(rli_wire *wire, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd)
{
    if (wire->ended)
        return RLI_ENDED;
    rli_received received = wait_for_bytes(wire, mutex, deadline_ms, wake_fd);
    int count = AT_ONCE;
    while (received == RLI_BYTES && count == AT_ONCE) {
        redisReply *replies[AT_ONCE];
        bool garbled;
        count = parse(wire, replies, &garbled);
        if (!hand_over(wire, mutex, replies, count) || garbled)
            received = RLI_ENDED;
    }
    pthread_mutex_lock(mutex);
    wire->guarded_until_ms = RLI_NEVER;
    return received;
}

int64_t rli_wire_silent_since(const rli_wire *wire)
{
    return wire->head ? wire->head->since_ms : RLI_NEVER;
}

bool rli_wire_is_stale(const rli_wire *wire)
{
    return !wire->pending && !wire->leading && rli_connection_is_closed(&wire->connection);
}

bool rli_wire_guarded(rli_wire *wire)
{
    if (wire->guarded_until_ms == RLI_NEVER)
        return false;
    if (rli_now_ms() >= wire->guarded_until_ms)
        shutdown(wire->connection.fd, SHUT_RDWR);
    return true;
}

/* --- who leads --- */

bool rli_wire_take_lead(rli_wire *wire, rli_slot *slot)
{
    pthread_mutex_lock(&slot->parker->mutex);
    bool handed = slot->lead, finished = slot->finished;
    slot->lead = false;
    pthread_mutex_unlock(&slot->parker->mutex);
    if (handed)
        return true;
    if (wire->leading || wire->ended || finished)
        return false;
    wire->leading = true;
    return true;
}

void rli_wire_pass_lead(rli_wire *wire, const rli_slot *own)
{
    wire->leading = false;
    for (rli_slot *slot = wire->head; slot; slot = slot->next) {
        if (slot == own || !slot->parker)
            continue;
        wire->leading = true;
        pthread_mutex_lock(&slot->parker->mutex);
        slot->lead = true;
        slot->parker->token = true;
        pthread_cond_signal(&slot->parker->cond);
        pthread_mutex_unlock(&slot->parker->mutex);
        return;
    }
}

/* --- the end of a request, and of the wire --- */

bool rli_slot_finished(rli_slot *slot)
{
    pthread_mutex_lock(&slot->parker->mutex);
    bool finished = slot->finished;
    pthread_mutex_unlock(&slot->parker->mutex);
    return finished;
}

bool rli_wire_abandon(rli_wire *wire, rli_slot *slot)
{
    if (rli_wire_take_lead(wire, slot))
        rli_wire_pass_lead(wire, slot);
    rli_slot *stand_in = malloc(sizeof *stand_in);
    if (!stand_in)
        return false;
    *stand_in = (rli_slot){.next = slot->next, .previous = slot->previous, .since_ms = slot->since_ms};
    if (stand_in->previous)
        stand_in->previous->next = stand_in;
    else
        wire->head = stand_in;
    if (stand_in->next)
        stand_in->next->previous = stand_in;
    else
        wire->tail = stand_in;
    return true;
}

void rli_wire_end(rli_wire *wire, rli_outcome outcome)
{
    if (wire->ended)
        return;
    wire->ended = true;
    shutdown(wire->connection.fd, SHUT_RDWR); /* wakes the leader; the descriptor stays its own */
    rli_slot *slot;
    while ((slot = pop(wire)))
        finish(slot, outcome, NULL);
}

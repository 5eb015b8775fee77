/* A wire: one connection of a lane with what is queued, sent and unanswered on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/wire.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "redis/pipeline/sync.h"

#include <stdlib.h>
#include <sys/socket.h>

struct rli_wire {
    rli_guard *guard;
    rli_connection connection;
    int64_t guarded_until_ms;    /* when the guard ends the receive under way; RLI_NEVER: none of its */
    int64_t guarded_from_ms;     /* a receive with that much time ahead is the guard's to limit */
    int64_t overdue_since_ms;    /* since when the request had been unanswered that the guard found overdue last */
    int64_t used_ms;             /* when a request was last queued */
    rli_slots slots;             /* unfinished requests: answered ones that wait for WAIT, sent, queued */
    rli_slot *awaited;           /* the first without its answer */
    int sent, answered;          /* how many have left; how many of these are answered */
    int posts;                   /* how many nobody waits for, and somebody is to be told of */
    uint64_t popped;             /* how many have had their outcome */
    rli_buffer queued;           /* requests of the next batch */
    rli_buffer leaving;          /* the present batch… */
    size_t left;                 /* …of which so many bytes have gone */
    rli_sync sync;
    bool to_sync;                /* the next batch is to end with WAIT */
    bool leading, sending;       /* a thread receives; a thread sends… */
    rli_turn *unsent;            /* …and these wait until their requests have left */
    bool ended;
    const char *garbled;         /* describes bytes that were no answer, static text; NULL: there were none */
    int users;                   /* wire.h */
    unsigned place;              /* of the next request's caller */
};

rlock_status rli_wire_open(rli_wire **wire, const rli_settings *settings, const rli_address *address,
                           rli_guard *guard, const atomic_int *replicas, const rli_patience *patience)
{
    rli_wire *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    fresh->guard = guard;
    fresh->guarded_until_ms = RLI_NEVER;
    fresh->overdue_since_ms = RLI_NEVER;
    fresh->guarded_from_ms = settings->timeout_ms > 1 ? settings->timeout_ms - 1 : 1; /* never for a mere look */
    fresh->sync = (rli_sync){.listed = replicas, .timeout_ms = settings->sync_timeout_ms};
    fresh->users = 1;
    fresh->place = (unsigned)rli_random_up_to(RLI_PLACES); /* not where the callers of others are */
    rlock_status status = rli_connection_open(&fresh->connection, settings, address, patience);
    fresh->used_ms = rli_now_ms();
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

bool rli_wire_is_left(const rli_wire *wire)
{
    return wire->users == 1;
}

uint64_t rli_wire_run(const rli_wire *wire)
{
    return wire->connection.run;
}

/* --- sending --- */

/* A server that is no cluster answers it with an error, which is dropped as well. */
static const rli_command asking = {.count = 1, .words = (const char *const[]){"ASKING"}, .lengths = (const size_t[]){6}};

bool rli_wire_queue(rli_wire *wire, rli_slot *slot, rli_parker *parker, const rli_command *command)
{
    size_t before = wire->queued.length;
    if ((command->asking && !rli_buffer_command(&wire->queued, &asking)) ||
        !rli_buffer_command(&wire->queued, command)) {
        wire->queued.length = before;
        return false;
    }
    wire->used_ms = rli_now_ms();
    *slot = (rli_slot){.parker = parker, .queued_ms = wire->used_ms,
                       .since_ms = wire->used_ms + rli_sync_time_ms(&wire->sync),
                       .bytes = wire->queued.length - before, .place = wire->place++, .asking = command->asking,
                       .witness = command->witness};
    rli_slots_append(&wire->slots, slot);
    if (parker) {
        rli_parker_take(parker, RLI_FINISHED | RLI_LEAD); /* of an earlier request */
        rli_wire_enter(wire);
    }
    if (!wire->awaited)
        wire->awaited = slot;
    wire->to_sync |= !command->unsynced;
    return true;
}

bool rli_wire_post(rli_wire *wire, rli_slot *slot, const rli_command *command)
{
    void (*done)(rli_slot *) = slot->done;
    bool queued = rli_wire_queue(wire, slot, NULL, command);
    slot->done = done;
    wire->posts += queued;
    return queued;
}

int rli_wire_posts(const rli_wire *wire)
{
    return wire->posts;
}

/* Takes a request back whose bytes have not left. False: they have. */
static bool take_back(rli_wire *wire, rli_slot *slot)
{
    size_t at = wire->queued.length;
    rli_slot *other = wire->slots.tail;
    for (int queued = wire->slots.count - wire->sent; queued > 0; queued--, other = other->previous) {
        at -= other->bytes;
        if (other != slot)
            continue;
        rli_buffer_cut(&wire->queued, at, slot->bytes);
        if (wire->awaited == slot)
            wire->awaited = slot->next;
        rli_slots_remove(&wire->slots, slot);
        rli_wire_leave(wire);
        return true;
    }
    return false;
}

bool rli_wire_wants_flush(const rli_wire *wire)
{
    /* A first request is sent by its thread as the leader, in lead(). What comes later gathers until it is as much as
     * what is unanswered: the server then has something to do while the next batch grows, and neither waits for the
     * other. The leader sends it earlier if replies come. */
    return wire->leading && !wire->sending && wire->slots.count - wire->sent >= wire->sent &&
           !rli_sync_is_busy(&wire->sync);
}

static bool has_rest(const rli_wire *wire)
{
    return wire->left < wire->leaving.length;
}

/* Numbers requests in the order in which they were queued. */
static uint64_t number_of_last(const rli_wire *wire)
{
    return wire->popped + (uint64_t)wire->slots.count;
}

/* Whether all bytes of the requests up to that one are the system's. */
static bool has_left(const rli_wire *wire, uint64_t number)
{
    return wire->ended || wire->popped >= number || (!has_rest(wire) && wire->popped + (uint64_t)wire->sent >= number);
}

bool rli_wire_has_unsent(const rli_wire *wire)
{
    return !wire->ended && !wire->sending && (has_rest(wire) || wire->queued.length);
}

/* A batch without requests: how many replicas there are for the next one's WAIT. */
static bool begin_count(rli_wire *wire)
{
    wire->leaving.length = wire->left = 0;
    return rli_sync_count(&wire->sync, &wire->leaving);
}

/* What is queued becomes the batch that leaves. While a WAIT is under way it gathers instead:
 * batches that pile up would each wait as long again for a slow replica. False: out of memory. */
static bool begin_batch(rli_wire *wire)
{
    if (!wire->queued.length || rli_sync_is_busy(&wire->sync))
        return true;
    if (wire->to_sync && rli_sync_is_to_count(&wire->sync))
        return begin_count(wire);
    if (wire->to_sync && !rli_sync_ask(&wire->sync, &wire->queued))
        return false;
    rli_buffer gone = wire->leaving;
    wire->leaving = wire->queued;
    wire->queued = gone;
    wire->queued.length = 0;
    wire->left = 0;
    wire->sent = wire->slots.count;
    wire->to_sync = false;
    return true;
}

bool rli_wire_flush(rli_wire *wire, pthread_mutex_t *mutex)
{
    bool alive = true, room = true;
    while (alive && room && !wire->sending && !wire->ended) {
        if (!has_rest(wire))
            alive = begin_batch(wire);
        if (!has_rest(wire))
            break;
        const char *rest = wire->leaving.bytes + wire->left;
        size_t length = wire->leaving.length - wire->left;
        wire->sending = true;
        pthread_mutex_unlock(mutex);
        ssize_t n = rli_connection_send(&wire->connection, rest, length);
        pthread_mutex_lock(mutex);
        wire->sending = false;
        alive = n >= 0;
        room = alive && (size_t)n == length;
        wire->left += alive ? (size_t)n : 0;
        rli_turn_wake_all(wire->unsent);
    }
    return alive;
}

bool rli_wire_flush_all(rli_wire *wire, pthread_mutex_t *mutex, int64_t until_ms)
{
    uint64_t number = number_of_last(wire);
    rli_parker parker;
    rli_turn turn = {.parker = &parker};
    rli_parker_init(&parker);
    rli_turn_join(&wire->unsent, &turn);
    bool alive = rli_wire_flush(wire, mutex);
    /* Another thread is sending, and goes on with what was queued meanwhile; or the leader is to, when there is room. */
    while (alive && !has_left(wire, number) && (wire->sending || wire->leading) && rli_now_ms() < until_ms) {
        pthread_mutex_unlock(mutex);
        rli_park(&parker, until_ms);
        pthread_mutex_lock(mutex);
        alive = rli_wire_flush(wire, mutex);
    }
    rli_turn_leave(&wire->unsent, &turn);
    return alive;
}

/* --- receiving --- */

#define AT_ONCE 64

/* Takes the replies that have come whole; *garbled: what follows them is none. */
static int parse(rli_wire *wire, redisReply *replies[AT_ONCE], bool *garbled)
{
    int count = 0;
    while (count < AT_ONCE) {
        redisReply *reply = NULL;
        *garbled = !rli_connection_parse(&wire->connection, &reply);
        if (*garbled || !reply)
            break;
        replies[count++] = reply;
    }
    return count;
}

static rli_slot *pop(rli_wire *wire)
{
    rli_slot *slot = rli_slots_pop(&wire->slots);
    wire->posts -= slot && slot->done;
    wire->popped += slot != NULL;
    return slot;
}

/* Takes the answered requests off the queue: their callers may go. */
static void release(rli_wire *wire, int asked, int synced, rli_slot ***done)
{
    for (; wire->answered > 0; wire->answered--) {
        rli_slot *slot = pop(wire);
        wire->sent--;
        if (slot->parker)
            rli_wire_leave(wire);
        slot->left = true;
        slot->asked = asked;
        slot->synced = synced;
        **done = slot;
        *done = &slot->next;
    }
}

/* Gives `reply` to the oldest request without one, or takes it for WAIT's, or for the replicas' number. What that completes is
 * appended to *done. False: nobody asked, the stream is out of step, or has ended. */
static bool accept_reply(rli_wire *wire, redisReply *reply, rli_slot ***done)
{
    rli_slot *slot = wire->answered < wire->sent ? wire->awaited : NULL;
    int asked = wire->sync.asked;
    if (slot && slot->asking) {
        slot->asking = false;
        freeReplyObject(reply);
    } else if (slot) {
        slot->reply = reply;
        wire->awaited = slot->next;
        wire->answered++;
        if (!asked)
            release(wire, 0, rli_sync_without(&wire->sync), done);
    } else if (asked) {
        release(wire, asked, rli_sync_hear(&wire->sync, reply), done);
        freeReplyObject(reply);
    } else if (wire->sync.counting) {
        rli_sync_hear_count(&wire->sync, reply);
        freeReplyObject(reply);
    } else {
        return false;
    }
    return true;
}

/* Pairs replies with their requests and wakes the callers together, without the mutex, which they would only run
 * into with their next requests. Mutex held on entry and return. */
static bool hand_over(rli_wire *wire, pthread_mutex_t *mutex, redisReply *replies[AT_ONCE], int count)
{
    rli_slot *done = NULL, **end = &done;
    rli_ring ring = {0};
    int paired = 0;
    while (paired < count && accept_reply(wire, replies[paired], &end))
        paired++;
    pthread_mutex_unlock(mutex);
    while (done) {
        rli_slot *slot = done;
        done = slot->next;
        rli_slot_finish(slot, RLI_ANSWERED, &ring);
    }
    rli_ring_end(&ring);
    pthread_mutex_lock(mutex);
    for (int i = paired; i < count; i++)
        freeReplyObject(replies[i]);
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
    bool room_wanted = has_rest(wire) && !wire->sending;
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
    redisReply *replies[AT_ONCE];
    bool garbled = false;
    int count = received == RLI_BYTES ? parse(wire, replies, &garbled) : 0;
    pthread_mutex_lock(mutex);
    wire->guarded_until_ms = RLI_NEVER;
    /* First the server gets something to do: those who are woken take the processor. */
    bool alive = received != RLI_BYTES || rli_wire_flush(wire, mutex);
    while (received == RLI_BYTES && (count > 0 || garbled)) {
        if (!hand_over(wire, mutex, replies, count))
            wire->garbled = "an answer that nobody asked for";
        else if (garbled)
            wire->garbled = rli_connection_trouble(&wire->connection);
        else
            count = count == AT_ONCE ? parse(wire, replies, &garbled) : 0;
        if (wire->garbled)
            received = RLI_ENDED;
    }
    if (!alive)
        received = RLI_ENDED;
    return received;
}

int64_t rli_wire_silent_since(const rli_wire *wire)
{
    return wire->slots.head ? wire->slots.head->since_ms : RLI_NEVER;
}

bool rli_wire_is_idle(const rli_wire *wire, int64_t idle_ms)
{
    return !wire->leading && rli_now_ms() - wire->used_ms >= idle_ms;
}

static bool is_awaited(const rli_wire *wire)
{
    const rli_slot *slot = wire->slots.head;
    while (slot && !slot->parker)
        slot = slot->next;
    return slot || wire->leading;
}

bool rli_wire_is_stale(const rli_wire *wire)
{
    return !is_awaited(wire) && rli_connection_is_closed(&wire->connection);
}

bool rli_wire_is_stuck(rli_wire *wire, int64_t timeout_ms)
{
    int64_t now_ms = rli_now_ms(), since_ms = rli_wire_silent_since(wire);
    bool before = wire->overdue_since_ms == since_ms;
    if (now_ms >= wire->guarded_until_ms)
        shutdown(wire->connection.fd, SHUT_RDWR);
    if (since_ms > now_ms - timeout_ms)
        return false;
    wire->overdue_since_ms = since_ms;
    return before;
}

/* --- who leads --- */

bool rli_wire_take_lead(rli_wire *wire, rli_slot *slot)
{
    if (rli_parker_take(slot->parker, RLI_LEAD))
        return true;
    return !rli_slot_finished(slot) && rli_wire_lead(wire);
}

bool rli_wire_lead(rli_wire *wire)
{
    if (wire->leading || wire->ended)
        return false;
    wire->leading = true;
    rli_wire_enter(wire);
    return true;
}

bool rli_wire_is_led(const rli_wire *wire)
{
    return wire->leading;
}

uint64_t rli_wire_last(const rli_wire *wire)
{
    return wire->sent == wire->slots.count ? number_of_last(wire) : 0;
}

bool rli_wire_is_past(const rli_wire *wire, uint64_t number)
{
    return wire->ended || wire->popped >= number;
}

void rli_wire_pass_lead(rli_wire *wire, const rli_slot *own)
{
    wire->leading = false;
    for (rli_slot *slot = wire->slots.head; slot; slot = slot->next) {
        if (slot == own || !slot->parker)
            continue;
        wire->leading = true;
        rli_unpark_with(slot->parker, RLI_LEAD);
        return;
    }
    rli_wire_leave(wire);
}

/* --- the end of a request, and of the wire --- */

bool rli_wire_abandon(rli_wire *wire, rli_slot *slot)
{
    if (rli_wire_take_lead(wire, slot))
        rli_wire_pass_lead(wire, slot);
    if (take_back(wire, slot))
        return true;
    slot->left = true;
    rli_slot *stand_in = rli_slots_replace(&wire->slots, slot);
    if (!stand_in)
        return false;
    if (wire->awaited == slot)
        wire->awaited = stand_in;
    rli_wire_leave(wire);
    return true;
}

/* Whom the lead was handed to, and who has not taken it yet, goes when he hears of the end. The lane is a user yet. */
static void leave_for(rli_wire *wire, const rli_slot *slot)
{
    bool had_lead = rli_parker_take(slot->parker, RLI_LEAD);
    wire->leading = wire->leading && !had_lead;
    wire->users -= 1 + had_lead;
}

void rli_wire_end(rli_wire *wire, rli_outcome outcome)
{
    if (wire->ended)
        return;
    wire->ended = true;
    shutdown(wire->connection.fd, SHUT_RDWR); /* wakes the leader; the descriptor stays its own */
    wire->awaited = NULL;
    rli_ring ring = {0};
    for (rli_slot *slot; (slot = pop(wire)); wire->sent--) {
        slot->left = wire->sent > 0;
        slot->garbled = outcome == RLI_BROKEN ? wire->garbled : NULL;
        if (slot->parker)
            leave_for(wire, slot);
        rli_slot_finish(slot, outcome, &ring);
    }
    rli_ring_end(&ring);
    rli_turn_wake_all(wire->unsent);
    wire->sent = wire->answered = 0;
    rli_sync_end(&wire->sync);
}

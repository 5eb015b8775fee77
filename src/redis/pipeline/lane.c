/* A lane: one connection shared by many threads. The calling threads do the I/O: the first that
 * waits leads, reading replies for all; the others sleep until their reply is handed to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline/lane.h"

#include "base/error.h"
#include "base/thread.h"
#include "redis/pipeline/wire.h"

#include <stdio.h>

void rli_lane_init(rli_lane *lane, const rli_settings *settings, const rli_address *address, rli_guard *guard)
{
    *lane = (rli_lane){.settings = settings, .address = address, .guard = guard};
    rli_mutex_init_brief(&lane->mutex);
}

void rli_lane_init_synced(rli_lane *lane, const rli_settings *settings, const rli_address *address,
                          const atomic_int *replicas)
{
    rli_lane_init(lane, settings, address, NULL);
    lane->replicas = replicas;
}

/* --- connecting: one thread does it, the others wait for what comes of it --- */

static void tell_connectors(rli_lane *lane, rlock_status status, const char *why)
{
    lane->connects++;
    lane->connect_status = status;
    snprintf(lane->connect_message, sizeof lane->connect_message, "%s", why);
    rli_turn_wake_all(lane->connectors);
}

/* The server may be another's replica by now, or another may be at its address: whoever comes from before
 * that has to look again where it is to go. */
static rlock_status dropped(const rli_lane *lane)
{
    return rli_fail(RLOCK_UNAVAILABLE, "the connection to Redis at %s was given up while it was made: the server there "
                    "changes its part", lane->address->text);
}

static rlock_status connect_lane(rli_lane *lane, const rli_operation *op, int64_t deadline_ms)
{
    rli_patience patience = {.deadline_ms = deadline_ms, .cancel = op->cancel, .closed = &op->gate->closed,
                             .drops = &lane->drops, .drops_before = atomic_load(&lane->drops)};
    lane->connecting = true;
    pthread_mutex_unlock(&lane->mutex);
    rli_wire *wire = NULL;
    rlock_status status = rli_wire_open(&wire, lane->settings, lane->address, lane->guard, lane->replicas, &patience);
    pthread_mutex_lock(&lane->mutex);
    lane->connecting = false;
    bool is_dropped = atomic_load(&lane->drops) != patience.drops_before;
    if (status == RLOCK_OK && !lane->closed && !is_dropped)
        lane->wire = wire;
    else if (status == RLOCK_OK)
        rli_wire_leave(wire);
    if (status == RLOCK_OK && lane->closed)
        status = rli_fail(RLOCK_CLOSED, "the client was closed");
    else if (is_dropped && (status == RLOCK_OK || status == RLOCK_UNAVAILABLE))
        status = dropped(lane);
    /* When only this caller's own patience ended, the others are to try for themselves. */
    bool own_end = status == RLOCK_UNAVAILABLE && (rli_cancel_fired(op->cancel) || rli_now_ms() >= op->deadline_ms);
    tell_connectors(lane, own_end ? RLOCK_OK : status, rlock_last_error());
    return status;
}

static rlock_status await_connection(rli_lane *lane, rli_operation *op, int64_t deadline_ms)
{
    unsigned before = lane->connects;
    rlock_status status = RLOCK_OK;
    rli_turn_join(&lane->connectors, &op->turn);
    while (lane->connects == before && status == RLOCK_OK) {
        pthread_mutex_unlock(&lane->mutex);
        rli_park(&op->parker, deadline_ms);
        status = rli_operation_check(op);
        if (status == RLOCK_OK && rli_now_ms() >= deadline_ms)
            status = rli_fail(RLOCK_UNAVAILABLE, "no connection to Redis at %s in the time given",
                              lane->address->text);
        pthread_mutex_lock(&lane->mutex);
    }
    rli_turn_leave(&lane->connectors, &op->turn);
    if (lane->connects == before)
        return status;
    return lane->connect_status == RLOCK_OK ? RLOCK_OK : rli_fail_as(lane->connect_status, lane->connect_message);
}

/* With the mutex held on entry and return. RLOCK_OK: lane->wire is up. */
static rlock_status connected(rli_lane *lane, rli_operation *op, int64_t timeout_ms)
{
    if (lane->wire)
        return RLOCK_OK;
    int64_t deadline_ms = rli_after_ms(timeout_ms + lane->settings->connect_timeout_ms);
    if (deadline_ms > op->deadline_ms)
        deadline_ms = op->deadline_ms;
    rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK && !lane->wire) {
        if (lane->closed)
            status = rli_fail(RLOCK_CLOSED, "the client is closed");
        else if (lane->shut)
            status = rli_fail(RLOCK_UNAVAILABLE, "Redis at %s is none of the servers any more", lane->address->text);
        else if (lane->connecting)
            status = await_connection(lane, op, deadline_ms);
        else
            status = connect_lane(lane, op, deadline_ms);
    }
    return status;
}

rlock_status rli_lane_connect(rli_lane *lane, rli_operation *op)
{
    pthread_mutex_lock(&lane->mutex);
    rlock_status status = connected(lane, op, lane->settings->timeout_ms);
    pthread_mutex_unlock(&lane->mutex);
    return status;
}

/* --- one request --- */

/* The connection of `wire` is no longer used for anything new. */
static void drop_wire(rli_lane *lane, rli_wire *wire, rli_outcome outcome)
{
    if (lane->wire == wire)
        lane->wire = NULL;
    else if (lane->dropped == wire)
        lane->dropped = NULL;
    else
        return;
    rli_wire_end(wire, outcome);
    rli_wire_leave(wire); /* the lane's own use of it */
}

static void drop_all(rli_lane *lane, rli_outcome outcome)
{
    if (lane->wire)
        drop_wire(lane, lane->wire, outcome);
    if (lane->dropped)
        drop_wire(lane, lane->dropped, outcome);
}

/* Servers close idle connections. Looking is a system call, so requests that follow one another do without. */
static void drop_stale(rli_lane *lane, int64_t idle_ms)
{
    if (lane->wire && rli_wire_is_idle(lane->wire, idle_ms) && rli_wire_is_stale(lane->wire))
        drop_wire(lane, lane->wire, RLI_BROKEN);
}

static void drop_left(rli_lane *lane)
{
    if (lane->dropped && rli_wire_is_left(lane->dropped))
        drop_wire(lane, lane->dropped, RLI_BROKEN);
}

/* The leader leads no more: what is queued is not left for the next one to find; `own` as in rli_wire_pass_lead. */
static void stop_leading(rli_lane *lane, rli_wire *wire, const rli_slot *own)
{
    if (!rli_wire_flush(wire, &lane->mutex))
        drop_wire(lane, wire, RLI_BROKEN);
    rli_wire_pass_lead(wire, own);
}

/* Reads replies for everybody until `slot` has its own, time is up, or the wire has ended. Mutex
 * held on entry and return. */
static void lead(rli_lane *lane, rli_operation *op, rli_wire *wire, rli_slot *slot, int64_t deadline_ms)
{
    while (!rli_slot_finished(slot)) {
        if (!rli_wire_flush(wire, &lane->mutex)) {
            drop_wire(lane, wire, RLI_BROKEN);
            break;
        }
        if (rli_slot_finished(slot))
            break;
        rli_received received = rli_wire_receive(wire, &lane->mutex, deadline_ms, rli_cancel_fd(op->cancel));
        if (received == RLI_ENDED) /* by the guard, when time is up */
            drop_wire(lane, wire, rli_now_ms() >= deadline_ms ? RLI_SILENT : RLI_BROKEN);
        else if (received == RLI_QUIET && (rli_now_ms() >= deadline_ms || rli_cancel_fired(op->cancel)))
            break;
    }
    stop_leading(lane, wire, slot);
}

/* Time is up, or the wait was ended, and `slot` has no reply. Mutex held. */
static void give_up(rli_lane *lane, rli_wire *wire, rli_slot *slot, bool silent)
{
    /* Nothing came for the whole timeout: nothing will for those behind it either, and what the
     * connection still holds must not be waited for by later requests. Many short waits, each of
     * them given up early, find that out together. */
    int64_t late_ms = rli_now_ms() - lane->settings->timeout_ms;
    if (silent || rli_wire_silent_since(wire) <= late_ms || !rli_wire_abandon(wire, slot))
        drop_wire(lane, wire, RLI_SILENT);
}

/* Mutex held on entry, not on return. Whoever is woken with the outcome needs neither it nor the wire: of
 * many that are woken together, none runs into another. */
static rli_outcome await(rli_lane *lane, rli_operation *op, rli_wire *wire, rli_slot *slot,
                         int64_t timeout_at_ms)
{
    bool silent = timeout_at_ms <= op->deadline_ms;
    int64_t deadline_ms = silent ? timeout_at_ms : op->deadline_ms;
    /* Where all requests have the same timeout, a leader's time is up before that of those who wait behind, and
     * that ends the wire for all, or else the guard does; they sleep without a timer. */
    bool is_bounded = silent && lane->guard;
    while (!rli_slot_finished(slot)) {
        if (rli_wire_take_lead(wire, slot))
            lead(lane, op, wire, slot, deadline_ms);
        if (rli_slot_finished(slot))
            break;
        bool over = rli_now_ms() >= deadline_ms;
        /* a reply that another thread is handing over right now comes first */
        if (!slot->popped && (over || rli_cancel_fired(op->cancel))) {
            give_up(lane, wire, slot, over && silent);
            slot->outcome = over && silent ? RLI_SILENT : RLI_GAVE_UP;
            break;
        }
        bool is_popped = slot->popped;
        pthread_mutex_unlock(&lane->mutex);
        bool is_timeless = is_popped || (is_bounded && rli_guard_call(lane->guard));
        rli_park_together(&op->parker, slot->place, is_timeless ? RLI_NEVER : deadline_ms);
        if (rli_slot_finished(slot))
            return slot->outcome;
        pthread_mutex_lock(&lane->mutex);
    }
    drop_left(lane);
    pthread_mutex_unlock(&lane->mutex);
    return slot->outcome;
}

static int64_t later(int64_t at_ms, int64_t span_ms)
{
    return span_ms < RLI_NEVER - at_ms ? at_ms + span_ms : RLI_NEVER;
}

/* The lead goes to the thread that waits for the same answer, if there is nobody else to read it. Mutex held on entry
 * and return, not while that thread wakes, which needs it at once. */
static void call_witness(rli_lane *lane, rli_wire *wire, const rli_slot *slot, rli_witness *witness, int64_t until_ms)
{
    const rli_lead lead = {.lane = lane, .wire = wire, .last = rli_wire_last(wire), .until_ms = until_ms};
    rli_ring ring = {0};
    if (!lead.last || !rli_wire_lead(wire))
        return;
    if (!witness->wake(witness, &lead, &ring)) {
        rli_wire_pass_lead(wire, slot);
        return;
    }
    pthread_mutex_unlock(&lane->mutex);
    rli_ring_end(&ring);
    pthread_mutex_lock(&lane->mutex);
}

/* One request on `wire`. Mutex held on entry, not on return. */
static rli_outcome ask(rli_lane *lane, rli_operation *op, rli_wire *wire, const rli_command *command,
                       int64_t timeout_ms, rli_answer *answer)
{
    rli_slot slot;
    if (!rli_wire_queue(wire, &slot, &op->parker, command)) {
        pthread_mutex_unlock(&lane->mutex);
        answer->status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a request");
        return RLI_UNSENT;
    }
    answer->run = rli_wire_run(wire);
    answer->sent_ms = slot.queued_ms;
    int64_t until_ms = later(slot.since_ms, timeout_ms);
    bool called = command->witness && !rli_wire_is_led(wire);
    if (called || rli_wire_wants_flush(wire)) {
        rli_wire_enter(wire);
        if (!rli_wire_flush(wire, &lane->mutex))
            drop_wire(lane, wire, RLI_BROKEN);
        else if (called && !rli_slot_finished(&slot))
            call_witness(lane, wire, &slot, command->witness, until_ms);
        rli_wire_leave(wire);
    }
    rli_outcome outcome = await(lane, op, wire, &slot, until_ms);
    answer->left = slot.left;
    answer->garbled = slot.garbled;
    if (outcome == RLI_ANSWERED) {
        answer->reply = slot.reply;
        answer->asked = slot.asked;
        answer->synced = slot.synced;
    }
    return outcome;
}

rli_outcome rli_lane_call(rli_lane *lane, rli_operation *op, const rli_command *command,
                          int64_t timeout_ms, rli_answer *answer)
{
    rli_outcome outcome = RLI_UNSENT;
    atomic_fetch_add_explicit(&lane->load, 1, memory_order_relaxed);
    pthread_mutex_lock(&lane->mutex);
    drop_stale(lane, RLI_LANE_IDLE_MS);
    *answer = (rli_answer){.status = connected(lane, op, timeout_ms)};
    if (answer->status == RLOCK_OK)
        outcome = ask(lane, op, lane->wire, command, timeout_ms, answer);
    else
        pthread_mutex_unlock(&lane->mutex);
    atomic_fetch_sub_explicit(&lane->load, 1, memory_order_relaxed);
    return outcome;
}

/* --- requests that nobody waits for --- */

/* Who waits for an answer must not wait for those to any number of others. */
#define MOST_POSTS 100

static bool has_posts(const rli_wire *wire)
{
    return rli_wire_posts(wire) > 0;
}

/* Sends and reads for everybody, without a request of its own, while `more` and until `until_ms`, unless somebody else
 * does. Mutex held on entry and return. */
static void tend(rli_lane *lane, rli_wire *wire, bool (*more)(const rli_wire *), int64_t until_ms)
{
    rli_received received = RLI_BYTES;
    if (!rli_wire_lead(wire))
        return;
    while (received != RLI_ENDED && more(wire) && (received == RLI_BYTES || rli_now_ms() < until_ms)) {
        received = rli_wire_flush(wire, &lane->mutex) ? rli_wire_receive(wire, &lane->mutex, until_ms, -1) : RLI_ENDED;
        if (received == RLI_ENDED)
            drop_wire(lane, wire, RLI_BROKEN);
    }
    stop_leading(lane, wire, NULL);
}

/* It has left on return: who posted it may be about to end the process. Where the connection has no more room, that is
 * waited for. */
static void send_post(rli_lane *lane, rli_wire *wire)
{
    int64_t until_ms = rli_after_ms(lane->settings->timeout_ms);
    if (!rli_wire_flush_all(wire, &lane->mutex, until_ms))
        drop_wire(lane, wire, RLI_BROKEN);
    else if (rli_wire_has_unsent(wire))
        tend(lane, wire, rli_wire_has_unsent, until_ms);
}

bool rli_lane_post(rli_lane *lane, const rli_command *command, rli_slot *slot, uint64_t *run)
{
    pthread_mutex_lock(&lane->mutex);
    rli_wire *wire = lane->wire;
    bool posted = wire && rli_wire_posts(wire) < MOST_POSTS && rli_wire_post(wire, slot, command);
    if (posted) {
        *run = rli_wire_run(wire);
        rli_wire_enter(wire);
        send_post(lane, wire);
        rli_wire_leave(wire);
        drop_left(lane);
    }
    pthread_mutex_unlock(&lane->mutex);
    return posted;
}

bool rli_lane_collect(rli_lane *lane, int64_t until_ms)
{
    pthread_mutex_lock(&lane->mutex);
    rli_wire *wire = lane->wire;
    if (wire && has_posts(wire)) {
        rli_wire_enter(wire);
        tend(lane, wire, has_posts, until_ms);
        if (has_posts(wire) && rli_wire_silent_since(wire) <= rli_now_ms() - lane->settings->timeout_ms)
            drop_wire(lane, wire, RLI_SILENT);
        rli_wire_leave(wire);
        drop_left(lane);
    }
    bool left = (lane->wire && has_posts(lane->wire)) || (lane->dropped && has_posts(lane->dropped));
    pthread_mutex_unlock(&lane->mutex);
    return left;
}

/* --- the lead, given --- */

void rli_lane_lead(const rli_lead *lead, const rli_operation *op, int64_t deadline_ms)
{
    rli_lane *lane = lead->lane;
    rli_wire *wire = lead->wire;
    int64_t until_ms = rli_earlier(lead->until_ms, deadline_ms);
    pthread_mutex_lock(&lane->mutex);
    while (!rli_wire_is_past(wire, lead->last) && rli_now_ms() < until_ms && !rli_cancel_fired(op->cancel)) {
        if (!rli_wire_flush(wire, &lane->mutex) ||
            rli_wire_receive(wire, &lane->mutex, until_ms, rli_cancel_fd(op->cancel)) == RLI_ENDED)
            drop_wire(lane, wire, rli_now_ms() >= lead->until_ms ? RLI_SILENT : RLI_BROKEN);
    }
    stop_leading(lane, wire, NULL);
    drop_left(lane);
    pthread_mutex_unlock(&lane->mutex);
}

/* --- what is done to its connections --- */

void rli_lane_condemn(rli_lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    drop_all(lane, RLI_SILENT);
    pthread_mutex_unlock(&lane->mutex);
}

bool rli_lane_ping_if_idle(rli_lane *lane, rli_operation *op, int64_t idle_ms)
{
    const rli_command ping = {.count = 1, .words = (const char *const[]){"PING"}, .lengths = (const size_t[]){4},
                              .unsynced = true};
    rli_answer answer = {0};
    rli_outcome outcome = RLI_ANSWERED;
    pthread_mutex_lock(&lane->mutex);
    if (lane->wire && rli_wire_is_idle(lane->wire, idle_ms))
        outcome = ask(lane, op, lane->wire, &ping, lane->settings->timeout_ms, &answer);
    else
        pthread_mutex_unlock(&lane->mutex);
    if (answer.reply)
        freeReplyObject(answer.reply); /* whatever it says, the server is there */
    return outcome != RLI_BROKEN && outcome != RLI_SILENT;
}

static void drop(rli_lane *lane, bool gently)
{
    pthread_mutex_lock(&lane->mutex);
    if (!gently || !lane->dropped) {
        atomic_fetch_add(&lane->drops, 1);
        if (lane->dropped)
            drop_wire(lane, lane->dropped, RLI_BROKEN);
        lane->dropped = lane->wire;
        lane->wire = NULL;
        if (lane->dropped && rli_wire_is_left(lane->dropped))
            drop_wire(lane, lane->dropped, RLI_BROKEN);
    }
    pthread_mutex_unlock(&lane->mutex);
}

void rli_lane_drop(rli_lane *lane)
{
    drop(lane, false);
}

void rli_lane_renew(rli_lane *lane)
{
    drop(lane, true);
}

/* Whether any request on it is unanswered. A leader that runs ends an overdue wire itself. A leader that is in a signal
 * handler does not, and the followers must not wait for it. */
static bool is_guarded(rli_lane *lane, rli_wire *wire)
{
    if (!wire || rli_wire_silent_since(wire) == RLI_NEVER)
        return false;
    if (rli_wire_is_stuck(wire, lane->settings->timeout_ms))
        drop_wire(lane, wire, RLI_SILENT);
    return true;
}

bool rli_lane_guarded(rli_lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    bool guarded = is_guarded(lane, lane->wire);
    guarded |= is_guarded(lane, lane->dropped);
    pthread_mutex_unlock(&lane->mutex);
    return guarded;
}

void rli_lane_refresh(rli_lane *lane, int64_t idle_ms)
{
    pthread_mutex_lock(&lane->mutex);
    drop_stale(lane, idle_ms);
    pthread_mutex_unlock(&lane->mutex);
}

void rli_lane_shut(rli_lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    lane->shut = true;
    atomic_fetch_add(&lane->drops, 1); /* ends connecting */
    drop_all(lane, RLI_BROKEN);
    pthread_mutex_unlock(&lane->mutex);
}

void rli_lane_reopen(rli_lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    lane->shut = false;
    pthread_mutex_unlock(&lane->mutex);
}

void rli_lane_close(rli_lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    lane->closed = true;
    drop_all(lane, RLI_GAVE_UP);
    tell_connectors(lane, RLOCK_CLOSED, "the client was closed");
    pthread_mutex_unlock(&lane->mutex);
}

void rli_lane_destroy(rli_lane *lane)
{
    drop_all(lane, RLI_GAVE_UP);
    pthread_mutex_destroy(&lane->mutex);
}

/* A wire: one connection of a lane with what is queued, sent and unanswered on it. It is guarded
 * by the lane's mutex; it ends once, for good, and the lane then makes another. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WIRE_H
#define RLI_WIRE_H

#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pipeline/guard.h"
#include "redis/pipeline/lane.h"
#include "redis/pipeline/slots.h"

typedef struct rli_wire rli_wire;

/* `guard` keeps the limits of long receives; NULL: each leader keeps its own. `replicas`: as in
 * rli_lane_init_synced; NULL: not synced. */
rlock_status rli_wire_open(rli_wire **wire, const rli_settings *settings, const rli_address *address,
                           rli_guard *guard, const atomic_int *replicas, const rli_patience *patience);
/* Users keep the wire's memory and descriptor; the last to leave frees both. They are: the opener; each
 * request on it that somebody waits for; the leader; whoever else enters. */
void rli_wire_enter(rli_wire *wire);
void rli_wire_leave(rli_wire *wire);
/* Whether nobody but the lane uses it. */
bool rli_wire_is_left(const rli_wire *wire);
uint64_t rli_wire_run(const rli_wire *wire);

/* Queues a request at the end; false: out of memory. */
bool rli_wire_queue(rli_wire *wire, rli_slot *slot, rli_parker *parker, const rli_command *command);
/* The same for one that nobody waits for; the slot's `done` is set. */
bool rli_wire_post(rli_wire *wire, rli_slot *slot, const rli_command *command);
/* How many of those have no outcome yet. */
int rli_wire_posts(const rli_wire *wire);
/* Whether bytes are left to be sent, and no thread is sending them. */
bool rli_wire_has_unsent(const rli_wire *wire);
/* Whether the request just queued should be sent by its own thread, not left to the leader. */
bool rli_wire_wants_flush(const rli_wire *wire);
/* Sends what is queued, unless somebody does so already or a WAIT is under way; releases and retakes
 * `mutex` meanwhile. False: the connection has ended, or memory. */
bool rli_wire_flush(rli_wire *wire, pthread_mutex_t *mutex);
/* The same, and waits until what is queued now has left, also by another thread: until `until_ms`, or until nobody sends
 * or leads who would send it when there is room. */
bool rli_wire_flush_all(rli_wire *wire, pthread_mutex_t *mutex, int64_t until_ms);
/* The leader: waits for bytes and hands the replies in them to their callers; releases and retakes
 * `mutex` meanwhile. RLI_ENDED: so has the connection, or the guard has ended it. */
rli_received rli_wire_receive(rli_wire *wire, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd);

/* Makes the caller of `slot` the leader if nobody leads, or if it was handed the lead. */
bool rli_wire_take_lead(rli_wire *wire, rli_slot *slot);
/* Makes a thread the leader that has no request there. False: somebody leads, or the connection has ended. */
bool rli_wire_lead(rli_wire *wire);
bool rli_wire_is_led(const rli_wire *wire);
/* The number of the last request there; 0: its bytes may not have left yet. */
uint64_t rli_wire_last(const rli_wire *wire);
/* Whether all requests up to that one have their outcome. */
bool rli_wire_is_past(const rli_wire *wire, uint64_t number);
/* Ends leading: hands it to the first caller that still waits, other than `own` (NULL: it has none). */
void rli_wire_pass_lead(rli_wire *wire, const rli_slot *own);

/* Since when the oldest request on it is unanswered, also one that nobody waits for any more. */
int64_t rli_wire_silent_since(const rli_wire *wire);
/* Whether nobody receives on it, nor has queued a request for so long. */
bool rli_wire_is_idle(const rli_wire *wire, int64_t idle_ms);
/* Whether nobody waits for anything on it and the server has closed it. */
bool rli_wire_is_stale(const rli_wire *wire);
/* The guard's look: ends the receive under way when its time is over. Whether the oldest request has been unanswered for
 * longer than timeout_ms, and was so at the look before: a leader that runs would have ended the wire by now. */
bool rli_wire_is_stuck(rli_wire *wire, int64_t timeout_ms);

/* The caller of `slot` stops waiting: its reply will be dropped, or, before its bytes have left, it is
 * taken back. Lead that it was handed goes on. False: out of memory. */
bool rli_wire_abandon(rli_wire *wire, rli_slot *slot);
/* No more use: everything under way gets `outcome`. */
void rli_wire_end(rli_wire *wire, rli_outcome outcome);

#endif

/* A wire: one connection of a pipeline with what is queued, sent and unanswered on it. It is guarded
 * by the pipeline's mutex; it ends once, for good, and the pipeline then makes another. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PIPE_H
#define RLI_PIPE_H

#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pipeline/receive_timeout.h"
#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/pending.h"

typedef struct rli_pipe rli_pipe;

/* `guard` keeps the limits of long receives; NULL: each leader keeps its own. `replicas`: as in
 * rli_pipeline_init_synced; NULL: not synced. */
rlock_status rli_pipe_open(rli_pipe **pipe, const rli_settings *settings, const rli_address *address,
                           rli_receive_timeout *receive_timeout, const atomic_int *replicas,
                           const rli_patience *patience);
/* Users keep the wire's memory and descriptor; the last to leave frees both. They are: the opener; each
 * request on it that somebody waits for; the leader; whoever else enters. */
void rli_pipe_enter(rli_pipe *pipe);
void rli_pipe_leave(rli_pipe *pipe);
/* Whether nobody but the pipeline uses it. */
bool rli_pipe_is_left(const rli_pipe *pipe);
uint64_t rli_pipe_run(const rli_pipe *pipe);

/* Queues a request at the end; false: out of memory. */
bool rli_pipe_queue(rli_pipe *pipe, rli_pending *pending, rli_parker *parker, const rli_command *command);
/* The same for one that nobody waits for; the slot's `done` is set. */
bool rli_pipe_post(rli_pipe *pipe, rli_pending *pending, const rli_command *command);
/* How many of those have no outcome yet. */
int rli_pipe_posts(const rli_pipe *pipe);
/* Whether bytes are left to be sent, and no thread is sending them. */
bool rli_pipe_has_unsent(const rli_pipe *pipe);
/* Whether the request just queued should be sent by its own thread, not left to the leader. */
bool rli_pipe_wants_flush(const rli_pipe *pipe);
/* Sends what is queued, unless somebody does so already or a WAIT is under way; releases and retakes
 * `mutex` meanwhile. False: the connection has ended, or memory. */
bool rli_pipe_flush(rli_pipe *pipe, pthread_mutex_t *mutex);
/* The same, and waits until what is queued now has left, also by another thread: until `until_ms`, or until nobody sends
 * or leads who would send it when there is room. */
bool rli_pipe_flush_all(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t until_ms);
/* The leader: waits for bytes and hands the replies in them to their callers; releases and retakes
 * `mutex` meanwhile. RLI_ENDED: so has the connection, or the guard has ended it. */
rli_received rli_pipe_receive(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd);

/* Makes the caller of `slot` the leader if nobody leads, or if it was handed the lead. */
bool rli_pipe_take_lead(rli_pipe *pipe, rli_pending *pending);
/* Makes a thread the leader that has no request there. False: somebody leads, or the connection has ended. */
bool rli_pipe_lead(rli_pipe *pipe);
bool rli_pipe_is_led(const rli_pipe *pipe);
/* The number of the last request there; 0: its bytes may not have left yet. */
uint64_t rli_pipe_last(const rli_pipe *pipe);
/* Whether all requests up to that one have their outcome. */
bool rli_pipe_is_past(const rli_pipe *pipe, uint64_t number);
/* Ends leading: hands it to the first caller that still waits, other than `own` (NULL: it has none). */
void rli_pipe_pass_lead(rli_pipe *pipe, const rli_pending *own);

/* Since when the oldest request on it is unanswered, also one that nobody waits for any more. */
int64_t rli_pipe_silent_since(const rli_pipe *pipe);
/* Whether nobody receives on it, nor has queued a request for so long. */
bool rli_pipe_is_idle(const rli_pipe *pipe, int64_t idle_ms);
/* Whether nobody waits for anything on it and the server has closed it. */
bool rli_pipe_is_stale(const rli_pipe *pipe);
/* The guard's look: ends the receive under way when its time is over. Whether the oldest request has been unanswered for
 * longer than timeout_ms, and was so at the look before: a leader that runs would have ended the wire by now. */
bool rli_pipe_is_stuck(rli_pipe *pipe, int64_t timeout_ms);

/* The caller of `slot` stops waiting: its reply will be dropped, or, before its bytes have left, it is
 * taken back. Lead that it was handed goes on. False: out of memory. */
bool rli_pipe_abandon(rli_pipe *pipe, rli_pending *pending);
/* No more use: everything under way gets `outcome`. */
void rli_pipe_end(rli_pipe *pipe, rli_outcome outcome);

#endif

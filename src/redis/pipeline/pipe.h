/* A pipe: one living connection of a pipeline, with the requests that are queued, sent and unanswered on it.
 *
 * The pipeline's mutex guards it. A pipe ends once, for good; the pipeline then opens another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PIPE_H
#define RLI_PIPE_H

#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pipeline/receive_timeout.h"
#include "redis/pipeline/pipeline.h"
#include "redis/pipeline/pending.h"

typedef struct rli_pipe rli_pipe;

/* Connects and creates the pipe; the opener holds a reference. `receive_timeout` limits long receives; NULL: each
 * leader limits its own. `replicas`: as in rli_pipeline_init_synced; NULL: no replica acknowledgement. Statuses as for
 * rli_connection_open. Called without the mutex. */
rlock_status rli_pipe_open(rli_pipe **pipe, const rli_settings *settings, const rli_address *address,
                           rli_receive_timeout *receive_timeout, const atomic_int *replicas,
                           const rli_patience *patience);
/* Take and drop a reference. The last one to go frees the memory and the descriptor. References are held by the
 * opener, by each request with a waiting caller, by the leader, and by any thread that calls rli_pipe_ref. */
void rli_pipe_ref(rli_pipe *pipe);
void rli_pipe_unref(rli_pipe *pipe);
/* Whether only the pipeline still holds a reference. */
bool rli_pipe_is_unused(const rli_pipe *pipe);
/* The server's run, as in rli_connection. */
uint64_t rli_pipe_run_id(const rli_pipe *pipe);

/* As rli_connection_share. */
rli_shared_socket *rli_pipe_share(rli_pipe *pipe);

/* Appends a request whose caller waits with `parker`, as a thread or without one, and takes a reference for it. False:
 * out of memory; nothing is queued. */
bool rli_pipe_queue(rli_pipe *pipe, rli_pending *pending, rli_parker *parker, const rli_command *command);
/* Like rli_pipe_queue, for a request that no thread waits for; pending->done must be set. */
bool rli_pipe_post(rli_pipe *pipe, rli_pending *pending, const rli_command *command);
/* The number of posted requests without an outcome. */
int rli_pipe_posts(const rli_pipe *pipe);
/* Whether any request without an outcome has no thread that waits for it: it was posted, or its caller has none, or has
 * given up. */
bool rli_pipe_is_unattended(const rli_pipe *pipe);
/* The connection's descriptor, and what poll is to tell of it while any request is unattended: POLLIN, POLLOUT; 0:
 * nothing. */
int rli_pipe_fd(const rli_pipe *pipe);
short rli_pipe_wants(const rli_pipe *pipe);
/* Has the epoll descriptor watch the connection while any request is unattended; see rli_pipeline_watch. */
void rli_pipe_watch(rli_pipe *pipe, int epoll_fd);
/* Whether bytes remain to be sent and no thread is sending them. */
bool rli_pipe_has_unsent(const rli_pipe *pipe);
/* Whether a thread that gathers requests has so many that the server should begin with them. */
bool rli_pipe_has_gathered_many(const rli_pipe *pipe);
/* Whether the calling thread should send the request that it just queued, instead of leaving it to the leader. */
bool rli_pipe_wants_flush(const rli_pipe *pipe);
/* Sends what is queued, unless another thread is sending or a WAIT is unanswered. Releases `mutex` while it sends.
 * False: the connection has ended, or memory is short: end the pipe. */
bool rli_pipe_flush(rli_pipe *pipe, pthread_mutex_t *mutex);
/* Like rli_pipe_flush, but also waits until everything queued so far has been sent, by this or another thread. It
 * stops waiting at `until_ms`, or when no thread is left that would send the rest once there is room. */
bool rli_pipe_flush_all(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t until_ms);
/* For the leader: waits for bytes and delivers the replies in them. Releases `mutex` while it waits. RLI_RECEIVED_END:
 * the connection has ended, possibly through the receive timeout. */
rli_received rli_pipe_receive(rli_pipe *pipe, pthread_mutex_t *mutex, int64_t deadline_ms, int wake_fd);

/* Makes the caller of `pending` the leader, if there is none or if the lead was handed to it. Returns whether it leads
 * now. A leader holds a reference. */
bool rli_pipe_take_lead(rli_pipe *pipe, rli_pending *pending);
/* Makes a thread without a request the leader. False: another thread leads, or the pipe has ended. */
bool rli_pipe_lead(rli_pipe *pipe);
/* Whether a thread leads. */
bool rli_pipe_is_led(const rli_pipe *pipe);
/* The number of the last request; 0: some of its bytes may still be unsent. */
uint64_t rli_pipe_last(const rli_pipe *pipe);
/* Whether all requests up to that number have their outcome, or the pipe has ended. */
bool rli_pipe_is_past(const rli_pipe *pipe, uint64_t number);
/* Ends the caller's lead: hands it on to the first waiting caller other than that of `own` (NULL: no exception). */
void rli_pipe_pass_lead(rli_pipe *pipe, const rli_pending *own);

/* When the oldest unanswered request was queued (rli_pending.since_ms), even if nobody waits for it any more;
 * RLI_NEVER: there is none. */
int64_t rli_pipe_silent_since(const rli_pipe *pipe);
/* Whether no thread receives on it and no request was queued for `idle_ms`. */
bool rli_pipe_is_idle(const rli_pipe *pipe, int64_t idle_ms);
/* Whether no thread waits on it and the server has closed the connection. */
bool rli_pipe_is_stale(const rli_pipe *pipe);
/* For the receive-timeout thread: shuts the socket down if the receive under way has exceeded its limit. Returns
 * whether the same request was overdue, unanswered for timeout_ms, both now and at the previous check: a leader that
 * is running would have ended the pipe in between. */
bool rli_pipe_is_stuck(rli_pipe *pipe, int64_t timeout_ms);

/* The caller of `pending` gives up. If no byte of it has been sent, the request is withdrawn; otherwise its reply will
 * be dropped. Hands the lead on if the caller has it. False: out of memory; the pipe must be ended. */
bool rli_pipe_abandon(rli_pipe *pipe, rli_pending *pending);
/* Ends the pipe: shuts the socket down, and every pending request gets `outcome`. */
void rli_pipe_end(rli_pipe *pipe, rli_outcome outcome);

#endif

/* A pipeline: one connection shared by many threads.
 *
 * Requests queue. The first thread that waits becomes the leader and reads the replies of all; when it has its own, it
 * hands the lead on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PIPELINE_H
#define RLI_PIPELINE_H

#include "base/operation.h"
#include "config/settings.h"
#include "net/buffer.h"
#include "net/connection.h"
#include "redis/pipeline/connecting.h"
#include "redis/pipeline/receive_timeout.h"
#include "redis/pipeline/replica_ack.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Outcome of a request. */
typedef enum rli_outcome {
    RLI_ANSWERED,     /* the reply is there; the caller frees it */
    RLI_UNSENT,       /* no byte was sent, because there was no connection; the status says why */
    RLI_DISCONNECTED, /* the connection ended before the answer: the request may have run, or may still run */
    RLI_TIMED_OUT,    /* no answer within the timeout, and the connection was dropped: the request may still run */
    /* the caller's deadline or cancel token, or closing the client, came first: the request may still run */
    RLI_ABANDONED,
    RLI_UNDER_WAY /* no outcome yet: the operation has no thread and must wait */
} rli_outcome;

typedef struct rli_answer {
    redisReply *reply;   /* with RLI_ANSWERED; else NULL */
    rlock_status status; /* with RLI_UNSENT: why */
    uint64_t run_id;     /* the server run that received the request; 0: unknown */
    int64_t sent_ms;     /* an instant just before it was sent; not set with RLI_UNSENT */
    const char *
        garbled; /* with RLI_DISCONNECTED: describes received bytes that were no valid reply, static text; NULL: none */
    bool left;   /* some bytes may have been sent; false: it has not run and never will, whatever the outcome */
    int asked;   /* with RLI_ANSWERED: number of replicas that its WAIT asked for; 0: no WAIT was sent */
    /* with RLI_ANSWERED: number of replicas that acknowledged, RLI_REPLICA_ACK_NONE or RLI_REPLICA_ACK_REFUSED */
    int synced;
} rli_answer;

struct rli_pipe;
struct rli_pending;

/* `mutex` guards all fields below it, except the atomic ones. */
typedef struct rli_pipeline {
    const rli_settings *settings;
    const rli_address *address;
    rli_receive_timeout *receive_timeout; /* NULL: none */
    const atomic_int *replicas;           /* number of replicas; NULL: no replica acknowledgement */
    pthread_mutex_t mutex;
    struct rli_pipe *pipe; /* NULL: not connected */
    /* the previous pipe: takes no new requests, ends with the present ones; NULL: none */
    struct rli_pipe *dropped;
    atomic_uint drops; /* incremented by rli_pipeline_drop and _shut; a change ends connecting */
    bool closed, shut; /* the client is closed; the server must not be used */
    uint64_t serial;   /* how many pipes it has had */
    rli_connecting connecting;
    atomic_int load; /* requests under way; read without the mutex */
} rli_pipeline;

/* The lead of a pipeline, offered to a thread that has no request there. It lasts until the present requests are
 * answered. */
typedef struct rli_lead {
    rli_pipeline *pipeline;
    struct rli_pipe *pipe; /* NULL: no lead was offered */
    uint64_t last;         /* number of the last of these requests */
    int64_t until_ms;      /* when the server has been silent for too long */
} rli_lead;

/* Another thread that waits for the answer to a request: the successor of a handoff. It is in more of a hurry than the
 * request's own thread, so it should read the answer itself instead of being woken by the thread that reads it. Both
 * functions may be called with the pipeline's mutex held, and must not block. */
typedef struct rli_witness {
    /* The request has been sent and nobody leads: offers `lead` to that thread and adds it to `batch`. False: there is
     * no such thread at present. */
    bool (*wake)(struct rli_witness *witness, const rli_lead *lead, rli_wake_batch *batch);
    /* The request has its outcome, and its own thread does not know yet. Called by any thread. Not called if the
     * request's thread gave up. */
    void (*tell)(struct rli_witness *witness, const struct rli_pending *pending);
} rli_witness;

/* Makes a pipeline that connects at the first request. `address` and `settings` must live as long. `receive_timeout`:
 * shared by the pipelines to one server; NULL: leaders limit their own receives. */
void rli_pipeline_init(rli_pipeline *pipeline, const rli_settings *settings, const rli_address *address,
                       rli_receive_timeout *receive_timeout);
/* Makes a pipeline with replica acknowledgement. One WAIT follows each batch of requests, and the requests are
 * answered when the WAIT is; requests that arrive meanwhile form the next batch. `replicas`: the number that the
 * server is said to have, changed by others at any time; with 0 or less no WAIT is sent. WAIT itself asks for the
 * number of replicas that are online. The server is asked for that number after connecting, when another number
 * acknowledged, and after a second. A slow replica slows down only this pipeline. Leaders there
 * limit their own receives: setting a timer costs little compared with the time that replicas take. */
void rli_pipeline_init_synced(rli_pipeline *pipeline, const rli_settings *settings, const rli_address *address,
                              const atomic_int *replicas);
/* For the receive-timeout thread: ends overdue receives. Returns whether any request on the pipeline is unanswered. */
bool rli_pipeline_check_timeouts(rli_pipeline *pipeline);
/* Connects if there is no connection. RLOCK_OK, or the reason: RLOCK_UNAVAILABLE, RLOCK_SERVER, RLOCK_NO_MEMORY,
 * RLOCK_CANCELLED, RLOCK_CLOSED. */
rlock_status rli_pipeline_connect(rli_pipeline *pipeline, rli_operation *op);
/* Identifies the present connection among those that the pipeline has had; 0: there is none. *run_id: as in rli_answer.
 * Requests that were sent between two calls with the same number all went over that connection. */
uint64_t rli_pipeline_serial(rli_pipeline *pipeline, uint64_t *run_id);
/* As rli_connection_share, for the present connection; NULL also if there is none. */
rli_shared_socket *rli_pipeline_share(rli_pipeline *pipeline);
/* How many attempts to connect have ended. */
unsigned rli_pipeline_connects(rli_pipeline *pipeline);
/* Sends `command` and waits for the answer, at most `timeout_ms` (plus the time that WAIT may take) and not beyond the
 * operation's deadline. Connects first if needed. Fills in *answer. Any thread. */
rli_outcome rli_pipeline_call(rli_pipeline *pipeline, rli_operation *op, const rli_command *command, int64_t timeout_ms,
                              rli_answer *answer);
/* Accepts an offered lead: reads replies for all callers until the requests that it was offered for are answered,
 * `deadline_ms`, or the operation is cancelled. Must follow each offered lead. */
void rli_pipeline_lead(const rli_lead *lead, const rli_operation *op, int64_t deadline_ms);
/* Sends `command` without waiting for the answer. On return its bytes have been sent, unless the connection had no
 * room for them within the timeout. `pending` must have `done` set and live until `done` is called: possibly before
 * this returns, and with a reply only for RLI_ANSWERED. The next waiting caller on this pipeline reads the answer, or
 * rli_pipeline_collect does. *run_id: as in rli_answer. False: nothing was sent and `done` will not be called, because
 * there is no connection now, memory is short, or too many posted requests are unanswered. Not for a pipeline with
 * replica acknowledgement. Any thread. */
bool rli_pipeline_post(rli_pipeline *pipeline, const rli_command *command, struct rli_pending *pending,
                       uint64_t *run_id);
/* Reads the answers to requests for which no thread waits that arrive until `until_ms`, unless another thread reads.
 * Drops the connection if one did not arrive within the timeout. Returns whether any are still missing. Any thread. */
bool rli_pipeline_collect(rli_pipeline *pipeline, int64_t until_ms);
/* Sends what async requests have queued, as far as the connection has room, unless another thread sends. Any thread. */
void rli_pipeline_flush(rli_pipeline *pipeline);
/* Has the epoll descriptor watch the connection for answers to such requests, and for room to send them, as long as
 * there are any. */
void rli_pipeline_watch(rli_pipeline *pipeline, int epoll_fd);
/* Ends a connection on which an answer is overdue: its requests get RLI_TIMED_OUT. */
void rli_pipeline_fail_all(rli_pipeline *pipeline);
/* Drops a connection that was unused for idle_ms and that the server has closed while nobody waited, so that no
 * request is lost on it. rli_pipeline_call does the same after RLI_PIPELINE_IDLE_MS, when the check costs little. */
#define RLI_PIPELINE_IDLE_MS 100
void rli_pipeline_refresh(rli_pipeline *pipeline, int64_t idle_ms);
/* Pings the server if the pipeline is connected and had no request for `idle_ms`, to find a dead connection before a
 * request needs it. False: it was dead and has been dropped. */
bool rli_pipeline_ping_if_idle(rli_pipeline *pipeline, rli_operation *op, int64_t idle_ms);
/* Sends later requests over a new connection, because the host name may lead elsewhere or the server's role has
 * changed. Present requests still get their answers on the old connection; a second drop ends it. A thread that is
 * connecting gets RLI_UNSENT, so that it checks again which server to use. */
void rli_pipeline_drop(rli_pipeline *pipeline);
/* Like rli_pipeline_drop, but does nothing while requests are still under way on a connection dropped before. */
void rli_pipeline_renew(rli_pipeline *pipeline);
/* Stops using the server: present requests get RLI_DISCONNECTED, later ones RLI_UNSENT, until rli_pipeline_reopen. */
void rli_pipeline_shut(rli_pipeline *pipeline);
void rli_pipeline_reopen(rli_pipeline *pipeline);
/* Ends all present requests with RLI_ABANDONED; later ones get RLI_UNSENT with RLOCK_CLOSED. */
void rli_pipeline_close(rli_pipeline *pipeline);
/* Frees everything. No other thread may still use the pipeline. */
void rli_pipeline_destroy(rli_pipeline *pipeline);

#endif

/* A pipeline: one connection shared by many threads. Requests queue; the first thread that waits
 * becomes the leader and reads the replies of all; then it hands leadership on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PIPELINE_H
#define RLI_PIPELINE_H

#include "base/operation.h"
#include "config/settings.h"
#include "net/buffer.h"
#include "redis/pipeline/receive_timeout.h"
#include "redis/pipeline/replica_ack.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What became of a request. */
typedef enum rli_outcome {
    RLI_ANSWERED, /* the reply is there, and the caller's to free */
    RLI_UNSENT,   /* no byte of it left: there was no connection; the status says why */
    RLI_BROKEN,   /* the connection ended before the answer: it may have run, or run yet */
    RLI_SILENT,   /* no answer within the timeout; the connection was given up: may run yet */
    RLI_GAVE_UP   /* the caller's deadline or token, or the client's closing, came first: may run yet */
} rli_outcome;

typedef struct rli_answer {
    redisReply *reply;   /* RLI_ANSWERED */
    rlock_status status; /* RLI_UNSENT */
    uint64_t run;        /* the server run that got the request; 0: unknown */
    int64_t sent_ms;     /* before it was sent; not RLI_UNSENT */
    const char *garbled; /* RLI_BROKEN: describes bytes that were no answer, static text; NULL: there were none */
    bool left;           /* bytes of it may have left; false: it has not run and never will, whatever the outcome */
    int asked;           /* RLI_ANSWERED: replicas that WAIT asked for; 0: none, or no WAIT was sent */
    int synced;          /* RLI_ANSWERED: how many had confirmed it, RLI_REPLICA_ACK_NONE or RLI_REPLICA_ACK_REFUSED */
} rli_answer;

struct rli_pipe;
struct rli_pending;

typedef struct rli_pipeline {
    const rli_settings *settings;
    const rli_address *address;
    rli_receive_timeout *receive_timeout; /* NULL: none */
    const atomic_int *replicas;           /* NULL: not a synced pipeline */
    pthread_mutex_t mutex;
    struct rli_pipe *pipe;         /* NULL: not connected */
    struct rli_pipe *dropped;      /* takes no more requests; ends with those under way */
    atomic_uint drops;             /* how often rli_pipeline_drop was called */
    bool connecting, closed, shut; /* a thread connects; the client is closed; the server is not to be talked to */
    rli_turn *connectors;          /* calls that wait for that thread… */
    unsigned connects;             /* …to raise this… */
    rlock_status connect_status;   /* …and leave here what came of it; RLOCK_OK: look again */
    char connect_message[256];
    atomic_int load; /* requests under way; read without the mutex */
} rli_pipeline;

/* The lead of a pipeline for a thread that has no request there, until what is under way now is answered. */
typedef struct rli_lead {
    rli_pipeline *pipeline;
    struct rli_pipe *pipe; /* NULL: it was not given */
    uint64_t last;         /* the last of what is under way */
    int64_t until_ms;      /* when the server has been silent for too long */
} rli_lead;

/* Another thread that waits for the answer to a request: of two that sleep, it is the one to be in a hurry. It had
 * better read the answer itself than be woken by who has read it. Both functions are called with the pipeline's mutex
 * held, perhaps; they do not block. */
typedef struct rli_witness {
    /* The request is on its way, and nobody leads: gives the lead to that thread, which wakes with the ring. False: there
     * is no such thread just now. */
    bool (*wake)(struct rli_witness *witness, const rli_lead *lead, rli_wake_batch *batch);
    /* The request has its outcome, and its own thread does not know of it yet. By any thread. Not called for a request
     * whose thread gave up. */
    void (*tell)(struct rli_witness *witness, const struct rli_pending *pending);
} rli_witness;

void rli_pipeline_init(rli_pipeline *pipeline, const rli_settings *settings, const rli_address *address,
                       rli_receive_timeout *receive_timeout);
/* A pipeline that has the server's replicas confirm what is written on it. A request is answered when
 * the WAIT behind its batch is; requests that come meanwhile are the next batch. `replicas`: how many
 * the server is said to have; 0 or less: no WAIT is sent. Else WAIT is for those that it has in step: it is asked how
 * many that are when a connection is made, when another number confirmed, and after a second. A slow replica slows this pipeline down, no other; it
 * has no guard, since replicas take longer than a timer does. */
void rli_pipeline_init_synced(rli_pipeline *pipeline, const rli_settings *settings, const rli_address *address,
                              const atomic_int *replicas);
/* For the guard: ends waits that are overdue. Whether any request on the pipeline is unanswered. */
bool rli_pipeline_guarded(rli_pipeline *pipeline);
/* Connects if it is not. RLOCK_OK or why not. */
rlock_status rli_pipeline_connect(rli_pipeline *pipeline, rli_operation *op);
/* Sends `command` and waits for the answer, for `timeout_ms` at most (on a synced pipeline, longer by what
 * WAIT may take) and not beyond the caller's deadline. Connects first when needed. Any thread. */
rli_outcome rli_pipeline_call(rli_pipeline *pipeline, rli_operation *op, const rli_command *command, int64_t timeout_ms,
                              rli_answer *answer);
/* Takes a lead that was given: reads answers, for everybody, until `deadline_ms` at most, or the caller is cancelled. */
void rli_pipeline_lead(const rli_lead *lead, const rli_operation *op, int64_t deadline_ms);
/* Sends `command` and does not wait for the answer; its bytes have left on return, unless the connection had no room for
 * them within the timeout. `slot` has its `done`, which is told, perhaps before the return, and with no
 * reply unless RLI_ANSWERED. The answer is read by whoever waits there next for his own, or by rli_pipeline_collect.
 * *run: as in rli_answer. False: nothing was sent, nobody will be told: there is no connection now, no memory, or too
 * much of that sort that is not answered yet.
 * Not on a synced pipeline. Any thread. */
bool rli_pipeline_post(rli_pipeline *pipeline, const rli_command *command, struct rli_pending *pending, uint64_t *run);
/* Reads the answers to what was posted, if nobody else does, those that come until `until_ms`; gives the connection
 * up when one has not come within the timeout. Whether there are such left. Any thread. */
bool rli_pipeline_collect(rli_pipeline *pipeline, int64_t until_ms);
/* Gives up a connection on which no answer came in time: what is under way on it ends with RLI_SILENT. */
void rli_pipeline_condemn(rli_pipeline *pipeline);
/* Drops a connection that was not used for idle_ms and that the server has closed while nobody waited for anything, so
 * that no request is lost on it. rli_pipeline_call does so itself where that costs nothing. */
#define RLI_PIPELINE_IDLE_MS 100
void rli_pipeline_refresh(rli_pipeline *pipeline, int64_t idle_ms);
/* Pings the server when the pipeline is connected and had no request for `idle_ms`, so that a connection
 * that is dead without a sign is found before a request needs it. False: it was, and is dropped. */
bool rli_pipeline_ping_if_idle(rli_pipeline *pipeline, rli_operation *op, int64_t idle_ms);
/* From now on, requests go over a new connection: the name of the server may lead elsewhere, or its role
 * has changed. What is under way is still waited for on the old one; a second drop ends that. Who is
 * connecting gets RLI_UNSENT, to see for itself where it should go now. */
void rli_pipeline_drop(rli_pipeline *pipeline);
/* The same, unless that would end what is under way on the one dropped before. */
void rli_pipeline_renew(rli_pipeline *pipeline);
/* Nobody is to talk to that server any more: what is under way ends unanswered, what comes later gets RLI_UNSENT. */
void rli_pipeline_shut(rli_pipeline *pipeline);
void rli_pipeline_reopen(rli_pipeline *pipeline);
/* Ends all that is under way, and what comes later, with RLI_GAVE_UP. */
void rli_pipeline_close(rli_pipeline *pipeline);
/* No call may be under way any more. */
void rli_pipeline_destroy(rli_pipeline *pipeline);

#endif

/* A call: one script, sent until it is answered or its attempts are used up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CALL_H
#define RLI_CALL_H

#include "base/operation.h"
#include "net/buffer.h"
#include "net/reply.h"
#include "redis/pipeline/async_request.h"
#include "redis/pipeline/pipeline.h"
#include "redis/script.h"
#include "redis/topology/route.h"
#include "redis/topology/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLI_CALL_INLINE 16

/* How far a call is. call_run.c has the table of the legal transitions. */
typedef enum rli_call_stage {
    RLI_CALL_NEW,     /* it has not been run */
    RLI_CALL_BY_HASH, /* an attempt is under way, and its request names the script by its hash */
    RLI_CALL_BY_TEXT, /* an attempt is under way, and its request carries the script's text */
    RLI_CALL_TRIED,   /* the attempt has its outcome */
    RLI_CALL_PAUSING, /* it waits until another attempt makes sense */
    RLI_CALL_ENDED,
    RLI_CALL_STAGES
} rli_call_stage;

/* A pause between two attempts. */
typedef struct rli_pause {
    int64_t until_ms;
    unsigned version; /* of the topology; the pause ends when that changes… */
    bool whole;       /* …unless this is set */
} rli_pause;

/* What call_run.c remembers of a call under way: its latest attempt, and what is known of earlier ones. */
typedef struct rli_call_progress {
    rli_call_stage stage;
    unsigned slot;
    rli_operation *op;
    rli_topology *topology;
    rli_route *route, any;
    /* referenced; the node to send the next attempt to instead of the slot's owner; NULL: none */
    rli_node *redirected;
    int redirects;         /* followed since the latest pause */
    uint64_t first_run_id; /* server run that got the first unanswered attempt; 0: none, or unknown */
    int done;              /* failed attempts */
    rli_pause pause;
    int64_t began_ms; /* when the latest attempt began */
    rli_node *node;   /* referenced; the node of the latest attempt; NULL: no node serves the slot */
    rli_pipeline *pipeline;
    unsigned drops; /* pipeline->drops when the latest attempt began */
    bool asking;    /* the latest attempt went to a node that an ASK redirect named */
    char *text;     /* the script's text, while RLI_CALL_BY_TEXT */
    size_t length;
    rli_outcome outcome;
    rli_answer answer;
    rli_reply_action action; /* what the answer calls for, if it is an error */
    char *refusal;           /* what the latest attempt that was refused was told; NULL: none was, or memory is short */
    rli_async_request request;
} rli_call_progress;

/* Begin with rli_call_script, set the options below, add the arguments, run or post it, then end with
 * rli_call_clear. */
typedef struct rli_call {
    const rli_script *script;
    /* the script must not run twice: never send it again once some of its bytes may have been sent */
    bool once;
    bool background;             /* use the node's background connection, not those of waiting callers */
    bool synced;                 /* replicas must acknowledge its changes, if there are any replicas */
    struct rli_witness *witness; /* another thread that waits for the answer; NULL: none */
    /* send the script's text at once: there may be no time to find out that the server does not know it */
    bool by_text;
    /* Not sent to a server of another run: RLOCK_UNKNOWN then. 0: to any. */
    uint64_t only_run_id;
    bool learns;        /* the script may be posted later, so note which server knows it */
    int64_t timeout_ms; /* for one attempt; 0: the configured timeout */
    int attempts;       /* 0: the configured number */

    rli_node *node; /* reference kept for rli_call_post; NULL: none */
    rli_call_progress progress;

    /* Results of rli_call_run. */
    redisReply *reply; /* set with RLOCK_OK; rli_call_clear frees it */
    /* An instant just before the first attempt that the server may have run; without unanswered attempts, before the
     * answered one. */
    int64_t sent_ms;
    int64_t failed_ms; /* when the first failed attempt began; RLI_NEVER: none failed */
    int unanswered;    /* number of unanswered attempts, which may have run or may still run */
    bool broke_off; /* in at least one attempt the server ended the script in the middle; what it had written remains */
    rli_refusal refusal; /* of the latest attempt to which the server answered with an error */
    bool unconfirmed;    /* `synced`, but no replica acknowledged */
    bool same_run;       /* the unanswered attempts went to the same server run as the answered one */
    /* the server run that answered; on failure, the one that got the first unanswered attempt; 0: unknown */
    uint64_t run_id;

    /* the words of the EVALSHA command */
    const char *key; /* the first key: it decides which server runs the script */
    size_t key_length;
    size_t count, capacity;
    const char **words;
    size_t *lengths;
    int number_count;
    bool no_memory;
    const char *inline_words[RLI_CALL_INLINE + 2];
    size_t inline_lengths[RLI_CALL_INLINE + 2];
    char numbers[8][RLI_DECIMAL];
} rli_call;

/* Starts a call of a script with `keys` keys, which must be the first words added. The words themselves are not copied
 * and must live until rli_call_clear; numbers are copied, at most 8 of them. If memory is short, the call fails when
 * it is run. */
void rli_call_script(rli_call *call, const rli_script *script, int keys);
/* Append one argument: bytes, a 0-terminated text, or a number in decimal. */
void rli_call_add(rli_call *call, const char *word, size_t length);
void rli_call_add_text(rli_call *call, const char *text);
void rli_call_add_number(rli_call *call, int64_t number);

/* Sets the first two words: EVALSHA or EVAL, and the script's hash or text. */
void rli_call_name_script(rli_call *call, const char *command, const char *script, size_t length);

/* Runs the script on the server of its first key. RLI_WAITING: the operation has no thread and must wait; call it again
 * with the same arguments when it was woken; `call` must stay where it is meanwhile. `route`: of that key's name; NULL:
 * any pipeline. RLOCK_OK: call->reply is set and no error. RLOCK_SERVER: the server refused. RLOCK_UNAVAILABLE: the
 * attempts, or the operation's time for them, are used up. RLOCK_UNKNOWN: `once`, and it was sent but not answered.
 * RLOCK_CANCELLED, RLOCK_CLOSED, RLOCK_NO_MEMORY. */
rlock_status rli_call_run(rli_call *call, rli_topology *topology, rli_operation *op, rli_route *route);
/* The pipeline on which rli_call_post may send the call. Keeps a reference to the node until rli_call_clear, so that
 * the pipeline stays that server's. NULL: use rli_call_run, because replicas must acknowledge, the server may not know
 * the script, memory is short, or no server is known. Does not block. */
rli_pipeline *rli_call_pipeline_to_post(rli_call *call, rli_topology *topology, rli_route *route);
/* Sends the call without waiting for the answer; see rli_pipeline_post. `slot` is the pending request. */
bool rli_call_post(rli_call *call, const rli_topology *topology, rli_pipeline *pipeline, struct rli_pending *slot,
                   uint64_t *run_id);
/* A pause as rli_call_run makes it before it sends again, after `done` attempts: until the time is over, the topology
 * changes, or the operation's time for attempts ends. rli_pause_wait: RLOCK_OK, RLOCK_CANCELLED, RLOCK_CLOSED;
 * RLI_WAITING: call it again. */
rli_pause rli_pause_begin(const rli_topology *topology, const rli_operation *op, int done);
rlock_status rli_pause_wait(const rli_pause *pause, rli_topology *topology, rli_operation *op);
/* Frees the reply and the words, and drops the reference to the node. */
void rli_call_clear(rli_call *call);

#endif

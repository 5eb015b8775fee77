/* A call: one script, asked until it is answered or its attempts are used up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CALL_H
#define RLI_CALL_H

#include "base/operation.h"
#include "net/buffer.h"
#include "redis/pipeline/pipeline.h"
#include "redis/script.h"
#include "redis/topology/route.h"
#include "redis/topology/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLI_CALL_INLINE 16

typedef struct rli_call {
    const rli_script *script;
    bool once;                   /* must not run twice: never sent again once its bytes may have left */
    bool background;             /* on the connection that callers do not use */
    bool synced;                 /* replicas have to confirm what it changes, where there are any */
    struct rli_witness *witness; /* who else waits for the answer; NULL: nobody */
    bool whole;         /* sends the script itself at once: there may be no time to hear that the server lacks it */
    bool learns;        /* its script may be posted later: notes which server knows it */
    int64_t timeout_ms; /* for one attempt; 0: as configured */
    int attempts;       /* 0: as configured */

    rli_node *node; /* held for rli_call_post; NULL: none */

    /* filled by running it */
    redisReply *reply; /* on RLOCK_OK; freed by rli_call_clear */
    int64_t sent_ms;   /* before the first attempt that the server may have got unanswered, or the answered one */
    int64_t failed_ms; /* when the first attempt that failed began; RLI_NEVER: none did */
    int unanswered;    /* attempts that may have run, or may run yet, without our hearing */
    bool broke_off; /* the server ended the script in its middle, in an attempt at least: what it had written stands */
    bool unconfirmed; /* `synced`, and not one replica confirmed it */
    bool same_run;    /* those went to the same run of the server as the one answered */
    uint64_t run;     /* of the server: that answered; on failure that got the first of those; 0: unknown */

    /* the words of EVALSHA */
    const char *key; /* the first: says who serves it */
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

/* Starts a script call on `keys` keys, which are the first words added. The words added must live until the call is cleared; numbers are copied (8 of them). */
void rli_call_script(rli_call *call, const rli_script *script, int keys);
void rli_call_add(rli_call *call, const char *word, size_t length);
void rli_call_add_text(rli_call *call, const char *text);
void rli_call_add_number(rli_call *call, int64_t number);

/* Runs it where its first key is served. `route`: of that key's name; NULL: any pipeline will do.
 * RLOCK_OK: call->reply is no error. RLOCK_SERVER: refused. RLOCK_UNAVAILABLE: attempts, or the
 * caller's time for them, used up. RLOCK_UNKNOWN: `once`, sent, not answered. RLOCK_CANCELLED,
 * RLOCK_CLOSED, RLOCK_NO_MEMORY. */
rlock_status rli_call_run(rli_call *call, rli_topology *topology, rli_operation *op, rli_route *route);
/* The pipeline by which it can be sent without waiting for the answer. NULL: it is to be run, because replicas have to
 * confirm it, or it is not known that the server knows the script. Does not block. The pipeline is one of that server until the call is cleared. */
rli_pipeline *rli_call_pipeline_to_post(rli_call *call, rli_topology *topology, rli_route *route);
/* Sends it there; as rli_pipeline_post. */
bool rli_call_post(rli_call *call, const rli_topology *topology, rli_pipeline *pipeline, struct rli_pending *slot,
                   uint64_t *run);
/* Pauses as it does itself before it asks again, after `done` attempts; until the topology changes, or the
 * caller's deadline. RLOCK_OK, RLOCK_CANCELLED, RLOCK_CLOSED. */
rlock_status rli_call_rest(rli_topology *topology, rli_operation *op, int done);
void rli_call_clear(rli_call *call);

#endif

/* Object call: one request to a semaphore or latch, described once for its blocking and its async call. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OBJECT_CALL_H
#define RLI_OBJECT_CALL_H

#include "engine/permit_id.h"
#include "locks/object.h"
#include "redis/call.h"

#include <rlock/async.h>
#include <stdbool.h>

/* One request's arguments. It may be copied, unlike an rli_call, which must not move once it has begun. */
typedef struct rli_object_call {
    rli_object *object;
    const rli_script *script;
    /* Builds the request. Words that it adds live as long as `asked`. */
    void (*put)(rli_call *call, const struct rli_object_call *asked);
    /* Reads the reply. Sets *answer only with RLOCK_OK. */
    rlock_status (*read)(const struct rli_object_call *asked, const rli_call *call, int64_t *answer);
    bool once, synced; /* as in rli_call */
    bool publishes;    /* the script takes the channel */
    bool nothing;      /* there is nothing to request: the answer is 0 */
    int64_t numbers[3];
    int number_count;
    char id[RLI_PERMIT_ID]; /* of a call on one permit */
    /* On the heap, owned; else NULL. Of a call on many permits: RLI_PERMIT_ID bytes each; of a renaming: the new
     * names. */
    char *ids;
} rli_object_call;

/* Adds the numbers to the request. */
void rli_object_put_numbers(rli_call *call, const rli_object_call *asked);

/* Read an integer, and give
 * ..._number: itself;
 * ..._int: itself, if int holds it (else RLOCK_SERVER);
 * ..._flag: whether it is 1;
 * ..._nothing: nothing. */
rlock_status rli_object_read_number(const rli_object_call *asked, const rli_call *call, int64_t *answer);
rlock_status rli_object_read_int(const rli_object_call *asked, const rli_call *call, int64_t *answer);
rlock_status rli_object_read_flag(const rli_object_call *asked, const rli_call *call, int64_t *answer);
rlock_status rli_object_read_nothing(const rli_object_call *asked, const rli_call *call, int64_t *answer);
/* Checks that a number of permits fits in an int. RLOCK_OK, RLOCK_SERVER. */
rlock_status rli_object_check_int(const rli_object *object, int64_t number);

/* Run the request with the configured attempts, and free asked->ids. `answer` may be NULL. Return what rli_call_run and
 * `read` return; RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_object_call_run(rli_object_call *asked, int64_t *answer);
rlock_status rli_object_call_run_int(rli_object_call *asked, int *answer);
rlock_status rli_object_call_run_flag(rli_object_call *asked, bool *answer);

/* Begins the request as an async call, whose end needs no memory that is not allocated now. Takes over asked->ids, also
 * on failure. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_object_call_async(rli_object_call *asked, rlock_result_fn *fn, void *arg);

#endif

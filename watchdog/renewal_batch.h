/* Renewal batches: batches of renewals that are under way, several at once, and to several servers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEWAL_BATCH_H
#define RLI_RENEWAL_BATCH_H

#include "redis/call.h"
#include "redis/pipeline/pending.h"
#include "watchdog/watchdog.h"

#include <stdbool.h>
#include <stdint.h>

struct rli_session;

typedef struct rli_renewal_batch {
    rli_pending pending;                       /* first: whoever reads the answer hands it back */
    struct rli_renewal_batch *landed;          /* the next one that is back */
    struct rli_renewal_batch *next, *previous; /* in the order in which they left */
    rli_watchdog *watchdog;
    rli_node *node; /* held; who is asked; NULL: nobody serves the slot */
    int64_t sent_ms;
    int64_t ends_ms; /* the first deadline of its sessions */
    bool lengthens;  /* else it only looks that the locks' keys stand as long as the holds */
    int count;
    struct rli_session *sessions[]; /* marked as being renewed */
} rli_renewal_batch;

/* Whether so much is under way to the server that more would keep its other clients waiting; `late`: they have to. */
bool rli_renewal_batch_is_full(const rli_node *node, bool late);
/* Sends it, to be found among those that are back. False: there is no connection now, or no memory. */
bool rli_renewal_batch_send(rli_renewal_batch *batch, rli_call *call);
/* One that is back, with its outcome; the caller frees its reply. NULL: none. */
rli_renewal_batch *rli_renewal_batch_land(rli_watchdog *watchdog);
/* Reads answers until there are none to come, `until_ms`, or some ms have passed: what else is due may have changed. */
void rli_renewal_batch_await(rli_watchdog *watchdog, int64_t until_ms);
/* Those that left before `since_ms` are waited for no longer: their connections are given up. */
void rli_renewal_batch_give_up(rli_watchdog *watchdog, int64_t since_ms);
/* Frees those that nobody took up; no call may be under way any more. */
void rli_renewal_batchs_destroy(rli_renewal_batchs *batches);

#endif

/* Renewal batch: renewals of several holds, or looks at them, in one request under way; there may be several batches,
 * to several servers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEWAL_BATCH_H
#define RLI_RENEWAL_BATCH_H

#include "redis/call.h"
#include "redis/pipeline/pending.h"
#include "watchdog/watchdog.h"

#include <stdbool.h>
#include <stdint.h>

struct rli_session;
struct rli_permit_batch;

typedef struct rli_renewal_batch {
    rli_pending pending;                       /* the request; must be first */
    struct rli_renewal_batch *landed;          /* the next one in the list of those that are back */
    struct rli_renewal_batch *next, *previous; /* in the order of sending */
    rli_watchdog *watchdog;
    rli_node *node; /* where it is sent, held; NULL: no node serves the slot */
    int64_t sent_ms;
    int64_t ends_ms; /* the first deadline of its sessions */
    /* It extends the holds. Otherwise it only ensures that the locks' keys last as long as the holds. */
    bool lengthens;
    bool looks; /* it renews nothing but reads the holds (look.h) */
    bool alarm; /* a look that a report of the name's key caused */
    /* It renews permits (renew_permits.h), `count` of them, and no sessions. NULL: it does not. Owned. */
    struct rli_permit_batch *permits;
    bool splits;         /* its sessions are renewed alone: one of the keys may be why it was not renewed as a whole */
    rli_refusal refused; /* as a whole, perhaps because of one of its keys */
    bool judged;         /* a look that counts as a false alarm if it finds nothing */
    int count;
    struct rli_session *sessions[]; /* marked as `renewing`, or as `looking` */
} rli_renewal_batch;

/* Allocates a batch and takes over the caller's hold on the node. NULL: out of memory. */
rli_renewal_batch *rli_renewal_batch_make(rli_watchdog *watchdog, rli_node *node);

/* The slot of the session's key. */
unsigned rli_renewal_slot(const rli_watchdog *watchdog, const struct rli_session *session);

/* Returns whether so much is under way to the server that more would keep its other clients waiting. late: renewals
 * are late, so other clients must wait longer. */
bool rli_renewal_batch_is_full(const rli_node *node, bool late);
/* Sends the batch. rli_renewal_batch_next_answered returns it when it has its outcome. Returns false when there is no
 * connection now, or no memory. */
bool rli_renewal_batch_send(rli_renewal_batch *batch, rli_call *call);
/* Returns a batch that has its outcome; the caller frees its reply. NULL: there is none. */
rli_renewal_batch *rli_renewal_batch_next_answered(rli_watchdog *watchdog);
/* Reads answers until no more are to come, until `until_ms`, or for some ms, since what else is due may have
 * changed. */
void rli_renewal_batch_await(rli_watchdog *watchdog, int64_t until_ms);
/* Gives up the connections of the batches that were sent no later than `since_ms`. */
void rli_renewal_batch_give_up(rli_watchdog *watchdog, int64_t since_ms);
/* Frees the batches that nobody took up. No call may be under way any more. */
void rli_renewal_batches_destroy(rli_renewal_batches *batches);

#endif

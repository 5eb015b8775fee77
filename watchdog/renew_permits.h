/* Renew permits: extends the leases of permits, in batches like those of holds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RENEW_PERMITS_H
#define RLI_RENEW_PERMITS_H

#include "watchdog/renewal_batch.h"
#include "watchdog/watchdog.h"

/* The permits of a batch, which has no sessions then. */
typedef struct rli_permit_batch {
    rli_names names; /* of the semaphore */
    char ids[];
} rli_permit_batch;

/* Declares the permit lost that is due first, if its deadline has passed; else sends a batch of those of its semaphore
 * that are due; or puts it off when its server is silent. Engine's mutex held on entry and return, not meanwhile. */
void rli_renew_permits_due(rli_watchdog *watchdog);
/* Writes the request of a batch of permits. */
void rli_renew_permits_word(const rli_renewal_batch *batch, rli_call *call);
/* Applies the answers; NULL: there are none, and they are renewed again at again_ms. Mutex held. */
void rli_renew_permits_apply(const rli_renewal_batch *batch, const redisReply *answers, int64_t sent_ms,
                             int64_t again_ms);
void rli_permit_batch_free(rli_permit_batch *batch);

#endif

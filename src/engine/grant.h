/* Grant: what becomes of an attempt when the lock is granted to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_GRANT_H
#define RLI_GRANT_H

#include "engine/attempt.h"

/* A grant. */
typedef struct rli_grant_info {
    const rli_acquire_result *verdict;
    int64_t lease_ms; /* the lease that was requested */
    int64_t sent_ms;  /* when the request was sent, at the latest */
    /* An earlier, unanswered request may have been granted already. */
    bool repeated;
    bool handed;  /* it came by a handoff, in another session's release */
    bool offered; /* it was told of an offer, which ends lease_ms after sent_ms; the watchdog makes the lease of it */
} rli_grant_info;

/* Applies a grant of one more hold to the session. Mutex held.
 * RLOCK_OK: held. RLOCK_TIMEOUT: the lease has ended already; the caller asks again. RLOCK_LOST: the session or its
 * outer holds were lost meanwhile. */
rlock_status rli_grant_apply(rli_attempt *attempt, const rli_grant_info *gain);

/* Declares lost what the owner held before, and returns RLOCK_LOST. Mutex held. */
rlock_status rli_grant_outer_lost(rli_attempt *attempt);

#endif

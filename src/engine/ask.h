/* Ask: one acquire request to the server, and what its answer means. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ASK_H
#define RLI_ASK_H

#include "engine/attempt.h"

/* Asks the server once for one more hold; the `ask` of an attempt's wait loop. The mutex must not be held.
 * RLI_WAITING: call it again.
 * RLOCK_OK: granted or handed over; or the attempt moved to another channel (attempt->moved).
 * RLOCK_TIMEOUT: denied; *again_ms as in rli_wait. Any other status ends the wait. */
rlock_status rli_ask(rli_wait *wait, int64_t *again_ms);

/* Returns words for an error message on why the server denied a lock of this kind. Where waiters queue on the
 * server, a free lock is denied to those behind the head; an owner's own read hold keeps it from writing. */
const char *rli_ask_denial_reason(const rli_kind *kind);

/* Storage for the wire owners that a request names. */
typedef struct rli_ask_owners {
    char own[RLI_OWNER_TEXT], replaced[RLI_OWNER_TEXT], writer[RLI_OWNER_TEXT];
} rli_ask_owners;

/* Returns what the attempt's next request says, with the wire owners in `texts`. Mutex held, in the session's turn. */
rli_request rli_ask_request(rli_attempt *attempt, rli_ask_owners *texts, int64_t lease_ms);

#endif

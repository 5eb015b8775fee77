/* Patience: how long a thread waits while it connects, and the events that end the wait earlier. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PATIENCE_H
#define RLI_PATIENCE_H

#include "base/cancel.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct rli_patience {
    /* The wait ends at this instant, or earlier when one of the following happens. */
    int64_t deadline_ms;
    rlock_cancel *cancel;      /* the token fires; NULL: no token */
    const atomic_bool *closed; /* becomes true; checked every 20 ms; never NULL */
    const atomic_uint *drops;  /* changes from drops_before; checked every 20 ms; NULL: does not apply */
    unsigned drops_before;
} rli_patience;

/* Whether the wait is over for any of these reasons. */
bool rli_patience_ended(const rli_patience *patience);
/* Waits until `fd` is ready for `events`. False: patience has ended. */
bool rli_patience_poll(const rli_patience *patience, int fd, short events);
/* Waits until any of `count` descriptors is ready, until `until_ms` at most. `polled` must have room for one more
 * entry at its end. False: patience or time has ended. */
bool rli_patience_poll_any(const rli_patience *patience, struct pollfd *polled, nfds_t count, int64_t until_ms);
/* Sleeps until unparked, at most 20 ms. Then check rli_patience_ended. */
void rli_patience_park(const rli_patience *patience, rli_parker *parker);

#endif

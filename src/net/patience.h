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
    int64_t deadline_ms;
    rlock_cancel *cancel;      /* NULL: none */
    const atomic_bool *closed; /* looked at every few ms */
    const atomic_uint *drops;  /* likewise, for another value than that; NULL: none */
    unsigned drops_before;
} rli_patience;

bool rli_patience_ended(const rli_patience *patience);
/* Waits until `fd` is ready for `events`, or patience ends. True: ready. */
bool rli_patience_poll(const rli_patience *patience, int fd, short events);
/* The same for any of `count` descriptors, until `until_ms` at most; `polled` has room for one more behind them. */
bool rli_patience_poll_any(const rli_patience *patience, struct pollfd *polled, nfds_t count, int64_t until_ms);
/* Sleeps until unparked, or for a few ms: the caller then looks whether patience has ended. */
void rli_patience_park(const rli_patience *patience, rli_parker *parker);

#endif

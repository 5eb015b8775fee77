/* Dialling: a connected socket to the server, or the reason why there is none. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DIAL_H
#define RLI_DIAL_H

#include "cancel.h"
#include "config/settings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How long somebody will wait for a connection, and what ends that earlier. */
typedef struct rli_patience {
    int64_t deadline_ms;
    rlock_cancel *cancel;      /* NULL: none */
    const atomic_bool *closed; /* looked at every few ms */
    const atomic_uint *drops;  /* likewise, for another value than that; NULL: none */
    unsigned drops_before;
} rli_patience;

/* Waits until `fd` is ready for `events`, or patience ends. True: ready. */
bool rli_patience_poll(const rli_patience *patience, int fd, short events);
bool rli_patience_ended(const rli_patience *patience);

/* Tries all that the name of the host stands for, one after the other. The socket is blocking, closed on exec,
 * tuned as the tcp… settings say, and not tracked yet. -1: *why says why (static text or strerror). */
int rli_dial(const rli_settings *settings, const rli_address *address, const rli_patience *patience,
             const char **why);

#endif

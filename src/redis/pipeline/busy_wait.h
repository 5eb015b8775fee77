/* Busy wait: a leader that awaits one answer alone does not sleep, where that was measured to be faster.
 *
 * To wake a thread on a processor that idles can take longer than a server on the same machine takes to answer. Then it
 * pays to look for the answer again and again, and costs no more processor time than the wake-up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BUSY_WAIT_H
#define RLI_BUSY_WAIT_H

#include "net/connection.h"

/* How the waits on a connection are done. busy_wait.c has the table of the legal transitions. */
typedef enum rli_busy_wait_stage {
    RLI_BUSY_WAIT_SLEEPS,      /* asleep: that was faster, or nothing is known yet */
    RLI_BUSY_WAIT_LOOKS,       /* busy: that was faster */
    RLI_BUSY_WAIT_TRIES_SLEEP, /* asleep, and measured */
    RLI_BUSY_WAIT_TRIES_LOOK,  /* busy, and measured */
    RLI_BUSY_WAIT_STAGES
} rli_busy_wait_stage;

/* Measurements of the waits on one connection; all zero before the first wait. */
typedef struct rli_busy_wait {
    rli_busy_wait_stage stage;
    unsigned left;   /* how many more waits are done so */
    unsigned failed; /* how many tries in a row have found that looking is not faster */
    /* How long the waits of the last try asleep took together, and up to as many busy ones since. */
    int64_t asleep_ns, busy_ns;
    int64_t ended_ns; /* when the last wait that was measured ended */
} rli_busy_wait;

/* As rli_connection_receive, in one way or the other. While it looks, for 0.1 ms or for as long as others have
 * the processor, it does not notice `wake_fd` or the deadline. One thread at a time. */
rli_received rli_busy_wait_receive(rli_busy_wait *wait, const rli_connection *connection, int64_t deadline_ms,
                                   int wake_fd);

#endif

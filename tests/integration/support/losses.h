/* Losses: what rlock_on_lost told, noted down. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOSSES_H
#define LOSSES_H

#include "tests/support/event.h"

#include <rlock/client.h>

#define LOSSES_MAX 256

typedef struct loss {
    size_t size;
    char name[64];
    int64_t owner;
    bool named_owner;
    int hold_count;
    rlock_lost_reason reason;
    int64_t at_ms;   /* now_ms() when it was told */
    char permit[33]; /* "": a lock */
    char said[512];  /* rlock_last_error() meanwhile */
} loss;

typedef struct losses {
    event came; /* once a loss; all[n - 1] is there when it came n times */
    loss all[LOSSES_MAX];
    int count;
} losses;

void losses_init(losses *losses);
/* Fails the test unless so many have been told of within at_most_ms(ms). */
void losses_await(losses *losses, int count, int64_t ms);
/* For rlock_on_lost; `arg` is a losses. */
void losses_note(const rlock_lost_event *lost, void *arg);

#endif

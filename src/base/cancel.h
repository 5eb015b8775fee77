/* Cancel tokens, seen from inside: who is to be woken when one fires. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CANCEL_H
#define RLI_CANCEL_H

#include "base/park.h"

#include <rlock/cancel.h>
#include <stdbool.h>

typedef struct rli_cancel_watch {
    struct rli_cancel_watch *next, *previous;
    rli_parker *parker;
} rli_cancel_watch;

/* All take NULL for "cannot be cancelled". */
void rli_cancel_enter(rlock_cancel *cancel, rli_cancel_watch *watch, rli_parker *parker);
void rli_cancel_exit(rlock_cancel *cancel, rli_cancel_watch *watch);
bool rli_cancel_fired(rlock_cancel *cancel);
int rli_cancel_fd(const rlock_cancel *cancel); /* readable once fired; -1 for NULL */

#endif

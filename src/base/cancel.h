/* Cancel tokens, internal side: the operations that a token must wake when it fires. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CANCEL_H
#define RLI_CANCEL_H

#include "base/park.h"

#include <rlock/cancel.h>
#include <stdbool.h>

/* One operation registered with a token. Lives on the caller's stack; guarded by the token's mutex. */
typedef struct rli_cancel_watch {
    struct rli_cancel_watch *next, *previous;
    rli_parker *parker;
} rli_cancel_watch;

/* In all functions below, `cancel` may be NULL: the operation cannot be cancelled. Any thread may call them.
 *
 * rli_cancel_enter registers `watch`, so that firing the token unparks `parker`; it fills in the watch.
 * rli_cancel_exit removes it and must be called before `watch` or `parker` ends. A token that has already fired does
 * not unpark: check rli_cancel_fired after entering. */
void rli_cancel_enter(rlock_cancel *cancel, rli_cancel_watch *watch, rli_parker *parker);
void rli_cancel_exit(rlock_cancel *cancel, rli_cancel_watch *watch);
bool rli_cancel_fired(rlock_cancel *cancel);
/* Makes a token of the library's own usable again after it has fired. Only the thread whose operations it ends calls
 * it. */
void rli_cancel_rearm(rlock_cancel *cancel);
/* Descriptor that becomes readable once the token has fired and stays readable; -1 for NULL. The token owns it. */
int rli_cancel_fd(const rlock_cancel *cancel);

#endif

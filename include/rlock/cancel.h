/* Cancel token: ends waits from another thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_CANCEL_H
#define RLOCK_CANCEL_H

#include <rlock/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_cancel rlock_cancel;

/* Makes a new token that is not fired. NULL: out of memory or file descriptors; rlock_last_error() says
 * which. End it with rlock_cancel_free(). Any thread. */
RLOCK_API rlock_cancel *rlock_cancel_new(void);

/* Ends every wait that carries this token, now and later, with RLOCK_CANCELLED. A wait that has acquired the
 * lock already keeps it and returns RLOCK_OK. A token fires once and stays fired. Any thread, but not from a
 * signal handler; no cancellation point. NULL is allowed. Does nothing in a forked child. */
RLOCK_API void rlock_cancel_fire(rlock_cancel *cancel);

/* Frees the token. No wait may carry it any longer. NULL is allowed. No cancellation point. */
RLOCK_API void rlock_cancel_free(rlock_cancel *cancel);

#ifdef __cplusplus
}
#endif
#endif

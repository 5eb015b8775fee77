/* A cancel token: ends waits from another thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLOCK_CANCEL_H
#define RLOCK_CANCEL_H

#include <rlock/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_cancel rlock_cancel;

/* A new token, not fired. NULL: out of memory or descriptors, rlock_last_error() says which. */
RLOCK_API rlock_cancel *rlock_cancel_new(void);

/* Ends every wait that carries this token, now and later, with RLOCK_CANCELLED; a wait that has
 * the lock by then keeps it and answers RLOCK_OK. Fires once and stays fired. Any thread, not
 * from a signal handler. NULL is allowed. In a forked child it does nothing. */
RLOCK_API void rlock_cancel_fire(rlock_cancel *cancel);

/* Frees the token; no wait may carry it any more. NULL is allowed. */
RLOCK_API void rlock_cancel_free(rlock_cancel *cancel);

#ifdef __cplusplus
}
#endif
#endif

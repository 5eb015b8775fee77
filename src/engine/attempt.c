/* Attempt: one acquire under way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attempt.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void rli_attempt_keep_status(rli_attempt *attempt, rlock_status status)
{
    attempt->status = status;
    free(attempt->waiter.message);
    attempt->waiter.message = status == RLOCK_OK ? NULL
                                                 : strdup(rlock_last_error()); /* out of memory: without a message */
}

rlock_status rli_attempt_tell_status(rli_attempt *attempt)
{
    if (attempt->status == RLOCK_OK)
        return RLOCK_OK;
    return rli_fail_text(attempt->status,
                         attempt->waiter.message ? attempt->waiter.message : "out of memory for the message");
}

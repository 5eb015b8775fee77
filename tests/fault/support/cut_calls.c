/* Calls that many operations make. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/cut_calls.h"

rlock_status lock(cell *self)
{
    return rlock_lock(self->lock);
}

rlock_status try_lock(cell *self)
{
    return rlock_try_lock(self->lock, 0, CUT_LEASE_MS);
}

rlock_status unlock(cell *self)
{
    return rlock_unlock(self->lock);
}

void five(cell *self)
{
    past(self, "SET %s 5");
}

rlock_status try_acquire(cell *self)
{
    return rlock_semaphore_try_acquire(self->semaphore, 2, 0);
}

rlock_status release(cell *self)
{
    return rlock_semaphore_release(self->semaphore, 2);
}

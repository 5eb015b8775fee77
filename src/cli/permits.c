/* Permits: permits with ids and a lease that a command runs under. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/permits.h"

#include "base/clock.h"

#include <stdlib.h>

cli_permits *permits_open(rlock_client *client, const char *name, int count)
{
    cli_permits *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->count = count;
    self->ids = calloc((size_t)count, sizeof *self->ids);
    self->semaphore = rlock_get_permit_expirable_semaphore(client, name);
    if (self->ids && self->semaphore)
        return self;
    permits_close(self);
    return NULL;
}

void permits_close(cli_permits *self)
{
    if (!self)
        return;
    rlock_permit_semaphore_free(self->semaphore);
    free(self->ids);
    free(self);
}

/* The lease began when the server granted the permits, at an unknown time of the wait. So ask for what is left of it.
 * Clocks may run at different rates, so 1 % of it is taken off. */
static rlock_status begin(cli_permits *self)
{
    int64_t since_ms = rli_now_ms(), left_ms;
    rlock_status status = rlock_permit_semaphore_get_lease_time(self->semaphore, self->ids[0].id, &left_ms);
    if (status == RLOCK_OK)
        self->valid_until_ms = since_ms + left_ms - (left_ms + 99) / 100;
    return status == RLOCK_INVALID ? RLOCK_LOST : status; /* the lease was so short that it has ended already */
}

rlock_status permits_take(cli_permits *self, const rlock_lock_options *how, bool must_exist)
{
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    self->renewed = how->lease_ms == RLOCK_WATCHDOG;
    options.wait_ms = how->wait_ms;
    options.lease_ms = self->renewed ? RLOCK_PERMIT_WATCHDOG : how->lease_ms;
    options.cancel = how->cancel;
    options.must_exist = must_exist;
    rlock_status status = rlock_permit_semaphore_acquire_with(self->semaphore, self->count, &options, self->ids);
    if (status != RLOCK_OK || self->renewed)
        return status;
    status = begin(self);
    if (status != RLOCK_OK)
        permits_give_back(self); /* if that fails, the permits are available again when their lease ends */
    return status;
}

int64_t permits_valid_for(const cli_permits *self)
{
    int64_t left_ms = self->valid_until_ms - rli_now_ms();
    for (int i = 0; self->renewed && i < self->count; i++) {
        int64_t each_ms = rlock_permit_semaphore_valid_for(self->semaphore, self->ids[i].id);
        left_ms = i == 0 || each_ms < left_ms ? each_ms : left_ms;
    }
    return left_ms > 0 ? left_ms : 0;
}

/* Releases all permits at once; if one of them is gone, releases the others one by one. */
rlock_status permits_give_back(cli_permits *self)
{
    int released = 0;
    rlock_status status = rlock_permit_semaphore_try_release_many(self->semaphore, self->count, self->ids, &released);
    if (status != RLOCK_OK || released)
        return status;
    for (int i = 0; i < self->count && status == RLOCK_OK; i++)
        status = rlock_permit_semaphore_try_release(self->semaphore, self->ids[i].id, NULL);
    return RLOCK_LOST;
}

/* Hold: what a command runs under; a lock of any kind, or permits of a semaphore, with or without a lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hold.h"

rlock_status hold_open(cli_hold *self, rlock_client *client, const cli_kind *kind, const char *name, int permits)
{
    *self = (cli_hold){.kind = kind, .permits = permits};
    shorten(name, self->shown);
    if (kind->lock)
        self->lock = kind->lock(client, name);
    else if (kind->leased)
        self->leased = permits_open(client, name, permits);
    else
        self->semaphore = rlock_get_semaphore(client, name);
    bool made = self->lock || self->leased || self->semaphore;
    return made ? RLOCK_OK : RLOCK_NO_MEMORY; /* the name was checked before, so nothing else can fail */
}

void hold_close(cli_hold *self)
{
    rlock_free(self->lock);
    rlock_semaphore_free(self->semaphore);
    permits_close(self->leased);
}

rlock_status hold_set_permits(cli_hold *self, int permits)
{
    return self->leased ? rlock_permit_semaphore_try_set_permits(self->leased->semaphore, permits, NULL)
                        : rlock_semaphore_try_set_permits(self->semaphore, permits, NULL);
}

rlock_status hold_take(cli_hold *self, const rlock_lock_options *how)
{
    if (self->lock)
        return rlock_lock_with(self->lock, how);
    if (self->leased)
        return permits_take(self->leased, how);
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.wait_ms = how->wait_ms;
    options.cancel = how->cancel;
    return rlock_semaphore_acquire_with(self->semaphore, self->permits, &options);
}

int64_t hold_valid_for(const cli_hold *self)
{
    if (self->leased)
        return permits_valid_for(self->leased);
    return self->lock ? rlock_valid_for(self->lock) : INT64_MAX;
}

/* Releasing permits does not create a plain semaphore again that was deleted or expired meanwhile. */
rlock_status hold_give_back(cli_hold *self)
{
    return self->lock     ? rlock_unlock(self->lock)
           : self->leased ? permits_give_back(self->leased)
                          : rlock_semaphore_release_if_exists(self->semaphore, self->permits, NULL);
}

const char *hold_word(const cli_hold *self)
{
    return self->lock ? "lock" : self->leased ? "permit" : "semaphore";
}

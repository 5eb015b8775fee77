/* What a command runs under: a lock of some kind, or permits of a semaphore. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hold.h"

rlock_status hold_open(cli_hold *self, rlock_client *client, const cli_kind *kind, const char *name, int permits)
{
    *self = (cli_hold){.kind = kind, .permits = permits};
    shorten(name, self->shown);
    if (kind->lock)
        self->lock = kind->lock(client, name);
    else
        self->semaphore = rlock_get_semaphore(client, name);
    return self->lock || self->semaphore ? RLOCK_OK : RLOCK_NO_MEMORY; /* the name was looked at before */
}

void hold_close(cli_hold *self)
{
    rlock_free(self->lock);
    rlock_semaphore_free(self->semaphore);
}

rlock_status hold_take(cli_hold *self, const rlock_lock_options *how)
{
    if (self->lock)
        return rlock_lock_with(self->lock, how);
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.wait_ms = how->wait_ms;
    options.cancel = how->cancel;
    return rlock_semaphore_acquire_with(self->semaphore, self->permits, &options);
}

int64_t hold_valid_for(const cli_hold *self)
{
    return self->lock ? rlock_valid_for(self->lock) : INT64_MAX;
}

/* A semaphore that ended meanwhile is not made anew by what was taken of it. */
rlock_status hold_give_back(cli_hold *self)
{
    return self->lock ? rlock_unlock(self->lock)
                      : rlock_semaphore_release_if_exists(self->semaphore, self->permits, NULL);
}

const char *hold_word(const cli_hold *self)
{
    return self->lock ? "lock" : "semaphore";
}

/* Hold: what a command runs under; a lock of any kind, or permits of a semaphore, with or without a lease. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hold.h"

#include "cli/message.h"
#include "cli/output.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

rlock_status hold_open(cli_hold *self, rlock_client *client, const cli_kind *kind, const char *name, int count,
                       const cli_values *values)
{
    *self = (cli_hold){.kind = kind, .permits = count};
    shorten(name, self->shown);
    typed_name(name, self->typed);
    if (kind->lock)
        self->lock = kind->lock(client, name);
    else if (kind->sharded)
        self->lock = rlock_get_sharded_lock(client, name, count);
    else if (kind->grouped)
        self->lock = rlock_get_group_lock_of_strings(client, name, values->codec, values->given.items,
                                                     values->given.count);
    else if (kind->leased)
        self->leased = permits_open(client, name, count);
    else
        self->semaphore = rlock_get_semaphore(client, name);
    bool made = self->lock || self->leased || self->semaphore;
    if (made)
        return RLOCK_OK;
    /* The name was checked before; what else can be wrong is the number of parts, or a value. */
    return kind->sharded || kind->braces || kind->grouped ? RLOCK_INVALID : RLOCK_NO_MEMORY;
}

void hold_close(cli_hold *self)
{
    rlock_free(self->lock);
    rlock_free(self->part);
    rlock_semaphore_free(self->semaphore);
    permits_close(self->leased);
}

bool hold_exists(const rlock_inspection *found)
{
    bool is_elsewhere = strcmp(found->kind, "signal") == 0; /* under "lock:NAME", beside which NAME is free */
    return found->has_permits || (found->ttl_ms != RLOCK_NOT_THERE && !is_elsewhere);
}

rlock_status hold_set_permits(cli_hold *self, int permits)
{
    return self->leased ? rlock_permit_semaphore_try_set_permits(self->leased->semaphore, permits, NULL)
                        : rlock_semaphore_try_set_permits(self->semaphore, permits, NULL);
}

/* The part of a sharded lock that is held, by its name. */
static rlock *part_of(rlock *lock, rlock_client *client, const char *name)
{
    int shard;
    size_t size = strlen(name) + sizeof ":2147483647";
    char *text = rlock_get_shard(lock, &shard) == RLOCK_OK ? malloc(size) : NULL;
    if (!text)
        return NULL;
    snprintf(text, size, "%s:%d", name, shard);
    rlock *part = rlock_get_lock(client, text);
    free(text);
    return part;
}

rlock_status hold_take(cli_hold *self, rlock_client *client, const char *name, const rlock_lock_options *how)
{
    self->lease_ms = how->lease_ms;
    if (self->lock) {
        rlock_status status = rlock_lock_with(self->lock, how);
        if (status == RLOCK_OK && self->kind->sharded)
            self->part = part_of(self->lock, client, name);
        return status;
    }
    if (self->leased)
        return permits_take(self->leased, how, self->must_exist);
    rlock_semaphore_options options = RLOCK_SEMAPHORE_OPTIONS_INIT;
    options.wait_ms = how->wait_ms;
    options.must_exist = self->must_exist;
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
    return self->lock ? "lock" : self->leased ? "permit of the semaphore" : "semaphore";
}

/* --- its loss --- */

/* Called on a thread of the library. */
static void reported(const rlock_lost_event *event, void *argument)
{
    cli_loss *self = argument;
    if (atomic_load(&self->reason) >= 0) /* of several permits, the first says why */
        return;
    snprintf(self->said, sizeof self->said, "%s", rlock_last_error());
    atomic_store(&self->reason, (int)event->reason);
    eventfd_write(self->fd, 1);
}

bool loss_watch(cli_loss *self, rlock_client *client, const cli_hold *hold)
{
    self->hold = hold;
    atomic_init(&self->reason, -1);
    self->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->fd < 0) {
        complain("could not watch the lock: %s", strerror(errno));
        return false;
    }
    if (rlock_on_lost(client, reported, self) == RLOCK_OK)
        return true;
    complain("could not watch the lock: %s", rlock_last_error());
    close(self->fd);
    return false;
}

void loss_unwatch(cli_loss *self, rlock_client *client)
{
    (void)rlock_on_lost(client, NULL, NULL);
    close(self->fd);
}

bool loss_happened(cli_loss *self)
{
    return atomic_load(&self->reason) >= 0 || hold_valid_for(self->hold) <= 0;
}

/* A lease of the user's own may end without one. */
bool loss_is_unexplained(cli_loss *self)
{
    return atomic_load(&self->reason) < 0 && self->hold->lease_ms == RLOCK_WATCHDOG;
}

const char *loss_words(cli_loss *self)
{
    if (atomic_load(&self->reason) == RLOCK_LOST_GONE)
        return "it was forced open or deleted, or the server lost it";
    if (atomic_load(&self->reason) == RLOCK_LOST_REFUSED)
        return self->said;
    char shown[DURATION_SHOWN];
    int64_t lease_ms = self->hold->lease_ms;
    if (lease_ms != RLOCK_WATCHDOG) {
        snprintf(self->words, sizeof self->words, "its --lease of %s has ended", duration_show_given(lease_ms, shown));
        return self->words;
    }
    return "its time ran out, or the server could not be asked to renew it in time";
}

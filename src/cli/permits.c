/* Permits: permits with ids and a lease that a command runs under, renewed for as long as it runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/permits.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

cli_permits *permits_open(rlock_client *client, const char *name, int count)
{
    cli_permits *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    *self = (cli_permits){.count = count, .gone_fd = -1, .stop_fd = -1};
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

/* Clocks may run at different rates, so 1 % of the lease is taken off. */
static void set_valid(cli_permits *self, int64_t since_ms, int64_t lease_ms)
{
    atomic_store(&self->valid_until_ms, since_ms + lease_ms - (lease_ms + 99) / 100);
}

static void note_gone(cli_permits *self)
{
    atomic_store(&self->gone, true);
    if (self->gone_fd >= 0)
        eventfd_write(self->gone_fd, 1);
}

/* Sets the lease anew, from now, for one permit after the other. All of them must still be there. */
static rlock_status renew(cli_permits *self)
{
    int64_t since_ms = rli_now_ms();
    for (int i = 0; i < self->count; i++) {
        bool updated = false;
        rlock_status status = rlock_permit_semaphore_update_lease_time(self->semaphore, self->ids[i].id, self->lease_ms,
                                                                       &updated);
        if (status != RLOCK_OK)
            return status;
        if (!updated) {
            note_gone(self);
            return RLOCK_LOST;
        }
    }
    set_valid(self, since_ms, self->lease_ms);
    return RLOCK_OK;
}

/* The lease began when the server granted the permits, at an unknown time of the wait. So ask for what is
 * left of it, or renew it. */
static rlock_status begin(cli_permits *self)
{
    int64_t since_ms = rli_now_ms(), left_ms;
    if (self->renewed)
        return renew(self);
    rlock_status status = rlock_permit_semaphore_get_lease_time(self->semaphore, self->ids[0].id, &left_ms);
    if (status == RLOCK_OK)
        set_valid(self, since_ms, left_ms);
    return status == RLOCK_INVALID ? RLOCK_LOST : status; /* the lease was so short that it has ended already */
}

rlock_status permits_take(cli_permits *self, const rlock_lock_options *how)
{
    rlock_permit_options options = RLOCK_PERMIT_OPTIONS_INIT;
    self->renewed = how->lease_ms == RLOCK_WATCHDOG;
    self->lease_ms = self->renewed ? PERMITS_LEASE_MS : how->lease_ms;
    options.wait_ms = how->wait_ms;
    options.lease_ms = self->lease_ms;
    options.cancel = how->cancel;
    rlock_status status = rlock_permit_semaphore_acquire_with(self->semaphore, self->count, &options, self->ids);
    if (status != RLOCK_OK)
        return status;
    status = begin(self);
    if (status != RLOCK_OK)
        permits_give_back(self); /* if that fails, the permits are available again when their lease ends */
    return status;
}

int64_t permits_valid_for(cli_permits *self)
{
    int64_t left_ms = atomic_load(&self->valid_until_ms) - rli_now_ms();
    return atomic_load(&self->gone) || left_ms < 0 ? 0 : left_ms;
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

/* --- the renewing thread --- */

/* Renews every third of the lease; more often after a failure, because time is getting short. */
static void *keep(void *argument)
{
    cli_permits *self = argument;
    int pause_ms = (int)(self->lease_ms / 3);
    struct pollfd stop = {self->stop_fd, POLLIN, 0};
    for (;;) {
        int ready = poll(&stop, 1, pause_ms);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return NULL;
        rlock_status status = renew(self);
        if (status == RLOCK_LOST)
            return NULL;
        pause_ms = (int)(self->lease_ms / (status == RLOCK_OK ? 3 : 12));
    }
}

bool permits_keep(cli_permits *self, int gone_fd)
{
    self->gone_fd = gone_fd;
    if (!self->renewed)
        return true;
    self->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (self->stop_fd < 0)
        return false;
    errno = pthread_create(&self->thread, NULL, keep, self);
    if (errno == 0)
        return true;
    close(self->stop_fd);
    self->stop_fd = -1;
    return false;
}

void permits_keep_no_more(cli_permits *self)
{
    if (self->stop_fd >= 0) {
        eventfd_write(self->stop_fd, 1);
        pthread_join(self->thread, NULL);
        close(self->stop_fd);
        self->stop_fd = -1;
    }
    self->gone_fd = -1;
}

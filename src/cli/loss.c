/* Loss: whether what the command runs under is still held. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/loss.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Called on a thread of the library. */
static void reported(const rlock_lost_event *event, void *argument)
{
    cli_loss *self = argument;
    const uint64_t one = 1;
    atomic_store(&self->reason, (int)event->reason);
    while (write(self->fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

bool loss_watch(cli_loss *self, rlock_client *client, const cli_hold *hold)
{
    self->hold = hold;
    atomic_init(&self->reason, -1);
    self->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->fd < 0)
        return false;
    if (hold->leased && !permits_keep(hold->leased, self->fd)) {
        close(self->fd);
        return false;
    }
    rlock_on_lost(client, reported, self);
    return true;
}

void loss_unwatch(cli_loss *self, rlock_client *client)
{
    rlock_on_lost(client, NULL, NULL);
    if (self->hold->leased)
        permits_keep_no_more(self->hold->leased);
    close(self->fd);
}

bool loss_happened(cli_loss *self)
{
    return atomic_load(&self->reason) >= 0 || hold_valid_for(self->hold) <= 0;
}

const char *loss_words(cli_loss *self)
{
    bool gone = self->hold->leased && atomic_load(&self->hold->leased->gone);
    if (gone || atomic_load(&self->reason) == RLOCK_LOST_GONE)
        return "it was forced open or deleted, or the server lost it";
    return "its time ran out, or the server could not be asked to renew it in time";
}

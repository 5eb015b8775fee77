/* Ready list: operations without a thread that were woken, for the thread that goes on with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ready.h"

#include "base/error.h"
#include "base/forked.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

rlock_status rli_ready_init(rli_ready *ready)
{
    atomic_init(&ready->last, NULL);
    atomic_init(&ready->told, false);
    ready->unread = 0;
    ready->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ready->fd >= 0 && rli_fd_track(ready->fd))
        return RLOCK_OK;
    if (ready->fd >= 0)
        close(ready->fd);
    return rli_fail(RLOCK_NO_MEMORY, "could not create a descriptor for async calls: %s", strerror(errno));
}

void rli_ready_destroy(rli_ready *ready)
{
    rli_fd_close(ready->fd);
}

void rli_ready_tell(rli_ready *ready)
{
    if (atomic_exchange(&ready->told, true))
        return;
    ssize_t written = write(ready->fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)written; /* cannot fail: the counter is far from its limit */
}

void rli_ready_begin(rli_ready *ready)
{
    uint64_t count;
    ready->unread += atomic_exchange(&ready->told, true);
    /* The read fails if another thread has set `told` and not written yet. Then it must be made up for: nothing else
     * makes the descriptor unreadable again. */
    if (ready->unread > 0 && read(ready->fd, &count, sizeof count) == sizeof count)
        ready->unread -= count;
}

void rli_ready_end(rli_ready *ready)
{
    atomic_store(&ready->told, false);
    if (atomic_load(&ready->last))
        rli_ready_tell(ready);
}

void rli_ready_add(rli_ready *ready, rli_parker *parker)
{
    rli_parker *before = atomic_load(&ready->last);
    do
        parker->next = before;
    while (!atomic_compare_exchange_weak(&ready->last, &before, parker));
    /* From here on the parker may be gone. */
    if (!before)
        rli_ready_tell(ready);
}

rli_parker *rli_ready_take(rli_ready *ready)
{
    rli_parker *first = NULL, *last = atomic_exchange(&ready->last, NULL);
    while (last) {
        rli_parker *before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    return first;
}

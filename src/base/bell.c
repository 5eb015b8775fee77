/* A bell: an eventfd that wakes a thread which polls sockets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bell.h"

#include "base/forked.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

int rli_bell_open(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0 || rli_fd_track(fd))
        return fd;
    close(fd);
    errno = ENOMEM;
    return -1;
}

void rli_bell_ring(int fd)
{
    ssize_t written = write(fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)written; /* a full eventfd is readable, which is enough */
}

void rli_bell_hush(int fd)
{
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n; /* it may have been hushed before */
}

void rli_bell_init(rli_bell *bell)
{
    bell->fd = -1;
    atomic_init(&bell->taken, false);
}

void rli_bell_destroy(rli_bell *bell)
{
    if (bell->fd >= 0)
        rli_fd_close(bell->fd);
}

bool rli_bell_take(rli_bell *bell)
{
    if (atomic_exchange(&bell->taken, true))
        return false;
    if (bell->fd < 0)
        bell->fd = rli_bell_open();
    if (bell->fd >= 0)
        return true;
    rli_bell_give_back(bell);
    return false;
}

void rli_bell_give_back(rli_bell *bell)
{
    atomic_store(&bell->taken, false);
}

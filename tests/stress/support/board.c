/* A board: a few numbers that processes of C and of Java share, which only the object under test
 * protects; Board.java has the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/support/board.h"

#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *board_make(void)
{
    int fd = memfd_create("board", MFD_CLOEXEC);
    cr_assert(fd >= 0 && ftruncate(fd, sizeof(board)) == 0, "memfd: %s", strerror(errno));
    char *path = NULL;
    cr_assert(asprintf(&path, "/proc/%d/fd/%d", (int)getpid(), fd) > 0);
    return path;
}

board *board_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *memory = fd >= 0 ? mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

bool board_count_up(board *self, int64_t total)
{
    int64_t value = atomic_load(&self->counter);
    if (value >= total)
        return false;
    sched_yield();
    atomic_store(&self->counter, value + 1);
    return true;
}

bool board_claim(board *self, int64_t total)
{
    if (atomic_fetch_add(&self->counter, 1) < total)
        return true;
    atomic_fetch_sub(&self->counter, 1);
    return false;
}

void board_enter(board *self, int64_t limit)
{
    long long inside = atomic_fetch_add(&self->inside, 1) + 1, most = atomic_load(&self->most);
    if (inside > limit)
        board_accuse(self);
    while (inside > most && !atomic_compare_exchange_weak(&self->most, &most, inside))
        ;
    sched_yield();
}

void board_leave(board *self)
{
    atomic_fetch_sub(&self->inside, 1);
}

void board_accuse(board *self)
{
    atomic_fetch_add(&self->wrong, 1);
}

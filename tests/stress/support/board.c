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

/* A process may stand still while the others have all `total` turns: they go on until it has had one, too. */
static bool is_over(board *self, long long turns, int64_t total, int side)
{
    bool over = turns >= total && atomic_load(&self->missing) == 0;
    if (!over)
        atomic_fetch_and(&self->missing, ~(long long)side);
    return over;
}

bool board_count_up(board *self, int64_t total, int side)
{
    long long value = atomic_load(&self->counter);
    if (is_over(self, value, total, side))
        return false;
    sched_yield();
    atomic_store(&self->counter, value + 1);
    return true;
}

bool board_claim(board *self, int64_t total, int side)
{
    if (!is_over(self, atomic_fetch_add(&self->counter, 1), total, side))
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

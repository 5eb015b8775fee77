/* fork(): a child closes its copies of the library's descriptors and can tell that it is a child. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/forked.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* The list only grows and is read without a mutex. The handler in the child must not take a mutex, because another
 * thread of the parent may have held it at the fork. */
#define CHUNK 62
struct chunk {
    struct chunk *next;
    atomic_int fds[CHUNK]; /* fd + 1; 0: free */
};

static struct chunk *_Atomic chunks;
static atomic_uint generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add(&generation, 1);
    for (struct chunk *chunk = atomic_load(&chunks); chunk; chunk = chunk->next) {
        for (int i = 0; i < CHUNK; i++) {
            int fd = atomic_exchange(&chunk->fds[i], 0);
            if (fd)
                close(fd - 1);
        }
    }
}

static void register_handler(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

unsigned rli_fork_generation(void)
{
    pthread_once(&once, register_handler);
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

static bool take_slot(struct chunk *chunk, int fd)
{
    for (int i = 0; i < CHUNK; i++) {
        int free_slot = 0;
        if (atomic_compare_exchange_strong(&chunk->fds[i], &free_slot, fd + 1))
            return true;
    }
    return false;
}

bool rli_fd_track(int fd)
{
    for (struct chunk *chunk = atomic_load(&chunks); chunk; chunk = chunk->next) {
        if (take_slot(chunk, fd))
            return true;
    }
    struct chunk *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return false;
    take_slot(fresh, fd);
    fresh->next = atomic_load(&chunks);
    while (!atomic_compare_exchange_weak(&chunks, &fresh->next, fresh))
        continue;
    return true;
}

void rli_fd_close(int fd)
{
    /* Stop tracking the descriptor before closing it: after close() the number may belong to another thread's file. */
    for (struct chunk *chunk = atomic_load(&chunks); chunk; chunk = chunk->next) {
        for (int i = 0; i < CHUNK; i++) {
            int tracked = fd + 1;
            if (atomic_compare_exchange_strong(&chunk->fds[i], &tracked, 0)) {
                close(fd);
                return;
            }
        }
    }
    close(fd);
}

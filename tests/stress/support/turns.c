/* Turns: a counter in a file that only the lock protects, and who counted how far. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/support/turns.h"

#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS_MAX 64

char *turns_file(void)
{
    int64_t zero = 0;
    int fd = memfd_create("turns", MFD_CLOEXEC);
    cr_assert(fd >= 0 && write(fd, &zero, sizeof zero) == sizeof zero, "memfd: %s", strerror(errno));
    char *path = NULL;
    cr_assert(asprintf(&path, "/proc/%d/fd/%d", (int)getpid(), fd) > 0);
    return path;
}

static bool get(int fd, int64_t *value)
{
    return pread(fd, value, sizeof *value, 0) == sizeof *value;
}

int64_t turns_count(const char *path)
{
    int64_t value = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert(fd >= 0 && get(fd, &value), "%s: %s", path, strerror(errno));
    close(fd);
    return value;
}

/* Whether there was a turn left. */
static bool increment(int fd, int64_t total)
{
    int64_t value = total;
    if (!get(fd, &value) || value >= total)
        return false;
    sched_yield();
    value++;
    return pwrite(fd, &value, sizeof value, 0) == sizeof value;
}

rlock_status turns_take(rlock *lock, const char *path, int64_t total, int64_t *turns)
{
    rlock_status status = RLOCK_OK;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    for (bool more = fd >= 0; more && status == RLOCK_OK;) {
        if ((status = rlock_lock(lock)) != RLOCK_OK)
            break;
        more = increment(fd, total);
        *turns += more;
        status = rlock_unlock(lock);
    }
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? status : RLOCK_INVALID;
}

struct taker {
    rlock *lock;
    const char *path;
    int64_t total, turns;
    rlock_status status;
};

static void *take(void *arg)
{
    struct taker *self = arg;
    self->status = turns_take(self->lock, self->path, self->total, &self->turns);
    if (self->status != RLOCK_OK)
        fprintf(stderr, "a taker of turns failed: %s\n", rlock_last_error());
    return NULL;
}

rlock_status turns_take_many(rlock_client *client, const char *name, int threads, const char *path,
                             int64_t total, int64_t *turns)
{
    struct taker takers[THREADS_MAX];
    pthread_t running[THREADS_MAX];
    rlock_status status = RLOCK_OK;
    int count = 0;
    for (; count < threads && count < THREADS_MAX; count++) {
        takers[count] = (struct taker){rlock_get_lock(client, name), path, total, 0, RLOCK_OK};
        if (pthread_create(&running[count], NULL, take, &takers[count]) != 0)
            break;
    }
    for (int i = 0; i < count; i++) {
        pthread_join(running[i], NULL);
        if (status == RLOCK_OK)
            status = takers[i].status;
        *turns += takers[i].turns;
        rlock_free(takers[i].lock);
    }
    return count == threads ? status : RLOCK_NO_MEMORY;
}

/* Sends that fail in the middle. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/sending.h"

#include "tests/support/event.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool armed; /* until then a send costs no mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *start; /* NULL: nothing is to fail */
    size_t length;
    int error, fd;     /* fd -1: the first of the two has not come */
    bool failed;
} fault;

void sending_fails(const char *start, size_t length, int error)
{
    pthread_mutex_lock(&mutex);
    fault.start = start;
    fault.length = length;
    fault.error = error;
    fault.fd = -1;
    fault.failed = false;
    pthread_mutex_unlock(&mutex);
    atomic_store(&armed, true);
}

bool sending_has_failed(int64_t ms)
{
    bool failed = false;
    for (int64_t until_ms = limit_end_ms(ms); !failed && now_ms() < until_ms; pass_ms(1)) {
        pthread_mutex_lock(&mutex);
        failed = fault.failed;
        pthread_mutex_unlock(&mutex);
    }
    return failed;
}

/* How many bytes may leave; 0: it fails. */
static size_t judge(int fd, const void *bytes, size_t length)
{
    pthread_mutex_lock(&mutex);
    if (fault.start && fault.fd == fd) {
        fault.start = NULL;
        fault.failed = true;
        length = 0;
    } else if (fault.start && fault.fd < 0 && length > fault.length && length >= strlen(fault.start) &&
               memcmp(bytes, fault.start, strlen(fault.start)) == 0) {
        fault.fd = fd;
        length = fault.length;
    }
    pthread_mutex_unlock(&mutex);
    return length;
}

/* Stands before the C library's, since the library is linked into this program. */
ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    size_t allowed = length && atomic_load(&armed) ? judge(fd, bytes, length) : length;
    if (length && !allowed) {
        errno = fault.error;
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, allowed, flags, NULL, 0);
}

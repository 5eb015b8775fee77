/* A wall clock that the test shifts: preloaded into a server, whose clock is then so many microseconds ahead
 * as the file $SHIFT begins with, a native int64_t. Its other clocks go on as they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t shift_us(void)
{
    static const volatile int64_t *shift;
    if (!shift) {
        const char *path = getenv("SHIFT");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *map = fd >= 0 ? mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
        if (map == MAP_FAILED)
            _exit(126);
        shift = map;
    }
    return *shift;
}

static int64_t shifted_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + shift_us() * 1000;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    (void)zone;
    int64_t ns = shifted_ns();
    *at = (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000};
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    if (clock != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, clock, at);
    int64_t ns = shifted_ns();
    *at = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return 0;
}

time_t time(time_t *at)
{
    time_t now = shifted_ns() / 1000000000;
    if (at)
        *at = now;
    return now;
}

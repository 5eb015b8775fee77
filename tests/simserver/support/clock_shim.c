/* Loaded before a real server's libraries: its wall clock is a number that the test writes into a file. A library of its
 * own (the Makefile builds it); it allocates nothing, since allocators ask for the time, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *wall_us; /* NULL: there is no file */

__attribute__((constructor)) static void open_clock(void)
{
    const char *path = getenv("TEST_WALL_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof *wall_us, PROT_READ, MAP_SHARED, fd, 0);
    wall_us = at == MAP_FAILED ? NULL : at;
    close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!wall_us || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)syscall(SYS_clock_gettime, clock, now);
    int64_t us = *wall_us;
    *now = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec at = {0};
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &at);
    *now = (struct timeval){.tv_sec = at.tv_sec, .tv_usec = at.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *to)
{
    struct timespec at = {0};
    clock_gettime(CLOCK_REALTIME, &at);
    if (to)
        *to = at.tv_sec;
    return at.tv_sec;
}

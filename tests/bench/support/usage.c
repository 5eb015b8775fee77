/* What a process uses: CPU time and memory, seen from outside; and for how long it had no core. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock)
{
    struct timespec time = {0, 0};
    if (clock_gettime(clock, &time) != 0) {
        perror("bench: a process's time");
        exit(1);
    }
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double usage_now_s(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double usage_cpu_us(pid_t pid)
{
    clockid_t clock = 0;
    if (clock_getcpuclockid(pid, &clock) != 0) {
        fprintf(stderr, "bench: process %d has no CPU time\n", (int)pid);
        exit(1);
    }
    return seconds_of(clock) * 1e6;
}

/* Of all its mappings, exactly, which statm is not. */
long usage_resident_bytes(pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *sums = fopen(path, "re");
    while (sums && fgets(line, sizeof line, sums) && sscanf(line, "Rss: %ld", &kib) != 1)
        continue;
    if (!sums || !kib) {
        fprintf(stderr, "bench: process %d does not say what is resident\n", (int)pid);
        exit(1);
    }
    fclose(sums);
    return kib * 1024;
}

int usage_open_ready(pid_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)thread);
    return open(path, O_RDONLY | O_CLOEXEC);
}

double usage_ready_s(int fd)
{
    char text[128];
    unsigned long long ready_ns = 0; /* after the time that it ran */
    ssize_t length = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    text[length < 0 ? 0 : length] = '\0';
    sscanf(text, "%*u %llu", &ready_ns);
    return (double)ready_ns / 1e9;
}

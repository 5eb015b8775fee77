/* A family: a process, and the processes that it has started, as PostgreSQL's server is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/family.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef double visit_fn(pid_t pid, const void *arg);

/* The sum of what `visit` says of the process and of its children. */
static double visit_all(pid_t pid, visit_fn *visit, const void *arg)
{
    char path[64];
    double sum = visit(pid, arg);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *children = fopen(path, "re");
    for (int child; children && fscanf(children, "%d", &child) == 1;)
        sum += visit((pid_t)child, arg);
    if (children)
        fclose(children);
    return sum;
}

/* Of one that is gone: 0. */
static double cpu_us(pid_t pid, const void *arg)
{
    clockid_t clock;
    struct timespec used = {0, 0};
    (void)arg;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

double family_cpu_us(pid_t pid)
{
    return visit_all(pid, cpu_us, NULL);
}

static double pin(pid_t pid, const void *cores)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (const struct dirent *thread; threads && (thread = readdir(threads));) {
        if (atoi(thread->d_name) > 0)
            sched_setaffinity(atoi(thread->d_name), sizeof(cpu_set_t), cores);
    }
    if (threads)
        closedir(threads);
    return 0;
}

void family_pin(pid_t pid, int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (core < 0 || i == core)
            CPU_SET((size_t)i, &cores);
    }
    visit_all(pid, pin, &cores);
}

int family_sockets(pid_t pid)
{
    char path[64], to[64];
    int sockets = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *all = opendir(path);
    for (const struct dirent *each; all && (each = readdir(all));) {
        ssize_t length = readlinkat(dirfd(all), each->d_name, to, sizeof to - 1);
        to[length < 0 ? 0 : length] = '\0';
        sockets += strncmp(to, "socket:", 7) == 0;
    }
    if (all)
        closedir(all);
    return sockets;
}

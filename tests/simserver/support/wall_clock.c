/* A wall clock that stands still until the test moves it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/wall_clock.h"

#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGINNING_US 1893456000123456 /* 2030-01-01 */

void wall_clock_make(wall_clock *clock)
{
    char path[200];
    folder_make(&clock->folder);
    snprintf(path, sizeof path, "%s/clock", clock->folder.path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert(fd >= 0 && ftruncate(fd, sizeof *clock->now_us) == 0, "%s: %s", path, strerror(errno));
    void *at = mmap(NULL, sizeof *clock->now_us, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(at != MAP_FAILED);
    close(fd);
    clock->now_us = at;
    *clock->now_us = BEGINNING_US;
}

void wall_clock_remove(wall_clock *clock)
{
    munmap((void *)(uintptr_t)clock->now_us, sizeof *clock->now_us);
    folder_remove(&clock->folder);
}

void wall_clock_pass(wall_clock *clock, int64_t us)
{
    *clock->now_us += us;
}

/* The first program of that name in PATH. */
static void find_program(const char *name, char *path, size_t size)
{
    const char *at = getenv("PATH");
    for (; at && *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        snprintf(path, size, "%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0)
            return;
        at += length;
    }
    cr_assert_fail("no %s in PATH (see `make deps`)", name);
}

/* A script that starts the server with the shim comes first in PATH while one is started. */
static char *shadow_server(const wall_clock *clock)
{
    char real[400], path[400], *before = strdup(getenv("PATH")), *with;
    const char *build = getenv("RLOCK_BUILD");
    find_program("redis-server", real, sizeof real);
    snprintf(path, sizeof path, "%s/redis-server", clock->folder.path);
    FILE *file = fopen(path, "we");
    cr_assert(file && build, "RLOCK_BUILD is not set, or %s: %s", path, strerror(errno));
    fprintf(file, "#!/bin/sh\nexport TEST_WALL_CLOCK='%s/clock' LD_PRELOAD='%s/tests/simserver/clock.so'\nexec '%s' \"$@\"\n",
            clock->folder.path, build, real);
    cr_assert(fclose(file) == 0 && chmod(path, 0700) == 0);
    cr_assert(asprintf(&with, "%s:%s", clock->folder.path, before) >= 0);
    setenv("PATH", with, 1);
    free(with);
    return before;
}

static void unshadow(char *before)
{
    setenv("PATH", before, 1);
    free(before);
}

server *wall_clock_server(const wall_clock *clock, const char *const *args)
{
    char *before = shadow_server(clock);
    server *started = server_start_with(args);
    unshadow(before);
    return started;
}

server *wall_clock_sentinel(const wall_clock *clock, const char *config)
{
    char *before = shadow_server(clock);
    server *started = server_start_sentinel(config, NULL);
    unshadow(before);
    return started;
}

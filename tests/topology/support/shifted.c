/* Servers whose wall clock the test shifts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/topology/support/shifted.h"

#include "tests/support/shell.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int64_t *map_shift(const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert(fd >= 0 && ftruncate(fd, sizeof(int64_t)) == 0);
    void *map = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(map != MAP_FAILED);
    close(fd);
    return map;
}

/* A program redis-server that starts the real one with a clock that can be shifted, to be first in PATH. */
static void write_program(const char *shift)
{
    const char *compiler = getenv("CC");
    char script[13000];
    shell_do("%s -O1 -D_GNU_SOURCE -shared -fPIC -o '%s/clock.so' tests/topology/clock/shifted.c",
             compiler && *compiler ? compiler : "cc", scratch_folder());
    char *real = shell("command -v redis-server");
    real[strcspn(real, "\n")] = 0;
    snprintf(script, sizeof script, "#!/bin/sh\nSHIFT='%s/%s' LD_PRELOAD='%s/clock.so' exec '%s' \"$@\"\n",
             scratch_folder(), shift, scratch_folder(), real);
    free(real);
    scratch_write("redis-server", script);
    shell_do("chmod +x '%s/redis-server'", scratch_folder());
}

shifted shifted_start(void)
{
    static int count;
    char name[32], longer[9000];
    snprintf(name, sizeof name, "shift%d", count++);
    shifted one = {.shift_us = map_shift(name)};
    write_program(name);
    snprintf(longer, sizeof longer, "%s:%s", scratch_folder(), getenv("PATH"));
    setenv("PATH", longer, 1);
    one.server = server_start();
    setenv("PATH", longer + strlen(scratch_folder()) + 1, 1);
    return one;
}

void shifted_by(const shifted *one, int64_t ms)
{
    redisReply *before = server_command(one->server, "TIME");
    *one->shift_us += ms * 1000;
    redisReply *after = server_command(one->server, "TIME");
    long long moved_ms = (atoll(after->element[0]->str) - atoll(before->element[0]->str)) * 1000;
    cr_assert(llabs(moved_ms - ms) < 5000, "the server's clock moved by %lld ms", moved_ms);
    freeReplyObject(before);
    freeReplyObject(after);
}

/* A temporary folder and the janitor process that removes it, however the test ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/folder.h"

#include "tests/support/program.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A shell that outlives the test only until it has removed the folder. Where the test ends without stopping its servers, they
 * die a moment later than the shell hears of that, and may write a file meanwhile into the folder that is being removed. */
static void hire_janitor(folder *self)
{
    int ends[2];
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    char script[] = "read -r line; until rm -rf -- \"$0\"; do sleep 0.01; done", sh[] = "/bin/sh", c[] = "-c";
    char *argv[] = {sh, c, script, self->path, NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    self->janitor = program_start(argv, ends[1], null, PROGRAM_OUTLIVES_US);
    close(null);
    close(ends[1]);
    self->janitor_fd = ends[0];
}

void folder_make(folder *self)
{
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    cr_assert(strlen(base) + strlen("/rlock.XXXXXX/redis.sock") < sizeof self->path,
              "TMPDIR is too long for a unix socket: %s", base);
    snprintf(self->path, sizeof self->path, "%s/rlock.XXXXXX", base);
    cr_assert(mkdtemp(self->path) != NULL, "no folder in %s: %s", base, strerror(errno));
    hire_janitor(self);
}

void folder_remove(folder *self)
{
    /* A line and not only our end of the pair: a forked child may hold a copy of that. */
    send(self->janitor_fd, "\n", 1, MSG_NOSIGNAL);
    close(self->janitor_fd);
    while (waitpid(self->janitor, NULL, 0) < 0 && errno == EINTR)
        ;
}

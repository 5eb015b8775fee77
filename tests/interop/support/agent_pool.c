/* JVMs that serve one test after the other. Each has a place in the folder: a file that is locked by the test that it serves,
 * and the socket at which it listens. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/agent_pool.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES 64
#define START_MS 60000 /* a JVM on a busy machine */

/* The descriptor stays open, and with it the place taken, until this process ends. */
static struct sockaddr_un take_place(const char *folder)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    for (int i = 0; i < PLACES; i++) {
        char path[sizeof at.sun_path];
        int length = snprintf(path, sizeof path, "%s/%d.lock", folder, i);
        cr_assert(length < (int)sizeof path, "the path of %s is too long for a socket", folder);
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        cr_assert(lock >= 0, "%s: %s", path, strerror(errno));
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
            snprintf(at.sun_path, sizeof at.sun_path, "%s/%d", folder, i);
            return at;
        }
        close(lock);
    }
    cr_assert_fail("more than %d tests want an agent at a time", PLACES);
    return at;
}

/* Not as what the test started, which would have to end with it: TMPDIR tells that. */
static _Noreturn void become(const char *launcher, const char *folder, const char *socket)
{
    char option[200], log[200];
    snprintf(option, sizeof option, "-Dagent.socket=%s", socket);
    snprintf(log, sizeof log, "%s.log", socket);
    int nothing = open("/dev/null", O_RDONLY), said = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setsid();
    if (fork() == 0 && setenv("TMPDIR", folder, 1) == 0 && dup2(nothing, 0) == 0 && dup2(said, 1) == 1 && dup2(said, 2) == 2)
        execl(launcher, launcher, option, (char *)NULL);
    _exit(0);
}

static void start(const char *launcher, const char *folder, const char *socket)
{
    unlink(socket); /* of one that has ended */
    pid_t child = fork();
    if (child == 0)
        become(launcher, folder, socket);
    cr_assert(child > 0 && waitpid(child, NULL, 0) == child, "fork: %s", strerror(errno));
}

/* Also one that takes the connection may be about to end, as no test has wanted it for long. */
static bool answers(int fd)
{
    static const char question[] = "1 agent clock\n";
    char answer[200];
    ssize_t got = send(fd, question, sizeof question - 1, MSG_NOSIGNAL) > 0 ? read(fd, answer, sizeof answer) : -1;
    while (got > 0 && answer[got - 1] != '\n')
        got = read(fd, answer, sizeof answer);
    return got > 0;
}

static int connect_to(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 && answers(fd))
        return fd;
    close(fd);
    return -1;
}

int agent_pool_take(const char *launcher, pid_t *pid)
{
    const char *folder = getenv("RLOCK_AGENTS");
    if (!folder)
        return -1;
    struct sockaddr_un at = take_place(folder);
    int fd = connect_to(&at);
    if (fd < 0)
        start(launcher, folder, at.sun_path);
    for (int64_t end_ms = limit_end_ms(START_MS); fd < 0; pass_ms(5)) {
        cr_assert(now_ms() < end_ms, "no agent came up at %s; see %s.log", at.sun_path, at.sun_path);
        fd = connect_to(&at);
    }
    struct ucred peer;
    cr_assert(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &(socklen_t){sizeof peer}) == 0);
    *pid = peer.pid;
    return fd;
}

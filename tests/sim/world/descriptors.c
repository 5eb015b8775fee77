/* Descriptors of the simulated system: connections, and events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/descriptors.h"

#include "tests/sim/world/finding.h"
#include "tests/sim/world/network.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#define FIRST 1000 /* no real descriptor */
#define MOST 4096
#define INTERRUPTED 300 /* of so many calls that may be, one is */

typedef enum kind { UNUSED, SOCKET, EVENT } kind;

typedef struct descriptor {
    kind kind;
    machine *of;
    connection *connection; /* NULL: a socket that is not connected */
    uint64_t value;         /* of an event */
} descriptor;

static descriptor all[MOST];
static int open_count;
static bool forked;

/* Two processes may each have one of a number, so these tell them apart: each has its own. */
static int take(kind of)
{
    for (int i = 0; i < MOST; i++) {
        if (all[i].kind != UNUSED)
            continue;
        all[i] = (descriptor){.kind = of, .of = thread_machine(thread_self())};
        open_count++;
        return FIRST + i;
    }
    errno = EMFILE;
    return -1;
}

/* One that is not open, or another process's, is used after it was closed. */
static descriptor *at(int fd, const char *call)
{
    descriptor *found = fd >= FIRST && fd < FIRST + MOST ? &all[fd - FIRST] : NULL;
    if (!found || found->kind == UNUSED)
        finding("%s calls %s with descriptor %d, which is not open", thread_title(thread_self()), call, fd);
    if (found->of != thread_machine(thread_self()) && !forked)
        finding("%s calls %s with descriptor %d of another process", thread_title(thread_self()), call, fd);
    return found;
}

int descriptors_open(void)
{
    return open_count;
}

void descriptors_forked(void)
{
    forked = true;
}

void descriptors_fork_is_over(void)
{
    forked = false;
}

static bool is_interrupted(void)
{
    if (!world_happens(INTERRUPTED))
        return false;
    errno = EINTR;
    return true;
}

static ssize_t result(ssize_t done)
{
    if (done >= 0)
        return done;
    errno = (int)-done;
    return -1;
}

/* --- waiting for several --- */

/* Who sleeps until one of these changes; on that thread's stack. */
typedef struct watch {
    struct watch *next;
    const descriptor *of[2];
} watch;
static watch *watches;

/* A connection, or an event, has changed: those who poll look again. */
static bool sleep_by(const descriptor *first, const descriptor *second, int64_t until_ns, const char *what)
{
    const void *on = first && first->connection ? (const void *)first->connection : first;
    if (!second || second == first)
        return thread_sleep(on, until_ns, ~0u, what);
    /* Of two, the second is an event, whose writer wakes the sleepers of the first as well. */
    watch own = {watches, {first, second}};
    watches = &own;
    bool woken = thread_sleep(on, until_ns, ~0u, what);
    for (watch **place = &watches; *place; place = &(*place)->next) {
        if (*place == &own) {
            *place = own.next;
            break;
        }
    }
    return woken;
}

static void changed(const descriptor *self)
{
    threads_wake(self, INT_MAX, ~0u);
    for (const watch *one = watches; one; one = one->next) {
        if (one->of[1] == self)
            threads_wake(one->of[0]->connection ? (const void *)one->of[0]->connection : one->of[0], INT_MAX, ~0u);
    }
}

static short events_of(const descriptor *self)
{
    if (self->kind == EVENT)
        return (short)(self->value ? POLLIN | POLLOUT : POLLOUT);
    return self->connection ? connection_events(self->connection) : POLLOUT | POLLHUP;
}

int os_poll(struct pollfd *polled, nfds_t count, int timeout_ms)
{
    const descriptor *of[2] = {NULL, NULL};
    int64_t until_ns = timeout_ms < 0 ? WORLD_NEVER : world_now_ns() + (int64_t)timeout_ms * 1000000;
    sim_point();
    if (count > 2)
        finding("poll of %u descriptors is not simulated", (unsigned)count);
    for (nfds_t i = 0; i < count; i++)
        of[i] = polled[i].fd < 0 ? NULL : at(polled[i].fd, "poll");
    for (;;) {
        int ready = 0;
        for (nfds_t i = 0; i < count; i++) {
            polled[i].revents = (short)(of[i] ? events_of(of[i]) & (polled[i].events | POLLERR | POLLHUP) : 0);
            ready += polled[i].revents != 0;
        }
        if (ready || world_now_ns() >= until_ns)
            return ready;
        if (is_interrupted())
            return -1;
        const descriptor *first = of[0] ? of[0] : of[1];
        if (first)
            sleep_by(first, of[0] ? of[1] : NULL, until_ns, "a descriptor");
        else
            thread_sleep(polled, until_ns, ~0u, "time to pass");
        for (nfds_t i = 0; i < count; i++) {
            if (of[i] && of[i]->kind == UNUSED)
                finding("%s polls descriptor %d while it is closed", thread_title(thread_self()), polled[i].fd);
        }
    }
}

/* --- sockets --- */

int os_socket(int family, int type, int protocol)
{
    (void)type;
    (void)protocol;
    sim_point();
    if (family != AF_INET) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return take(SOCKET);
}

int os_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    sim_point();
    descriptor *self = at(fd, "connect");
    if (address->sa_family != AF_INET || length < sizeof(struct sockaddr_in) || self->connection)
        finding("connect is simulated once for each socket, with IPv4");
    self->connection = connection_open(self->of, (const struct sockaddr_in *)(const void *)address);
    errno = EINPROGRESS;
    return -1;
}

ssize_t os_send(int fd, const void *bytes, size_t length, int flags)
{
    sim_point();
    const descriptor *self = at(fd, "send");
    if (!(flags & MSG_DONTWAIT) || !(flags & MSG_NOSIGNAL) || !self->connection)
        finding("send is simulated with MSG_DONTWAIT and MSG_NOSIGNAL, on a connected socket");
    if (is_interrupted())
        return -1;
    ssize_t sent = connection_send(self->connection, bytes, length);
    sim_point();
    return result(sent);
}

ssize_t os_recv(int fd, void *bytes, size_t length, int flags)
{
    sim_point();
    const descriptor *self = at(fd, "recv");
    for (;;) {
        if (is_interrupted())
            return -1;
        ssize_t got = self->connection ? connection_receive(self->connection, bytes, length) : -ENOTCONN;
        if (got != -EAGAIN || flags & MSG_DONTWAIT)
            return result(got);
        sleep_by(self, NULL, WORLD_NEVER, "bytes");
        if (self->kind == UNUSED)
            finding("%s receives from descriptor %d while it is closed", thread_title(thread_self()), fd);
    }
}

int os_shutdown(int fd, int how)
{
    sim_point();
    const descriptor *self = at(fd, "shutdown");
    if (how != SHUT_RDWR)
        finding("shutdown(%d) is not simulated", how);
    if (self->connection)
        connection_shutdown(self->connection);
    return 0;
}

int os_setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    (void)level;
    (void)option;
    (void)value;
    (void)length;
    at(fd, "setsockopt");
    return 0;
}

int os_getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    const descriptor *self = at(fd, "getsockopt");
    if (level != SOL_SOCKET || option != SO_ERROR || *length != sizeof(int) || !self->connection)
        finding("getsockopt is simulated for SO_ERROR of a connected socket");
    int state = connection_state(self->connection);
    *(int *)value = state == EINPROGRESS ? 0 : state;
    return 0;
}

/* Whether it blocks is said with each call. */
int os_fcntl(int fd, int command, ...)
{
    at(fd, "fcntl");
    if (command != F_SETFL && command != F_GETFL && command != F_SETFD)
        finding("fcntl(%d) is not simulated", command);
    return 0;
}

/* --- events --- */

int os_eventfd(unsigned value, int flags)
{
    sim_point();
    if (!(flags & EFD_NONBLOCK))
        finding("an eventfd that blocks is not simulated");
    int fd = take(EVENT);
    if (fd >= 0)
        all[fd - FIRST].value = value;
    return fd;
}

ssize_t os_read(int fd, void *bytes, size_t length)
{
    sim_point();
    descriptor *self = at(fd, "read");
    if (self->kind != EVENT || length != sizeof self->value)
        finding("read is simulated for events");
    if (self->value == 0)
        return result(-EAGAIN);
    memcpy(bytes, &self->value, sizeof self->value);
    self->value = 0;
    return sizeof self->value;
}

ssize_t os_write(int fd, const void *bytes, size_t length)
{
    uint64_t more;
    sim_point();
    descriptor *self = at(fd, "write");
    if (self->kind != EVENT || length != sizeof more)
        finding("write is simulated for events");
    memcpy(&more, bytes, sizeof more);
    self->value += more;
    changed(self);
    return sizeof more;
}

int os_close(int fd)
{
    sim_point();
    descriptor *self = at(fd, "close");
    if (self->connection && !forked)
        connection_close(self->connection);
    *self = (descriptor){.kind = UNUSED};
    open_count--;
    return 0;
}

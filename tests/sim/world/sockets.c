/* Sockets of the simulated system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/descriptor.h"
#include "tests/sim/world/finding.h"
#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"
#include "tests/sim/world/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>

int os_socket(int family, int type, int protocol)
{
    (void)protocol;
    sim_point();
    if (family != AF_INET && family != AF_UNIX) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    int fd = descriptor_take(SOCKET);
    if (fd < 0)
        return -1;
    descriptor *self = descriptor_at(fd, "socket");
    self->family = family;
    self->nonblocking = type & SOCK_NONBLOCK;
    return fd;
}

int os_socketpair(int family, int type, int protocol, int ends[2])
{
    connection *both[2];
    connection_pair(thread_machine(thread_self()), both);
    for (int i = 0; i < 2; i++) {
        ends[i] = os_socket(family, type, protocol);
        descriptor_at(ends[i], "socketpair")->connection = both[i];
    }
    return 0;
}

/* --- connecting --- */

/* By its own thread: until something has changed, or the instant has come. */
static bool await(const descriptor *self, int64_t until_ns, const char *what)
{
    const void *thing = descriptor_thing(self);
    bool woken = watch_sleep(&thing, 1, until_ns, what);
    if (self->kind == UNUSED)
        finding("%s waits for %s of a descriptor that is closed meanwhile", thread_title(thread_self()), what);
    return woken;
}

static int connect_by_path(descriptor *self, const struct sockaddr_un *to)
{
    int error;
    self->connection = connection_open_local(thread_machine(thread_self()), to->sun_path, &error);
    return (int)descriptor_result(self->connection ? 0 : -error);
}

/* What has become of it, as some versions of hiredis ask. */
static int connect_again(const descriptor *self)
{
    int state = connection_state(self->connection);
    return (int)descriptor_result(state == 0 ? -EISCONN : state == EINPROGRESS ? -EALREADY : -state);
}

int os_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    sim_point();
    descriptor *self = descriptor_at(fd, "connect");
    if (address->sa_family != self->family)
        finding("connect is simulated with addresses of the socket's family");
    if (self->connection)
        return connect_again(self);
    if (self->family == AF_UNIX)
        return connect_by_path(self, (const struct sockaddr_un *)(const void *)address);
    if (length < sizeof(struct sockaddr_in))
        finding("connect is simulated with IPv4");
    self->connection = connection_open(thread_machine(thread_self()), (const struct sockaddr_in *)(const void *)address);
    while (!self->nonblocking && connection_state(self->connection) == EINPROGRESS)
        await(self, WORLD_NEVER, "a connection");
    return (int)descriptor_result(-connection_state(self->connection));
}

/* --- being connected to --- */

int os_bind(int fd, const struct sockaddr *address, socklen_t length)
{
    (void)length;
    descriptor_at(fd, "bind")->listener = listener_bind(address);
    return 0;
}

int os_getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    const descriptor *self = descriptor_at(fd, "getsockname");
    struct sockaddr_in own;
    if (!self->listener || *length < sizeof own)
        finding("getsockname is simulated for sockets that are bound to a port");
    listener_address(self->listener, &own);
    memcpy(address, &own, sizeof own);
    *length = sizeof own;
    return 0;
}

int os_listen(int fd, int backlog)
{
    const descriptor *self = descriptor_at(fd, "listen");
    if (!self->listener)
        finding("listen is simulated for sockets that are bound");
    return (int)descriptor_result(listener_open(self->listener, backlog));
}

int os_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    sim_point();
    const descriptor *self = descriptor_at(fd, "accept");
    connection *end;
    if (address || length)
        finding("accept is simulated without the address");
    while (!(end = listener_accept(self->listener))) {
        if (self->nonblocking)
            return (int)descriptor_result(-EAGAIN);
        await(self, WORLD_NEVER, "a client");
    }
    int accepted = os_socket(self->family, SOCK_STREAM | flags, 0);
    if (accepted >= 0)
        descriptor_at(accepted, "accept")->connection = end;
    return accepted;
}

int os_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return os_accept4(fd, address, length, 0);
}

/* --- bytes --- */

ssize_t os_send(int fd, const void *bytes, size_t length, int flags)
{
    sim_point();
    const descriptor *self = descriptor_at(fd, "send");
    bool waits = !(flags & MSG_DONTWAIT) && !self->nonblocking;
    size_t done = 0;
    if (!(flags & MSG_NOSIGNAL) && !world_is_calm()) /* what tests use beside the library may raise SIGPIPE, which they block */
        finding("send without MSG_NOSIGNAL may end the process");
    for (;;) {
        if (descriptor_is_interrupted())
            return -1;
        ssize_t sent = self->connection ? connection_send(self->connection, (const char *)bytes + done, length - done)
                                        : -ENOTCONN;
        if (sent > 0)
            done += (size_t)sent;
        if (done == length || !waits || (sent < 0 && sent != -EAGAIN)) {
            sim_point();
            return done ? (ssize_t)done : descriptor_result(sent);
        }
        if (sent == -EAGAIN)
            await(self, WORLD_NEVER, "room to send");
    }
}

ssize_t os_recv(int fd, void *bytes, size_t length, int flags)
{
    sim_point();
    const descriptor *self = descriptor_at(fd, "recv");
    bool waits = !(flags & MSG_DONTWAIT) && !self->nonblocking;
    int64_t until_ns = self->patience_ns ? world_now_ns() + self->patience_ns : WORLD_NEVER;
    for (;;) {
        if (descriptor_is_interrupted())
            return -1;
        ssize_t got = !self->connection  ? -ENOTCONN
                      : flags & MSG_PEEK ? connection_look(self->connection, bytes, length)
                                         : connection_receive(self->connection, bytes, length);
        if (got != -EAGAIN || !waits || world_now_ns() >= until_ns)
            return descriptor_result(got);
        await(self, until_ns, "bytes");
    }
}

int os_shutdown(int fd, int how)
{
    sim_point();
    const descriptor *self = descriptor_at(fd, "shutdown");
    if (how == SHUT_RD)
        finding("shutdown(%d) is not simulated", how);
    if (self->connection)
        connection_shutdown(self->connection, how == SHUT_RDWR);
    return 0;
}

/* --- options --- */

int os_setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    if (fd < 0)
        return (int)descriptor_result(-EBADF);
    descriptor *self = descriptor_at(fd, "setsockopt");
    if (level == SOL_SOCKET && option == SO_RCVTIMEO && length == sizeof(struct timeval)) {
        const struct timeval *most = value;
        self->patience_ns = (int64_t)most->tv_sec * 1000000000 + (int64_t)most->tv_usec * 1000;
    }
    if (level == SOL_SOCKET && option == SO_LINGER && length == sizeof(struct linger)) {
        const struct linger *asked = value;
        self->resets = asked->l_onoff && asked->l_linger == 0;
    }
    return 0;
}

int os_getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    const descriptor *self = descriptor_at(fd, "getsockopt");
    if (level != SOL_SOCKET || option != SO_ERROR || *length != sizeof(int) || !self->connection)
        finding("getsockopt is simulated for SO_ERROR of a connected socket");
    int state = connection_state(self->connection);
    *(int *)value = state == EINPROGRESS ? 0 : state;
    return 0;
}

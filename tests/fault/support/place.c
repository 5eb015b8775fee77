/* Where a proxy listens, and where its server is: a unix socket or a loopback port. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

place place_of_path(const char *path)
{
    place self = {.un = {.sun_family = AF_UNIX}, .size = sizeof self.un};
    strncpy(self.un.sun_path, path, sizeof self.un.sun_path - 1);
    return self;
}

place place_of_port(int port)
{
    return (place){
        .in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
        .size = sizeof(struct sockaddr_in),
    };
}

static int given_up(int fd)
{
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int place_listen(const place *self)
{
    int fd = socket(self->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    if (fd < 0)
        return -1;
    if (self->any.sa_family == AF_UNIX)
        unlink(self->un.sun_path);
    else
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, &self->any, self->size) != 0 || listen(fd, BACKLOG) != 0)
        return given_up(fd);
    return fd;
}

static int connect_to(const place *self, int flags)
{
    int fd = socket(self->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, &self->any, self->size) != 0 && errno != EINPROGRESS)
        return given_up(fd);
    place_hasten(fd);
    return fd;
}

int place_connect(const place *self)
{
    return connect_to(self, 0);
}

int place_begin_connect(const place *self)
{
    return connect_to(self, SOCK_NONBLOCK);
}

void place_hasten(int fd)
{
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* refused on a unix socket, which needs none */
}

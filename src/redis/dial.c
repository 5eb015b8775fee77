/* Dialling: a connected socket to the server, or the reason why there is none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/dial.h"

#include "clock.h"
#include "redis/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* How late the client's closing may be noticed. */
#define SLICE_MS 20

bool rli_patience_ended(const rli_patience *patience)
{
    return rli_cancel_fired(patience->cancel) || atomic_load(patience->closed) ||
           (patience->drops && atomic_load(patience->drops) != patience->drops_before) ||
           rli_now_ms() >= patience->deadline_ms;
}

bool rli_patience_poll(const rli_patience *patience, int fd, short events)
{
    struct pollfd polled[2] = {
        {.fd = fd, .events = events},
        {.fd = rli_cancel_fd(patience->cancel), .events = POLLIN},
    };
    for (;;) {
        int ready = poll(polled, 2, rli_until_ms(patience->deadline_ms, SLICE_MS));
        if (ready > 0 && polled[0].revents)
            return true;
        if ((ready < 0 && errno != EINTR) || rli_patience_ended(patience))
            return false;
    }
}

/* A non-blocking connect, so that it ends when patience does. 0 or an errno. */
static int connect_patiently(int fd, const struct sockaddr *address, socklen_t length,
                             const rli_patience *patience)
{
    if (connect(fd, address, length) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return errno;
    if (!rli_patience_poll(patience, fd, POLLOUT))
        return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

static int open_socket(int family, const struct sockaddr *address, socklen_t length,
                       const rli_patience *patience, const char **why)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        *why = strerror(errno);
        return -1;
    }
    int error = connect_patiently(fd, address, length, patience);
    if (error == EAGAIN) /* a unix socket whose server accepts too slowly */
        error = ETIMEDOUT;
    if (error == 0 && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    *why = error == ETIMEDOUT ? "it does not answer" : strerror(error ? error : errno);
    close(fd);
    return -1;
}

static int dial_unix(const rli_address *address, const rli_patience *patience, const char **why)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    strncpy(path.sun_path, address->socket_path, sizeof path.sun_path - 1);
    return open_socket(AF_UNIX, (const struct sockaddr *)&path, sizeof path, patience, why);
}

static void set(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value);
}

/* Where the settings leave it to us: a server that has vanished is noticed within half a minute, also by who
 * only listens. */
static void tune(int fd, const rli_settings *settings)
{
    int idle_s = settings->tcp_keep_alive_idle_s, interval_s = settings->tcp_keep_alive_interval_s;
    int count = settings->tcp_keep_alive_count, unacknowledged_ms = settings->tcp_user_timeout_ms;
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, settings->tcp_keep_alive);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s ? idle_s : 15);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval_s ? interval_s : 5);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, count ? count : 3);
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_ms ? unacknowledged_ms : 30000);
}

static int dial_tcp(const rli_settings *settings, const rli_address *address, const rli_patience *patience,
                    const char **why)
{
    char port[RLI_DECIMAL];
    rli_decimal(address->port, port);
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses;
    int error = getaddrinfo(address->host, port, &hints, &addresses);
    if (error) {
        *why = error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
        return -1;
    }
    int fd = -1;
    for (struct addrinfo *one = addresses; one && fd < 0 && !rli_patience_ended(patience); one = one->ai_next)
        fd = open_socket(one->ai_family, one->ai_addr, one->ai_addrlen, patience, why);
    freeaddrinfo(addresses);
    if (fd >= 0)
        tune(fd, settings);
    return fd;
}

int rli_dial(const rli_settings *settings, const rli_address *address, const rli_patience *patience,
             const char **why)
{
    *why = "it does not answer";
    return address->socket_path ? dial_unix(address, patience, why) : dial_tcp(settings, address, patience, why);
}

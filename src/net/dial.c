/* Dialling: a connected socket to the server, or the reason why there is none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dial.h"

#include "base/forked.h"
#include "net/lookup.h"
#include "net/race.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int dial_unix(const rli_address *address, const rli_patience *patience, const char **why)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    const struct addrinfo alone = {
        .ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)&path, .ai_addrlen = sizeof path};
    strncpy(path.sun_path, address->socket_path, sizeof path.sun_path - 1);
    return rli_race(&alone, patience, why);
}

static void set(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value);
}

/* Where the settings leave a value to us, a vanished server is noticed within half a minute, even on a connection that
 * only receives. */
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

/* Waits for the lookup while patience lasts. NULL: *why has the reason. */
static const struct addrinfo *await_addresses(const rli_lookup_use *lookup, const rli_patience *patience,
                                              rli_parker *parker, const char **why)
{
    *why = "the resolver does not answer (see /etc/resolv.conf)";
    while (!rli_lookup_is_done(lookup)) {
        if (rli_patience_ended(patience))
            return NULL;
        rli_patience_park(patience, parker);
    }
    return rli_lookup_found(lookup, why);
}

static int dial_tcp(const rli_settings *settings, const rli_address *address, const rli_patience *patience,
                    const char **why)
{
    rli_lookup_use lookup;
    rli_parker parker;
    rli_parker_init(&parker);
    if (!rli_lookup_begin(&lookup, address->host, address->port, &parker)) {
        *why = "there is no memory or thread for looking its name up";
        return -1;
    }
    const struct addrinfo *addresses = await_addresses(&lookup, patience, &parker, why);
    int fd = addresses ? rli_race(addresses, patience, why) : -1;
    rli_lookup_end(&lookup);
    if (fd >= 0)
        tune(fd, settings);
    return fd;
}

int rli_dial(const rli_settings *settings, const rli_address *address, const rli_patience *patience, const char **why)
{
    int fd = address->socket_path ? dial_unix(address, patience, why) : dial_tcp(settings, address, patience, why);
    if (fd < 0 || fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    *why = strerror(errno);
    rli_fd_close(fd);
    return -1;
}

/* TCP's own means against servers that have vanished: set on every connection, as the settings say. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

TestSuite(keep_alive, .init = stage_open, .fini = stage_close);

/* This process's connection to the stage's server; all the others go over its unix socket. */
static int find_connection(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_in peer;
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == server_port(stage.server))
            return fd;
    }
    cr_assert_fail("no connection to port %d", server_port(stage.server));
    return -1;
}

static void assert_option(int level, int option, int expected, const char *name)
{
    int value = -1;
    socklen_t size = sizeof value;
    cr_assert(getsockopt(find_connection(), level, option, &value, &size) == 0);
    cr_assert(value == expected, "%s is %d, not %d", name, value, expected);
}

static rlock_client *open_by_tcp(const char *query)
{
    char url[256];
    rlock_client *client = NULL;
    snprintf(url, sizeof url, "%s%s", server_tcp_url(stage.server), query);
    assert_ok(rlock_client_open(&client, url));
    return client;
}

Test(keep_alive, is_on_unless_told_otherwise)
{
    rlock_client *client = open_by_tcp("");
    assert_option(SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE");
    assert_option(IPPROTO_TCP, TCP_KEEPIDLE, 15, "TCP_KEEPIDLE");
    assert_option(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000, "TCP_USER_TIMEOUT");
    rlock_client_close(client);
    client = open_by_tcp("?tcpKeepAlive=false");
    assert_option(SOL_SOCKET, SO_KEEPALIVE, 0, "SO_KEEPALIVE");
    rlock_client_close(client);
}

Test(keep_alive, is_as_the_settings_say)
{
    rlock_client *client =
        open_by_tcp("?tcpKeepAliveIdle=7&tcpKeepAliveInterval=3&tcpKeepAliveCount=9&tcpUserTimeout=12345");
    assert_option(IPPROTO_TCP, TCP_KEEPIDLE, 7, "TCP_KEEPIDLE");
    assert_option(IPPROTO_TCP, TCP_KEEPINTVL, 3, "TCP_KEEPINTVL");
    assert_option(IPPROTO_TCP, TCP_KEEPCNT, 9, "TCP_KEEPCNT");
    assert_option(IPPROTO_TCP, TCP_USER_TIMEOUT, 12345, "TCP_USER_TIMEOUT");
    rlock_client_close(client);
}

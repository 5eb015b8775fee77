/* A connection: opening it with the greeting, then sending and receiving bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/connection.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/park.h"
#include "net/greeting.h"
#include "net/limits.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t send_plain(int fd, const char *bytes, size_t length)
{
    size_t sent = 0;
    while (sent < length) {
        ssize_t n = send(fd, bytes + sent, length - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)sent;
}

ssize_t rli_connection_send(const rli_connection *connection, const char *bytes, size_t length)
{
    rli_check(!rli_wakes_are_gathered());
    ssize_t sent = connection->tls ? rli_tls_send(connection->tls, bytes, length)
                                   : send_plain(connection->fd, bytes, length);
    /* Shut the socket down: a part of the bytes may have left before the error, and the error may pass (ENOBUFS), so
     * that the server would read later bytes in the middle of a command. The receiving thread then finds the end. */
    if (sent < 0)
        shutdown(connection->fd, SHUT_RDWR);
    return sent;
}

static rli_received take(const rli_connection *connection, int flags)
{
    char bytes[16384];
    ssize_t n;
    do
        n = recv(connection->fd, bytes, sizeof bytes, flags);
    while (n < 0 && errno == EINTR && flags);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return RLI_RECEIVED_NOTHING;
    if (n <= 0)
        return RLI_RECEIVED_END;
    redisReader *reader = connection->context->reader;
    bool fed = connection->tls ? rli_tls_feed(connection->tls, reader, bytes, (size_t)n, sizeof bytes)
                               : redisReaderFeed(reader, bytes, (size_t)n) == REDIS_OK;
    return fed ? RLI_RECEIVED_BYTES : RLI_RECEIVED_END;
}

/* Whether the process or the machine has run out of descriptors. */
static bool is_want_of_descriptors(const char *why)
{
    return strcmp(why, strerror(EMFILE)) == 0 || strcmp(why, strerror(ENFILE)) == 0;
}

/* Whether the host name could not be resolved. */
static bool is_unknown_host(const char *why)
{
    static const int errors[] = {EAI_NONAME, EAI_AGAIN, EAI_FAIL, EAI_NODATA, EAI_ADDRFAMILY};
    size_t i = 0;
    while (i < sizeof errors / sizeof *errors && strcmp(why, gai_strerror(errors[i])) != 0)
        i++;
    return i < sizeof errors / sizeof *errors;
}

static rlock_status unreachable(const rli_address *address, const char *why)
{
    const char *advice = "check that it runs there and that this host can reach it";
    if (is_want_of_descriptors(why))
        advice = "close unused files, or raise the limit (ulimit -n)";
    else if (is_unknown_host(why))
        advice = "check the name of the host, and that this machine can resolve it";
    return rli_fail(RLOCK_UNAVAILABLE, "could not connect to Redis at %s: %s; %s", address->text, why, advice);
}

/* The address may contain a password, so do not show it: a user who forgets half of redis://:password@host writes
 * redis://password. */
static rlock_status not_dialled(const rli_address *address, const char *why)
{
    if (!address->alone || !is_unknown_host(why))
        return unreachable(address, why);
    return rli_fail(
        RLOCK_UNAVAILABLE,
        "could not connect to Redis: the host in the URL is unknown (%s). It is not shown, since a single word may be a "
        "password. If it is one, write :password@host; if it is a host, write host:port, and it will be shown",
        why);
}

rlock_status rli_connection_explain_failure(const rli_connection *connection, const rli_address *address)
{
    if (connection->tls) {
        take(connection, MSG_DONTWAIT); /* reads what the server said before it hung up */
        rlock_status status = rli_tls_check(connection->tls, address);
        if (status != RLOCK_OK)
            return status;
    } else if (strstr(connection->context->reader->errstr, "\\x15")) { /* a TLS alert begins with this byte */
        return rli_fail(RLOCK_SERVER,
                        "Redis at %s speaks TLS on that port; write rediss:// instead of redis://, or name "
                        "its plain port",
                        address->text);
    }
    const char *trouble = rli_connection_trouble(connection);
    if (trouble)
        return rli_fail(RLOCK_UNAVAILABLE,
                        "could not connect to Redis at %s: it sent %s; check that Redis listens "
                        "there",
                        address->text, trouble);
    /* as Redis does when plain text arrives at its TLS port */
    if (!connection->tls && rli_connection_is_closed(connection))
        return unreachable(address, "it closed the connection (if that port speaks TLS, write rediss://)");
    if (rli_connection_is_closed(connection))
        return unreachable(address, "it closed the connection");
    if (!connection->timeout_ms)
        return unreachable(address, "it took the connection but did not answer in the time given");
    char why[96];
    snprintf(why, sizeof why, "it took the connection but did not answer within %lld ms (timeout)",
             (long long)connection->timeout_ms);
    return unreachable(address, why);
}

static rlock_status secure(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                           const rli_patience *patience)
{
    rlock_status status = rli_tls_open(&connection->tls, &settings->tls, address, connection->fd, patience);
    char bytes[4096];
    if (status == RLOCK_OK && !rli_tls_feed(connection->tls, connection->context->reader, bytes, 0, sizeof bytes))
        status = rli_connection_explain_failure(connection, address);
    return status;
}

static rlock_status reach(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                          const rli_patience *patience)
{
    const char *why;
    int fd = rli_dial(settings, address, patience, &why);
    if (fd < 0)
        return not_dialled(address, why);
    connection->fd = fd;
    connection->context = redisConnectFd(fd); /* only for its reader; the bytes go through this file */
    if (!connection->context || !rli_limits_set(connection->context->reader))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    return settings->tls.on && !address->socket_path ? secure(connection, settings, address, patience) : RLOCK_OK;
}

bool rli_connection_send_all(const rli_connection *connection, const rli_buffer *bytes, const rli_patience *patience)
{
    size_t sent = 0;
    while (sent < bytes->length) {
        ssize_t n = rli_connection_send(connection, bytes->bytes + sent, bytes->length - sent);
        if (n < 0 || (n == 0 && !rli_patience_poll(patience, connection->fd, POLLOUT)))
            return false;
        sent += (size_t)n;
    }
    return true;
}

bool rli_connection_parse(const rli_connection *connection, redisReply **reply)
{
    return rli_limits_next(connection->context->reader, reply);
}

const char *rli_connection_trouble(const rli_connection *connection)
{
    return connection->context ? rli_limits_trouble(connection->context->reader) : NULL;
}

redisReply *rli_connection_next(const rli_connection *connection, const rli_patience *patience)
{
    for (;;) {
        redisReply *reply;
        if (!rli_connection_parse(connection, &reply))
            return NULL;
        if (reply)
            return reply;
        if (!rli_patience_poll(patience, connection->fd, POLLIN) || take(connection, MSG_DONTWAIT) == RLI_RECEIVED_END)
            return NULL;
    }
}

redisReply *rli_connection_ask(const rli_connection *connection, const rli_command *command,
                               const rli_patience *patience)
{
    rli_buffer bytes = {0};
    redisReply *reply = NULL;
    if (rli_buffer_command(&bytes, command) && rli_connection_send_all(connection, &bytes, patience))
        reply = rli_connection_next(connection, patience);
    rli_buffer_free(&bytes);
    return reply;
}

rlock_status rli_connection_open(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                                 const rli_patience *patience)
{
    rli_patience own = *patience;
    own.deadline_ms = rli_earlier(own.deadline_ms, rli_after_ms(settings->connect_timeout_ms));
    *connection = (rli_connection){.fd = -1};
    rlock_status status = reach(connection, settings, address, &own);
    if (status == RLOCK_OK) {
        own.deadline_ms = rli_earlier(patience->deadline_ms, rli_after_ms(settings->timeout_ms));
        connection->timeout_ms = own.deadline_ms < patience->deadline_ms ? settings->timeout_ms : 0;
        status = rli_greeting_exchange(connection, settings, address, &own);
    }
    if (status != RLOCK_OK)
        rli_connection_close(connection);
    return status;
}

rli_shared_socket *rli_connection_share(rli_connection *connection)
{
    rli_shared_socket *shared = connection->shared;
    int alone = 1;
    if (shared) /* again, after the other thread has let go of it */
        return atomic_compare_exchange_strong(&shared->users, &alone, 2) ? shared : NULL;
    shared = malloc(sizeof *shared);
    if (!shared)
        return NULL;
    shared->fd = connection->fd;
    atomic_init(&shared->users, 2);
    connection->shared = shared;
    return shared;
}

void rli_shared_socket_release(rli_shared_socket *shared)
{
    if (!shared || atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    rli_fd_close(shared->fd);
    free(shared);
}

static void close_socket(rli_connection *connection)
{
    if (connection->shared) {
        shutdown(connection->fd, SHUT_RDWR); /* the server and the other thread notice the end */
        rli_shared_socket_release(connection->shared);
    } else if (connection->fd >= 0) {
        rli_fd_close(connection->fd);
    }
}

void rli_connection_close(rli_connection *connection)
{
    rli_tls_close(connection->tls);
    close_socket(connection);
    if (connection->context) {
        rli_limits_clear(connection->context->reader);
        connection->context->fd = -1; /* the socket is closed; redisFree ignores a negative one */
        redisFree(connection->context);
    }
    *connection = (rli_connection){.fd = -1};
}

rli_received rli_connection_receive(const rli_connection *connection, int64_t deadline_ms, int wake_fd, bool and_send)
{
    struct pollfd polled[2] = {
        {.fd = connection->fd, .events = (short)(and_send ? POLLIN | POLLOUT : POLLIN)},
        {.fd = wake_fd, .events = POLLIN},
    };
    if (deadline_ms == RLI_NEVER && wake_fd < 0 && !and_send)
        return take(connection, 0);
    if (deadline_ms <= rli_now_ms()) /* nothing to wait for */
        return take(connection, MSG_DONTWAIT);
    if (poll(polled, wake_fd < 0 ? 1 : 2, deadline_ms == RLI_NEVER ? -1 : rli_until_ms(deadline_ms, 60000)) <= 0)
        return RLI_RECEIVED_NOTHING;
    return polled[0].revents & ~POLLOUT ? take(connection, MSG_DONTWAIT) : RLI_RECEIVED_NOTHING;
}

bool rli_connection_is_closed(const rli_connection *connection)
{
    struct pollfd polled = {.fd = connection->fd, .events = POLLRDHUP};
    return poll(&polled, 1, 0) > 0;
}

/* A connection: opened, authenticated, and named; then bytes in and out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/connection.h"

#include "clock.h"
#include "error.h"
#include "forked.h"
#include "redis/buffer.h"
#include "redis/limits.h"
#include "redis/reply.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
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
    ssize_t sent = connection->tls ? rli_tls_send(connection->tls, bytes, length)
                                   : send_plain(connection->fd, bytes, length);
    /* A part may have left before the error, and the error may pass (ENOBUFS): whatever followed would be read from
     * the middle of a command. The thread that receives finds the end. */
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
        return RLI_QUIET;
    if (n <= 0)
        return RLI_ENDED;
    redisReader *reader = connection->context->reader;
    bool fed = connection->tls ? rli_tls_feed(connection->tls, reader, bytes, (size_t)n, sizeof bytes)
                               : redisReaderFeed(reader, bytes, (size_t)n) == REDIS_OK;
    return fed ? RLI_BYTES : RLI_ENDED;
}

static rlock_status unreachable(const rli_address *address, const char *why)
{
    return rli_fail(RLOCK_UNAVAILABLE,
                    "no connection to Redis at %s: %s; check that it runs there and may be reached",
                    address->text, why);
}

/* There is a server, which says why it is of no use for now. */
static rlock_status not_yet(const rli_address *address, const char *said)
{
    return rli_fail(RLOCK_UNAVAILABLE, "Redis at %s does not serve for now: %s%s", address->text, said,
                    strncmp(said, "BUSY ", 5) == 0 ? "; a script there runs for too long, and SCRIPT KILL ends it if it has "
                    "written nothing" : "");
}

/* Why no answer came to the greeting. */
static rlock_status silent(const rli_connection *connection, const rli_address *address)
{
    if (connection->tls) {
        take(connection, MSG_DONTWAIT); /* what it said before it hung up */
        rlock_status status = rli_tls_check(connection->tls, address);
        if (status != RLOCK_OK)
            return status;
    } else if (strstr(connection->context->reader->errstr, "\\x15")) { /* what a TLS alert begins with */
        return rli_fail(RLOCK_SERVER, "Redis at %s speaks TLS on that port; write rediss:// instead of redis://, or name "
                        "its plain port", address->text);
    }
    const char *trouble = rli_connection_trouble(connection);
    if (trouble)
        return rli_fail(RLOCK_UNAVAILABLE, "no connection to Redis at %s: it sent %s; check that Redis listens there",
                        address->text, trouble);
    if (!connection->tls && rli_connection_is_closed(connection)) /* what Redis itself does then */
        return unreachable(address, "it closed the connection (if that port speaks TLS, write rediss://)");
    return unreachable(address, "it closed the connection, or does not answer");
}

static rlock_status secure(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                           const rli_patience *patience)
{
    rlock_status status = rli_tls_open(&connection->tls, &settings->tls, address, connection->fd, patience);
    char bytes[4096];
    if (status == RLOCK_OK && !rli_tls_feed(connection->tls, connection->context->reader, bytes, 0, sizeof bytes))
        status = silent(connection, address);
    return status;
}

static rlock_status reach(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                          const rli_patience *patience)
{
    const char *why;
    int fd = rli_dial(settings, address, patience, &why);
    if (fd < 0)
        return unreachable(address, why);
    if (!rli_fd_track(fd)) {
        close(fd);
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    }
    connection->fd = fd;
    connection->context = redisConnectFd(fd); /* for its reader; the bytes go through this file */
    if (!connection->context || !rli_limits_set(connection->context->reader))
        return rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    return settings->tls.on && !address->socket_path ? secure(connection, settings, address, patience) : RLOCK_OK;
}

/* The greeting goes out in one piece; its answers are read in the same order. */
enum greeting { AUTH, SELECT, NAME, INFO, GREETINGS };

static bool add(rli_buffer *greeting, const char *first, const char *second, const char *third)
{
    const char *words[3] = {first, second, third};
    size_t count = third ? 3 : 2, lengths[3] = {0};
    for (size_t i = 0; i < count; i++)
        lengths[i] = strlen(words[i]);
    return rli_buffer_command(greeting, &(rli_command){.count = count, .words = words, .lengths = lengths});
}

typedef struct login {
    const char *username, *password;
} login;

static login login_at(const rli_settings *settings, const rli_address *address)
{
    if (address->password)
        return (login){address->username, address->password};
    if (address->sentinel)
        return (login){settings->sentinel_username, settings->sentinel_password};
    return (login){settings->username, settings->password};
}

static bool compose(rli_buffer *greeting, const rli_settings *settings, const rli_address *address, login as,
                    bool said[GREETINGS])
{
    char database[RLI_DECIMAL];
    rli_decimal(settings->database, database);
    said[AUTH] = as.password;
    said[SELECT] = settings->database && !address->sentinel;
    const char *own = address->sentinel ? "" : settings->own_name; /* holders are not looked for among its clients */
    const char *name = settings->client_name ? settings->client_name : own;
    said[NAME] = *name;
    said[INFO] = true;
    return (!said[AUTH] || (as.username ? add(greeting, "AUTH", as.username, as.password)
                                        : add(greeting, "AUTH", as.password, NULL))) &&
           (!said[SELECT] || add(greeting, "SELECT", database, NULL)) &&
           (!said[NAME] || add(greeting, "CLIENT", "SETNAME", name)) &&
           add(greeting, "INFO", "server", NULL);
}

static uint64_t run_of(const redisReply *info)
{
    if (info->type != REDIS_REPLY_STRING)
        return 0;
    const char *field = strstr(info->str, "run_id:");
    char digits[17];
    if (!field || strlen(field) < 7 + 16)
        return 0;
    memcpy(digits, field + 7, 16);
    digits[16] = 0;
    return strtoull(digits, NULL, 16);
}

static rlock_status locked_out(const rli_address *address, const char *said)
{
    if (address->sentinel)
        return rli_fail(RLOCK_SERVER, "the sentinel at %s wants a password: set sentinelPassword (%s)", address->text, said);
    return rli_fail(RLOCK_SERVER, "Redis at %s wants a password; give it as redis://user:password@host, or as password in "
                    "the configuration (%s)", address->text, said);
}

static rlock_status hear(rli_connection *connection, const rli_address *address, enum greeting what, bool named,
                         const redisReply *reply)
{
    static const char *const refused[] = {
        [AUTH] = "the user or password",
        [SELECT] = "the database",
        [NAME] = "the clientName",
    };
    if (reply->type != REDIS_REPLY_ERROR) {
        if (what == INFO)
            connection->run = run_of(reply);
        return RLOCK_OK;
    }
    if (rli_reply_advice(reply) == RLI_LATER)
        return not_yet(address, reply->str);
    if (strncmp(reply->str, "NOAUTH", 6) == 0)
        return locked_out(address, reply->str);
    if (what == INFO || (what == NAME && !named))
        return RLOCK_OK; /* an ACL may forbid it; then no run is known, or nobody finds this process by its name */
    if (what == AUTH && address->sentinel && strstr(reply->str, "without any password configured"))
        return RLOCK_OK; /* as Redisson, which tells a sentinel its password only when asked for it */
    if (what == AUTH && address->sentinel)
        return rli_fail(RLOCK_SERVER, "the sentinel at %s refused sentinelUsername or sentinelPassword: %s", address->text,
                        reply->str);
    if (what == SELECT && strstr(reply->str, "cluster mode"))
        return rli_fail(RLOCK_SERVER, "Redis at %s refused the database: %s; leave database at 0 there (others are for "
                        "Valkey 9 with cluster-databases)", address->text, reply->str);
    if (what == AUTH && strstr(reply->str, "without any password configured"))
        return rli_fail(RLOCK_SERVER, "Redis at %s wants no password from the default user: leave the password out, or name "
                        "another user beside it (%s)", address->text, reply->str);
    return rli_fail(RLOCK_SERVER, "Redis at %s refused %s: %s%s", address->text, refused[what], reply->str,
                    what == AUTH ? "; they are given as redis://user:password@host, or as username and password in the "
                    "configuration" : "");
}

static bool send_all(const rli_connection *connection, const rli_buffer *greeting, const rli_patience *patience)
{
    size_t sent = 0;
    while (sent < greeting->length) {
        ssize_t n = rli_connection_send(connection, greeting->bytes + sent, greeting->length - sent);
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
        if (!rli_patience_poll(patience, connection->fd, POLLIN) || take(connection, MSG_DONTWAIT) == RLI_ENDED)
            return NULL;
    }
}

redisReply *rli_connection_ask(const rli_connection *connection, const rli_command *command,
                               const rli_patience *patience)
{
    rli_buffer bytes = {0};
    redisReply *reply = NULL;
    if (rli_buffer_command(&bytes, command) && send_all(connection, &bytes, patience))
        reply = rli_connection_next(connection, patience);
    rli_buffer_free(&bytes);
    return reply;
}

static rlock_status greet(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                          login as, const rli_patience *patience)
{
    bool said[GREETINGS];
    rli_buffer greeting = {0};
    rlock_status status = RLOCK_OK;
    if (!compose(&greeting, settings, address, as, said))
        status = rli_fail(RLOCK_NO_MEMORY, "out of memory for a connection");
    else if (!send_all(connection, &greeting, patience))
        status = silent(connection, address);
    for (enum greeting what = AUTH; what < GREETINGS && status == RLOCK_OK; what++) {
        if (!said[what])
            continue;
        redisReply *reply = rli_connection_next(connection, patience);
        status = reply ? hear(connection, address, what, settings->client_name, reply) : silent(connection, address);
        freeReplyObject(reply);
    }
    rli_buffer_free(&greeting);
    return status;
}

/* As Redisson: a sentinel for which there is no password is told that of the servers, if it asks for one. */
static login login_to(rli_connection *connection, const rli_settings *settings, const rli_address *address,
                      const rli_patience *patience)
{
    login as = login_at(settings, address);
    if (!address->sentinel || as.password || !settings->password)
        return as;
    const rli_command ping = {.count = 1, .words = (const char *const[]){"PING"}, .lengths = (const size_t[]){4}};
    redisReply *reply = rli_connection_ask(connection, &ping, patience);
    if (reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOAUTH", 6) == 0)
        as.password = settings->password;
    freeReplyObject(reply);
    return as;
}

rlock_status rli_connection_open(rli_connection *connection, const rli_settings *settings,
                                 const rli_address *address, const rli_patience *patience)
{
    rli_patience own = *patience;
    own.deadline_ms = rli_earlier(own.deadline_ms, rli_after_ms(settings->connect_timeout_ms));
    *connection = (rli_connection){.fd = -1};
    rlock_status status = reach(connection, settings, address, &own);
    if (status == RLOCK_OK) {
        own.deadline_ms = rli_earlier(patience->deadline_ms, rli_after_ms(settings->timeout_ms));
        status = greet(connection, settings, address, login_to(connection, settings, address, &own), &own);
    }
    if (status != RLOCK_OK)
        rli_connection_close(connection);
    return status;
}

void rli_connection_close(rli_connection *connection)
{
    rli_tls_close(connection->tls);
    if (connection->fd >= 0)
        rli_fd_close(connection->fd);
    if (connection->context) {
        rli_limits_clear(connection->context->reader);
        connection->context->fd = -1; /* closed; redisFree leaves a negative one alone */
        redisFree(connection->context);
    }
    *connection = (rli_connection){.fd = -1};
}

rli_received rli_connection_block(const rli_connection *connection)
{
    return take(connection, 0);
}

rli_received rli_connection_receive(const rli_connection *connection, int64_t deadline_ms, int wake_fd,
                                    bool and_send)
{
    struct pollfd polled[2] = {
        {.fd = connection->fd, .events = (short)(and_send ? POLLIN | POLLOUT : POLLIN)},
        {.fd = wake_fd, .events = POLLIN},
    };
    if (poll(polled, wake_fd < 0 ? 1 : 2, deadline_ms == RLI_NEVER ? -1 : rli_until_ms(deadline_ms, 60000)) <= 0)
        return RLI_QUIET;
    return polled[0].revents & ~POLLOUT ? take(connection, MSG_DONTWAIT) : RLI_QUIET;
}

bool rli_connection_is_closed(const rli_connection *connection)
{
    struct pollfd polled = {.fd = connection->fd, .events = POLLRDHUP};
    return poll(&polled, 1, 0) > 0;
}

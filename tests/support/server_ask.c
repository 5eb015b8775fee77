/* Asking the test's server: commands on the fixture's own connection, and waiting for answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static bool greet(redisContext *context, const char *password)
{
    redisReply *reply = password ? redisCommand(context, "AUTH %s", password) : redisCommand(context, "PING");
    bool up = reply && (reply->type != REDIS_REPLY_ERROR || strncmp(reply->str, "LOADING", 7) != 0);
    freeReplyObject(reply);
    return up;
}

redisContext *server_connect(const server *self)
{
    redisContext *context = redisConnectUnix(self->socket);
    if (!context)
        return NULL;
    fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    redisSetTimeout(context, (struct timeval){.tv_sec = 30});
    if (context->err || !greet(context, server_argument(self, "--requirepass"))) {
        redisFree(context);
        return NULL;
    }
    return context;
}

void server_hang_up(server *self)
{
    pthread_mutex_lock(&self->asking);
    redisFree(self->context);
    self->context = NULL;
    pthread_mutex_unlock(&self->asking);
}

/* Closed by the server, as after CLIENT KILL. Writing would then raise SIGPIPE. */
static bool is_over(redisContext *context)
{
    char byte;
    return context->err || recv(context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Writing to a connection that the server closes meanwhile is an error here, and no signal. */
static redisReply *send_and_receive(redisContext *context, const char *format, va_list args)
{
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    redisReply *reply = redisvCommand(context, format, args);
    int error = errno;
    if (!sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return reply;
}

/* Whether the connection failed before the server had read the command: a socket that is closed with
 * something unread in it is reset. */
static bool was_unread(const redisContext *context)
{
    return context->err == REDIS_ERR_IO && (errno == ECONNRESET || errno == EPIPE);
}

/* What only looks may be run twice. */
static bool only_looks(const char *format)
{
    static const char *const looks[] = {
        "INFO", "PING", "ROLE", "DBSIZE", "GET ", "EXISTS ", "PTTL ", "TTL ", "TYPE ", "KEYS ", "HGET", "LRANGE ",
        "ZRANGE ", "PUBSUB ", "WAIT ", "CLIENT LIST", "CLUSTER SLOTS", "CLUSTER NODES", "CLUSTER INFO",
        "SENTINEL MASTER", "SENTINEL REPLICAS", "SENTINEL GET-MASTER-ADDR-BY-NAME",
    };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        if (strncmp(format, looks[i], strlen(looks[i])) == 0)
            return true;
    }
    return false;
}

/* One that is just being made is ended likewise. */
static redisContext *connect_while_up(const server *self)
{
    redisContext *context = server_connect(self);
    for (int64_t end_ms = limit_end_ms(30000); !context && server_is_up(self) && now_ms() < end_ms; pass_ms(1))
        context = server_connect(self);
    return context;
}

/* A sentinel that changes a server's role ends all its connections: then the command is sent again,
 * if that cannot run it twice, or if it may be. */
static redisReply *ask(server *self, const char *format, va_list args)
{
    pthread_mutex_lock(&self->asking);
    redisReply *reply = NULL;
    for (bool again = true; !reply && again;) {
        if (self->context && is_over(self->context)) {
            redisFree(self->context);
            self->context = NULL;
        }
        if (!self->context)
            self->context = connect_while_up(self);
        va_list copy;
        va_copy(copy, args);
        reply = self->context ? send_and_receive(self->context, format, copy) : NULL;
        again = self->context && (was_unread(self->context) ||
                                  (self->context->err == REDIS_ERR_EOF && only_looks(format)));
        va_end(copy);
    }
    char error[160] = "not connected";
    if (!reply && self->context)
        snprintf(error, sizeof error, "%s", self->context->errstr);
    pthread_mutex_unlock(&self->asking); /* before the assert: it does not come back */
    cr_assert(reply != NULL, "no answer to `%s`: %s", format, error);
    return reply;
}

redisReply *server_command(server *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    redisReply *reply = ask(self, format, args);
    va_end(args);
    return reply;
}

bool server_knows(server *self, const char *command)
{
    redisReply *reply = server_command(self, "COMMAND INFO %s", command);
    bool knows = reply->elements == 1 && reply->element[0]->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    return knows;
}

int64_t server_integer(server *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    redisReply *reply = ask(self, format, args);
    va_end(args);
    int64_t value = reply->integer;
    char *end = reply->str;
    if (reply->type == REDIS_REPLY_STRING)
        value = strtoll(reply->str, &end, 10);
    cr_assert(reply->type == REDIS_REPLY_INTEGER ||
                  (reply->type == REDIS_REPLY_STRING && end != reply->str && *end == 0),
              "the answer to `%s` is no integer: %s", format, reply->str ? reply->str : "(nil or array)");
    freeReplyObject(reply);
    return value;
}

char *server_text(server *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    redisReply *reply = ask(self, format, args);
    va_end(args);
    cr_assert(reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS || reply->type == REDIS_REPLY_NIL,
              "the answer to `%s` is no text: %s", format, reply->str ? reply->str : "(integer or array)");
    char *text = reply->str ? strndup(reply->str, reply->len) : NULL;
    freeReplyObject(reply);
    return text;
}

int64_t server_info(server *self, const char *field)
{
    char *info = server_text(self, "INFO all");
    char line[80];
    int length = snprintf(line, sizeof line, "\n%s:", field);
    const char *found = strstr(info, line);
    cr_assert(found != NULL, "INFO has no %s", field);
    int64_t value = strtoll(found + length, NULL, 10);
    free(info);
    return value;
}

static int64_t times_of(const char *stats, const char *command, int length)
{
    char field[64];
    snprintf(field, sizeof field, "cmdstat_%.*s:calls=", length, command);
    const char *found = strstr(stats, field);
    return found ? strtoll(found + strlen(field), NULL, 10) : 0;
}

int64_t server_times(server *self, const char *command)
{
    int whole = (int)strlen(command), container = (int)strcspn(command, "|");
    char *stats = server_text(self, "INFO commandstats");
    int64_t times = times_of(stats, command, whole);
    if (times == 0 && container < whole) /* before 7.0, all of them are counted as one */
        times = times_of(stats, command, container);
    free(stats);
    return times;
}

int64_t server_count_waiting(server *self, const char *channel)
{
    static const char prefix[] = "redisson_lock__channel";
    redisReply *reply = server_command(self, "PUBSUB NUMSUB %s %s:guards", channel, channel);
    int64_t count = reply->elements == 4 ? reply->element[1]->integer - reply->element[3]->integer : -1;
    freeReplyObject(reply);
    if (strncmp(channel, prefix, sizeof prefix - 1) != 0)
        return count;
    const char *of = channel + sizeof prefix - 1;
    return count + server_integer(self, "ZCARD rlock_waiters%s", of) + server_integer(self, "ZCARD rlock_waiters%s:braces", of);
}

bool server_wait_subscribers(server *self, const char *channel, int64_t count, int64_t ms)
{
    for (int64_t deadline_ms = limit_end_ms(ms);; pass_ms(1)) {
        bool so = server_count_waiting(self, channel) == count;
        if (so || now_ms() >= deadline_ms)
            return so;
    }
}

bool server_wait_exists(server *self, const char *key, bool exists, int64_t ms)
{
    for (int64_t deadline_ms = limit_end_ms(ms);; pass_ms(1)) {
        bool so = (server_integer(self, "EXISTS %s", key) == 1) == exists;
        if (so || now_ms() >= deadline_ms)
            return so;
    }
}

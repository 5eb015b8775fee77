/* The ear: all that is published on the test's server, kept as lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

void ear_init(server_ear *ear)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&ear->mutex, NULL);
    pthread_cond_init(&ear->cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void ear_destroy(server_ear *ear)
{
    pthread_cond_destroy(&ear->cond);
    pthread_mutex_destroy(&ear->mutex);
    free(ear->lines);
}

static void keep(server_ear *ear, const redisReply *channel, const redisReply *message)
{
    size_t more = channel->len + message->len + 2;
    pthread_mutex_lock(&ear->mutex);
    if (ear->length + more + 1 > ear->room) {
        size_t room = (ear->length + more + 1) * 2;
        char *lines = realloc(ear->lines, room);
        if (!lines)
            abort();
        ear->lines = lines;
        ear->room = room;
    }
    ear->length += (size_t)sprintf(ear->lines + ear->length, "%s %s\n", channel->str, message->str);
    pthread_cond_broadcast(&ear->cond);
    pthread_mutex_unlock(&ear->mutex);
}

static bool is_kind(const redisReply *message, size_t elements, const char *kind)
{
    return message->type == REDIS_REPLY_ARRAY && message->elements == elements &&
           strcmp(message->element[0]->str, kind) == 0;
}

/* The answer to an SSUBSCRIBE; NULL: it is subscribed. */
static void note_shard(server_ear *ear, const char *error)
{
    pthread_mutex_lock(&ear->mutex);
    ear->shards_answered++;
    if (error)
        snprintf(ear->shard_error, sizeof ear->shard_error, "%s", error);
    pthread_cond_broadcast(&ear->cond);
    pthread_mutex_unlock(&ear->mutex);
}

static void hear(server_ear *ear)
{
    void *reply;
    while (redisGetReply(ear->context, &reply) == REDIS_OK) {
        redisReply *message = reply;
        if (is_kind(message, 4, "pmessage"))
            keep(ear, message->element[2], message->element[3]);
        else if (is_kind(message, 3, "smessage"))
            keep(ear, message->element[1], message->element[2]);
        else if (is_kind(message, 3, "ssubscribe"))
            note_shard(ear, NULL);
        else if (message->type == REDIS_REPLY_ERROR)
            note_shard(ear, message->str);
        freeReplyObject(message);
    }
}

/* NULL: the server is not there. */
static redisContext *subscribe(server *self)
{
    redisContext *context = server_connect(self);
    redisReply *reply = context ? redisCommand(context, "PSUBSCRIBE *") : NULL;
    bool subscribed = reply && reply->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    if (subscribed) {
        redisSetTimeout(context, (struct timeval){0}); /* silence is no error */
        return context;
    }
    redisFree(context);
    return NULL;
}

/* A sentinel that changes a server's role ends its subscriptions: it listens again. */
static bool listen_again(server *self)
{
    server_ear *ear = &self->ear;
    redisContext *fresh = subscribe(self);
    pthread_mutex_lock(&ear->mutex);
    bool goes_on = !ear->stopping;
    if (fresh && goes_on) {
        redisFree(ear->context);
        ear->context = fresh;
    } else {
        redisFree(fresh);
    }
    pthread_mutex_unlock(&ear->mutex);
    if (!fresh && goes_on)
        pass_ms(1);
    return goes_on;
}

static void *listen_on(void *arg)
{
    server *self = arg;
    sigset_t pipe; /* hiredis may write to a server that is just being ended */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    do
        hear(&self->ear);
    while (listen_again(self));
    return NULL;
}

void ear_start(server *self)
{
    server_ear *ear = &self->ear;
    ear->context = subscribe(self);
    cr_assert(ear->context != NULL, "cannot listen: no connection");
    ear->listening = true;
    ear->stopping = false;
    ear->running = pthread_create(&ear->thread, NULL, listen_on, self) == 0;
    cr_assert(ear->running, "no thread to listen");
}

void ear_stop(server *self)
{
    server_ear *ear = &self->ear;
    if (!ear->running)
        return;
    pthread_mutex_lock(&ear->mutex);
    ear->stopping = true;
    shutdown(ear->context->fd, SHUT_RDWR);
    pthread_mutex_unlock(&ear->mutex);
    pthread_join(ear->thread, NULL);
    redisFree(ear->context);
    ear->running = false;
}

void server_listen(server *self)
{
    if (!self->ear.running)
        ear_start(self);
}

static struct timespec instant(int64_t ms)
{
    return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
}

#define CONFIRMED_MS 10000

void server_listen_shard(server *self, const char *channel)
{
    server_listen(self);
    server_ear *ear = &self->ear;
    char *command = NULL;
    int length = redisFormatCommand(&command, "SSUBSCRIBE %s", channel);
    pthread_mutex_lock(&ear->mutex);
    /* Past hiredis, whose context is the thread's. */
    bool sent = length > 0 && send(ear->context->fd, command, (size_t)length, MSG_NOSIGNAL) == length;
    pthread_mutex_unlock(&ear->mutex);
    redisFreeCommand(command);
    cr_assert(sent, "cannot listen: the connection is gone");
    struct timespec deadline = instant(now_ms() + CONFIRMED_MS);
    char error[sizeof ear->shard_error];
    pthread_mutex_lock(&ear->mutex);
    int end = 0, wanted = ++ear->shards_asked;
    while (ear->shards_answered < wanted && end != ETIMEDOUT)
        end = pthread_cond_timedwait(&ear->cond, &ear->mutex, &deadline);
    snprintf(error, sizeof error, "%s", ear->shards_answered < wanted ? "no answer" : ear->shard_error);
    pthread_mutex_unlock(&ear->mutex);
    cr_assert(!*error, "cannot listen to the shard of %s: %s", channel, error);
}

/* Whether `line`, with its newline, is one of the lines. */
static bool has_line(const server_ear *ear, const char *line)
{
    const char *at = ear->lines;
    while (at && (at = strstr(at, line)) != NULL && at != ear->lines && at[-1] != '\n')
        at++;
    return at != NULL;
}

bool server_heard(server *self, const char *channel, const char *message, int64_t ms)
{
    server_ear *ear = &self->ear;
    struct timespec deadline = instant(limit_end_ms(ms));
    size_t size = strlen(channel) + strlen(message) + 3;
    char *line = malloc(size);
    cr_assert(line != NULL);
    snprintf(line, size, "%s %s\n", channel, message);
    pthread_mutex_lock(&ear->mutex);
    int end = 0;
    while (!has_line(ear, line) && end != ETIMEDOUT)
        end = pthread_cond_timedwait(&ear->cond, &ear->mutex, &deadline);
    bool heard = has_line(ear, line);
    pthread_mutex_unlock(&ear->mutex);
    free(line);
    return heard;
}

char *server_heard_all(server *self)
{
    server_ear *ear = &self->ear;
    pthread_mutex_lock(&ear->mutex);
    char *all = strdup(ear->lines ? ear->lines : "");
    pthread_mutex_unlock(&ear->mutex);
    cr_assert(all != NULL);
    return all;
}

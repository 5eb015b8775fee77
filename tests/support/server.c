/* A test's own redis-server: where clients find it, and its life. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/server.h"

#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *server_argument(const server *self, const char *name)
{
    for (int i = 0; self->args[i]; i++)
        if (strcmp(self->args[i], name) == 0)
            return self->args[i + 1];
    return NULL;
}

bool server_speaks_tls(const server *self)
{
    return server_argument(self, "--tls-cert-file") != NULL;
}

bool server_is_node(const server *self)
{
    const char *clustered = server_argument(self, "--cluster-enabled");
    return clustered && strcmp(clustered, "yes") == 0;
}

int server_announcement(const server *self, char text[2][16], const char *words[4])
{
    bool node = server_is_node(self);
    if (!self->announced_port || self->is_sentinel) /* that keeps it in its file */
        return 0;
    snprintf(text[0], 16, "%d", self->announced_port);
    words[0] = !node                     ? "--replica-announce-port"
               : server_speaks_tls(self) ? "--cluster-announce-tls-port"
                                         : "--cluster-announce-port";
    words[1] = text[0];
    if (!node)
        return 2;
    snprintf(text[1], 16, "%d", self->port + SERVER_BUS_ABOVE); /* clients come to another port, nodes do not */
    words[2] = "--cluster-announce-bus-port";
    words[3] = text[1];
    return 4;
}

static void write_tcp_url(server *self)
{
    const char *scheme = server_speaks_tls(self) ? "rediss" : "redis";
    snprintf(self->tcp_url, sizeof self->tcp_url, "%s://127.0.0.1:%d", scheme, server_public_port(self));
}

server *server_start(void)
{
    return server_start_with(NULL);
}

static server *make(const char *config, const char *const *args)
{
    server *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    self->is_sentinel = config != NULL;
    server_process_make(self, config);
    snprintf(self->url, sizeof self->url, "unix://%s", self->socket);
    for (int i = 0; args && args[i]; i++) {
        cr_assert(i < SERVER_ARGS, "too many arguments for redis-server");
        self->args[i] = self->copies[i] = strdup(args[i]);
    }
    pthread_mutex_init(&self->asking, NULL);
    ear_init(&self->ear);
    return self;
}

static void start(server *self, bool anew)
{
    server_process_start(self, anew);
    self->up = true;
    write_tcp_url(self);
}

int (*server_front)(const server *server);

static server *start_new(server *self)
{
    start(self, true);
    if (server_front)
        server_announce(self, server_front(self));
    return self;
}

server *server_start_with(const char *const *args)
{
    return start_new(make(NULL, args));
}

static void say(server *self, const char *name, const char *value)
{
    redisReply *reply = self->is_sentinel ? server_command(self, "SENTINEL CONFIG SET %s %s", name, value)
                                        : server_command(self, "CONFIG SET %s %s", name, value);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s %s: %s", name, value, reply->str);
    freeReplyObject(reply);
}

void server_announce(server *self, int port)
{
    char text[2][16];
    const char *words[4];
    self->announced_port = port;
    write_tcp_url(self);
    int count = server_announcement(self, text, words);
    for (int i = 0; i < count; i += 2)
        say(self, words[i] + strlen("--"), words[i + 1]);
    if (self->is_sentinel) {
        snprintf(text[0], sizeof text[0], "%d", port);
        say(self, "announce-port", text[0]);
    }
}

server *server_start_sentinel(const char *config, const char *const *args)
{
    return start_new(make(config, args));
}

void server_kill(server *self)
{
    server_hang_up(self);
    server_process_kill(self);
    self->up = self->frozen = false;
    ear_stop(self);
}

void server_freeze(server *self)
{
    server_process_freeze(self);
    self->frozen = true;
}

void server_thaw(server *self)
{
    server_process_thaw(self);
    self->frozen = false;
}

void server_restart(server *self)
{
    server_kill(self);
    start(self, false);
    if (self->ear.listening)
        ear_start(self);
}

void server_stop(server *self)
{
    if (!self)
        return;
    server_kill(self);
    server_process_free(self);
    ear_destroy(&self->ear);
    pthread_mutex_destroy(&self->asking);
    for (int i = 0; i < self->url_count; i++)
        free(self->urls[i]);
    for (int i = 0; i < SERVER_ARGS; i++)
        free(self->copies[i]);
    free(self);
}

bool server_is_up(const server *self)
{
    return self->up && !self->frozen;
}

const char *server_url(const server *self)
{
    return self->url;
}

const char *server_tcp_url(const server *self)
{
    return self->tcp_url;
}

const char *server_socket(const server *self)
{
    return self->socket;
}

int server_port(const server *self)
{
    return self->port;
}

int server_public_port(const server *self)
{
    return self->announced_port ? self->announced_port : self->port;
}

const char *server_url_with(server *self, const char *query)
{
    cr_assert(self->url_count < SERVER_URLS, "more than %d URLs of one server", SERVER_URLS);
    size_t size = strlen(self->url) + strlen(query) + 2;
    char *url = malloc(size);
    cr_assert(url != NULL);
    snprintf(url, size, "%s?%s", self->url, query);
    return self->urls[self->url_count++] = url;
}

/* The process of a test's own redis-server: its start, its folder, and its certain end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/server.h"

#include "tests/support/event.h"
#include "tests/support/port.h"
#include "tests/support/program.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 30000 /* a start takes some 10 ms; valgrind and a loaded machine take longer */
#define PORT_TRIES 20

const char *server_argument(const server *self, const char *name)
{
    for (int i = 0; self->args[i]; i++)
        if (strcmp(self->args[i], name) == 0)
            return self->args[i + 1];
    return NULL;
}

static bool speaks_tls(const server *self)
{
    return server_argument(self, "--tls-cert-file") != NULL;
}

/* Nodes of a cluster talk to each other on a second port, so much above the first. */
#define BUS_ABOVE 10000

static void drop_ports(server *self)
{
    for (int i = 0; i < 2; i++) {
        if (self->port_fds[i] >= 0)
            close(self->port_fds[i]);
        self->port_fds[i] = -1;
    }
}

static void take_ports(server *self)
{
    const char *clustered = server_argument(self, "--cluster-enabled");
    bool needs_bus = clustered && strcmp(clustered, "yes") == 0;
    for (int i = 0; i < PORT_TRIES; i++) {
        drop_ports(self);
        self->port_fds[0] = port_hold(0);
        cr_assert(self->port_fds[0] >= 0, "no free port: %s", strerror(errno));
        self->port = port_held(self->port_fds[0]);
        if (!needs_bus)
            return;
        if (self->port + BUS_ABOVE <= 65535 && (self->port_fds[1] = port_hold(self->port + BUS_ABOVE)) >= 0)
            return;
    }
    cr_assert_fail("no free pair of ports for a node of a cluster");
}

/* What a node says to others of where it is, once it stands behind something; how many words. */
static int announcement(const server *self, char text[2][16], const char *words[4])
{
    bool clustered = self->port_fds[1] >= 0;
    if (!self->announced_port || *self->config) /* a sentinel keeps it in its file */
        return 0;
    snprintf(text[0], 16, "%d", self->announced_port);
    words[0] = !clustered          ? "--replica-announce-port"
               : speaks_tls(self) ? "--cluster-announce-tls-port"
                                  : "--cluster-announce-port";
    words[1] = text[0];
    if (!clustered)
        return 2;
    snprintf(text[1], 16, "%d", self->port + BUS_ABOVE); /* clients come to another port, nodes do not */
    words[2] = "--cluster-announce-bus-port";
    words[3] = text[1];
    return 4;
}

static void launch(server *self)
{
    char port[16], announced[2][16];
    snprintf(port, sizeof port, "%d", self->port);
    bool tls = speaks_tls(self), sentinel = *self->config != 0;
    const char *fixed[] = {"--save", "", "--appendonly", "no", "--bind", "127.0.0.1",
                           "--port", tls ? "0" : port, "--unixsocket", self->socket, "--unixsocketperm", "700",
                           "--dir", self->folder.path, "--logfile", self->log, "--daemonize", "no"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    const char *words[FIXED + SERVER_ARGS + 10];
    int count = 0;
    words[count++] = "redis-server";
    if (sentinel) {
        words[count++] = self->config;
        words[count++] = "--sentinel";
    }
    for (int i = 0; i < FIXED; i++)
        words[count++] = fixed[i];
    if (tls) {
        words[count++] = "--tls-port";
        words[count++] = port;
    }
    count += announcement(self, announced, words + count);
    for (int i = 0; self->args[i]; i++)
        words[count++] = self->args[i];
    words[count] = NULL;

    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(self->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    self->pid = program_start((char **)(uintptr_t)words, null, log, PROGRAM_DIES_WITH_US);
    close(null);
    close(log);
}

static bool answers(server *self)
{
    redisContext *context = server_connect(self);
    redisFree(context);
    return context != NULL;
}

/* True: it answers. False: it has ended again. */
static bool came_up(server *self)
{
    for (int64_t deadline_ms = now_ms() + START_MS; now_ms() < deadline_ms; pass_ms(1)) {
        if (answers(self))
            return true;
        if (waitpid(self->pid, NULL, WNOHANG) == self->pid) {
            self->pid = 0;
            return false;
        }
    }
    cr_assert_fail("redis-server did not answer within %d ms on %s", START_MS, self->socket);
    return false;
}

char *server_log_end(const server *self)
{
    enum { MOST = 4096 };
    char *text = calloc(1, MOST);
    cr_assert(text != NULL);
    int fd = open(self->log, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    lseek(fd, size > MOST - 1 ? size - MOST + 1 : 0, SEEK_SET);
    if (fd < 0 || read(fd, text, MOST - 1) < 0)
        snprintf(text, MOST, "no log: %s", strerror(errno));
    close(fd);
    return text;
}

static void fail_with_log(const server *self)
{
    cr_assert_fail("redis-server does not start (is it installed? see `make deps`): %s", server_log_end(self));
}

static void write_tcp_url(server *self)
{
    const char *scheme = speaks_tls(self) ? "rediss" : "redis";
    snprintf(self->tcp_url, sizeof self->tcp_url, "%s://127.0.0.1:%d", scheme, server_public_port(self));
}

static void start(server *self, bool any_port)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        if (any_port)
            take_ports(self);
        launch(self);
        if (came_up(self)) {
            write_tcp_url(self);
            return;
        }
    }
    fail_with_log(self);
}

server *server_start(void)
{
    return server_start_with(NULL);
}

static server *make(const char *const *args)
{
    server *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    self->port_fds[0] = self->port_fds[1] = -1;
    folder_make(&self->folder);
    snprintf(self->socket, sizeof self->socket, "%.*s/redis.sock", 90, self->folder.path);
    snprintf(self->log, sizeof self->log, "%.*s/log", 90, self->folder.path);
    snprintf(self->url, sizeof self->url, "unix://%s", self->socket);
    for (int i = 0; args && args[i]; i++) {
        cr_assert(i < SERVER_ARGS, "too many arguments for redis-server");
        self->args[i] = self->copies[i] = strdup(args[i]);
    }
    pthread_mutex_init(&self->asking, NULL);
    ear_init(&self->ear);
    return self;
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
    return start_new(make(args));
}

static void say(server *self, const char *name, const char *value)
{
    redisReply *reply = *self->config ? server_command(self, "SENTINEL CONFIG SET %s %s", name, value)
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
    int count = announcement(self, text, words);
    for (int i = 0; i < count; i += 2)
        say(self, words[i] + strlen("--"), words[i + 1]);
    if (*self->config) {
        snprintf(text[0], sizeof text[0], "%d", port);
        say(self, "announce-port", text[0]);
    }
}

server *server_start_sentinel(const char *config, const char *const *args)
{
    server *self = make(args);
    snprintf(self->config, sizeof self->config, "%.*s/sentinel.conf", 90, self->folder.path);
    FILE *file = fopen(self->config, "we");
    cr_assert(file && fputs(config, file) >= 0 && fclose(file) == 0, "%s: %s", self->config, strerror(errno));
    return start_new(self);
}

void server_kill(server *self)
{
    server_hang_up(self);
    if (self->pid > 0) {
        kill(self->pid, SIGKILL);
        while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        self->pid = 0;
        self->frozen = false;
    }
    ear_stop(self);
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
    folder_remove(&self->folder);
    drop_ports(self);
    ear_destroy(&self->ear);
    pthread_mutex_destroy(&self->asking);
    for (int i = 0; i < self->url_count; i++)
        free(self->urls[i]);
    for (int i = 0; i < SERVER_ARGS; i++)
        free(self->copies[i]);
    free(self);
}

void server_freeze(server *self)
{
    kill(self->pid, SIGSTOP);
    int status;
    while (waitpid(self->pid, &status, WUNTRACED) < 0 && errno == EINTR)
        ;
    cr_assert(WIFSTOPPED(status), "redis-server ended instead of stopping");
    self->frozen = true;
}

void server_thaw(server *self)
{
    kill(self->pid, SIGCONT);
    self->frozen = false;
}

bool server_is_up(const server *self)
{
    return self->pid > 0 && !self->frozen;
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

const char *server_folder(const server *self)
{
    return self->folder.path;
}

int server_port(const server *self)
{
    return self->port;
}

int server_public_port(const server *self)
{
    return self->announced_port ? self->announced_port : self->port;
}

pid_t server_pid(const server *self)
{
    return self->pid;
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

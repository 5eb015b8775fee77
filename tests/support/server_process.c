/* The process of a test's own redis-server: its start, its folder, and its certain end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/event.h"
#include "tests/support/folder.h"
#include "tests/support/port.h"
#include "tests/support/program.h"
#include "tests/support/server_parts.h"
#include "tests/support/stand_still.h"
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

struct server_process {
    pid_t pid; /* 0: not running */
    int port_fds[2]; /* hold the port, and that of a cluster's bus; -1: none */
    folder folder;
    char log[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char config[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a sentinel; "": it is a server */
};

static void write_config(const server *self, const char *config)
{
    const char *path = self->process->config;
    FILE *file = fopen(path, "we");
    cr_assert(file && fputs(config, file) >= 0 && fclose(file) == 0, "%s: %s", path, strerror(errno));
}

void server_process_make(server *self, const char *config)
{
    server_process *process = self->process = calloc(1, sizeof *process);
    cr_assert(process != NULL);
    process->port_fds[0] = process->port_fds[1] = -1;
    folder_make(&process->folder);
    snprintf(self->folder, sizeof self->folder, "%s", process->folder.path);
    snprintf(self->socket, sizeof self->socket, "%.*s/redis.sock", 90, self->folder);
    snprintf(process->log, sizeof process->log, "%.*s/log", 90, self->folder);
    if (!config)
        return;
    snprintf(process->config, sizeof process->config, "%.*s/sentinel.conf", 90, self->folder);
    write_config(self, config);
}

static void drop_ports(server *self)
{
    for (int i = 0; i < 2; i++) {
        if (self->process->port_fds[i] >= 0)
            close(self->process->port_fds[i]);
        self->process->port_fds[i] = -1;
    }
}

static void take_ports(server *self)
{
    bool needs_bus = server_is_node(self);
    for (int i = 0; i < PORT_TRIES; i++) {
        drop_ports(self);
        self->process->port_fds[0] = port_hold(0);
        cr_assert(self->process->port_fds[0] >= 0, "no free port: %s", strerror(errno));
        self->port = port_held(self->process->port_fds[0]);
        if (!needs_bus)
            return;
        if (self->port + SERVER_BUS_ABOVE <= 65535 && (self->process->port_fds[1] = port_hold(self->port + SERVER_BUS_ABOVE)) >= 0)
            return;
    }
    cr_assert_fail("no free pair of ports for a node of a cluster");
}

static void launch(server *self)
{
    char port[16], announced[2][16];
    snprintf(port, sizeof port, "%d", self->port);
    bool tls = server_speaks_tls(self);
    const char *fixed[] = {"--save", "", "--appendonly", "no", "--bind", "127.0.0.1",
                           "--port", tls ? "0" : port, "--unixsocket", self->socket, "--unixsocketperm", "700",
                           "--dir", self->folder, "--logfile", self->process->log, "--daemonize", "no"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    const char *words[FIXED + SERVER_ARGS + 10];
    int count = 0;
    words[count++] = "redis-server";
    if (self->is_sentinel) {
        words[count++] = self->process->config;
        words[count++] = "--sentinel";
    }
    for (int i = 0; i < FIXED; i++)
        words[count++] = fixed[i];
    if (tls) {
        words[count++] = "--tls-port";
        words[count++] = port;
    }
    count += server_announcement(self, announced, words + count);
    for (int i = 0; self->args[i]; i++)
        words[count++] = self->args[i];
    words[count] = NULL;

    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(self->process->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    self->process->pid = program_start((char **)(uintptr_t)words, null, log, PROGRAM_DIES_WITH_US);
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
    for (int64_t deadline_ms = limit_end_ms(START_MS); now_ms() < deadline_ms; pass_ms(1)) {
        if (answers(self))
            return true;
        if (waitpid(self->process->pid, NULL, WNOHANG) == self->process->pid) {
            self->process->pid = 0;
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
    int fd = open(self->process->log, O_RDONLY | O_CLOEXEC);
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

void server_process_start(server *self, bool anew)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        if (anew)
            take_ports(self);
        launch(self);
        if (came_up(self))
            return;
    }
    fail_with_log(self);
}

void server_process_kill(server *self)
{
    if (self->process->pid <= 0)
        return;
    kill(self->process->pid, SIGKILL);
    stand_still_no_more(self->process->pid);
    while (waitpid(self->process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    self->process->pid = 0;
}

void server_process_freeze(server *self)
{
    cr_assert(stand_still(self->process->pid), "redis-server ended instead of stopping");
}

void server_process_thaw(server *self)
{
    stand_still_no_more(self->process->pid);
}

void server_process_free(server *self)
{
    folder_remove(&self->process->folder);
    drop_ports(self);
    free(self->process);
}

const char *server_folder(const server *self)
{
    return self->folder;
}

pid_t server_pid(const server *self)
{
    return self->process->pid;
}

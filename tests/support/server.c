/* The process of a test's own redis-server: its start, its folder, and its certain end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/server.h"

#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 30000 /* a start takes some 10 ms; valgrind and a loaded machine take longer */
#define PORT_TRIES 20

extern char **environ;

/* A port that is free now. Another process may take it before the server does: then the server
 * ends, and its start is tried again with another port. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
                  getsockname(fd, (struct sockaddr *)&address, &length) == 0,
              "no free port: %s", strerror(errno));
    close(fd);
    return ntohs(address.sin_port);
}

/* The environment without what sanitizers and valgrind put in it for the test alone. */
static char **plain_environment(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **plain = calloc(count + 1, sizeof *plain);
    cr_assert(plain != NULL);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            plain[kept++] = environ[i];
    return plain;
}

/* In the child between fork and exec: only calls that are safe there. */
static void become(const char *program, char *const *argv, char *const *envp, int in, int out)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    /* Whoever waits for the end of a pipe of the test must not wait for this process. */
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execvpe(program, argv, envp);
    _exit(127);
}

/* A shell that outlives the test only until it has removed the folder. */
static void hire_janitor(server *self)
{
    int ends[2];
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    char script[] = "read -r line; rm -rf -- \"$0\"", sh[] = "sh", c[] = "-c";
    char *argv[] = {sh, c, script, self->folder, NULL};
    char **envp = plain_environment();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    self->janitor = fork();
    if (self->janitor == 0) {
        /* Ctrl-C goes to the whole group, and this one has work to do then. */
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        become("/bin/sh", argv, envp, ends[1], null);
    }
    cr_assert(self->janitor > 0, "fork: %s", strerror(errno));
    close(null);
    close(ends[1]);
    free(envp);
    self->janitor_fd = ends[0];
}

static void launch(server *self)
{
    char port[16];
    snprintf(port, sizeof port, "%d", self->port);
    const char *fixed[] = {"redis-server", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1",
                           "--port", port, "--unixsocket", self->socket, "--unixsocketperm", "700",
                           "--dir", self->folder, "--logfile", self->log, "--daemonize", "no"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    char *argv[FIXED + SERVER_ARGS + 1];
    int count = 0;
    for (; count < FIXED; count++)
        argv[count] = (char *)(uintptr_t)fixed[count];
    for (int i = 0; self->args[i]; i++)
        argv[count++] = (char *)(uintptr_t)self->args[i];
    argv[count] = NULL;

    char **envp = plain_environment();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(self->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_t parent = getpid();
    self->pid = fork();
    if (self->pid == 0) {
        /* Ends with the test's process, also when that crashes or is killed. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(125);
        become("redis-server", argv, envp, null, log);
    }
    cr_assert(self->pid > 0, "fork: %s", strerror(errno));
    close(null);
    close(log);
    free(envp);
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

/* The log of a server that would not start, for the message of the failing test. */
static void fail_with_log(const server *self)
{
    char text[4096] = "";
    int fd = open(self->log, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    lseek(fd, size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0, SEEK_SET);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        snprintf(text, sizeof text, "no log: %s", strerror(errno));
    close(fd);
    cr_assert_fail("redis-server does not start (is it installed? see `make deps`): %s", text);
}

static void start(server *self, bool any_port)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        if (any_port)
            self->port = free_port();
        launch(self);
        if (came_up(self)) {
            snprintf(self->tcp_url, sizeof self->tcp_url, "redis://127.0.0.1:%d", self->port);
            return;
        }
    }
    fail_with_log(self);
}

server *server_start(void)
{
    return server_start_with(NULL);
}

server *server_start_with(const char *const *args)
{
    server *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    cr_assert(strlen(base) + strlen("/rlock.XXXXXX/redis.sock") < sizeof self->socket,
              "TMPDIR is too long for a unix socket: %s", base);
    snprintf(self->folder, sizeof self->folder, "%s/rlock.XXXXXX", base);
    cr_assert(mkdtemp(self->folder) != NULL, "no folder in %s: %s", base, strerror(errno));
    hire_janitor(self);
    snprintf(self->socket, sizeof self->socket, "%.*s/redis.sock", 90, self->folder);
    snprintf(self->log, sizeof self->log, "%.*s/log", 90, self->folder);
    snprintf(self->url, sizeof self->url, "unix://%s", self->socket);
    for (int i = 0; args && args[i]; i++) {
        cr_assert(i < SERVER_ARGS, "too many arguments for redis-server");
        self->args[i] = self->copies[i] = strdup(args[i]);
    }
    pthread_mutex_init(&self->asking, NULL);
    ear_init(&self->ear);
    start(self, true);
    return self;
}

void server_kill(server *self)
{
    server_hang_up(self);
    if (self->pid > 0) {
        kill(self->pid, SIGKILL);
        while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        self->pid = 0;
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
    /* A line and not only our end of the pair: a forked child may hold a copy of that. */
    send(self->janitor_fd, "\n", 1, MSG_NOSIGNAL);
    close(self->janitor_fd);
    while (waitpid(self->janitor, NULL, 0) < 0 && errno == EINTR)
        ;
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
}

void server_thaw(server *self)
{
    kill(self->pid, SIGCONT);
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

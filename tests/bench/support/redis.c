/* The benchmark's own redis-server: a child on a unix socket and a loopback port, and what it says
 * about itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/redis.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

/* --- its life --- */

/* What the end of this program by a signal must not leave behind: the script that started it may
 * be gone already. */
static struct traces {
    pid_t server;
    char folder[108], socket[128], log[128];
} traces;

static void clear_traces(int number)
{
    kill(traces.server, SIGKILL);
    unlink(traces.socket);
    unlink(traces.log);
    rmdir(traces.folder);
    _exit(128 + number);
}

static void note_traces(const bench_redis *redis, const char *folder)
{
    struct sigaction action = {.sa_handler = clear_traces};
    traces.server = redis->pid;
    snprintf(traces.folder, sizeof traces.folder, "%s", folder);
    snprintf(traces.socket, sizeof traces.socket, "%s", redis->socket);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void become_server(const bench_redis *redis, const char *folder, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* the parent ended before it could be bound to it */
    int log = open(traces.log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (log >= 0) {
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    }
    char port[16];
    snprintf(port, sizeof port, "%d", redis->port);
    execlp("redis-server", "redis-server", "--bind", "127.0.0.1", "--port", port, "--unixsocket", redis->socket,
           "--save", "", "--appendonly", "no", "--dir", folder, "--daemonize", "no", (char *)NULL);
    perror("redis-server");
    _exit(127);
}

int redis_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        die("redis-server", "there is no port for it");
    close(fd);
    return ntohs(address.sin_port);
}

/* Polls: a starting server gives no event to wait for on its unix socket. */
static redisContext *await_server(const bench_redis *redis)
{
    struct timespec millisecond = {0, 1000000};
    for (int i = 0; i < 10000; i++) {
        redisContext *context = redisConnectUnix(redis->socket);
        if (context && !context->err)
            return context;
        if (context)
            redisFree(context);
        if (waitpid(redis->pid, NULL, WNOHANG) == redis->pid)
            die("redis-server", "ended at once; is it installed?");
        nanosleep(&millisecond, NULL);
    }
    die("redis-server", "does not answer");
    return NULL;
}

void redis_start(bench_redis *redis, const char *folder)
{
    int length = snprintf(redis->socket, sizeof redis->socket, "%s/redis.sock", folder);
    if (length < 0 || (size_t)length >= sizeof redis->socket)
        die(folder, "too long for a unix socket");
    snprintf(traces.log, sizeof traces.log, "%s/redis.log", folder);
    redis->port = redis_free_port();
    snprintf(redis->unix_url, sizeof redis->unix_url, "unix://%s", redis->socket);
    snprintf(redis->tcp_url, sizeof redis->tcp_url, "redis://127.0.0.1:%d", redis->port);
    pid_t parent = getpid();
    redis->pid = fork();
    if (redis->pid < 0)
        die("redis-server", "cannot fork");
    if (redis->pid == 0)
        become_server(redis, folder, parent);
    note_traces(redis, folder);
    redisFree(await_server(redis));
    redis->control = redis_connect(redis, "control");
}

void redis_stop(bench_redis *redis)
{
    redisFree(redis->control);
    kill(redis->pid, SIGKILL); /* it has nothing to save */
    waitpid(redis->pid, NULL, 0);
    unlink(traces.socket);
    unlink(traces.log);
}

/* --- asking it --- */

redisContext *redis_connect(const bench_redis *redis, const char *client_name)
{
    redisContext *context = redisConnectUnix(redis->socket);
    if (!context || context->err)
        die(redis->socket, context ? context->errstr : "out of memory");
    fcntl(context->fd, F_SETFD, FD_CLOEXEC); /* which hiredis 0.14 does not: contestants would have it, too */
    redisReply *reply = redisCommand(context, "CLIENT SETNAME %s", client_name);
    if (!reply || reply->type != REDIS_REPLY_STATUS)
        die("CLIENT SETNAME", "refused");
    freeReplyObject(reply);
    return context;
}

redisReply *redis_ask(bench_redis *redis, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(redis->control, format, args);
    va_end(args);
    if (!reply || reply->type == REDIS_REPLY_ERROR)
        die(format, reply ? reply->str : redis->control->errstr);
    return reply;
}

long long redis_calls(bench_redis *redis, const char *name)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\ncmdstat_%s:calls=", name);
    redisReply *reply = redis_ask(redis, "INFO commandstats");
    const char *at = strstr(reply->str, wanted);
    long long calls = at ? atoll(at + strlen(wanted)) : 0;
    freeReplyObject(reply);
    return calls;
}

long long redis_keys(bench_redis *redis)
{
    redisReply *reply = redis_ask(redis, "DBSIZE");
    long long keys = reply->integer;
    freeReplyObject(reply);
    return keys;
}

int redis_connections(bench_redis *redis, const char *name)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " name=%s ", name);
    redisReply *reply = redis_ask(redis, "CLIENT LIST");
    int count = 0;
    for (const char *at = reply->str; (at = strstr(at, wanted)); at += strlen(wanted))
        count++;
    freeReplyObject(reply);
    return count;
}

void redis_version(bench_redis *redis, char version[32])
{
    static const char field[] = "\nredis_version:";
    redisReply *reply = redis_ask(redis, "INFO server");
    const char *at = strstr(reply->str, field);
    if (!at || sscanf(at + strlen(field), "%31[^\r\n]", version) != 1)
        *version = '\0';
    freeReplyObject(reply);
}

double redis_cpu_us(const bench_redis *redis)
{
    clockid_t clock;
    struct timespec used = {0, 0};
    if (clock_getcpuclockid(redis->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        die("redis-server", "its CPU time cannot be read");
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

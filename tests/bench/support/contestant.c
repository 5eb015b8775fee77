/* A contestant: a program that does the work of one side in a process of its own, told what to do line by
 * line (contestants/PROTOCOL.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/contestant.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPEN_MS 60000 /* a JVM on a loaded machine */
#define QUIT_MS 10000
#define KEPT_MAX 32

struct bench_contestant {
    char who[32], url[160];
    pid_t pid;
    int in, out; /* its stdin and stdout */
    bool warm, broken;
    char *heard; /* what it has said and nobody has taken yet; before it the line taken last */
    size_t length, size, taken;
};

static bench_contestant *kept[KEPT_MAX];

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- lines --- */

static bool complain(bench_contestant *contestant, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "bench: %s (process %d) ", contestant->who, (int)contestant->pid);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    contestant->broken = true;
    return false;
}

/* Its stdout came to its end. */
static bool complain_of_end(bench_contestant *contestant)
{
    int status = 0;
    if (waitpid(contestant->pid, &status, 0) != contestant->pid)
        return complain(contestant, "cannot be waited for");
    bool failed = complain(contestant, WIFSIGNALED(status) ? "was ended by signal %d" : "ended with status %d",
                           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    contestant->pid = 0;
    return failed;
}

bool contestant_tell(bench_contestant *contestant, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof line - 1)
        return complain(contestant, "was to be told more than fits into a line");
    line[length++] = '\n';
    if (write(contestant->in, line, (size_t)length) == length)
        return true;
    return errno == EPIPE ? complain_of_end(contestant) : complain(contestant, "does not listen: %s", strerror(errno));
}

/* Reads on until the deadline; false: nothing came, which has been said. */
static bool read_on(bench_contestant *contestant, int64_t deadline_ms)
{
    struct pollfd wait = {.fd = contestant->out, .events = POLLIN};
    if (contestant->size - contestant->length < 4096) {
        contestant->size = contestant->size * 2 + 8192;
        contestant->heard = realloc(contestant->heard, contestant->size);
        if (!contestant->heard)
            abort();
    }
    int64_t left_ms = deadline_ms - now_ms();
    int ready = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);
    if (ready < 0 && errno == EINTR)
        return true;
    if (ready <= 0)
        return complain(contestant, "does not answer");
    ssize_t got = read(contestant->out, contestant->heard + contestant->length,
                       contestant->size - contestant->length - 1);
    if (got <= 0)
        return complain_of_end(contestant);
    contestant->length += (size_t)got;
    return true;
}

static char *next_line(bench_contestant *contestant, int ms)
{
    int64_t deadline_ms = now_ms() + ms;
    contestant->length -= contestant->taken;
    if (contestant->taken)
        memmove(contestant->heard, contestant->heard + contestant->taken, contestant->length);
    contestant->taken = 0;
    for (;;) {
        char *end = contestant->length ? memchr(contestant->heard, '\n', contestant->length) : NULL;
        if (end) {
            *end = '\0';
            contestant->taken = (size_t)(end - contestant->heard) + 1;
            return contestant->heard;
        }
        if (!read_on(contestant, deadline_ms))
            return NULL;
    }
}

const char *contestant_hear(bench_contestant *contestant, const char *word, int ms)
{
    char *line = next_line(contestant, ms);
    if (!line)
        return NULL;
    size_t length = strlen(word);
    if (strncmp(line, word, length) == 0 && (!line[length] || line[length] == ' '))
        return line + length + (line[length] == ' ');
    complain(contestant, "says: %s", line);
    return NULL;
}

const char *contestant_ask(bench_contestant *contestant, int ms, const char *word, const char *format, ...)
{
    char line[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return contestant_tell(contestant, "%s", line) ? contestant_hear(contestant, word, ms) : NULL;
}

/* --- its life --- */

static void path_of(const bench_run *bench, const char *who, char path[512])
{
    bool stands_in = bench->before && strcmp(who, "raw") == 0;
    snprintf(path, 512, "%s/%s", stands_in ? bench->before : bench->folder, stands_in ? "rlock" : who);
}

bool contestant_is_there(const bench_run *bench, const char *who)
{
    static char told[256]; /* words between commas */
    char path[512];
    path_of(bench, who, path);
    bool out = bench_has_word(bench->without, who);
    if (!out && access(path, X_OK) == 0)
        return true;
    if (!bench_has_word(told, who)) {
        printf("LEFT OUT: %s: %s\n", who, out ? "as was asked for" : "it is not installed here");
        snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s", *told ? "," : "", who);
    }
    return false;
}

static _Noreturn void become(const char *path, pid_t parent, int in, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execl(path, path, (char *)NULL);
    perror(path);
    _exit(127);
}

static void run(bench_contestant *contestant, const char *path)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        abort();
    pid_t parent = getpid();
    signal(SIGPIPE, SIG_IGN); /* one that died is a failed write */
    contestant->pid = fork();
    if (contestant->pid < 0)
        abort();
    if (contestant->pid == 0)
        become(path, parent, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    contestant->in = in[1];
    contestant->out = out[0];
}

static bench_contestant *take_kept(const char *who, const char *url)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        bench_contestant *contestant = kept[i];
        if (contestant && strcmp(contestant->who, who) == 0 && strcmp(contestant->url, url) == 0) {
            kept[i] = NULL;
            contestant->warm = true;
            return contestant;
        }
    }
    return NULL;
}

bench_contestant *contestant_start(const bench_run *bench, const char *who, const char *url)
{
    char path[512];
    bench_contestant *contestant = take_kept(who, url);
    if (contestant)
        return contestant;
    contestant = calloc(1, sizeof *contestant);
    if (!contestant)
        abort();
    snprintf(contestant->who, sizeof contestant->who, "%s", who);
    snprintf(contestant->url, sizeof contestant->url, "%s", url);
    path_of(bench, who, path);
    run(contestant, path);
    if (contestant_ask(contestant, OPEN_MS, "ok", "open %s %s", url, bench->claims))
        return contestant;
    contestant_end(contestant);
    return NULL;
}

pid_t contestant_pid(const bench_contestant *contestant)
{
    return contestant->pid;
}

bool contestant_is_warm(const bench_contestant *contestant)
{
    return contestant->warm;
}

/* Whether it comes to its end by itself, as its stdin did. */
static bool ends(bench_contestant *contestant)
{
    struct pollfd wait = {.fd = contestant->out, .events = POLLIN};
    char rest[256];
    int64_t deadline_ms = now_ms() + QUIT_MS;
    while (now_ms() < deadline_ms) {
        if (poll(&wait, 1, (int)(deadline_ms - now_ms())) > 0 && read(contestant->out, rest, sizeof rest) <= 0)
            return true;
    }
    return false;
}

static void finish(bench_contestant *contestant)
{
    close(contestant->in);
    if (contestant->pid > 0) {
        if (!ends(contestant)) /* also one that is broken may have files to remove */
            kill(contestant->pid, SIGKILL);
        waitpid(contestant->pid, NULL, 0);
    }
    close(contestant->out);
    free(contestant->heard);
    free(contestant);
}

static bool is_jvm(const char *who)
{
    static const char *const jvms[] = {"redisson", "zookeeper", "hazelcast", "etcd", NULL};
    for (const char *const *jvm = jvms; *jvm; jvm++) {
        if (strcmp(*jvm, who) == 0)
            return true;
    }
    return false;
}

void contestant_end(bench_contestant *contestant)
{
    bool lasts = is_jvm(contestant->who) && !contestant->broken;
    for (int i = 0; lasts && i < KEPT_MAX; i++) {
        if (!kept[i]) {
            kept[i] = contestant;
            return;
        }
    }
    finish(contestant);
}

void contestant_quit(bench_contestant *contestant)
{
    finish(contestant);
}

void contestant_end_all(void)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        if (kept[i])
            finish(kept[i]);
        kept[i] = NULL;
    }
}

/* Agents: other programs' libraries in processes of their own, told what to do and heard line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/agent.h"

#include "tests/interop/support/agent_pool.h"
#include "tests/interop/support/words.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TAGS 4096
#define START_MS 60000 /* a JVM on a busy machine */
#define LEAVE_MS 2000  /* one that does not end by itself is killed */

struct agent {
    pid_t pid;
    bool pooled; /* it serves other tests, too, and is no child of this one */
    bool ended;  /* the process has been waited for, or is given back */
    int input;   /* our end of its stdin; -1: closed */
    FILE *output;
    pthread_t reader;
    pthread_mutex_t mutex; /* guards all below, and writing to input */
    pthread_cond_t cond;   /* an answer came, or the last one has; CLOCK_MONOTONIC */
    bool silent;           /* its stdout has ended */
    int last;              /* the latest tag */
    bool taken[TAGS];      /* by a command whose answer has not been awaited */
    answer answers[TAGS];
};

static const char *launcher(const char *which, const char *given)
{
    static char path[4096];
    const char *build = getenv("RLOCK_BUILD");
    snprintf(path, sizeof path, "%s/agent/%s", build ? build : "build", which);
    if (given)
        snprintf(path, sizeof path, "%s", given);
    if (access(path, X_OK) == 0)
        return path;
    if (getenv("CI"))
        cr_assert_fail("no agent at %s", path);
    cr_skip_test("no agent at %s", path);
    return NULL;
}

static _Noreturn void become(const char *path, int input, int output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(input, 0) == 0 && dup2(output, 1) == 1)
        execl(path, path, (char *)NULL);
    _exit(127);
}

/* One line: tag, times, "ok" and a text, or "threw", a class and a message. */
static void take(agent *self, char *line)
{
    char *rest = line, *word[6] = {"", "", "", "", "", ""};
    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < 6 && rest; i++)
        word[i] = strsep(&rest, " ");
    int tag = atoi(word[0]);
    if (tag < 1 || tag >= TAGS)
        return; /* something of the JVM's own */
    self->answers[tag] = (answer){
        .came = true,
        .threw = strcmp(word[3], "threw") == 0,
        .text = word_decode(word[4]),
        .message = word_decode(word[5]),
        .began_ns = atoll(word[1]),
        .ended_ns = atoll(word[2]),
    };
}

static void *read_answers(void *arg)
{
    agent *self = arg;
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, self->output) > 0) {
        pthread_mutex_lock(&self->mutex);
        take(self, line);
        pthread_cond_broadcast(&self->cond);
        pthread_mutex_unlock(&self->mutex);
    }
    pthread_mutex_lock(&self->mutex);
    self->silent = true;
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    free(line);
    return NULL;
}

static void start_child(agent *self, const char *path, int *output)
{
    int in[2], out[2];
    cr_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    self->pid = fork();
    if (self->pid == 0)
        become(path, in[0], out[1]);
    cr_assert(self->pid > 0, "fork: %s", strerror(errno));
    close(in[0]);
    close(out[1]);
    self->input = in[1];
    *output = out[0];
}

static agent *start(const char *path, bool may_be_pooled)
{
    agent *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    int output = self->input = may_be_pooled ? agent_pool_take(path, &self->pid) : -1;
    self->pooled = output >= 0;
    if (self->pooled)
        output = fcntl(self->input, F_DUPFD_CLOEXEC, 0);
    else
        start_child(self, path, &output);
    self->output = fdopen(output, "re");
    cr_assert(self->output != NULL, "fdopen: %s", strerror(errno));
    /* The reader's alone. From glibc 2.41 on exit() waits for the lock of each stream, and getline() holds that while it
     * waits for a JVM: a test that leaves one running would never end. */
    __fsetlocking(self->output, FSETLOCKING_BYCALLER);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    signal(SIGPIPE, SIG_IGN); /* a JVM that died is a failed write */
    cr_assert(pthread_create(&self->reader, NULL, read_answers, self) == 0);
    return self;
}

agent *agent_start(void)
{
    return start(launcher("agent", getenv("RLOCK_AGENT")), true);
}

agent *agent_start_anew(void)
{
    return start(launcher("agent", getenv("RLOCK_AGENT")), false);
}

agent *agent_start_of(const char *which)
{
    return start(launcher(which, NULL), false);
}

static struct timespec instant(int64_t ms)
{
    return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
}

/* A tag that is free; 0: there is none. Mutex held. */
static int take_tag(agent *self)
{
    for (int tries = 1; tries < TAGS; tries++) {
        self->last = self->last % (TAGS - 1) + 1;
        if (!self->taken[self->last]) {
            self->taken[self->last] = true;
            free(self->answers[self->last].text);
            free(self->answers[self->last].message);
            self->answers[self->last] = (answer){.came = false};
            return self->last;
        }
    }
    return 0;
}

/* Its tag; 0: the agent takes no commands. */
static int send_command(agent *self, const char *const *words)
{
    char *command = NULL;
    size_t size = 0;
    pthread_mutex_lock(&self->mutex);
    int tag = take_tag(self);
    FILE *line = open_memstream(&command, &size);
    fprintf(line, "%d", tag);
    for (; *words; words++) {
        fputc(' ', line);
        word_encode(line, *words);
    }
    fputc('\n', line);
    fclose(line);
    bool sent = tag > 0 && write(self->input, command, size) == (ssize_t)size;
    pthread_mutex_unlock(&self->mutex);
    free(command);
    cr_assert(tag > 0, "too many commands of one agent's are under way");
    return sent ? tag : 0;
}

int agent_begin(agent *self, const char *const *words)
{
    int tag = send_command(self, words);
    cr_assert(tag > 0, "the agent takes no commands: %s", strerror(errno));
    return tag;
}

/* Waits until `what` has come about, or cannot any more, or `end_ms`. Whether it has. */
static bool await(agent *self, const bool *what, int64_t end_ms)
{
    struct timespec until = instant(end_ms);
    int error = 0;
    pthread_mutex_lock(&self->mutex);
    while (!*what && !self->silent && !error)
        error = pthread_cond_timedwait(&self->cond, &self->mutex, &until);
    bool has = *what;
    pthread_mutex_unlock(&self->mutex);
    return has;
}

bool agent_answered(agent *self, int tag, int64_t ms)
{
    return await(self, &self->answers[tag].came, now_ms() + ms);
}

const answer *agent_await(agent *self, int tag, int64_t ms)
{
    cr_assert(await(self, &self->answers[tag].came, limit_end_ms(ms)), "the agent has not answered after %lld ms%s",
              (long long)ms, self->silent ? ": it has ended" : "");
    pthread_mutex_lock(&self->mutex);
    self->taken[tag] = false; /* so its answer stands until all other tags have been used */
    pthread_mutex_unlock(&self->mutex);
    return &self->answers[tag];
}

void agent_kill(agent *self)
{
    if (!self->ended) {
        kill(self->pid, SIGKILL);
        if (self->pooled)
            await(self, &self->silent, limit_end_ms(AGENT_MS)); /* with its end, its stdout ends */
        else
            waitpid(self->pid, NULL, 0);
    }
    self->ended = true;
}

bool agent_leave(agent *self, int64_t ms)
{
    if (self->input >= 0) {
        if (self->pooled)
            shutdown(self->input, SHUT_WR);
        close(self->input);
    }
    self->input = -1;
    return await(self, &self->silent, limit_end_ms(ms));
}

/* For the next test. One that does not come to its end is for none. */
static void give_back(agent *self)
{
    if (self->ended || self->input < 0)
        return;
    int tag = send_command(self, (const char *const[]){"agent", "leave", NULL});
    self->ended = tag > 0 && agent_answered(self, tag, LEAVE_MS);
}

void agent_end(agent *self)
{
    if (!self)
        return;
    if (self->pooled)
        give_back(self);
    if (!self->ended)
        agent_leave(self, LEAVE_MS);
    agent_kill(self);
    if (self->input >= 0) {
        shutdown(self->input, SHUT_RDWR); /* the reader has the same connection */
        close(self->input);
    }
    pthread_join(self->reader, NULL);
    fclose(self->output);
    for (int i = 0; i < TAGS; i++) {
        free(self->answers[i].text);
        free(self->answers[i].message);
    }
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

pid_t agent_pid(const agent *self)
{
    return self->pid;
}

static void assert_opened(const answer *opened)
{
    cr_assert(!opened->threw, "Redisson does not open: %s: %s", opened->text, opened->message);
}

void agent_open(agent *self, const char *url, int64_t watchdog_ms)
{
    char ms[24];
    snprintf(ms, sizeof ms, "%lld", (long long)watchdog_ms);
    assert_opened(agent_await(self, BEGIN(self, "agent", "open", url, ms), START_MS));
}

const answer *agent_try_file(agent *self, const char *path)
{
    return agent_await(self, BEGIN(self, "agent", "openFile", path), START_MS);
}

void agent_open_file(agent *self, const char *path)
{
    assert_opened(agent_try_file(self, path));
}

void assert_result(const answer *got, const char *text)
{
    cr_assert(!got->threw, "it threw %s: %s; expected \"%s\"", got->text, got->message, text);
    cr_assert(strcmp(got->text, text) == 0, "it answered \"%s\", expected \"%s\"", got->text, text);
}

void assert_thrown(const answer *got, const char *simple_class)
{
    const char *dot = strrchr(got->text, '.');
    cr_assert(got->threw, "it answered \"%s\", expected %s", got->text, simple_class);
    cr_assert(strcmp(dot ? dot + 1 : got->text, simple_class) == 0, "it threw %s: %s; expected %s",
              got->text, got->message, simple_class);
}

/* Runs of the rlock command: started with words, fed, heard and waited for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/command_process.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS 30000 /* for a run that only has to come to its end */

struct command {
    pid_t pid;
    bool ended;
    int input;    /* our end of its stdin; -1: closed */
    int out, err; /* memory files: they take any amount without a reader */
    char *out_text, *err_text; /* what command_out and command_err gave last */
};

static const char *binary(void)
{
    const char *path = getenv("RLOCK_COMMAND");
    return path ? path : "build/rlock";
}

static int memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    cr_assert(fd >= 0, "memfd_create: %s", strerror(errno));
    return fd;
}

static _Noreturn void become(const char *const *words, const char *url, int input, const command *c)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* As in a fresh login, however the tests were started: a signal may have been ignored there. */
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,
                                  SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, 34, 64, SIGPIPE, SIGXFSZ, SIGCHLD};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    if (url)
        setenv("RLOCK_URL", url, 1);
    else
        unsetenv("RLOCK_URL");
    unsetenv("RLOCK_CONFIG");
    setenv("RLOCK_COMMAND", binary(), 1);
    if (dup2(input, 0) == 0 && dup2(c->out, 1) == 1 && dup2(c->err, 2) == 2)
        execvp(words[0], (char *const *)words);
    fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
    _exit(99);
}

command *command_start_program(const char *url, const char *const *program_and_words)
{
    command *c = calloc(1, sizeof *c);
    int ends[2];
    cr_assert(c && pipe2(ends, O_CLOEXEC) == 0);
    c->out = memory_file("out");
    c->err = memory_file("err");
    c->input = ends[1];
    c->pid = fork();
    if (c->pid == 0)
        become(program_and_words, url, ends[0], c);
    cr_assert(c->pid > 0, "fork: %s", strerror(errno));
    close(ends[0]);
    return c;
}

command *command_start(const char *url, const char *const *words)
{
    const char *all[64] = {binary()};
    size_t count = 1;
    while (*words && count < 63)
        all[count++] = *words++;
    cr_assert(!*words, "too many words for a command");
    return command_start_program(url, all);
}

int command_wait(command *c, int64_t ms)
{
    int status;
    for (int64_t end = limit_end_ms(ms); waitpid(c->pid, &status, WNOHANG) == 0;) {
        cr_assert(now_ms() < end, "rlock still runs after %lld ms; it said: %s%s", (long long)ms,
                  command_out(c), command_err(c));
        usleep(1000);
    }
    c->ended = true;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void command_free(command *c)
{
    if (!c)
        return;
    if (!c->ended) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
    }
    command_close_input(c);
    close(c->out);
    close(c->err);
    free(c->out_text);
    free(c->err_text);
    free(c);
}

outcome command_outcome(const char *url, const char *const *words)
{
    command *c = command_start(url, words);
    command_close_input(c);
    outcome found = {.status = command_wait(c, LIMIT_MS)};
    found.out = strdup(command_out(c));
    found.err = strdup(command_err(c));
    command_free(c);
    return found;
}

void outcome_free(outcome *found)
{
    free(found->out);
    free(found->err);
}

pid_t command_pid(const command *c)
{
    return c->pid;
}

void command_signal(command *c, int number)
{
    cr_assert(kill(c->pid, number) == 0);
}

void command_write(command *c, const char *text)
{
    cr_assert(write(c->input, text, strlen(text)) == (ssize_t)strlen(text));
}

void command_close_input(command *c)
{
    if (c->input >= 0)
        close(c->input);
    c->input = -1;
}

static const char *read_again(char **text, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    free(*text);
    *text = calloc(1, (size_t)size + 1);
    cr_assert(*text && pread(fd, *text, (size_t)size, 0) == size);
    return *text;
}

const char *command_out(command *c)
{
    return read_again(&c->out_text, c->out);
}

const char *command_err(command *c)
{
    return read_again(&c->err_text, c->err);
}

static bool wait_for_text(command *c, const char *(*said)(command *), const char *text, int64_t ms)
{
    for (int64_t end = limit_end_ms(ms); !strstr(said(c), text);) {
        if (now_ms() >= end)
            return false;
        usleep(1000);
    }
    return true;
}

bool command_says(command *c, const char *text, int64_t ms)
{
    return wait_for_text(c, command_out, text, ms);
}

bool command_complains(command *c, const char *text, int64_t ms)
{
    return wait_for_text(c, command_err, text, ms);
}

long command_number(command *c, const char *text, int64_t ms)
{
    for (int64_t end = limit_end_ms(ms);; usleep(1000)) {
        const char *found = strstr(command_out(c), text);
        if (found && strchr(found, '\n'))
            return strtol(found + strlen(text), NULL, 10);
        cr_assert(now_ms() < end, "no \"%s\" after %lld ms; it said: %s", text, (long long)ms, command_err(c));
    }
}

/* The letter behind the name in /proc/<pid>/stat; Z and X are dead. */
static bool is_alive(pid_t pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = 0;
    const char *behind_name = strrchr(line, ')');
    return behind_name && behind_name[1] && !strchr("ZX", behind_name[2]);
}

bool wait_process_gone(pid_t pid, int64_t ms)
{
    for (int64_t end = limit_end_ms(ms); is_alive(pid); usleep(1000)) {
        if (now_ms() >= end)
            return false;
    }
    return true;
}

/* Starting a program beside the test, without what sanitizers and valgrind want of the test alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/program.h"

#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

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
static _Noreturn void become(char *const *argv, char *const *envp, int in, int out)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    /* Whoever waits for the end of a pipe of the test must not wait for this process. */
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execvpe(argv[0], argv, envp);
    _exit(127);
}

static void share_fate(program_fate fate, pid_t parent)
{
    if (fate == PROGRAM_DIES_WITH_US) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(125);
    } else {
        /* Ctrl-C goes to the whole group. */
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
    }
}

pid_t program_start(char *const *argv, int in, int out, program_fate fate)
{
    char **envp = plain_environment();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        share_fate(fate, parent);
        become(argv, envp, in, out);
    }
    cr_assert(pid > 0, "fork: %s", strerror(errno));
    free(envp);
    return pid;
}

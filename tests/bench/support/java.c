/* The real Redisson in a JVM: the agent of the interop tests, told what to do line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/java.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* All of the JVM's compilers: the launcher is made for tests, which want a quick start. */
#define JIT "-XX:TieredStopAtLevel=4"

static _Noreturn void become(const char *agent, pid_t parent, int input, int output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int silent = open("/dev/null", O_WRONLY | O_CLOEXEC); /* it says that it picked the option up */
    if (getppid() == parent && setenv("_JAVA_OPTIONS", JIT, 1) == 0 && dup2(input, 0) == 0 && dup2(output, 1) == 1 &&
        dup2(silent, 2) == 2)
        execl(agent, agent, (char *)NULL);
    _exit(127);
}

/* The next answer, a line `tag began ended ok text`; false: an exception, or the end. */
static bool answer(bench_java *java, int64_t *began_ns, int64_t *ended_ns)
{
    char *line = NULL;
    size_t size = 0;
    bool right = false, found = false;
    while (!found && getline(&line, &size, java->out) > 0) {
        char word[8] = "";
        long long tag, began, ended;
        found = sscanf(line, "%lld %lld %lld %7s", &tag, &began, &ended, word) == 4;
        if (!found)
            continue; /* something of the JVM's own */
        right = strcmp(word, "ok") == 0;
        *began_ns = began;
        *ended_ns = ended;
    }
    if (!right)
        fprintf(stderr, "bench: Java: %s\n", found ? line : "it ended");
    free(line);
    return right;
}

bool java_start(bench_java *java, const char *agent, const char *url)
{
    int in[2], out[2];
    int64_t began, ended;
    *java = (bench_java){0};
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return false;
    pid_t parent = getpid();
    signal(SIGPIPE, SIG_IGN); /* a JVM that died is a failed write */
    java->pid = fork();
    if (java->pid == 0)
        become(agent, parent, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    java->in = fdopen(in[1], "we");
    java->out = fdopen(out[0], "re");
    if (!java->in || !java->out)
        abort();
    fprintf(java->in, "%d agent open %s\n", ++java->tags, url);
    fflush(java->in);
    return answer(java, &began, &ended);
}

void java_stop(bench_java *java)
{
    fclose(java->in);
    fclose(java->out);
    if (java->pid > 0) {
        kill(java->pid, SIGKILL);
        waitpid(java->pid, NULL, 0);
    }
}

bool java_turns(bench_java *java, const char *name, int threads, const char *file, int64_t total, int64_t *ns)
{
    int64_t first = INT64_MAX, last = 0, began, ended;
    bool right = true;
    for (int i = 0; i < threads; i++)
        fprintf(java->in, "%d t%d fair %s turns %s %lld\n", ++java->tags, i, name, file, (long long)total);
    fflush(java->in);
    for (int i = 0; right && i < threads; i++) {
        right = answer(java, &began, &ended);
        if (right && began < first)
            first = began;
        if (right && ended > last)
            last = ended;
    }
    *ns = last - first;
    return right;
}

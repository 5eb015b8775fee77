/* A C process beside the test: forked, so that it can be killed while it holds a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/process.h"

#include "tests/support/event.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t process_start(int (*run)(void *arg), void *arg)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(run(arg));
    }
    cr_assert(pid > 0, "fork: %s", strerror(errno));
    return pid;
}

void process_kill(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

int process_wait(pid_t process, int64_t ms)
{
    int status;
    for (int64_t end_ms = limit_end_ms(ms); waitpid(process, &status, WNOHANG) == 0; pass_ms(1))
        cr_assert(now_ms() < end_ms, "process %d still runs after %lld ms", (int)process, (long long)ms);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED, "mmap: %s", strerror(errno));
    return memory;
}

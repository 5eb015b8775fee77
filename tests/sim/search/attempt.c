/* Attempts: a plan run in a process of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/search/attempt.h"

#include "redis/script.h"
#include "tests/sim/server/sha1.h"
#include "tests/sim/world/finding.h"

#include <ctype.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* So much of the processor's time a run may take: most take some milliseconds. And so long by the real clock, should it
 * wait for what is not simulated. */
#define MOST_BUSY_SECONDS 60
#define MOST_SECONDS 1800

/* What the runs write into. */
static run_counts *counted;

/* Each run is a fork, which then finds the digests of the library's scripts. */
static void know_scripts(void)
{
    char digits[41];
    for (int i = 0; rli_scripts[i]; i++) {
        for (rli_pubsub_mode mode = 0; mode < RLI_PUBSUB_MODES; mode++) {
            size_t length = 0;
            char *text = rli_script_text(rli_scripts[i], mode, &length);
            if (!text)
                abort();
            sha1_hex(text, length, digits);
            free(text);
        }
    }
}

void attempts_prepare(char **arguments)
{
    int as = personality(0xffffffff);
    if (as != -1 && !(as & ADDR_NO_RANDOMIZE) && personality((unsigned long)as | ADDR_NO_RANDOMIZE) != -1)
        execv("/proc/self/exe", arguments); /* where that is refused, addresses differ, and runs with them */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    know_scripts();
    attempts_begin();
}

void attempts_begin(void)
{
    counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counted == MAP_FAILED)
        abort();
}

bool attempts_show;

/* Where the compiler counts what is run (make sim-coverage), the counts are written at exit(), which a run does not use. */
extern void __gcov_dump(void) __attribute__((weak));

static void be_run(const plan *of, int to)
{
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    setrlimit(RLIMIT_CPU, &(struct rlimit){MOST_BUSY_SECONDS, MOST_BUSY_SECONDS + 10});
    alarm(MOST_SECONDS);
    *counted = run_plan(of);
    if (attempts_show)
        timeline_print();
    fflush(stdout);
    if (__gcov_dump)
        __gcov_dump();
    _exit(RUN_WELL);
}

static char *read_all(int from)
{
    off_t length = lseek(from, 0, SEEK_END);
    char *text = calloc(1, (size_t)length + 1);
    if (!text)
        abort();
    if (pread(from, text, (size_t)length, 0) != length)
        *text = 0;
    return text;
}

/* What ended it, where that could not say so itself. */
static void tell_signal(int to, int status)
{
    if (WIFSIGNALED(status))
        dprintf(to, "The process was ended by signal %d (%s).\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* The finding without what differs from run to run. */
static void note_gist(attempt *self, int status)
{
    const char *at = strstr(self->report, "FINDING: ");
    size_t length = 0;
    if (!at && WIFSIGNALED(status)) {
        snprintf(self->gist, sizeof self->gist, "signal %d", WTERMSIG(status));
        return;
    }
    if (!at)
        at = strstr(self->report, "ERROR: ");
    for (at = at ? at + 9 : self->report; *at && *at != '\n' && length < sizeof self->gist - 1; at++) {
        if (!isdigit((unsigned char)*at))
            self->gist[length++] = *at;
    }
}

static attempt run_once(const plan *of)
{
    attempt self = {.found = true};
    int status = 0, to = memfd_create("report", 0);
    *counted = (run_counts){0};
    fflush(NULL);
    pid_t pid = fork();
    if (to < 0 || pid < 0)
        abort();
    if (pid == 0)
        be_run(of, to);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    self.found = !WIFEXITED(status) || WEXITSTATUS(status) != RUN_WELL;
    self.counts = *counted;
    tell_signal(to, status);
    self.report = read_all(to);
    close(to);
    if (self.found)
        note_gist(&self, status);
    return self;
}

/* Lines are seldom read, and take a tenth of the time to write. */
attempt attempt_run(const plan *of)
{
    timeline_kept = attempts_show;
    attempt first = run_once(of);
    if (!first.found || timeline_kept)
        return first;
    timeline_kept = true;
    attempt again = run_once(of);
    if (!again.found) { /* it does not go the same way twice, which is not to hide what it found */
        free(again.report);
        return first;
    }
    free(first.report);
    return again;
}

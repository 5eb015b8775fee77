/* The plain runner: a process a test, several at once, each with a time limit, reported as TAP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/plain.h"

#include "tests/support/event.h"
#include "tests/support/plain_process.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77, JOBS_MAX = 64 };

static plain_test *tests, *suites; /* built by constructors, before main */
static bool expectation_failed;    /* in a test's process */

typedef struct plain_job {
    pid_t pid; /* 0: free */
    const plain_test *test;
    FILE *said; /* what the test wrote */
    int64_t deadline_ms;
    bool timed_out;
} plain_job;

static struct run {
    const char *filter;
    FILE *tap;
    long jobs;
    double timeout;
    int passed, failed, skipped;
    plain_job job[JOBS_MAX];
} run = {.jobs = 1};

void plain_add(plain_test *test)
{
    plain_test **list = test->name ? &tests : &suites;
    test->next = *list;
    *list = test;
}

/* --- In a test's process --- */

void plain_failed(bool fatal, const char *file, int line, const char *what, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s", file, line, what);
    if (format) {
        fputs(": ", stderr);
        vfprintf(stderr, format, args);
    }
    fputc('\n', stderr);
    va_end(args);
    if (fatal)
        _exit(1);
    expectation_failed = true;
}

void plain_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    _exit(SKIPPED);
}

void plain_log(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static const plain_options *suite_options(const plain_test *test)
{
    static const plain_options none;
    for (plain_test *suite = suites; suite; suite = suite->next)
        if (strcmp(suite->suite, test->suite) == 0 && strcmp(suite->file, test->file) == 0)
            return &suite->options;
    return &none;
}

/* As in Criterion: the suite's set-up around that of the test. */
static _Noreturn void run_test(const plain_test *test)
{
    const plain_options *suite = suite_options(test);
    plain_process_begin();
    if (suite->init)
        suite->init();
    if (test->options.init)
        test->options.init();
    test->run();
    if (test->options.fini)
        test->options.fini();
    if (suite->fini)
        suite->fini();
    exit(expectation_failed ? 1 : 0); /* not _exit: the sanitizer has its say */
}

/* --- In the runner --- */

static double timeout_of(const plain_test *test)
{
    if (test->options.timeout > 0)
        return test->options.timeout;
    double of_suite = suite_options(test)->timeout;
    return of_suite > 0 ? of_suite : run.timeout > 0 ? run.timeout : 600;
}

static void begin(plain_job *job, const plain_test *test)
{
    job->test = test;
    job->said = tmpfile();
    job->timed_out = false;
    job->deadline_ms = now_ms() + (int64_t)(timeout_of(test) * 1000);
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        dup2(fileno(job->said), STDOUT_FILENO);
        dup2(fileno(job->said), STDERR_FILENO);
        run_test(test);
    }
    if (job->pid < 0) {
        perror("fork");
        exit(2);
    }
}

/* Copies what the test said, each line behind `before`. */
static void tell(FILE *said, FILE *to, const char *before)
{
    char line[4096];
    rewind(said);
    while (fgets(line, sizeof line, said)) {
        line[strcspn(line, "\n")] = 0;
        fprintf(to, "%s%s\n", before, line);
    }
}

static void end(plain_job *job, int status)
{
    const plain_test *test = job->test;
    char why[64] = "";
    bool expected = WIFSIGNALED(status) ? WTERMSIG(status) == test->options.signal
                                        : !test->options.signal && WEXITSTATUS(status) == test->options.exit_code;
    if (job->timed_out)
        snprintf(why, sizeof why, "timed out (%.0f s)", timeout_of(test));
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(why, sizeof why, "exit status %d", WEXITSTATUS(status));

    if (expected && !job->timed_out) {
        run.passed++;
        fprintf(run.tap, "ok - %s::%s\n", test->suite, test->name);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED && !job->timed_out) {
        run.skipped++;
        fprintf(run.tap, "ok - %s::%s # SKIP\n", test->suite, test->name);
        fprintf(stderr, "[SKIP] %s::%s\n", test->suite, test->name);
        tell(job->said, stderr, "[----]   ");
    } else {
        run.failed++;
        fprintf(run.tap, "not ok - %s::%s %s\n", test->suite, test->name, why);
        fprintf(stderr, "[FAIL] %s::%s: %s\n", test->suite, test->name, why);
        tell(job->said, stderr, "[----]   ");
    }
    fflush(run.tap);
    fclose(job->said);
    job->pid = 0;
}

/* Waits until a test has ended or its time is over. */
static void attend(void)
{
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    for (int i = 0; i < run.jobs; i++) {
        plain_job *job = &run.job[i];
        if (pid > 0 && job->pid == pid) {
            end(job, status);
        } else if (job->pid && now_ms() >= job->deadline_ms && !job->timed_out) {
            job->timed_out = true;
            kill(job->pid, SIGKILL);
        }
    }
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (pid <= 0)
        sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = 50000000});
}

static plain_job *free_job(void)
{
    for (int i = 0; i < run.jobs; i++)
        if (!run.job[i].pid)
            return &run.job[i];
    return NULL;
}

static bool busy(void)
{
    for (int i = 0; i < run.jobs; i++)
        if (run.job[i].pid)
            return true;
    return false;
}

static bool wanted(const plain_test *test)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", test->suite, test->name);
    return !test->options.disabled && !suite_options(test)->disabled &&
           (!run.filter || fnmatch(run.filter, path, FNM_EXTMATCH) == 0);
}

static void read_arguments(int argc, char **argv)
{
    run.tap = fopen("/dev/null", "w");
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--tap=", 6) == 0)
            run.tap = fopen(argv[i] + 6, "w");
        else if (strncmp(argv[i], "-j", 2) == 0)
            run.jobs = strtol(argv[i] + 2, NULL, 10);
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            run.filter = argv[++i];
        else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc)
            run.timeout = strtod(argv[++i], NULL);
    }
    if (run.jobs < 1 || run.jobs > JOBS_MAX || !run.tap) {
        fprintf(stderr, "usage: %s [--tap=FILE] [-jN] [--filter SUITE/TEST] [--timeout SECONDS]\n", argv[0]);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);

    int count = 0;
    for (plain_test *test = tests; test; test = test->next)
        count += wanted(test);
    fprintf(run.tap, "TAP version 13\n1..%d\n", count);
    for (plain_test *test = tests; test; test = test->next) {
        if (!wanted(test))
            continue;
        while (!free_job())
            attend();
        begin(free_job(), test);
    }
    while (busy())
        attend();
    fprintf(stderr, "[====] Tested: %d | Passing: %d | Failing: %d | Skipped: %d\n",
            run.passed + run.failed, run.passed, run.failed, run.skipped);
    return run.failed ? 1 : 0;
}

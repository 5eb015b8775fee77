/* The runner of tests: a process a test, several at once, each with a time limit, reported as TAP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/runner.h"

#include "tests/support/event.h"
#include "tests/support/test_process.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How a test's process exits. What ends it with 0 has ended it before its end. */
enum { PASSED = 76, SKIPPED = 77 };

static runner_test *tests, *suites; /* built by constructors, before main */
static bool expectation_failed;     /* in a test's process */

typedef struct runner_job {
    pid_t pid; /* 0: free */
    const runner_test *test;
    FILE *said; /* what the test wrote; NULL with --live */
    int64_t began_ms, deadline_ms;
    bool timed_out;
} runner_job;

static struct run {
    const char *program, *filter;
    FILE *tap;
    long jobs;
    double timeout;
    bool list, live, exec, times; /* what read_arguments says of them */
    long only;                    /* the place of the one test that this process is for; 0: it is the runner */
    int passed, failed, skipped;
    runner_job *job;
} run = {.jobs = 1};

void runner_add(runner_test *test)
{
    runner_test **list = test->name ? &tests : &suites;
    test->next = *list;
    *list = test;
}

/* --- In a test's process --- */

void runner_failed(bool fatal, const char *file, int line, const char *what, const char *format, ...)
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

void runner_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    _exit(SKIPPED);
}

void runner_log(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static const runner_options *suite_options(const runner_test *test)
{
    static const runner_options none;
    for (runner_test *suite = suites; suite; suite = suite->next)
        if (strcmp(suite->suite, test->suite) == 0 && strcmp(suite->file, test->file) == 0)
            return &suite->options;
    return &none;
}

/* The suite's set-up around that of the test. */
static _Noreturn void run_test(const runner_test *test)
{
    const runner_options *suite = suite_options(test);
    test_process_begin();
    if (suite->init)
        suite->init();
    if (test->options.init)
        test->options.init();
    test->run();
    if (test->options.fini)
        test->options.fini();
    if (suite->fini)
        suite->fini();
    exit(expectation_failed ? 1 : PASSED); /* not _exit: the sanitizer has its say */
}

/* --- In the runner --- */

static double timeout_of(const runner_test *test)
{
    if (test->options.timeout > 0)
        return test->options.timeout;
    double of_suite = suite_options(test)->timeout;
    return of_suite > 0 ? of_suite : run.timeout > 0 ? run.timeout : 600;
}

/* The process of a test: what it says goes to `said`, unless that is NULL. */
static _Noreturn void live(const runner_test *test, FILE *said, long place)
{
    char number[24], *words[] = {(char *)run.program, "--only", number, NULL};
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (said) {
        dup2(fileno(said), STDOUT_FILENO);
        dup2(fileno(said), STDERR_FILENO);
    }
    if (!run.exec)
        run_test(test);
    snprintf(number, sizeof number, "%ld", place);
    execv(run.program, words);
    _exit(127);
}

static void begin(runner_job *job, const runner_test *test, long place)
{
    job->test = test;
    job->said = run.live ? NULL : fdopen(memfd_create("said", MFD_CLOEXEC), "w+");
    job->timed_out = false;
    job->began_ms = now_ms();
    job->deadline_ms = job->began_ms + (int64_t)(timeout_of(test) * 1000);
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0)
        live(test, job->said, place);
    if (job->pid < 0 || (!job->said && !run.live)) {
        perror("cannot start a test");
        exit(2);
    }
}

/* Writes up to `most` lines of what the test said, each behind `before`. */
static void tell(FILE *said, FILE *to, const char *before, int most)
{
    char line[4096];
    if (!said)
        return;
    rewind(said);
    for (int i = 0; i < most && fgets(line, sizeof line, said); i++) {
        line[strcspn(line, "\n")] = 0;
        fprintf(to, "%s%s\n", before, line);
    }
}

static void show(FILE *said)
{
    tell(said, stderr, "[----]   ", INT_MAX);
}

static double seconds(struct timeval of)
{
    return (double)of.tv_sec + (double)of.tv_usec / 1e6;
}

static void end(runner_job *job, int status, const struct rusage *used)
{
    const runner_test *test = job->test;
    int code = WIFEXITED(status) && !job->timed_out ? WEXITSTATUS(status) : -1;
    char why[64];
    if (job->timed_out)
        snprintf(why, sizeof why, "timed out (%.0f s)", timeout_of(test));
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(why, sizeof why, code ? "exit status %d" : "exited before its end, with status %d", code);

    if (code == PASSED) {
        run.passed++;
        fprintf(run.tap, "ok - %s::%s\n", test->suite, test->name);
    } else if (code == SKIPPED) {
        run.skipped++;
        fprintf(run.tap, "ok - %s::%s # SKIP\n", test->suite, test->name);
        fprintf(stderr, "[SKIP] %s::%s\n", test->suite, test->name);
        show(job->said);
    } else {
        run.failed++;
        fprintf(run.tap, "not ok - %s::%s %s\n", test->suite, test->name, why);
        tell(job->said, run.tap, "# ", 5); /* the summary repeats them: the rest may be far above, or cut off */
        fprintf(stderr, "[FAIL] %s::%s: %s\n", test->suite, test->name, why);
        show(job->said);
    }
    if (run.times)
        printf("%7.2f s of %7.2f s %s/%s\n", seconds(used->ru_utime) + seconds(used->ru_stime),
               (double)(now_ms() - job->began_ms) / 1000, test->suite, test->name);
    fflush(run.tap);
    if (job->said)
        fclose(job->said);
    job->pid = 0;
}

/* Waits until a test has ended or its time is over. */
static void attend(void)
{
    int status;
    struct rusage used;
    pid_t pid = wait4(-1, &status, WNOHANG, &used);
    for (int i = 0; i < run.jobs; i++) {
        runner_job *job = &run.job[i];
        if (pid > 0 && job->pid == pid) {
            end(job, status, &used);
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

static runner_job *free_job(void)
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

/* The others stay in their order. */
static void put_longest_first(void)
{
    runner_test *rest = tests;
    tests = NULL;
    while (rest) {
        runner_test *test = rest, **place = &tests;
        rest = rest->next;
        while (*place && (*place)->options.lasts >= test->options.lasts)
            place = &(*place)->next;
        test->next = *place;
        *place = test;
    }
}

static bool wanted(const runner_test *test)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", test->suite, test->name);
    return !run.filter || fnmatch(run.filter, path, FNM_EXTMATCH) == 0;
}

static void read_arguments(int argc, char **argv)
{
    run.program = argv[0];
    run.tap = fopen("/dev/null", "w");
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strncmp(word, "--tap=", 6) == 0)
            run.tap = fopen(word + 6, "we");
        else if (strncmp(word, "-j", 2) == 0)
            run.jobs = strtol(word + 2, NULL, 10);
        else if (strcmp(word, "--filter") == 0 && i + 1 < argc)
            run.filter = argv[++i];
        else if (strcmp(word, "--timeout") == 0 && i + 1 < argc)
            run.timeout = strtod(argv[++i], NULL);
        else if (strcmp(word, "--only") == 0 && i + 1 < argc)
            run.only = strtol(argv[++i], NULL, 10);
        else if (strcmp(word, "--list") == 0)
            run.list = true;
        else if (strcmp(word, "--live") == 0)
            run.live = true;
        else if (strcmp(word, "--exec") == 0)
            run.exec = true;
        else if (strcmp(word, "--times") == 0)
            run.times = true;
        else
            run.jobs = 0;
    }
    if (run.jobs < 1 || !run.tap) {
        fprintf(stderr,
                "usage: %s [--tap=FILE] [-jN] [--filter SUITE/TEST] [--timeout SECONDS] [--live] [--exec] [--times]\n"
                "       %s --list [--filter SUITE/TEST]\n"
                "  --filter  only the tests of that name, which may be a pattern\n"
                "  --live    shows what a test says while it runs, and not only when it has failed\n"
                "  --exec    starts the program anew for each test, as valgrind wants it\n"
                "  --times   shows the processor time of each test and of what it started, and how long it took\n"
                "  --list    names the tests and runs none\n",
                argv[0], argv[0]);
        exit(2);
    }
}

static void run_all(void)
{
    int count = 0;
    for (runner_test *test = tests; test; test = test->next)
        count += wanted(test);
    fprintf(run.tap, "TAP version 13\n1..%d\n", count);
    long place = 0;
    for (runner_test *test = tests; test; test = test->next) {
        place++;
        if (!wanted(test))
            continue;
        while (!free_job())
            attend();
        begin(free_job(), test, place);
    }
    while (busy())
        attend();
    fprintf(stderr, "[====] Tested: %d | Passing: %d | Failing: %d | Skipped: %d\n",
            run.passed + run.failed, run.passed, run.failed, run.skipped);
}

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    put_longest_first();
    long place = 0;
    for (runner_test *test = tests; test; test = test->next) {
        if (++place == run.only)
            run_test(test);
        if (run.list && wanted(test))
            printf("%s/%s\n", test->suite, test->name);
    }
    if (run.list)
        return 0;

    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    run.job = calloc((size_t)run.jobs, sizeof *run.job);
    if (!run.job) {
        perror("calloc");
        return 2;
    }
    run_all();
    free(run.job);
    return run.failed ? 1 : 0;
}

/* From the start of a process to its first lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/usage.h"
#include "tests/bench/support/value.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OURS 101
#define THEIRS 3

static _Noreturn void become(char *const *words, int in, int out)
{
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execv(words[0], words);
    perror(words[0]);
    _exit(127);
}

/* Reads so many lines; false: the program ended before, or said that something failed. */
static bool read_lines(int from, int lines)
{
    char text[256];
    for (ssize_t got; lines > 0 && (got = read(from, text, sizeof text - 1)) > 0;) {
        text[got] = '\0';
        if (strncmp(text, "error", 5) == 0) {
            fprintf(stderr, "bench: start: %s", text);
            return false;
        }
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines--;
    }
    return lines <= 0;
}

/* Until the program, which is told `text`, has answered so many lines; in ms, 0: it failed. */
static double start_ms(char *const *words, const char *text, int lines)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
        write(in[1], text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    double began_s = usage_now_s();
    pid_t pid = fork();
    if (pid == 0)
        become(words, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    bool right = pid > 0 && read_lines(out[0], lines);
    double ms = (usage_now_s() - began_s) * 1e3;
    close(in[1]); /* which ends it */
    if (pid > 0)
        waitpid(pid, NULL, 0);
    close(out[0]);
    return right ? ms : 0;
}

static double median_start_ms(char *const *words, const char *text, int lines, int times)
{
    double ms[OURS];
    for (int i = 0; i < times; i++) {
        ms[i] = start_ms(words, text, lines);
        if (ms[i] <= 0)
            return 0;
    }
    return median_of(ms, times);
}

static double ours_ms(bench_run *bench)
{
    char path[512];
    snprintf(path, sizeof path, "%s/first_lock", bench->folder);
    char *words[] = {path, bench->redis.unix_url, "first", NULL};
    return median_start_ms(words, "", 1, OURS);
}

static double theirs_ms(bench_run *bench)
{
    char path[512], text[512];
    snprintf(path, sizeof path, "%s/redisson", bench->folder);
    snprintf(text, sizeof text, "open %s %s\nhold 1\n", bench->redis.tcp_url, bench->claims);
    char *words[] = {path, NULL};
    return median_start_ms(words, text, 2, THEIRS);
}

static bool measure(bench_run *bench)
{
    static const char what[] = "start of the process to its first lock";
    if (!contestant_is_there(bench, "first_lock"))
        return true;
    double theirs = contestant_is_there(bench, "redisson") ? theirs_ms(bench) : 0, ours = ours_ms(bench);
    if (ours > 0)
        value_report(bench, &(bench_value){.what = what, .who = "rlock", .threads = 1, .processes = 1, .value = ours,
                                           .unit = "ms", .most = 3, .redisson = theirs});
    if (theirs > 0)
        value_report(bench, &(bench_value){.what = what, .who = "redisson", .threads = 1, .processes = 1,
                                           .value = theirs, .unit = "ms"});
    return ours > 0;
}

extern const bench_row row_start;
const bench_row row_start = {
    "start", "A small program over a unix socket; Redisson in its JVM over loopback", measure};

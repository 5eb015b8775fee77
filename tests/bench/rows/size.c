/* How large the library is, on disk and in a process that uses it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB 1024.0
#define TIMES 5

static double stripped_bytes(const bench_run *bench, const char *library)
{
    char path[512], command[1200];
    struct stat about = {0};
    snprintf(path, sizeof path, "%s/stripped.so", bench->scratch);
    snprintf(command, sizeof command, "strip -o '%s' '%s/../../../%s'", path, bench->folder, library);
    bool right = system(command) == 0 && stat(path, &about) == 0;
    unlink(path);
    return right ? (double)about.st_size : 0;
}

/* Of one client that has locked once: its own memory but for its threads' stacks, and pages of files. */
static bool resident_bytes(const bench_run *bench, double *own, double *files)
{
    char command[1024];
    long anonymous, file, stacks;
    snprintf(command, sizeof command, "'%s/resident' '%s'", bench->folder, bench->url);
    FILE *out = popen(command, "re");
    bool right = out && fscanf(out, "%ld %ld %ld", &anonymous, &file, &stacks) == 3;
    if (out)
        right = pclose(out) == 0 && right;
    if (right) {
        *own = (double)(anonymous - stacks);
        *files = (double)file;
    }
    return right;
}

static bool measure(bench_run *bench)
{
    double own[TIMES], files[TIMES], bytes = stripped_bytes(bench, "librlock.so");
    double module_bytes = stripped_bytes(bench, "librlock-tls.so.1");
    if (bytes <= 0 || module_bytes <= 0 || !contestant_is_there(bench, "resident"))
        return bytes > 0 && module_bytes > 0;
    for (int i = 0; i < TIMES; i++) {
        if (!resident_bytes(bench, &own[i], &files[i]))
            return false;
    }
    value_report(bench, &(bench_value){.what = "librlock.so, stripped", .who = "rlock", .value = bytes / KIB,
                                       .unit = "KiB", .most = 300});
    value_report(bench, &(bench_value){.what = "the same and its TLS module, which is loaded for TLS alone",
                                       .who = "rlock", .value = (bytes + module_bytes) / KIB, .unit = "KiB"});
    value_report(bench, &(bench_value){.what = "a client that has locked, beyond its threads' stacks", .who = "rlock",
                                       .value = median_of(own, TIMES) / KIB, .unit = "KiB", .most = 200});
    value_report(bench, &(bench_value){.what = "pages of files, as code, that such a client has touched", .who = "rlock",
                                       .value = median_of(files, TIMES) / KIB, .unit = "KiB"});
    return true;
}

extern const bench_row row_size;
const bench_row row_size = {"size", "The library on disk, and a client in memory", measure};

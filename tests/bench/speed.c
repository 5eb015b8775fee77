/* How fast the library is beside what the same requests cost a program that uses hiredis, and beside other
 * lock clients: the driver, which has contestants work in turn and reports what came out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/bench.h"
#include "tests/bench/support/contestant.h"
#include "tests/bench/support/report.h"
#include "tests/bench/support/server.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* So many that two names hardly ever share a word; only the pages that are written to exist. */
#define CLAIMS_BYTES (1024L * 1024 * 1024)

typedef struct arguments {
    const char *only, *without; /* words between commas; NULL: all, and nobody */
    const char *json, *contestants, *before, *scratch;
    bool unix_socket, all_peers;
} arguments;

static void usage(FILE *to)
{
    fputs("usage: speed [--only ROWS] [--without CONTESTANTS] [--unix] [--peers all] [--before FOLDER] [--json FILE]\n"
          "             --contestants FOLDER SCRATCH\n"
          "Runs a redis-server of its own in the folder SCRATCH, and has the programs in FOLDER work on it.\n"
          "--unix: those that can connect to its unix socket, else all come over loopback.\n"
          "--before: the contestants of another version's build: its rlock takes the place of raw.\n"
          "--peers all: in the rows beside other products, all of them, else a few.\n"
          "ROWS and CONTESTANTS are words between commas. Rows:\n",
          to);
    for (const bench_row *const *row = rows; *row; row++)
        fprintf(to, "  %-16s %s\n", (*row)->name, (*row)->about);
}

static _Noreturn void refuse(void)
{
    usage(stderr);
    exit(2);
}

static bool is_row(const char *word, size_t length)
{
    for (const bench_row *const *row = rows; *row; row++) {
        if (strlen((*row)->name) == length && memcmp(word, (*row)->name, length) == 0)
            return true;
    }
    fprintf(stderr, "bench: there are no rows \"%.*s\"\n", (int)length, word);
    return false;
}

static const char *parse_rows(const char *words)
{
    for (const char *at = words;; at++) {
        size_t length = strcspn(at, ",");
        if (!is_row(at, length))
            refuse();
        at += length;
        if (!*at)
            return words;
    }
}

static arguments parse_arguments(int argc, char **argv)
{
    static const struct option known[] = {{"only", required_argument, NULL, 'o'},
                                          {"without", required_argument, NULL, 'w'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"contestants", required_argument, NULL, 'c'},
                                          {"before", required_argument, NULL, 'b'},
                                          {"peers", required_argument, NULL, 'p'},
                                          {"unix", no_argument, NULL, 'u'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    arguments given = {0};
    for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (letter) {
        case 'o': given.only = parse_rows(optarg); break;
        case 'w': given.without = optarg; break;
        case 'j': given.json = optarg; break;
        case 'c': given.contestants = optarg; break;
        case 'b': given.before = optarg; break;
        case 'p': given.all_peers = strcmp(optarg, "all") == 0; break;
        case 'u': given.unix_socket = true; break;
        case 'h': usage(stdout); exit(0);
        default: refuse();
        }
    }
    if (optind != argc - 1 || !given.contestants)
        refuse();
    given.scratch = argv[optind];
    return given;
}

static void make_claims(bench_run *bench)
{
    int fd = memfd_create("claims", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, CLAIMS_BYTES) != 0) {
        perror("bench: claims");
        exit(1);
    }
    snprintf(bench->claims, sizeof bench->claims, "/proc/%d/fd/%d", (int)getpid(), fd);
}

static void set_up(bench_run *bench, const arguments *given)
{
    char version[32];
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* of the script that cleans up */
    make_claims(bench);
    redis_start(&bench->redis, given->scratch);
    redis_version(&bench->redis, version);
    bench->url = given->unix_socket ? bench->redis.unix_url : bench->redis.tcp_url;
    bench->folder = given->contestants;
    bench->before = given->before;
    bench->scratch = given->scratch;
    bench->without = given->without;
    bench->all_peers = given->all_peers;
    report_open(&bench->report, given->json, given->all_peers ? "make bench PEERS=all" : "make bench", version);
}

static bool measure_all(bench_run *bench, const char *only)
{
    bool right = true;
    for (const bench_row *const *row = rows; right && *row; row++) {
        if (only && !bench_has_word(only, (*row)->name))
            continue;
        report_group(&bench->report, (*row)->name, (*row)->about);
        time_t began = time(NULL);
        right = (*row)->measure(bench);
        printf("(in %d s)\n", (int)(time(NULL) - began));
        freeReplyObject(redis_ask(&bench->redis, "FLUSHALL"));
    }
    return right;
}

int main(int argc, char **argv)
{
    static bench_run bench;
    arguments given = parse_arguments(argc, argv);
    set_up(&bench, &given);
    bool right = measure_all(&bench, given.only);
    contestant_end_all();
    server_end_all();
    report_close(&bench.report);
    redis_stop(&bench.redis);
    if (bench.report.missed)
        printf("\n%d targets were missed.\n", bench.report.missed);
    return right ? 0 : 1;
}

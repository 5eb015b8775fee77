/* rlock bench: measures how fast locks are with the user's own server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MOST_RUNS    16
#define MOST_THREADS 4096
#define LONGEST_MS   3600000
#define ASKING_MS    1000
#define KINDS        "lock, fair, spin, token, signal, read, write or non-reentrant"

static const char help[] = "rlock bench [OPTION…] - measure how fast locks are with your server\n"
                           "\n"
                           "Threads lock and unlock as fast as the server answers. Measures a round trip first,\n"
                           "then prints for each number of threads: pairs of lock and unlock per second, the time\n"
                           "of a pair (median and 99th percentile), CPU time of this process per pair, its\n"
                           "connections, and violations: how often two threads held one lock, which must be 0.\n"
                           "\n"
                           "Names begin with rlock:bench: and are removed when it ends, even by a signal; if it is\n"
                           "killed, they expire within lockWatchdogTimeout. If the server may be on another\n"
                           "machine, rlock describes the load and asks before it begins.\n"
                           "\n"
                           "  --threads N,N…\n"
                           "              numbers of threads to measure in turn; default 1,8,64\n"
                           "  --time DUR  how long to measure each number of threads; default 5s\n"
                           "  --kind KIND lock (the default), fair, spin, token, signal, read, write or non-reentrant\n"
                           "  --one-name  all threads use one lock; default: each has its own\n"
                           "  --hold DUR  how long each lock is held; default 0\n"
                           "  --yes       do not ask before a load on another machine\n"
                           "  --json      print one JSON object at the end; see the manual\n" SERVER_HELP "\n"
                           "DUR is for example 500ms, 10s, 1.5m or 1h; a number without a unit means seconds.\n"
                           "\n"
                           "Exit status: 0 measured; 64 usage, or declined; 69 no server; 70 a lock was lost, or\n"
                           "two threads held it at once; 71 the system refused a resource; 74 standard\n"
                           "output could not be written; 76 the server refused; 128+n: signal n ended it.\n";

typedef struct bench {
    cli_server server;
    const char *threads_text;
    cli_load load;
    bool agreed, json;
    int threads[MOST_RUNS];
    int runs;
} bench;

/* --- command line --- */

static bool read_threads(bench *self)
{
    for (const char *at = self->threads_text;; at++) {
        char *end = NULL;
        errno = 0;
        long number = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        if (number < 1 || number > MOST_THREADS || errno || (*end && *end != ',') || self->runs == MOST_RUNS)
            return false;
        self->threads[self->runs++] = (int)number;
        at = end;
        if (!*at)
            return true;
    }
}

static int check(const char *command, bench *self)
{
    char shown[SHOWN_SIZE];
    const cli_load *load = &self->load;
    if (!load->kind->lock)
        return usage_error(command, "--kind %s is not measured: it must be " KINDS, load->kind->name);
    if (load->kind->fenced)
        return usage_error(command, "the counter of a fenced lock would stay on the server: --kind must be " KINDS);
    if (load->one_name && strcmp(load->kind->name, "read") == 0)
        return usage_error(command, "readers do not exclude each other: --one-name is for the other kinds");
    if (!read_threads(self))
        return usage_error(command,
                           "--threads \"%s\" is not a list of up to %d whole numbers from 1 to %d, such as 1,8,64",
                           shorten_word(self->threads_text, shown), MOST_RUNS, MOST_THREADS);
    if (load->time_ms == 0 || load->time_ms > LONGEST_MS)
        return usage_error(command, "--time must be more than 0 and at most 1h");
    if (load->hold_ms > load->time_ms)
        return usage_error(command, "--hold is longer than --time");
    return EXIT_DONE;
}

/* --- the report --- */

static double per_second(const cli_load_result *result)
{
    return result->seconds > 0 ? (double)result->turns.total / result->seconds : 0;
}

/* CPU time of this process per turn. */
static double cpu_us(const cli_load_result *result)
{
    return result->turns.total ? result->cpu_us / (double)result->turns.total : 0;
}

static void print_plan(const cli_load *load)
{
    char time[DURATION_SHOWN], held[DURATION_SHOWN];
    printf("kind %s, %s, %s for each number of threads", load->kind->name,
           load->one_name ? "one name for all threads" : "a name for each thread", duration_show(load->time_ms, time));
    if (load->hold_ms > 0)
        printf(", each lock held for %s", duration_show(load->hold_ms, held));
    putchar('\n');
}

static void print_round_trip(const cli_load_result *asked)
{
    printf("round trip %.1f µs, %.0f a second, of one thread that only reads; a lock and unlock takes two\n\n"
           "threads      pairs/s     p50 µs     p99 µs  CPU µs/pair  connections  violations\n",
           latency_quantile_us(&asked->turns, 0.5), per_second(asked));
    fflush(stdout);
}

static void print_line(const cli_load_result *result)
{
    char connections[12] = "?";
    if (result->connections >= 0)
        snprintf(connections, sizeof connections, "%d", result->connections);
    printf("%7d  %11.0f  %9.1f  %9.1f  %11.1f  %11s  %10" PRIu64 "\n", result->threads, per_second(result),
           latency_quantile_us(&result->turns, 0.5), latency_quantile_us(&result->turns, 0.99), cpu_us(result),
           connections, result->violations);
    fflush(stdout);
}

static void print_times(const cli_load_result *result)
{
    printf("\"per_s\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"cpu_us\":%.1f", per_second(result),
           latency_quantile_us(&result->turns, 0.5), latency_quantile_us(&result->turns, 0.99), cpu_us(result));
}

/* Everything as one JSON object on one line. `load`: the load of any of the results. */
static void print_json(const cli_load *load, const cli_load_result *asked, const cli_load_result *results, int count)
{
    printf("{\"kind\":\"%s\",\"one_name\":%s,\"time_ms\":%" PRId64 ",\"hold_ms\":%" PRId64 ",\"round_trip\":{",
           load->kind->name, load->one_name ? "true" : "false", load->time_ms, load->hold_ms);
    print_times(asked);
    fputs("},\"runs\":[", stdout);
    for (int i = 0; i < count; i++) {
        printf("%s{\"threads\":%d,\"pairs\":%" PRIu64 ",", i ? "," : "", results[i].threads, results[i].turns.total);
        print_times(&results[i]);
        fputs(",\"connections\":", stdout);
        if (results[i].connections >= 0)
            printf("%d", results[i].connections);
        else
            fputs("null", stdout);
        printf(",\"violations\":%" PRIu64 "}", results[i].violations);
    }
    puts("]}");
}

/* --- consent to load on a server that others may use --- */

/* Prints `warning` and asks the user at the terminal to agree, unless `agreed` says that the command line did so.
 * Returns EXIT_DONE: go on; otherwise the exit status. */
static int get_consent(const char *warning, bool agreed)
{
    complain("%s", warning);
    if (agreed)
        return EXIT_DONE;
    if (!isatty(STDIN_FILENO)) {
        complain("nothing was done; add --yes to run without a terminal");
        return EXIT_USAGE;
    }
    fputs("Go on? [y/N] ", stderr);
    char answer[16] = "";
    if (fgets(answer, sizeof answer, stdin))
        answer[strcspn(answer, "\r\n")] = 0;
    if (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0)
        return EXIT_DONE;
    complain("nothing was done");
    return EXIT_USAGE;
}

/* --- measuring --- */

static int most_threads(const bench *self)
{
    int most = 1;
    for (int i = 0; i < self->runs; i++)
        most = self->threads[i] > most ? self->threads[i] : most;
    return most;
}

static int64_t asking_ms(const bench *self)
{
    return self->load.time_ms < ASKING_MS ? self->load.time_ms : ASKING_MS;
}

static int warn(const bench *self, const cli_settings *settings)
{
    char where[SHOWN_SIZE], text[900], time[DURATION_SHOWN];
    if (servers_are_here(&settings->config, where))
        return EXIT_DONE;
    int most = most_threads(self);
    snprintf(text, sizeof text,
             "this server may be on another machine: %s. Up to %d thread%s will lock and unlock there as fast as it "
             "answers, for %s in all, which slows down its other users. Up to %d lock%s named " LOAD_PREFIX
             "… will exist meanwhile, and none afterwards",
             *where ? where : "unknown address", most, most == 1 ? "" : "s",
             duration_show(asking_ms(self) + self->runs * self->load.time_ms, time), self->load.one_name ? 1 : most,
             self->load.one_name || most == 1 ? "" : "s");
    return get_consent(text, self->agreed);
}

/* Uses another client, so that nothing of the previous run is left. */
static int measure(const cli_load *load, const cli_settings *settings, const cli_signals *signals,
                   cli_load_result *result)
{
    rlock_client *client;
    int sockets = load_sockets();
    int code = server_connect(&client, settings);
    if (code != EXIT_DONE)
        return code;
    code = load_run(client, load, signals, result);
    if (sockets >= 0 && result->connections >= 0)
        result->connections -= sockets;
    rlock_client_close(client);
    return code;
}

static int ask(const bench *self, rlock_client *client, const cli_signals *signals, cli_load_result *result)
{
    cli_load load = {.kind = self->load.kind, .threads = 1, .asks = true, .time_ms = asking_ms(self)};
    return load_run(client, &load, signals, result);
}

static int measure_all(bench *self, rlock_client *first, const cli_settings *settings, const cli_signals *signals,
                       cli_load_result *asked, cli_load_result *results)
{
    if (!self->json)
        print_plan(&self->load);
    int code = ask(self, first, signals, asked);
    rlock_client_close(first);
    if (code == EXIT_DONE && !self->json)
        print_round_trip(asked);
    int done = 0;
    while (code == EXIT_DONE && done < self->runs) {
        self->load.threads = self->threads[done];
        code = measure(&self->load, settings, signals, &results[done]);
        if ((code == EXIT_DONE || code == EXIT_LOST) && !self->json)
            print_line(&results[done]);
        done++;
    }
    if (self->json && (code == EXIT_DONE || (code == EXIT_LOST && done)))
        print_json(&self->load, asked, results, done);
    return code;
}

static int bench_with(bench *self, const cli_settings *settings)
{
    cli_signals signals;
    rlock_client *first;
    int code = warn(self, settings);
    if (code == EXIT_DONE)
        code = server_connect(&first, settings); /* while a signal still ends the process at once */
    if (code != EXIT_DONE)
        return code;
    cli_load_result *results = calloc(MOST_RUNS + 1, sizeof *results);
    if (results && signals_open(&signals)) {
        code = measure_all(self, first, settings, &signals, &results[MOST_RUNS], results);
    } else {
        complain("could not begin the measurement: %s", strerror(errno));
        rlock_client_close(first);
        code = EXIT_SYSTEM;
    }
    free(results);
    return code;
}

int bench_command(char **argv)
{
    bench self = {.threads_text = "1,8,64", .load = {.kind = &kind_plain, .time_ms = 5000}};
    const cli_option options[] = {SERVER_OPTIONS(self.server),
                                  {.name = "--threads", .text = &self.threads_text},
                                  {.name = "--time", .duration_ms = &self.load.time_ms},
                                  {.name = "--kind", .kind = &self.load.kind},
                                  {.name = "--one-name", .flag = &self.load.one_name},
                                  {.name = "--hold", .duration_ms = &self.load.hold_ms},
                                  {.name = "--yes", .flag = &self.agreed},
                                  {.name = "--json", .flag = &self.json},
                                  {0}};
    cli_words words = {.command = argv[0], .form = "[OPTION…]", .help = help, .kinds = KINDS, .nameless = true};
    int code;
    if (!options_read(&words, options, argv, &code))
        return code;
    code = check(words.command, &self);
    if (code != EXIT_DONE)
        return code;
    cli_settings settings;
    code = server_find(&settings, &self.server);
    if (code == EXIT_DONE) {
        code = bench_with(&self, &settings);
        rlock_config_free(&settings.config);
    }
    return code;
}

/* The report: a table for people as it goes, and the same rows as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/report.h"

#include "tests/bench/support/json.h"
#include "tests/bench/support/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* --- JSON --- */

static void write_made(FILE *json, const char *command, const char *redis)
{
    char text[256];
    struct utsname kernel;
    time_t now = time(NULL);
    struct tm utc;
    bool first = true;
    fputs("{\"made\": {", json);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_text(json, &first, "date", text);
    machine_commit(text);
    json_text(json, &first, "commit", text);
    json_text(json, &first, "command", command);
    json_number(json, &first, "cores", machine_cores());
    machine_cpu(text);
    json_text(json, &first, "cpu", text);
    json_text(json, &first, "redis", redis);
    json_text(json, &first, "kernel", uname(&kernel) == 0 ? kernel.release : NULL);
    fputs("},\n \"rows\": [", json);
}

static void write_ratio(FILE *json, bool *first, const char *name, const bench_ratio *ratio)
{
    char part[64];
    json_number(json, first, name, ratio->median);
    snprintf(part, sizeof part, "%s_low", name);
    json_number(json, first, part, ratio->low);
    snprintf(part, sizeof part, "%s_high", name);
    json_number(json, first, part, ratio->high);
}

/* In JSON for rows of peers alone. */
static void write_peer(FILE *json, bool *first, const bench_result *result)
{
    write_ratio(json, first, "ratio_rlock", &result->ratio_rlock);
    json_text(json, first, "kind", result->kind);
    json_exactly(json, first, "handed_per_s", result->handed_per_s);
    json_number(json, first, "wait_p50_us", result->wait_p50_us);
    json_number(json, first, "wait_p99_us", result->wait_p99_us);
    json_number(json, first, "longest_us", result->longest_us);
    json_exactly(json, first, "least", result->least);
    json_number(json, first, "most", result->most);
    json_number(json, first, "counted", result->counted);
}

static void write_row(const bench_report *report, const bench_result *result)
{
    FILE *json = report->json;
    bool first = true;
    fputs("  {", json);
    json_text(json, &first, "group", report->group);
    json_text(json, &first, "about", report->about);
    json_text(json, &first, "what", result->what);
    json_text(json, &first, "who", result->who);
    json_number(json, &first, "threads", result->threads);
    json_number(json, &first, "processes", result->processes);
    json_number(json, &first, "per_s", result->per_s);
    write_ratio(json, &first, "ratio_raw", &result->ratio_raw);
    write_ratio(json, &first, "ratio_redisson", &result->ratio_redisson);
    json_number(json, &first, "cpu_us", result->cpu_us);
    json_number(json, &first, "server_cpu_us", result->server_cpu_us);
    json_number(json, &first, "connections", result->connections);
    json_number(json, &first, "p50_us", result->p50_us);
    json_number(json, &first, "p99_us", result->p99_us);
    if (result->peer)
        write_peer(json, &first, result);
    if (result->unit)
        json_exactly(json, &first, "value", result->value);
    else
        json_number(json, &first, "value", 0);
    json_text(json, &first, "unit", result->unit);
    json_text(json, &first, "target", result->target);
    json_word(json, &first, "pass",
              result->verdict == VERDICT_NONE ? "null" : result->verdict == VERDICT_MET ? "true" : "false");
    json_exactly(json, &first, "violations", (double)result->violations);
    json_text(json, &first, "plot", result->plot);
    if (result->plot)
        json_exactly(json, &first, "x", result->x);
    else
        json_number(json, &first, "x", 0);
    fputs("}", json);
}

/* --- the table --- */

/* Over the table's columns. */
static void print_heading(const char *text)
{
    printf("\n%s\n"
           /* "µ" is two bytes wide for printf, one column for people */
           "%7s %5s  %-10s %9s  %-18s  %-20s %7s %7s %6s %8s %8s\n"
           "%7s %5s  %-10s %9s  %-18s  %-20s %8s %8s %6s %9s %9s\n",
           text, "", "pro-", "", "", "× raw", " × Redisson", "client", "server", "connec", "p50", "p99",
           "threads", "cesses", "", "a second", "(95 % within)", "(95 % within)", "CPU µs", "CPU µs", "-tions", "µs", "µs");
}

/* In so many columns: "1.23 (1.20–1.26)"; "–" and "µ" are wider for printf than for people. */
static void print_ratio(const bench_ratio *ratio, int columns)
{
    char text[64] = "";
    int wider = 0;
    if (ratio->low < ratio->high) {
        snprintf(text, sizeof text, "%.*f (%.*f–%.*f)", ratio->median < 9.95 ? 2 : 1, ratio->median,
                 ratio->median < 9.95 ? 2 : 1, ratio->low, ratio->median < 9.95 ? 2 : 1, ratio->high);
        wider = 2;
    } else if (ratio->median > 0) {
        snprintf(text, sizeof text, "%.2f", ratio->median);
    }
    printf("%-*s", columns + wider, text);
}

static void print_verdict(const bench_result *result)
{
    static const char *const words[] = {"not judged", "MISSED", "met"};
    if (result->target)
        printf("  %s: %s", words[result->verdict], result->target);
    putchar('\n');
    fflush(stdout);
}

/* What the rows are about, where that changes within a group. */
static void print_what(bench_report *report, const char *what)
{
    if (strcmp(report->what, what) != 0)
        printf("%s:\n", what);
    snprintf(report->what, sizeof report->what, "%s", what);
}

static void print_rate(bench_report *report, const bench_result *result)
{
    print_what(report, result->what);
    printf("%7d %5d  %-10s %9.0f  ", result->threads, result->processes, result->who, result->per_s);
    print_ratio(&result->ratio_raw, 18);
    fputs("  ", stdout);
    print_ratio(&result->ratio_redisson, 20);
    printf(" %7.1f %7.1f %6d %8.0f %8.0f", result->cpu_us, result->server_cpu_us, result->connections, result->p50_us,
           result->p99_us);
    if (result->peer) {
        printf("  handed on %.0f, waits %.0f, %.0f, longest %.0f µs, turns of one %.2f to %.2f", result->handed_per_s,
               result->wait_p50_us, result->wait_p99_us, result->longest_us, result->least, result->most);
        if (result->ratio_rlock.median > 0)
            printf(", rlock %.2f ×", result->ratio_rlock.median);
    }
}

static void print_value(bench_report *report, const bench_result *result)
{
    *report->what = '\0';
    printf("%7d %5d  %-10s %s: %.6g %s", result->threads, result->processes, result->who, result->what, result->value,
           result->unit);
    if (result->ratio_raw.median > 0)
        printf(", %.3g × raw", result->ratio_raw.median);
    if (result->ratio_redisson.median > 0)
        printf(", %.3g × Redisson", result->ratio_redisson.median);
}

/* --- both --- */

void report_open(bench_report *report, const char *json_path, const char *command, const char *redis)
{
    *report = (bench_report){.began = time(NULL)};
    if (!json_path)
        return;
    report->json = fopen(json_path, "we");
    if (!report->json) {
        perror(json_path);
        exit(1);
    }
    write_made(report->json, command, redis);
}

void report_group(bench_report *report, const char *name, const char *about)
{
    report->group = name;
    *report->what = '\0';
    report->about = about;
    print_heading(about);
}

void report_row(bench_report *report, const bench_result *result)
{
    (result->unit ? print_value : print_rate)(report, result);
    print_verdict(result);
    report->missed += result->verdict == VERDICT_MISSED;
    if (!report->json)
        return;
    fputs(report->rows++ ? ",\n" : "\n", report->json);
    write_row(report, result);
}

void report_close(bench_report *report)
{
    if (!report->json)
        return;
    fprintf(report->json, "\n],\n \"seconds\": %ld}\n", (long)(time(NULL) - report->began));
    if (fclose(report->json) != 0) {
        perror("the JSON file");
        exit(1);
    }
}

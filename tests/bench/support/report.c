/* The report: a table for people and the same rows as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/report.h"

#include <stdlib.h>

void report_open(bench_report *report, const char *json_path)
{
    *report = (bench_report){0};
    if (!json_path)
        return;
    report->json = fopen(json_path, "we");
    if (!report->json) {
        perror(json_path);
        exit(1);
    }
    fputs("[", report->json);
}

void report_heading(const char *text)
{
    printf("\n%s\n"
           "%7s  %-25s %9s %6s  %-11s %8s %8s %7s %8s %8s\n"
           /* "µ" is two bytes wide for printf, one column for people */
           "%7s  %-25s %9s %6s  %-11s %9s %9s %7s %9s %9s\n",
           text, "", "", "", "", "within", "client", "server", "connec-", "p50", "p99", "threads", "",
           "a second", "ratio", "(95 %)", "CPU µs", "CPU µs", "tions", "µs", "µs");
}

static void print_row(const bench_row *row)
{
    char ratio[16] = "", limits[32] = "";
    if (row->ratio.median > 0)
        snprintf(ratio, sizeof ratio, "%.2f", row->ratio.median);
    if (row->ratio.low < row->ratio.high)
        snprintf(limits, sizeof limits, "%.2f … %.2f", row->ratio.low, row->ratio.high);
    /* "…" is three bytes wide for printf, one column for people. */
    printf("%7d  %-25s %9.0f %6s  %-*s %8.1f %8.1f %7d %8.0f %8.0f", row->threads, row->what, row->per_s, ratio,
           *limits ? 13 : 11, limits, row->cpu_us, row->server_us, row->connections, row->p50_us,
           row->p99_us);
    printf("%s%s\n", row->remark ? "  " : "", row->remark ? row->remark : "");
    fflush(stdout);
}

void report_row(bench_report *report, const bench_row *row)
{
    print_row(row);
    if (!report->json)
        return;
    fprintf(report->json,
            "%s\n  {\"what\": \"%s\", \"threads\": %d, \"per_s\": %.1f, \"ratio_raw\": %.4f, \"connections\": %d, "
            "\"cpu_us\": %.2f, \"p50_us\": %.1f, \"p99_us\": %.1f",
            report->rows++ ? "," : "", row->what, row->threads, row->per_s, row->ratio.median, row->connections,
            row->cpu_us, row->p50_us, row->p99_us);
    if (row->ratio_redisson > 0)
        fprintf(report->json, ", \"ratio_redisson\": %.4f", row->ratio_redisson);
    fputs("}", report->json);
}

void report_close(bench_report *report)
{
    if (!report->json)
        return;
    fputs("\n]\n", report->json);
    if (fclose(report->json) != 0) {
        perror("bench.json");
        exit(1);
    }
}

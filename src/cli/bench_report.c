/* Bench report: prints the results of a measurement. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_report.h"

#include "cli/duration.h"

#include <inttypes.h>
#include <stdio.h>

static double per_second(const cli_load_result *result)
{
    return result->seconds > 0 ? (double)result->turns.total / result->seconds : 0;
}

/* CPU time of this process per turn. */
static double cpu_us(const cli_load_result *result)
{
    return result->turns.total ? result->cpu_us / (double)result->turns.total : 0;
}

void bench_print_plan(const cli_load *load)
{
    char time[DURATION_SHOWN], held[DURATION_SHOWN];
    printf("kind %s, %s, %s for each number of threads", load->kind->name,
           load->one_name ? "one name for all threads" : "a name for each thread", duration_show(load->time_ms, time));
    if (load->hold_ms > 0)
        printf(", each lock held for %s", duration_show(load->hold_ms, held));
    putchar('\n');
}

void bench_print_round_trip(const cli_load_result *asked)
{
    printf("round trip %.1f µs, %.0f a second, of one thread that only asks; a lock and unlock takes two\n\n"
           "threads      pairs/s     p50 µs     p99 µs  CPU µs/pair  connections  violations\n",
           latency_quantile_us(&asked->turns, 0.5), per_second(asked));
    fflush(stdout);
}

void bench_print_line(const cli_load_result *result)
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

void bench_print_json(const cli_load *load, const cli_load_result *asked, const cli_load_result *results, int count)
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

/* Bench report: prints the results of a measurement. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BENCH_REPORT_H
#define CLI_BENCH_REPORT_H

#include "cli/load.h"

/* As text: what is measured, the time of a round trip, and a line for each result as it becomes available. */
void bench_print_plan(const cli_load *load);
void bench_print_round_trip(const cli_load_result *asked);
void bench_print_line(const cli_load_result *result);

/* Everything as one JSON object on one line. `load`: the load of any of the results. */
void bench_print_json(const cli_load *load, const cli_load_result *asked, const cli_load_result *results, int count);

#endif

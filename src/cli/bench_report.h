/* What a measurement found, printed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BENCH_REPORT_H
#define CLI_BENCH_REPORT_H

#include "cli/load.h"

/* For people: what is measured, the time of a round trip, and a line for each result as it comes. */
void bench_print_plan(const cli_load *load);
void bench_print_round_trip(const cli_load_result *asked);
void bench_print_line(const cli_load_result *result);

/* All of it as one JSON object on one line. `load`: of any of the results. */
void bench_print_json(const cli_load *load, const cli_load_result *asked, const cli_load_result *results, int count);

#endif

/* A value: a row of the report that is no rate, as bytes a hold, with what it may be at most or has to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/value.h"

#include <stdio.h>

void value_report(bench_run *bench, const bench_value *value)
{
    char words[128];
    bench_result result = {.what = value->what, .who = value->who, .threads = value->threads,
                           .processes = value->processes, .value = value->value, .unit = value->unit,
                           .violations = value->violations, .plot = value->plot, .x = value->x};
    if (value->redisson > 0)
        result.ratio_redisson.median = value->value / value->redisson;
    if (value->most > 0 || value->least > 0) {
        bool met = (value->most <= 0 || value->value <= value->most) && value->value >= value->least;
        snprintf(words, sizeof words, "%s %g %s", value->most > 0 ? "≤" : "≥",
                 value->most > 0 ? value->most : value->least, value->unit);
        result.target = value->target ? value->target : words;
        result.verdict = met ? VERDICT_MET : VERDICT_MISSED;
    }
    report_row(&bench->report, &result);
}

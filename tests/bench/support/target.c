/* A target: what a rate has to reach, and whether it does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(char text[TARGET_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char text[TARGET_TEXT], const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    if (length)
        length += (size_t)snprintf(text + length, TARGET_TEXT - length, ", ");
    vsnprintf(text + length, TARGET_TEXT - length, format, args);
    va_end(args);
}

static bench_verdict worse(bench_verdict a, bench_verdict b)
{
    return a == VERDICT_MISSED || b == VERDICT_MISSED ? VERDICT_MISSED
           : a == VERDICT_NONE || b == VERDICT_NONE   ? VERDICT_NONE
                                                      : VERDICT_MET;
}

static bench_verdict reaches(double median, double least)
{
    return median <= 0 ? VERDICT_NONE : median >= least ? VERDICT_MET : VERDICT_MISSED;
}

static bench_verdict stays_within(double median, double most)
{
    return median <= 0 ? VERDICT_NONE : median <= most ? VERDICT_MET : VERDICT_MISSED;
}

void target_judge(const bench_target *target, bench_result *result, const bench_result *redisson,
                  char text[TARGET_TEXT])
{
    bench_verdict verdict = VERDICT_MET;
    *text = '\0';
    if (target->raw > 0) {
        add(text, "≥ %g × raw", target->raw);
        verdict = worse(verdict, reaches(result->ratio_raw.median, target->raw));
    }
    if (target->redisson > 0) {
        add(text, "≥ %g × Redisson", target->redisson);
        verdict = worse(verdict, reaches(result->ratio_redisson.median, target->redisson));
    }
    if (target->connections > 0) {
        add(text, "≤ %d connections", target->connections);
        verdict = worse(verdict, result->connections <= target->connections ? VERDICT_MET : VERDICT_MISSED);
    }
    if (target->p99) {
        add(text, "p99 ≤ Redisson's");
        verdict = worse(verdict, !redisson                            ? VERDICT_NONE
                                 : result->p99_us <= redisson->p99_us ? VERDICT_MET
                                                                      : VERDICT_MISSED);
    }
    result->target = text;
    result->verdict = verdict;
}

void target_judge_cost(double raw, double redisson, bench_result *result, char text[TARGET_TEXT])
{
    bench_verdict verdict = VERDICT_MET;
    *text = '\0';
    if (raw > 0) {
        add(text, "≤ %.3g × raw", raw);
        verdict = worse(verdict, stays_within(result->ratio_raw.median, raw));
    }
    if (redisson > 0) {
        add(text, "≤ %.3g × Redisson", redisson);
        verdict = worse(verdict, stays_within(result->ratio_redisson.median, redisson));
    }
    result->target = text;
    result->verdict = verdict;
}

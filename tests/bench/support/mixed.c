/* A mixed contest: contestants of several kinds, at the same time, on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/mixed.h"

#include <stdio.h>

static bool begin(bench_run *bench, mixed_side *side, const char *name)
{
    side->contestant = contestant_start(bench, side->who, bench->url);
    return side->contestant &&
           contestant_ask(side->contestant, 10000, "ok", "crew %s %d one:%s", side->kind, side->threads, name);
}

static bool hear(mixed_side *side, int span_ms)
{
    const char *line = contestant_hear(side->contestant, "done", span_ms + 30000);
    return line && sscanf(line, "%llu %lf %lf %lf %lf %llu", &side->turns, &side->seconds, &side->cpu_us,
                          &side->p50_us, &side->p99_us, &side->violations) == 6;
}

static bool work(mixed_side *sides, int count, int span_ms)
{
    bool right = true;
    unsigned long long violations = 0;
    for (int i = 0; right && i < count; i++)
        right = contestant_tell(sides[i].contestant, "go %d", span_ms);
    for (int i = 0; right && i < count; i++) {
        right = hear(&sides[i], span_ms);
        violations += sides[i].violations;
    }
    if (right && violations > 0) {
        fprintf(stderr, "bench: VIOLATION: in a mixed contest two held one lock, %llu times\n", violations);
        right = false;
    }
    return right;
}

bool mixed_run(bench_run *bench, mixed_side *sides, int count, const char *name, int warm_ms, int span_ms)
{
    bool right = true;
    for (int i = 0; right && i < count; i++)
        right = begin(bench, &sides[i], name);
    right = right && (warm_ms == 0 || work(sides, count, warm_ms)) && work(sides, count, span_ms);
    for (int i = 0; i < count; i++) {
        if (sides[i].contestant)
            contestant_end(sides[i].contestant);
        sides[i].contestant = NULL;
    }
    return right;
}

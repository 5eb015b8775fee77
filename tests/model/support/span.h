/* A span: an instant of which one knows only that it is not before one and not after another, as when
 * a request ran between its sending and its answer. In now_ms(). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct span {
    int64_t least_ms, most_ms;
} span;

#define SPAN_NEVER ((span){INT64_MAX, INT64_MAX}) /* an end that never comes */
#define SPAN_PAST ((span){INT64_MIN, INT64_MIN})  /* one that lies behind in any case */
/* Clocks of two processes, each cut off to the millisecond. */
#define SPAN_BLUR_MS 5

static inline span span_after(span from, int64_t ms)
{
    return (span){from.least_ms + ms, from.most_ms + ms};
}

static inline int64_t span_max_(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The later of two. */
static inline span span_later(span a, span b)
{
    return (span){span_max_(a.least_ms, b.least_ms), span_max_(a.most_ms, b.most_ms)};
}

static inline bool span_is_past(span end, int64_t now_ms)
{
    return end.most_ms <= now_ms;
}

#endif

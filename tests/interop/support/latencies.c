/* Latencies: gathered round by round, shown in the log, held against a bound. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/latencies.h"

#include "tests/integration/support/stage.h"

#include <stdio.h>
#include <stdlib.h>

void latency_add(latencies *self, int64_t ns)
{
    cr_assert(self->count < (int)(sizeof self->ns / sizeof *self->ns));
    self->ns[self->count++] = ns;
}

static int by_size(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

void latencies_show(latencies *self)
{
    cr_assert(self->count > 0);
    qsort(self->ns, (size_t)self->count, sizeof *self->ns, by_size);
    fprintf(stderr, "%s: %.2f ms at least, %.2f median, %.2f at most, of %d\n", self->what,
            (double)self->ns[0] / 1e6, (double)self->ns[self->count / 2] / 1e6,
            (double)self->ns[self->count - 1] / 1e6, self->count);
}

void latencies_within(latencies *self, int64_t most_ms)
{
    latencies_show(self);
    int64_t most_ns = self->ns[self->count - 1], bound_ms = at_most_ms(most_ms);
    cr_assert(most_ns <= bound_ms * 1000000, "%s took %.2f ms, more than %lld", self->what,
              (double)most_ns / 1e6, (long long)bound_ms);
}

/* Trouble: what went wrong in a contestant, for its next answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TROUBLE_H
#define BENCH_TROUBLE_H

#include <stdbool.h>

/* Keeps the first text since trouble_clear; any thread. Always false, for `return trouble(…)`. */
bool trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* On one line; empty: there was none. Only while no other thread works. */
const char *trouble_text(void);
void trouble_clear(void);

#endif

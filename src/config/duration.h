/* Durations as Java writes them: PT1S, PT0.1S, PT1M30S. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DURATION_H
#define RLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* In milliseconds, further decimals cut. false: it is none, is negative, or longer than a thousand years. */
bool rli_duration_read(const char *text, int64_t *ms);

#endif

/* Durations in Java's format: PT1S, PT0.1S, PT1M30S. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DURATION_H
#define RLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Parses `text` into milliseconds; further decimals are cut off. False: it is not a duration, is negative, or
 * is longer than a thousand years. */
bool rli_duration_read(const char *text, int64_t *ms);

#endif

/* Durations as users write them: 500ms, 10s, 1.5m, 1h; a number alone means seconds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdint.h>

/* Parses `text` into *ms, rounded up to whole milliseconds, so that only a duration of zero becomes 0.
 * Returns NULL and sets *ms, or returns what is wrong with the text, in words that follow "… is ". */
const char *duration_read(const char *text, int64_t *ms);

/* Formats a duration for a person, for example 29.9 s; returns `shown`. */
#define DURATION_SHOWN 32
const char *duration_show(int64_t ms, char shown[DURATION_SHOWN]);

#endif

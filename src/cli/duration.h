/* Durations as people write them: 500ms, 10s, 1.5m, 1h; a number alone counts seconds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdint.h>

/* Reads `text` into *ms, rounded up to a whole millisecond so that only nothing becomes 0.
 * Answers NULL, or what is wrong with it in words that follow "…: ". *ms is set only then. */
const char *duration_read(const char *text, int64_t *ms);

/* A duration for people, such as 29.9 s; answers `shown`. */
#define DURATION_SHOWN 32
const char *duration_show(int64_t ms, char shown[DURATION_SHOWN]);

#endif

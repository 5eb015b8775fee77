/* Output: durations for people, and text as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdint.h>
#include <stddef.h>

/* Formats a duration for a person, for example 29.9 s; returns `shown`. */
#define DURATION_SHOWN 32
const char *duration_show(int64_t ms, char shown[DURATION_SHOWN]);
/* The same of a duration that the user gave, without a fraction of 0: 2 s. */
const char *duration_show_given(int64_t ms, char shown[DURATION_SHOWN]);

/* Prints the first `length` bytes of the C string `text` as a JSON string with its quotes. UTF-8 is written
 * as it is. A byte that is not part of UTF-8, which a name may contain, becomes U+FFFD, because JSON cannot
 * represent it. */
void json_string(const char *text, size_t length);

#endif

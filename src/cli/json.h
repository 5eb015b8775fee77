/* Writes text as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdio.h>

/* Writes the first `length` bytes of the C string `text` as a JSON string with its quotes. UTF-8 is written
 * as it is. A byte that is not part of UTF-8, which a name may contain, becomes U+FFFD, because JSON cannot
 * represent it. */
void json_string(FILE *out, const char *text, size_t length);

#endif

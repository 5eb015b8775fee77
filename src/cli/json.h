/* Text as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdio.h>

/* Writes the first `length` bytes of the C string `text` as a JSON string, with its quotes. UTF-8
 * goes through as it is; a byte that is not part of any (a name may hold such) becomes U+FFFD,
 * as JSON cannot carry it. */
void json_string(FILE *out, const char *text, size_t length);

#endif

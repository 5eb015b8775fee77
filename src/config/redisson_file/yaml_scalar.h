/* YAML scalars: single values, read as Java's YAML 1.1 parser reads them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YAML_SCALAR_H
#define RLI_YAML_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

/* Parses 3000, -1, 3_000, 0xBB8, 0b11 or 0137 (octal). False: not a number. */
bool rli_yaml_number(const char *text, int64_t *value);
/* Parses true, yes, on, false, no or off; also capitalized or in upper case. False: none of these. */
bool rli_yaml_flag(const char *text, bool *value);
/* Whether an unquoted scalar means null: null, ~ or empty. */
bool rli_yaml_is_null(const char *text);

#endif

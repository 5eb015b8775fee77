/* The single values of a YAML file, read as Java's YAML 1.1 reads them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_YAML_SCALAR_H
#define RLI_YAML_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

/* 3000, -1, 3_000, 0xBB8, 0b11, 0137 (octal). */
bool rli_yaml_number(const char *text, int64_t *value);
/* true, yes, on, false, no, off; also True and TRUE. */
bool rli_yaml_flag(const char *text, bool *value);
/* An unquoted one that stands for nothing: null, ~ or empty. */
bool rli_yaml_is_null(const char *text);

#endif

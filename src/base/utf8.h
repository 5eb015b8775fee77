/* UTF-8: where a character ends, and how one is shown so that it drives no terminal and ends no line of a log. Built into
 * the library and into the command. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_UTF8_H
#define RLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at the beginning of a terminated text. Its length in bytes; 0: the bytes there are no character. */
size_t rli_utf8_read(const char *text, uint32_t *code);

/* Whether a character is shown as nothing, or changes how others are shown: control characters (C0, DEL, C1), the
 * separators of lines and paragraphs, and those that turn the direction of writing. */
bool rli_utf8_is_control(uint32_t code);

/* The first character of *text, which is not empty, as it is to be shown: itself, or \n, \x1b, \u009b, and \x9b for a byte
 * that is part of no character. Moves *text behind it. The length of `shown`, which is not terminated. */
#define RLI_UTF8_SHOWN 8
size_t rli_utf8_show(const char **text, char shown[RLI_UTF8_SHOWN]);

/* The greatest length up to `length`, which is at most that of `text`, at which no character is cut. */
size_t rli_utf8_cut(const char *text, size_t length);

#endif

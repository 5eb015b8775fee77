/* UTF-8: where a character ends, and how one is printed safely.
 *
 * A printed character must neither control a terminal nor end a log line. Built into both the library and the
 * command. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_UTF8_H
#define RLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the first character of a 0-terminated text into *code. Returns its length in bytes, or 0 if the bytes there
 * are not a valid character; *code may then hold anything. */
size_t rli_utf8_read(const char *text, uint32_t *code);

/* Whether a character is invisible or changes how others are displayed: control characters (C0, DEL, C1), the line and
 * paragraph separators, and the characters that change the writing direction. */
bool rli_utf8_is_control(uint32_t code);

/* Writes the first character of *text to `shown` in printable form: the character itself, or an escape such as \n,
 * \x1b or \u009b; a byte that is not part of a valid character becomes \x9b. Advances *text past it. *text must not be
 * empty. Returns the length written; `shown` is not 0-terminated. */
#define RLI_UTF8_SHOWN 8
size_t rli_utf8_show(const char **text, char shown[RLI_UTF8_SHOWN]);

/* The greatest length up to `length` that does not cut a character. `length` must not exceed the length of `text`. */
size_t rli_utf8_cut(const char *text, size_t length);

#endif

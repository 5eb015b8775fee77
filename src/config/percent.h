/* Percent-encoding of URLs (RFC 3986): %XX stands for a byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PERCENT_H
#define RLI_PERCENT_H

/* The byte that the %XX at `text` stands for; 0: it is not % and two hex digits, or they are 00. */
char rli_percent_byte(const char *text);
/* Writes the %XX of `byte` to `to`. Returns what follows it. */
char *rli_percent_write(char *to, char byte);

#endif

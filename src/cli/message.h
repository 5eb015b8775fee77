/* Messages to the user: errors, and text from elsewhere made printable. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdio.h>

/* Writes "rlock: " and the message as one line to stderr. Control characters, which names and server answers
 * may contain, are written as \n or \x1b, so that they cannot affect the terminal. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes `text` to a stream with control characters replaced in the same way. */
void print_shown(FILE *out, const char *text);

/* Shortens `text` for a message, with … at the end if it is too long. Returns `shown`. */
#define SHOWN_SIZE 104
const char *shorten(const char *text, char shown[SHOWN_SIZE]);
/* The same for a word of the command line: a URL, which may contain a password, is cut after its scheme. */
const char *shorten_word(const char *word, char shown[SHOWN_SIZE]);

#endif

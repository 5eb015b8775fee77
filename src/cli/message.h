/* What the command says to people: errors, and text that came from elsewhere made printable. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdio.h>

/* "rlock: " and the message, as one line on stderr. Control characters, which names and server
 * answers may hold, come out as \n or \x1b and cannot drive the terminal. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same treatment for a text on a stream. */
void print_shown(FILE *out, const char *text);

/* `text` for use within a message: cut with … where it is long. Answers `shown`. */
#define SHOWN_SIZE 104
const char *shorten(const char *text, char shown[SHOWN_SIZE]);
/* The same for a word of the command line. A URL, which may hold a password, is cut behind its scheme. */
const char *shorten_word(const char *word, char shown[SHOWN_SIZE]);

#endif

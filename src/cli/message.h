/* Messages to the user, with text from elsewhere made printable, and exit statuses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <rlock/status.h>
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

/* The name as an argument in a command that a message suggests: in quotes if a shell needs them; the word NAME if it
 * cannot be shown whole. Returns `typed`. */
const char *typed_name(const char *name, char typed[SHOWN_SIZE + 2]);

/* Exit statuses, based on <sysexits.h>. */
enum exits {
    EXIT_DONE = 0,
    EXIT_PROBLEM = 1,      /* of rlock doctor: locks are not safe, or do not work */
    EXIT_USAGE = 64,       /* the command line or the URL is wrong */
    EXIT_UNAVAILABLE = 69, /* no server answered */
    EXIT_LOST = 70,        /* the lock was lost while the command ran */
    /* The system refused memory, a process or a file descriptor. */
    EXIT_SYSTEM = 71,
    EXIT_OUTPUT = 74,  /* standard output could not be written */
    EXIT_TIMEOUT = 75, /* the lock was not acquired in time */
    /* The server refused: wrong password, no permission, or a key of another type. */
    EXIT_REFUSED = 76,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128 /* plus the signal's number */
};

/* The exit status for a call of the library that returned `status`. */
int exit_for(rlock_status status);

/* The same, after the library's message on stderr. */
int complain_failed(rlock_status status);

#endif

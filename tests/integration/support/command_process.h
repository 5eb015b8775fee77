/* Runs of the rlock command: started with words, fed, heard and waited for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct command command;

/* Starts `rlock` with the words, as in COMMAND("run", "order", "--", "true"), its input a pipe
 * and its output noted; RLOCK_URL is `url` (NULL: not set), RLOCK_CONFIG is not set. The binary is that of RLOCK_COMMAND,
 * which $RLOCK_COMMAND in a word's shell code finds as well. It dies with the test. */
command *command_start(const char *url, const char *const *words);
#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})
/* The same, with a program of any kind in the place of rlock. */
command *command_start_program(const char *url, const char *const *program_and_words);

/* Waits for its end: the exit status, or minus the signal that ended it. Fails the test when it
 * still runs after ms. */
int command_wait(command *command, int64_t ms);
/* Kills it if it still runs; frees. */
void command_free(command *command);

/* Start, close its input, wait, and what came of it. */
typedef struct outcome {
    int status;
    char *out, *err; /* freed by outcome_free */
} outcome;
outcome command_outcome(const char *url, const char *const *words);
void outcome_free(outcome *outcome);

pid_t command_pid(const command *command);
void command_signal(command *command, int number);
void command_write(command *command, const char *text);
void command_close_input(command *command);

/* What it has written so far; valid until the next call of the same function. */
const char *command_out(command *command);
const char *command_err(command *command);
/* Waits until its output, or errors, have `text` in them. */
bool command_says(command *command, const char *text, int64_t ms);
bool command_complains(command *command, const char *text, int64_t ms);
/* The number behind `text` in its output, once a whole line of it is there. Fails the test when
 * there is none after ms. */
long command_number(command *command, const char *text, int64_t ms);

/* Waits until there is no process `pid` any more (a zombie is none). */
bool wait_process_gone(pid_t pid, int64_t ms);

#endif

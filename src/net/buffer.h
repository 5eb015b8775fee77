/* A buffer: bytes to be sent, and the only code that writes commands in Redis's protocol.
 *
 * hiredis formats commands with printf, which alone would take half of the CPU time of a lock and unlock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BUFFER_H
#define RLI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes to be sent. Initially all zero. */
typedef struct rli_buffer {
    char *bytes;
    size_t length, capacity;
} rli_buffer;

struct rli_witness;

/* A command as its words. Nothing is copied: the words must live until the command has been written or its
 * request has ended. */
typedef struct rli_command {
    size_t count;
    const char *const *words;
    const size_t *lengths;
    bool asking;                 /* on a pipeline: send ASKING directly before it, and drop the reply to that */
    bool unsynced;               /* on a pipeline with replica acknowledgement: send no WAIT because of this command */
    struct rli_witness *witness; /* on a pipeline: another thread that also waits for the answer; NULL: none */
    /* on a pipeline: its timeout is shorter than the client's, and says nothing about the connection */
    bool impatient;
    uint64_t only_run_id; /* not sent to a server of another run; 0: to any */
} rli_command;

/* Appends the command. False: out of memory; the buffer is then unchanged. */
bool rli_buffer_command(rli_buffer *buffer, const rli_command *command);
/* Removes `length` bytes at offset `at`. */
void rli_buffer_cut(rli_buffer *buffer, size_t at, size_t length);
void rli_buffer_free(rli_buffer *buffer);

/* Writes the decimal form of `number`, 0-terminated, to `text`. Returns its length. */
#define RLI_DECIMAL 21
size_t rli_decimal(int64_t number, char text[RLI_DECIMAL]);

#endif

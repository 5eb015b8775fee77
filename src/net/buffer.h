/* A buffer: bytes to be sent, and the one place that writes commands in Redis's protocol. hiredis
 * formats with printf, which alone would be half of the CPU time of a lock and unlock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_BUFFER_H
#define RLI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rli_buffer {
    char *bytes;
    size_t length, capacity;
} rli_buffer;

struct rli_witness;

/* A command as its words. */
typedef struct rli_command {
    size_t count;
    const char *const *words;
    const size_t *lengths;
    bool asking;                 /* on a pipeline: ASKING goes directly before it, and the answer to that is dropped */
    bool unsynced;               /* on a synced pipeline: no WAIT is sent for its sake */
    struct rli_witness *witness; /* on a pipeline: who else waits for the answer; NULL: nobody */
} rli_command;

/* Appends it. False: out of memory; the buffer is as before then. */
bool rli_buffer_command(rli_buffer *buffer, const rli_command *command);
/* Takes out `length` bytes at `at`. */
void rli_buffer_cut(rli_buffer *buffer, size_t at, size_t length);
void rli_buffer_free(rli_buffer *buffer);

/* The decimal text of `number`, terminated; its length. */
#define RLI_DECIMAL 21
size_t rli_decimal(int64_t number, char text[RLI_DECIMAL]);

#endif

/* Bytes: a buffer that grows at its end and is consumed from its front. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_BYTES_H
#define FAULT_BYTES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bytes {
    char *data;
    size_t length, capacity;
} bytes;

/* Out of memory aborts: the process that uses it is a tool of the test. */
void bytes_add(bytes *to, const char *data, size_t length);
void bytes_take(bytes *from, size_t length); /* drops so many from the front */
void bytes_move(bytes *from, bytes *to, size_t length); /* from the front of one to the end of the other */
void bytes_free(bytes *bytes);
bool bytes_have(const char *data, size_t length, const char *text);

#endif

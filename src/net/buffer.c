/* A buffer: bytes to be sent, and the only code that writes commands in Redis's protocol. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/buffer.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(rli_buffer *buffer, size_t more)
{
    if (buffer->length + more <= buffer->capacity)
        return true;
    size_t capacity = (buffer->length + more) * 2;
    char *grown = realloc(buffer->bytes, capacity);
    if (!grown)
        return false;
    buffer->bytes = grown;
    buffer->capacity = capacity;
    return true;
}

size_t rli_decimal(int64_t number, char text[RLI_DECIMAL])
{
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char digits[RLI_DECIMAL], *at = digits + RLI_DECIMAL;
    *--at = 0;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--at = '-';
    size_t length = (size_t)(digits + RLI_DECIMAL - at) - 1;
    memcpy(text, at, length + 1);
    return length;
}

static char *put_header(char *at, char mark, size_t number)
{
    *at++ = mark;
    if (number >= 100) {
        at += rli_decimal((int64_t)number, at);
    } else { /* the usual case */
        if (number >= 10)
            *at++ = (char)('0' + number / 10);
        *at++ = (char)('0' + number % 10);
    }
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

bool rli_buffer_command(rli_buffer *buffer, const rli_command *command)
{
    size_t most = RLI_DECIMAL + 3;
    for (size_t i = 0; i < command->count; i++)
        most += RLI_DECIMAL + 3 + command->lengths[i] + 2;
    if (!make_room(buffer, most))
        return false;
    char *at = put_header(buffer->bytes + buffer->length, '*', command->count);
    for (size_t i = 0; i < command->count; i++) {
        at = put_header(at, '$', command->lengths[i]);
        memcpy(at, command->words[i], command->lengths[i]);
        at += command->lengths[i];
        *at++ = '\r';
        *at++ = '\n';
    }
    buffer->length = (size_t)(at - buffer->bytes);
    return true;
}

void rli_buffer_cut(rli_buffer *buffer, size_t at, size_t length)
{
    buffer->length -= length;
    memmove(buffer->bytes + at, buffer->bytes + at + length, buffer->length - at);
}

void rli_buffer_free(rli_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (rli_buffer){0};
}

/* Bytes: a buffer that grows at its end and is consumed from its front. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/bytes.h"

#include <stdlib.h>
#include <string.h>

void bytes_add(bytes *to, const char *data, size_t length)
{
    if (length == 0)
        return;
    if (to->length + length > to->capacity) {
        to->capacity = (to->length + length) * 2;
        to->data = realloc(to->data, to->capacity);
        if (!to->data)
            abort();
    }
    memcpy(to->data + to->length, data, length);
    to->length += length;
}

void bytes_take(bytes *from, size_t length)
{
    if (length == 0)
        return;
    from->length -= length;
    memmove(from->data, from->data + length, from->length);
}

void bytes_move(bytes *from, bytes *to, size_t length)
{
    bytes_add(to, from->data, length);
    bytes_take(from, length);
}

void bytes_free(bytes *self)
{
    free(self->data);
    *self = (bytes){0};
}

bool bytes_have(const char *data, size_t length, const char *text)
{
    return memmem(data, length, text, strlen(text)) != NULL;
}

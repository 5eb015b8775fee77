/* Limits: how large one reply or message may be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/limits.h"

#include <stdlib.h>
#include <string.h>

#if HIREDIS_MAJOR > 0
typedef size_t array_size;
#else
typedef int array_size;
#endif

#define TEXT2(number) #number
#define TEXT(number)  TEXT2(number)

typedef struct limits {
    redisReplyObjectFunctions *before, own; /* hiredis's functions, and a copy that has our function for arrays */
    size_t read;                            /* parsed bytes of the reply that is still incomplete */
    size_t elements;                        /* announced so far by the arrays of that reply */
    const char *trouble;
} limits;

static size_t depth_of(const redisReadTask *task)
{
    size_t depth = 1;
    while ((task = task->parent))
        depth++;
    return depth;
}

/* Runs before hiredis allocates the elements. Returning NULL makes the reader stop with an error. */
static void *create_array(const redisReadTask *task, array_size elements)
{
    limits *self = task->privdata;
    if (!task->parent)
        self->elements = 0;
    if (depth_of(task) > RLI_REPLY_DEPTH) {
        self->trouble = "arrays nested more than " TEXT(RLI_REPLY_DEPTH) " deep";
    } else if ((size_t)elements > RLI_REPLY_ELEMENTS - self->elements) {
        self->trouble = "a reply of more than two million elements";
    } else {
        self->elements += (size_t)elements;
        return self->before->createArray(task, elements);
    }
    return NULL;
}

bool rli_limits_set(redisReader *reader)
{
    limits *self = malloc(sizeof *self);
    if (!self)
        return false;
    *self = (limits){.before = reader->fn, .own = *reader->fn};
    self->own.createArray = create_array;
    reader->fn = &self->own;
    reader->privdata = self;
    return true;
}

void rli_limits_clear(redisReader *reader)
{
    limits *self = reader->privdata;
    if (!self)
        return;
    reader->fn = self->before;
    reader->privdata = NULL;
    free(self);
}

/* Which limit is exceeded, NULL if none. The reader holds `left` bytes that it cannot parse before more arrive. */
static const char *excess(const limits *self, const redisReader *reader, size_t left)
{
    if (self->read + left > RLI_REPLY_BYTES)
        return "a reply longer than 64 MiB";
    if (left > RLI_LINE_BYTES && !memmem(reader->buf + reader->pos, RLI_LINE_BYTES, "\r\n", 2))
        return "a line longer than 64 KiB";
    return NULL;
}

bool rli_limits_next(redisReader *reader, redisReply **reply)
{
    limits *self = reader->privdata;
    size_t before = reader->len - reader->pos;
    void *whole = NULL;
    if (self->trouble)
        return false;
    if (redisReaderGetReply(reader, &whole) != REDIS_OK) {
        if (!self->trouble) /* create_array() may have set a reason */
            self->trouble = reader->err == REDIS_ERR_OOM ? "a reply that is too large for the free memory"
                                                         : "something that is not Redis's protocol";
        return false;
    }
    *reply = whole;
    if (whole) {
        self->read = 0;
        return true;
    }
    size_t left = reader->len - reader->pos;
    self->read += before - left;
    self->trouble = excess(self, reader, left);
    return !self->trouble;
}

const char *rli_limits_trouble(const redisReader *reader)
{
    const limits *self = reader->privdata;
    return self ? self->trouble : NULL;
}

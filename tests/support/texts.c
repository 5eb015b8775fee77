/* Texts that a fixture makes and keeps until it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/texts.h"

#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *keep(texts *self, void *text)
{
    cr_assert(text != NULL && self->count < TEXTS, "more than %d texts", TEXTS);
    return self->all[self->count++] = text;
}

const char *texts_add(texts *self, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return keep(self, length < 0 ? NULL : text);
}

void texts_free(texts *self)
{
    for (int i = 0; i < self->count; i++)
        free(self->all[i]);
    self->count = 0;
}

const char *const *texts_args(texts *self, const char *const *args, ...)
{
    size_t count = 0, first = 0;
    va_list more;
    va_start(more, args);
    while (va_arg(more, const char *))
        count++;
    va_end(more);
    while (args && args[first])
        first++;
    const char **all = keep(self, calloc(first + count + 1, sizeof *all));
    for (size_t i = 0; i < first; i++)
        all[i] = args[i];
    va_start(more, args);
    for (size_t i = 0; i < count; i++)
        all[first + i] = va_arg(more, const char *);
    va_end(more);
    return all;
}

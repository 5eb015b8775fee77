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

static size_t count_of(const char *const *args)
{
    size_t count = 0;
    while (args && args[count])
        count++;
    return count;
}

const char *const *texts_args(texts *self, const char *const *first, const char *const *second)
{
    size_t before = count_of(first), after = count_of(second);
    const char **all = keep(self, calloc(before + after + 1, sizeof *all));
    for (size_t i = 0; i < before; i++)
        all[i] = first[i];
    for (size_t i = 0; i < after; i++)
        all[before + i] = second[i];
    return all;
}

/* Memory that runs out: allocations of the calling thread fail, as the test says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/memory.h"

#include <errno.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static _Thread_local int left; /* allocations that succeed before the first that fails */
static _Thread_local int failed;
static _Thread_local bool ends;

void memory_end(int first)
{
    left = first - 1;
    failed = 0;
    ends = true;
}

bool memory_has_ended(void)
{
    return failed > 0;
}

int memory_return(void)
{
    ends = false;
    return failed;
}

static bool fails(void)
{
    if (!ends || left-- > 0)
        return false;
    left = 0;
    failed++;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

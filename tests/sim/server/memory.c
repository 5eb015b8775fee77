/* Memory of the server model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/server/memory.h"

#include <stdlib.h>
#include <string.h>

static void *of_the_system(void *at, size_t size)
{
    if (size)
        return realloc(at, size);
    free(at);
    return NULL;
}

void *(*sim_memory)(void *at, size_t size) = of_the_system;

void *sim_resize(void *at, size_t size)
{
    void *fresh = sim_memory(at, size ? size : 1);
    if (!fresh)
        abort();
    return fresh;
}

void *sim_new(size_t size)
{
    return memset(sim_resize(NULL, size), 0, size);
}

void sim_free(void *at)
{
    if (at)
        sim_memory(at, 0);
}

char *sim_copy(const char *at, size_t length)
{
    char *copy = sim_resize(NULL, length + 1);
    if (length)
        memcpy(copy, at, length);
    copy[length] = 0;
    return copy;
}

/* Memory of the simulated system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/memory.h"

#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int one_in;
static int64_t blocks, failures, failed_ns = INT64_MIN;
static _Thread_local int left, more_left;

void memory_fails(int of)
{
    one_in = of;
}

void memory_fails_here(int nth, int more)
{
    left = nth;
    more_left = more;
}

int64_t memory_blocks(void)
{
    return blocks;
}

int64_t memory_failures(void)
{
    return failures;
}

int64_t memory_failed_ns(void)
{
    return failed_ns;
}

static bool fails(void)
{
    bool failed = world_is_on() && one_in > 0 && world_happens(one_in);
    if (left > 0 && --left == 0) {
        failed = true;
        left = more_left > 0 ? 1 : 0; /* and the next one, too */
        more_left -= more_left > 0;
    }
    if (!failed)
        return false;
    failures++;
    failed_ns = world_now_ns();
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory)
{
    blocks += memory != NULL;
    return memory;
}

void *os_malloc(size_t size)
{
    return fails() ? NULL : counted(malloc(size));
}

void *os_calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(calloc(count, size));
}

void *os_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    void *fresh = realloc(old, size);
    blocks += fresh && !old;
    return fresh;
}

void os_free(void *memory)
{
    blocks -= memory != NULL;
    free(memory);
}

char *os_strdup(const char *text)
{
    return fails() ? NULL : counted(strdup(text));
}

char *os_strndup(const char *text, size_t most)
{
    return fails() ? NULL : counted(strndup(text, most));
}

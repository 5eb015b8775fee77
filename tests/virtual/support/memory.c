/* Memory that runs out: allocations of the calling thread fail in the simulated system, as the test says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/memory.h"

#include "tests/sim/world/memory.h"

#include <limits.h>

static int64_t before;

void memory_end(int first)
{
    before = memory_failures();
    memory_fails_here(first, INT_MAX);
}

int memory_return(void)
{
    memory_fails_here(0, 0);
    return (int)(memory_failures() - before);
}

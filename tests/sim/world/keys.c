/* Keys: thread-specific data. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/keys.h"

#include "tests/sim/world/os.h"
#include "tests/sim/world/threads.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

static void (*ends[THREAD_VALUES])(void *);
static unsigned key_count;

int os_pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    sim_point();
    if (key_count == THREAD_VALUES)
        return EAGAIN;
    ends[key_count] = end;
    *key = key_count++;
    return 0;
}

int os_pthread_setspecific(pthread_key_t key, const void *value)
{
    sim_point();
    thread_values()[key] = (void *)(size_t)value;
    return 0;
}

void keys_end_values(void **values)
{
    bool any = true;
    for (int pass = 0; any && pass < PTHREAD_DESTRUCTOR_ITERATIONS; pass++) {
        any = false;
        for (unsigned key = 0; key < key_count; key++) {
            void *value = values[key];
            values[key] = NULL;
            if (!value || !ends[key])
                continue;
            any = true;
            ends[key](value);
        }
    }
}

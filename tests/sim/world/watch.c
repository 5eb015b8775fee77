/* Watches: threads that sleep until one of several things changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/watch.h"

#include "tests/sim/world/threads.h"

/* On the stack of the thread that sleeps by it. */
typedef struct watch {
    struct watch *next;
    const void *const *things;
    size_t count;
} watch;
static watch *watches;

bool watch_sleep(const void *const *things, size_t count, int64_t until_ns, const char *what)
{
    watch own = {watches, things, count};
    watches = &own;
    bool woken = thread_sleep(&own, until_ns, ~0u, what);
    watch **place = &watches;
    while (*place != &own)
        place = &(*place)->next;
    *place = own.next;
    return woken;
}

void watch_changed(const void *thing)
{
    for (const watch *one = watches; one; one = one->next) {
        size_t i = 0;
        while (i < one->count && one->things[i] != thing)
            i++;
        if (i < one->count)
            threads_wake(one, 1, ~0u);
    }
}

void watches_forget(void)
{
    watches = NULL;
}

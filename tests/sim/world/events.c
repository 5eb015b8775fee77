/* Events: what the world has planned, a heap. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/events.h"

#include <stdlib.h>

static event *heap; /* from 1 on */
static size_t count, capacity;
static uint64_t planned;

static bool is_before(const event *a, const event *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->number < b->number);
}

void event_at(int64_t at_ns, void (*run)(void *argument), void *argument)
{
    if (count + 1 >= capacity) {
        capacity = capacity ? capacity * 2 : 256;
        heap = realloc(heap, capacity * sizeof *heap);
        if (!heap)
            abort();
    }
    const event fresh = {at_ns, ++planned, run, argument};
    size_t place = ++count;
    for (; place > 1 && is_before(&fresh, &heap[place / 2]); place /= 2)
        heap[place] = heap[place / 2];
    heap[place] = fresh;
}

int64_t event_next_ns(void)
{
    return count ? heap[1].at_ns : WORLD_NEVER;
}

bool event_take(int64_t now_ns, event *due)
{
    if (event_next_ns() > now_ns)
        return false;
    *due = heap[1];
    const event last = heap[count--];
    size_t place = 1;
    for (size_t child; (child = place * 2) <= count; place = child) {
        if (child < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[place] = heap[child];
    }
    heap[place] = last;
    return true;
}

void events_forget(void)
{
    free(heap);
    heap = NULL;
    count = capacity = 0;
}

/* The census: which threads there are, and what they do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/world/threads_parts.h"

#include <stdio.h>
#include <string.h>

/* With that number on the machine of the calling one. */
static const thread *find(int number)
{
    for (int i = 0; i < threads_alive(); i++) {
        const thread *one = thread_alive(i);
        if (one->machine == thread_machine(thread_self()) && one->number == number)
            return one;
    }
    return NULL;
}

bool thread_lives(int number)
{
    return find(number) != NULL;
}

bool thread_sleeps(int number, long *times)
{
    const thread *one = find(number);
    *times = one ? one->slept : 0;
    return one && one->state == ASLEEP;
}

static bool may_run(const thread *one)
{
    return one->state != ASLEEP && !one->held;
}

bool threads_sleep_beside(void)
{
    for (int i = 0; i < threads_alive(); i++) {
        const thread *one = thread_alive(i);
        if (one->machine == thread_machine(thread_self()) && one != thread_self() && may_run(one))
            return false;
    }
    return true;
}

static bool is_named(const thread *one, const char *prefix)
{
    const char *name = strchr(one->title, '/');
    return one->machine == thread_machine(thread_self()) && name && strncmp(name + 1, prefix, strlen(prefix)) == 0;
}

thread *thread_named(const char *prefix)
{
    for (int i = 0; i < threads_alive(); i++) {
        thread *one = thread_alive(i);
        if (is_named(one, prefix))
            return one;
    }
    return NULL;
}

int threads_named(const char *prefix)
{
    int count = 0;
    for (int i = 0; i < threads_alive(); i++)
        count += is_named(thread_alive(i), prefix);
    return count;
}

void threads_describe(char *text, size_t size)
{
    size_t length = 0;
    *text = 0;
    for (int i = 0; i < threads_alive() && length < size; i++) {
        const thread *one = thread_alive(i);
        length += (size_t)snprintf(text + length, size - length, "  %s %s%s\n", one->title,
                                   one->state == ASLEEP ? "waits for " : "could run",
                                   one->state == ASLEEP ? one->what : "");
    }
}

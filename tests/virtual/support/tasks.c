/* Tasks: the threads of the test in the simulated world. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/tasks.h"

#include "tests/sim/world/threads.h"

int tasks_named(const char *prefix)
{
    return threads_named(prefix);
}

bool task_sleeps(pid_t tid, long *times)
{
    return thread_sleeps(tid, times);
}

long task_sleeps_of(const char *prefix)
{
    long times = -1;
    thread *one = thread_named(prefix);
    if (one)
        thread_sleeps(thread_number(one), &times);
    return times;
}

bool tasks_others_sleep(void)
{
    return threads_sleep_beside();
}

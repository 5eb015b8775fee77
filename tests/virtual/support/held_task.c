/* Threads of the library that are kept from running. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/virtual/support/held_task.h"

#include "tests/sim/world/threads.h"
#include "tests/support/test.h"

held_task *task_hold(const char *name)
{
    thread *found = thread_named(name);
    cr_assert(found != NULL, "no thread is named %s", name);
    thread_hold(found, true);
    return found;
}

void task_let_go(held_task *task)
{
    thread_hold(task, false);
}

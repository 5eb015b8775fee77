/* Beside: a part of a test that runs on a machine of its own in the simulated world. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/beside.h"

#include "tests/sim/world/descriptors.h"
#include "tests/sim/world/threads.h"
#include "tests/virtual/support/world.h"

#include <setjmp.h>
#include <stdlib.h>

struct beside {
    machine *on;
    thread *thread;
    void (*live)(void *argument);
    void *argument;
    jmp_buf end;
};

static _Thread_local beside *own;

/* Of the sanitizer for addresses, where the build has it: what this thread allocates is no leak. */
void __lsan_disable(void) __attribute__((weak));

static void *live(void *argument)
{
    own = argument;
    if (__lsan_disable)
        __lsan_disable(); /* a process that is killed frees nothing */
    if (setjmp(own->end) == 0)
        own->live(own->argument);
    descriptors_close_all(own->on);
    return NULL;
}

beside *beside_start(void (*body)(void *argument), void *argument, const int *kept)
{
    beside *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->live = body;
    self->argument = argument;
    self->on = machine_make("beside", 0, 0);
    world_set_clock(self->on);
    for (; *kept >= 0; kept++)
        descriptors_share(*kept, self->on);
    self->thread = thread_start(self->on, "main", live, self);
    return self;
}

_Noreturn void beside_leave(void)
{
    longjmp(own->end, 1);
}

void beside_await(beside *self)
{
    thread_join(self->thread);
    free(self);
}

void beside_kill(beside *self)
{
    machine_stop(self->on, WORLD_NEVER - world_now_ns(), false);
    descriptors_close_all(self->on);
}

/* A thread of the world, for threads.c and census.c alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_THREADS_PARTS_H
#define SIM_THREADS_PARTS_H

#include "tests/sim/world/threads.h"
#include "tests/sim/world/turns.h"

typedef enum state { READY, ASLEEP, ENDED } state;

struct thread {
    int index, place, number; /* of all that were made; of its stack; as its machine has it */
    machine *machine;
    char title[48];
    turn turn;
    state state;
    bool timed_out;
    bool held;     /* ready, and kept from running until let go on */
    long slept;    /* how often */
    long awake;    /* steps since it slept */
    const void *on; /* asleep: by what it is woken… */
    unsigned mask;
    int64_t until_ns; /* …or at that instant */
    const char *what;
    int64_t not_before_ns; /* ready, and kept from running until then */
    int64_t priority;
    void *(*body)(void *);
    void *argument, *result;
    void *values[THREAD_VALUES];
    thread *made_before; /* all stay to the end, since a pointer to one may be kept */
};

thread *thread_alive(int index); /* of threads_alive() */

#endif

/* Threads: real ones, of which one runs at a time. Each call into the operating system, and each atomic operation, is a
 * point where another may run instead; the seed decides. When all sleep, time jumps to the next instant at which
 * something is due. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_THREADS_H
#define SIM_THREADS_H

#include "tests/sim/world/events.h"
#include "tests/sim/world/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct thread thread;

/* How the next thread is chosen. */
typedef struct schedule {
    uint64_t seed;
    int period;       /* at random: at one point of so many another thread may run */
    int changes;      /* or by priorities (PCT), of which so many change in the run; 0: at random */
    int64_t steps;    /* that the run is expected to have, for these changes */
    int stalls;       /* at one point of so many a thread is kept from running for a while; 0: never */
    int64_t most_steps;
} schedule;

/* The calling thread becomes the first of a new world. */
void world_begin(const schedule *by);
void world_place(machine *on); /* …where it lives */
bool world_is_on(void);

/* True time, which no clock shows. */
int64_t world_now_ns(void);
/* From 0 to below `sides`; decides what the world does, not how the threads take turns. */
uint64_t world_chance(uint64_t sides);
bool world_happens(int one_in); /* 0: never */
int64_t world_steps(void);
/* Of all that has happened so far: equal for equal runs. */
uint64_t world_trace(void);
void world_note(uint64_t what); /* goes into that */

/* From now on nothing goes wrong by itself: no stalls, no spurious wake-ups. */
void world_calm(void);
bool world_is_calm(void);

/* A thread of a machine; `name` is copied. */
thread *thread_start(machine *on, const char *name, void *(*body)(void *), void *argument);
void *thread_join(thread *thread);
bool thread_is_alive(const thread *thread);
void thread_name(thread *thread, const char *name);
thread *thread_self(void);
machine *thread_machine(const thread *thread);
int thread_number(const thread *thread); /* as gettid gives it */
const char *thread_title(const thread *thread); /* "A/rlock-watchdog" */
/* Whether a thread with that number lives on the machine of the calling one. */
bool thread_lives(int number);
/* Whether it sleeps, and how often it has gone to sleep so far; whether all others there do, or are kept from running;
 * and how many there have a name that begins so. */
bool thread_sleeps(int number, long *times);
bool threads_sleep_beside(void);
int threads_named(const char *prefix);
thread *thread_named(const char *prefix); /* one of them; NULL: there is none */
/* A slot of the calling thread for each key of the program's. */
void **thread_values(void);
#define THREAD_VALUES 8

/* A point. */
void sim_point(void);
/* Sleeps until somebody wakes it by `on`, or the instant has come: false. `what` says for what, if it never ends. */
bool thread_sleep(const void *on, int64_t until_ns, unsigned mask, const char *what);
/* Wakes so many of those that sleep by `on` with a bit of the mask, in any order. How many. */
int threads_wake(const void *on, int most, unsigned mask);
/* It does not run, from its next point on, until it is let go on. */
void thread_hold(thread *thread, bool held);
/* All sleepers of the machine wake so much later: their clock stood still. */
void threads_put_off(machine *of, int64_t span_ns);

/* In a forked child: the calling thread is the only one left. */
void threads_forget_others(void);
void thread_renumber(void); /* as the first thread of a new process */
int threads_alive(void);
/* What each thread waits for; for a message. */
void threads_describe(char *text, size_t size);

#endif

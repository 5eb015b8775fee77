/* Turns: one thread of the world runs, and passes that on to another. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_TURNS_H
#define SIM_TURNS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Each thread of the world is a real one, so that thread-local variables are its own. Where the processor allows it
 * (x86-64 with FSGSBASE, and no sanitizer for threads), the real threads rest, and one of
 * them, the first, runs them all in turn: with the stack and the thread-local storage of the thread whose turn it is.
 * That takes a few instructions. Elsewhere each runs itself and waits at its gate, which takes two system calls a turn. */
typedef struct turn {
    void *stack; /* where it goes on, when another thread carries it */
    uintptr_t storage;
    char *bottom; /* of its stack */
    size_t size;
    sem_t gate, begun;
    atomic_int over; /* a futex */
    pthread_t real;
    void (*body)(void *);
    void *argument;
} turn;

/* The calling thread is one of the world from now on, and has the turn. */
void turn_begin(turn *own);
/* Makes a thread that calls body(argument) when it first has the turn, and that ends by turn_leave. `stack` is for it
 * alone, until turn_end. */
void turn_start(turn *own, char *stack, size_t size, void (*body)(void *), void *argument);
/* Passes the turn on. Returns when the calling thread has it again. */
void turn_pass(turn *own, turn *to);
/* Passes the turn on for the last time: the calling thread's body ends with it. */
void turn_leave(turn *to);
/* Ends the real thread of one that has left. */
void turn_end(turn *left);

#endif

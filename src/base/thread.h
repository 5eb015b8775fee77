/* Threads that the library starts: named, with all signals blocked; and how mutexes and conditions are initialized. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_THREAD_H
#define RLI_THREAD_H

#include <pthread.h>
#include <rlock/status.h>

/* Starts a thread that runs `body(argument)`. `name` appears in process listings and has at most 15 bytes. The caller
 * joins or detaches the thread. RLOCK_OK, or RLOCK_NO_MEMORY when the thread cannot be created. */
rlock_status rli_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument);

/* Initializes a mutex for critical sections that are shorter than putting a thread to sleep takes: a thread that finds
 * it locked spins for a moment before it sleeps. */
void rli_mutex_init_adaptive(pthread_mutex_t *mutex);

/* Initializes a condition whose timed waits end by CLOCK_MONOTONIC. */
void rli_cond_init_monotonic(pthread_cond_t *cond);

#endif

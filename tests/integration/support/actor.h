/* An actor: a thread, and so an owner, that does one call at a time for the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACTOR_H
#define ACTOR_H

#include <pthread.h>
#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct actor actor;

actor *actor_start(void);
/* Waits for the call under way, ends the thread, frees. The holds of its thread are then those
 * of a thread that exited. */
void actor_end(actor *actor);

/* Begins a call on the actor's thread; the one before must have been finished. */
typedef rlock_status actor_call(void *arg);
void actor_begin(actor *actor, actor_call *call, void *arg);
void actor_begin_lock(actor *actor, rlock *lock); /* rlock_lock */
void actor_begin_try(actor *actor, rlock *lock, int64_t wait_ms, int64_t lease_ms);
void actor_begin_with(actor *actor, rlock *lock, const rlock_lock_options *options);
/* rlock_lock_and_get_token; *token is set when the call ends. */
void actor_begin_lock_and_get_token(actor *actor, rlock *lock, uint64_t *token);
void actor_begin_unlock(actor *actor, rlock *lock);

/* Whether the call has ended; waits for it for at most ms. */
bool actor_ended(actor *actor, int64_t ms);
/* What it answered; fails the test when it has not ended after ms. */
rlock_status actor_finish(actor *actor, int64_t ms);
/* The same; and fails the test unless it has ended within at_most_ms(ms). */
rlock_status actor_finish_soon(actor *actor, int64_t ms);
int64_t actor_ended_at(actor *actor);  /* now_ms() when the call ended */
int64_t actor_took(actor *actor);      /* from the begin of the call on its thread */
const char *actor_error(actor *actor); /* its rlock_last_error() when the call ended */

/* Whole calls. */
rlock_status actor_lock(actor *actor, rlock *lock);
rlock_status actor_try(actor *actor, rlock *lock, int64_t wait_ms, int64_t lease_ms);
rlock_status actor_unlock(actor *actor, rlock *lock);
int actor_hold_count(actor *actor, rlock *lock);
bool actor_holds(actor *actor, rlock *lock);
int64_t actor_valid_for(actor *actor, rlock *lock);

/* Waits until the call is under way, its thread sleeps, as the kernel sees it, and no other thread of the process is
 * about to wake it; for waiters that leave no other trace. False: not within ms, or it has ended. */
bool actor_asleep(actor *actor, int64_t ms);

pthread_t actor_thread(const actor *actor);
/* Sends the signal to its thread. */
void actor_signal(actor *actor, int number);

#endif

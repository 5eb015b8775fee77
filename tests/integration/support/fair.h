/* Fair: the queue of a fair lock on the stage's server, looked at and filled past the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAIR_H
#define FAIR_H

#include "tests/integration/support/actor.h"

#include <hiredis/hiredis.h>
#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

/* A handle that the stage keeps. */
rlock *fair_of(rlock_client *client, const char *name);

/* The server's clock, epoch ms. */
int64_t server_time_ms(void);

/* The queue: how long it is, who is there (static text, "" for nobody), and waiting for its length. */
int queue_length(const char *name);
const char *queued_at(const char *name, int place);
bool wait_queued(const char *name, int length, int64_t ms);
/* When somebody's time in it is up, epoch ms; 0: no score. */
int64_t score_of(const char *name, const char *owner);
void set_score(const char *name, const char *owner, int64_t score);
int score_count(const char *name);

/* The channel of one of them, as static text. */
const char *waiter_channel(const char *name, const char *owner);
/* Waits until each of those that are queued listens. */
bool wait_all_listen(const char *name, int64_t ms);
/* Begins rlock_lock, or a try, on a new thread, and waits until it has the last place and listens. */
actor *queue_up(rlock *lock);
actor *queue_up_for(rlock *lock, int64_t wait_ms, int64_t lease_ms);

/* Owners of a program that is not there: FOREIGN_CLIENT:<number>, static text. */
const char *foreign_owner(int number);
/* One of them queues as Redisson's does, for left_ms from now; it does not listen: it is dead. */
void foreign_queue(const char *name, int number, int64_t left_ms);
/* It listens, as a living one of Redisson's does. Ended by redisFree. */
redisContext *foreign_listen(const char *name, int number);
/* Waits until it was told that the lock is free; false: not within ms. */
bool foreign_told(redisContext *listening, int64_t ms);
/* Lets go of foreign_hold's hold as Redisson's fair lock does: tells the head of the queue alone. */
void foreign_fair_release(const char *name);

#endif

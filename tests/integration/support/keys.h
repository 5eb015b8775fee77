/* Keys: what stands on the stage's server under a lock's name, looked at past the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYS_H
#define KEYS_H

#include <rlock/lock.h>
#include <stdbool.h>
#include <stdint.h>

/* Fails the test unless the whole keyspace is the one lock `name`, held `count` times by one
 * owner of `client`, with a TTL of `lease_ms` given at `since_ms` (now_ms()) or later. Gives the
 * owner's number. */
int64_t assert_held_alone(const char *name, rlock_client *client, int count,
                          int64_t lease_ms, int64_t since_ms);
/* Fails the test unless there is no key at all, but for elements of signal lists, which go by themselves. */
void assert_no_keys(void);
/* Waits until there are so many keys; false: not within ms. */
bool wait_key_count(int64_t count, int64_t ms);

/* Fails the test unless for ms the lock stands on the server and, when `held` is not NULL, the
 * calling thread may rely on it. */
void assert_kept(const char *name, rlock *held, int64_t ms);

/* Waits until the key's PTTL rises; false: not within ms. */
bool wait_renewed(const char *name, int64_t ms);

int64_t pttl_of(const char *name);
/* The number in the lock's one wire owner; fails the test unless one owner of `client` has it. */
int64_t wire_number(const char *name, rlock_client *client);
/* "" free, else the client id in the lock's first wire owner, as static text. */
const char *holder_of(const char *name);

/* A hold of a program that is not there: lease_ms -1 for one without an end. Let go of as
 * Redisson does, with a message; or without one, as if the message had been lost. */
#define FOREIGN_CLIENT "ffffffff-0000-4000-8000-000000000001"
void foreign_hold(const char *name, int64_t lease_ms);
void foreign_release(const char *name);
void foreign_vanish(const char *name);
/* A connection of such a program that is subscribed to the channel; ended by redisFree. */
struct redisContext *foreign_subscribe(const char *channel);

/* The channel of the lock `name`, by Redisson's rule, as static text. */
const char *channel_of(const char *name);
/* Waits until somebody listens on the lock's channel, or nobody any more; on any channel. */
bool wait_listened(const char *name, int64_t ms);
bool wait_unlistened(const char *name, int64_t ms);
bool wait_no_channels(int64_t ms);
/* Tells the first registered waiter, which is the client's, that it has the lock for ms, which is not so: the message of an
 * offer that has ended since. */
void offer_late(const char *name, rlock_client *client, int64_t ms);
/* How many channels the server has subscribers to, plain and sharded ones, without those of sentinels. */
int64_t channels_listened(void);

#endif

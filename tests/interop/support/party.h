/* A party: one owner of one lock, a thread of C or of Java, so that a claim about two of them is
 * written once and holds in both directions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTY_H
#define PARTY_H

#include "tests/interop/support/java.h"
#include "tests/interop/support/kind.h"

typedef struct party party;

/* For .fini of a test: java_stage_close, and ends the parties. */
void party_stage_close(void);

/* A new owner of the lock called `name`: a thread of C that uses `client`, or, when that is NULL,
 * a thread of Java. It lives until party_stage_close. */
party *party_of(rlock_client *client, const lock_kind *kind, const char *name);
/* The same owner at another lock, or at the other side of the same one. One call at a time. */
party *party_also(const party *owner, const lock_kind *kind, const char *name);

bool party_is_java(const party *party);
const lock_kind *party_kind(const party *party);

/* Calls in the words of C: a false of Java's is RLOCK_TIMEOUT, an IllegalMonitorStateException is
 * RLOCK_NOT_OWNER from unlock and RLOCK_ALREADY_HELD from the others, anything else that Java
 * throws fails the test. lease_ms may be RLOCK_WATCHDOG. */
rlock_status party_lock(party *party);
rlock_status party_lease(party *party, int64_t lease_ms);
rlock_status party_try(party *party, int64_t wait_ms, int64_t lease_ms);
rlock_status party_unlock(party *party); /* Java's: and waits until its unlock latch is gone */
/* Fails the test unless the owner learns from unlock that what it held is lost: RLOCK_LOST in C,
 * IllegalMonitorStateException in Java. */
void assert_unlock_tells_of_loss(party *party);

/* Those that may wait. */
void party_begin_lock(party *party);
void party_begin_lease(party *party, int64_t lease_ms);
void party_begin_try(party *party, int64_t wait_ms, int64_t lease_ms);
/* Waits until the call that was begun has been refused and its thread sleeps. */
void party_await_waiting(party *party);
bool party_ended(party *party, int64_t ms); /* whether it has; waits for it for at most ms */
rlock_status party_finish(party *party, int64_t ms); /* fails the test when it has not ended after ms */
int64_t party_ended_at(const party *party); /* now_ms() when the call ended */
int64_t party_took(const party *party);     /* how many ms it took */

bool party_force(party *party);
bool party_is_locked(party *party);
bool party_holds(party *party);
int party_count(party *party);

#endif

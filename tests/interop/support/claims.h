/* Claims: what holds between two owners of a lock of any kind, whichever language each is in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLAIMS_H
#define CLAIMS_H

#include "tests/interop/support/party.h"

#include <stdint.h>

/* Each takes two free parties at the same lock and leaves the lock free. */

/* While one has it the other does not get it, sees it, and can't give it back. */
void claim_exclusion(party *holder, party *other);
/* It is free after as many unlocks as locks; or, when the kind allows one only, after one. */
void claim_reentry(party *holder, party *other);
/* The other has it as soon as the holder lets go of it, long before its TTL ends. */
void claim_wake(party *holder, party *waiter);
/* A wait that is over takes as long as it was given and leaves nothing on the server. */
void claim_time_out(party *holder, party *waiter);
/* The other has it when the holder's lease ends, and the holder is told when it unlocks. */
void claim_expiry(party *holder, party *waiter);
/* Forced open by the one, lost for the other; and a waiter wakes. */
void claim_force(party *holder, party *other);

/* Each of them in both directions between C and Java, on a stage of .init = java_stage. */
typedef void claim(party *one, party *other);
void both_ways(claim *holds, const lock_kind *kind, const char *name);
/* The same where the one has `first` and the other `second` of the lock. */
void both_ways_with(claim *holds, const lock_kind *first, const lock_kind *second, const char *name);

/* A holder that was killed is renewed no more, and followed by a waiter of the other language when
 * the TTL ends: first a C process, then the JVM. On a stage of .init = java_stage_quick. */
void claim_takeover(const lock_kind *held, const lock_kind *awaited, const char *name);

/* Fails the test unless the server's keyspace is as when the lock is free. */
void assert_free(const lock_kind *kind);

#endif

/* Red lock: held while more than half of its members are held. Shared by its two ways to acquire: one member
 * after the other (red_in_turn.c), and all at the same time (red_at_once.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RED_H
#define RLI_RED_H

#include "locks/composite_machine.h"
#include "locks/sweep.h"

/* The methods of a red lock over token locks; over fenced locks; over others. */
extern const rli_methods rli_red_at_once, rli_red_fenced, rli_red_in_turn;
/* The rules of a red lock for each job but an acquire. */
extern const rli_sweep_rules rli_red_rules[RLI_JOB_KINDS];

size_t rli_red_majority(const rli_composite *set);
/* The lease of its job; for RLOCK_WATCHDOG the watchdog's. */
int64_t rli_red_lease_ms(const rli_composite_machine *on);
/* Whether the owner that has just acquired it holds a majority, with enough of the lease left. Of each of the set's
 * members, in any order, `took` has the session in which it was acquired; 0: it was not. A hold that the owner has in
 * another session is another call's. */
bool rli_red_is_valid(const rli_composite_machine *on, rlock *const *members, const uint64_t *took);
/* How many members the owner holds. */
size_t rli_red_count_valid(const rli_composite_machine *on);
/* The greatest token of the members that the owner holds; all members are fenced locks. 0: it holds none. */
uint64_t rli_red_greatest_token(const rli_composite *set, const rli_owner *owner);
/* How many passes in a row may fail without an answer: as many as the first member has attempts. */
int rli_red_attempts(const rli_composite *set);

/* Implement the methods of these names (handle.h). A closed client counts as a server that is down. */
rlock_status rli_red_check(const rlock *handle);
int64_t rli_red_valid_for(rlock *handle, const rli_owner *owner);
rlock_status rli_red_get_token(rlock *handle, const rli_owner *owner, uint64_t *token);

#endif

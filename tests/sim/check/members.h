/* Members of locks of several: that such a lock says of itself what its members say, and that they end with it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_MEMBERS_H
#define SIM_MEMBERS_H

#include "tests/sim/check/calls.h"

#include <rlock/rlock.h>

/* A call on that lock begins. If its owner has a part of it by another lock, too, nobody knows which of the two an
 * unlock gives back: what is checked of both is less. Returns whether it has. */
bool members_note_others(hold *hold);
bool members_has_others(const hold *hold);
/* Whether a call on such another lock is under way, which may be giving the part back. */
bool members_are_called(const hold *hold);
bool members_are_given_back(const hold *hold); /* that is, by an unlock */

/* Before an unlock: for how long each member is valid. */
void members_before(call *call, rlock *const *members);
/* A call has ended and was judged. `members`: of that owner; none, of a lock that is not of several. */
void members_check(const call *call, rlock *lock, rlock *const *members);
/* Whether the lock is valid for as long as its members make it. */
void members_ask(const hold *hold, int object, rlock *lock, rlock *const *members);

#endif

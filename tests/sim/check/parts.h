/* Parts: which part of a sharded lock its owner relies on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include "tests/sim/check/calls.h"

/* Whether that is a part of a sharded lock. */
bool parts_is_one(int resource);
/* Which parts of its lock are free on the server, a bit each. */
unsigned parts_free(const call *of);
/* A call on a sharded lock has ended: of its parts the owner holds one, or none, and relies on it alone. `parts`: handles of
 * the same owner. */
void parts_check(const call *of, rlock *const *parts);
/* Asks which part the owner holds, and judges the answer. */
void parts_ask(worker *worker, rlock *lock, rlock *const *parts, hold *whole);

#endif

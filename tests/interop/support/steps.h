/* Steps of parity that every kind of lock has: what the party of each side does alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STEPS_H
#define STEPS_H

#include "tests/interop/support/parity.h"

/* Who does them: cast[false] in C, cast[true] in Java. */
extern party *cast[2];
void cast_parties(const lock_kind *kind, const char *name);

void step_lock(bool in_java);
void step_try_5000(bool in_java);      /* without waiting, for 5 s */
void step_lease_3000_twice(bool in_java); /* for 3 s; the second time it is refused */
void step_unlock(bool in_java);
void step_lock_and_unlock(bool in_java);
void step_unlock_twice(bool in_java);
void step_force(bool in_java);

#endif

/* Answers: what a lock's handle says; they fail the test when it does not say. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

bool is_locked(rlock *lock);
bool is_held(rlock *lock);      /* by the calling thread, or the handle's owner */
int hold_count(rlock *lock);    /* of the same */
uint64_t token_of(rlock *lock); /* of the same's hold of a fenced lock */

#endif

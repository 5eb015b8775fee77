/* Red keeper: takes members anew for a red lock over token locks that is held under the watchdog. A server that was
 * down when the lock was taken, or that has come back empty, votes for its owner again, so that the lock survives the
 * loss of the next server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RED_KEEPER_H
#define RLI_RED_KEEPER_H

#include "locks/composite.h"

/* The job, an acquire or a release, begins: what a keeper takes from here on for that owner, until the job has ended,
 * it gives back. Returns the number of the keeper that was told; 0: there is none. */
uint64_t rli_red_call_begins(rli_composite *set, const rli_job *job);
/* The job has ended with that status; `told`: rli_red_call_begins' result. A lock that it has taken under the watchdog
 * is kept until its owner has given it back as often. Where memory or descriptors are short, the lock is held
 * nevertheless, and lost members are not taken anew. */
void rli_red_call_ended(rli_composite *set, const rli_job *job, uint64_t told, rlock_status status);

#endif

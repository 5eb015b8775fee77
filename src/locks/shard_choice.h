/* Shard choice: which part an owner holds by a sharded lock. It may hold others by their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SHARD_CHOICE_H
#define RLI_SHARD_CHOICE_H

#include "locks/composite.h"

/* Returns the part that the owner holds by the sharded lock, and may rely on; NULL: none. */
rlock *rli_shard_held(const rli_composite *set, const rli_owner *owner, size_t *number);
/* The owner has just acquired `part`, in the session with that number: from now on it is the one that it holds by the
 * sharded lock, once more if it did already. Returns it; or another one, which another call of the same owner has
 * acquired: then `part` is to be given back. */
rlock *rli_shard_choose(const rli_composite *set, const rli_owner *owner, rlock *part, uint64_t session_number);
/* How often the owner holds the part by the sharded lock; its holds by the part's name do not count. */
int rli_shard_count(const rli_composite *set, const rli_owner *owner, rlock *part);
/* Whether it does, or has lost such a hold and has not been told of that by an unlock. */
bool rli_shard_is_owed(const rli_composite *set, const rli_owner *owner, rlock *part);
/* How long the owner's hold in the session with that number is valid, whichever part it is on. */
int64_t rli_shard_valid_in(const rli_composite *set, const rli_owner *owner, uint64_t session_number);

#endif

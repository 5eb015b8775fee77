/* HighwayHash: the 128-bit hash by which Redisson names what it hashes, with Redisson's key. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HIGHWAY_HASH_H
#define RLI_HIGHWAY_HASH_H

#include <stddef.h>

#define RLI_HIGHWAY_HASH 16 /* bytes */

/* Writes the hash of `length` bytes to `hash`, as Redisson writes it: two big-endian words. The key is public, so this
 * protects against accidents, not against an attacker who chooses the bytes. */
void rli_highway_hash(const void *bytes, size_t length, unsigned char hash[RLI_HIGHWAY_HASH]);

#endif

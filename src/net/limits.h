/* Limits: how large one reply or message may be.
 *
 * hiredis has no limits: it accepts any length, count and depth that a server announces, and frees nested replies by
 * recursion. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LIMITS_H
#define RLI_LIMITS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

/* Enough for the map of a cluster in which each of the 16384 slots is a range of its own with ten replicas, and for
 * the answer to rlock_inspect() about a lock with half a million waiters. docs/security.md states these numbers. */
#define RLI_REPLY_BYTES    (64 << 20)
#define RLI_REPLY_ELEMENTS (1 << 21)
/* CLUSTER SLOTS answers with arrays nested four deep. hiredis before 1.0 itself refuses more than 7. */
#define RLI_REPLY_DEPTH 7
/* Maximum length of an error, a status or a number: the reader searches such a line from its beginning each time bytes
 * arrive. */
#define RLI_LINE_BYTES (64 << 10)

/* Sets the limits on a new reader. False: out of memory. */
bool rli_limits_set(redisReader *reader);
/* Removes the limits; call it before the reader is freed. Does nothing for a reader without limits. */
void rli_limits_clear(redisReader *reader);

/* Takes the next complete reply; the caller frees it. *reply is NULL if none is complete yet. False: the bytes exceed
 * the limits or are not Redis's protocol. Nothing after them can be read; rli_limits_trouble has the reason. */
bool rli_limits_next(redisReader *reader, redisReply **reply);
/* Why bytes were refused: "arrays nested more than 7 deep". NULL: none were. Static text. */
const char *rli_limits_trouble(const redisReader *reader);

#endif

/* Limits: how much one reply or message may be. hiredis has none: it accepts any length, number and depth that a
 * server announces, and frees nested replies by recursion. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LIMITS_H
#define RLI_LIMITS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

/* Room for the map of a cluster in which each of the 16384 slots is a range with ten replicas of its own, and for the
 * answer to rlock_inspect() about a lock with half a million waiters. docs/security.md names these numbers. */
#define RLI_REPLY_BYTES    (64 << 20)
#define RLI_REPLY_ELEMENTS (1 << 21)
/* CLUSTER SLOTS answers arrays that are nested four deep; hiredis before 1.0 refuses more than this by itself. */
#define RLI_REPLY_DEPTH 7
/* Of an error, a status or a number: the reader searches a line from its beginning each time that bytes arrive. */
#define RLI_LINE_BYTES (64 << 10)

/* Puts limits on a new reader. False: out of memory. */
bool rli_limits_set(redisReader *reader);
/* Takes them off, before the reader is freed. Those of a reader that has none: nothing happens. */
void rli_limits_clear(redisReader *reader);

/* Takes the next complete reply; *reply NULL: there is none yet. False: it exceeds the limits, or is no reply, and nothing
 * that follows is read; rli_limits_trouble says why. */
bool rli_limits_next(redisReader *reader, redisReply **reply);
/* A description of the bytes that were refused: "arrays nested more than 7 deep". NULL: none were. Static text. */
const char *rli_limits_trouble(const redisReader *reader);

#endif

/* Inspection: parses the answer of lua/inspect/look.lua. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_INSPECTION_H
#define RLI_INSPECTION_H

#include <hiredis/hiredis.h>
#include <rlock/inspect.h>
#include <stddef.h>

/* How many bytes of `text` are "<client id>:<number>", with which it must begin; 0: it does not begin with an owner.
 * The client id is a UUID, as Redisson's is. */
size_t rli_owner_length(const char *text, size_t length);

/* Parses `reply` into a new *inspection. RLOCK_OK; RLOCK_SERVER: what is stored under `name` is not a lock,
 * or the reply is not an answer of that script; RLOCK_NO_MEMORY. */
rlock_status rli_inspection_read(const redisReply *reply, const char *name, rlock_inspection **inspection);

#endif

/* An inspection, read from what lua/inspect/look.lua answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_INSPECTION_H
#define RLI_INSPECTION_H

#include <hiredis/hiredis.h>
#include <rlock/inspect.h>

/* RLOCK_OK: *inspection is new. RLOCK_SERVER: what stands under `name` is no lock, or the answer is
 * none of that script. RLOCK_NO_MEMORY. */
rlock_status rli_inspection_read(const redisReply *reply, const char *name, rlock_inspection **inspection);

#endif

/* Permit id: 16 random bytes on the wire, 32 hex digits for the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PERMIT_ID_H
#define RLI_PERMIT_ID_H

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>

#define RLI_PERMIT_ID      16 /* bytes */
#define RLI_PERMIT_ID_TEXT 32 /* digits */

/* Writes `count` new ids to `ids`. RLOCK_OK; RLOCK_UNSUPPORTED: the system has no random bytes. */
rlock_status rli_permit_ids_make(char *ids, size_t count);
/* Writes the digits of an id to `text`, with a terminating NUL. */
void rli_permit_id_show(const char id[RLI_PERMIT_ID], char text[RLI_PERMIT_ID_TEXT + 1]);
/* Reads an id from its digits. Returns false when `text` is not exactly 32 hex digits. */
bool rli_permit_id_read(const char *text, char id[RLI_PERMIT_ID]);

#endif

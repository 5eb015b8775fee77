/* Silent servers: which servers of a lock's parts have not answered, so that they are not asked for each part. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SILENT_SERVERS_H
#define RLI_SILENT_SERVERS_H

#include <rlock/lock.h>
#include <stdbool.h>

#define RLI_SILENT_SERVERS 8 /* that are watched */

/* Begins as zeros. */
typedef struct rli_silent_servers {
    struct {
        const void *node; /* as an identity: it may be gone */
        int parts;
    } all[RLI_SILENT_SERVERS];
} rli_silent_servers;

/* Notes that the server of that part did not answer. */
void rli_silent_servers_note(rli_silent_servers *servers, rlock *part);
/* Whether the server of that part has not answered for so many others that it is not to be asked any more. */
bool rli_silent_servers_has(rli_silent_servers *servers, rlock *part);

#endif

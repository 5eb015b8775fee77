/* The processes of holders and waiters, read from what CLIENT LIST answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PROCESSES_H
#define RLI_PROCESSES_H

#include <rlock/inspect.h>

/* Adds to *inspection each process that has a connection in `list` and is a holder's or a waiter's. RLOCK_OK,
 * RLOCK_NO_MEMORY. */
rlock_status rli_processes_read(rlock_inspection *inspection, const char *list);
void rli_processes_free(rlock_inspection *inspection);

#endif

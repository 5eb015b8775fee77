/* Processes: finds the processes of holders and waiters in the answer of CLIENT LIST. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PROCESSES_H
#define RLI_PROCESSES_H

#include <rlock/inspect.h>

/* Adds to *inspection each process that has a connection in `list` and belongs to a holder or waiter.
 * RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_processes_read(rlock_inspection *inspection, const char *list);
void rli_processes_free(rlock_inspection *inspection);

#endif

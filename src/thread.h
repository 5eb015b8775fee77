/* Library threads: named, and deaf to the program's signals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_THREAD_H
#define RLI_THREAD_H

#include <pthread.h>
#include <rlock/status.h>

/* Starts `body`; `name` has at most 15 bytes. RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument);

#endif

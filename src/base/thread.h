/* Threads of the library's own, named and deaf to the program's signals; and what all threads meet at. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_THREAD_H
#define RLI_THREAD_H

#include <pthread.h>
#include <rlock/status.h>

/* Starts `body`; `name` has at most 15 bytes. RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument);

/* Makes a mutex that is never held for as long as falling asleep takes: who finds it taken first looks
 * again a few times. */
void rli_mutex_init_brief(pthread_mutex_t *mutex);

#endif

/* Watches: threads that sleep until one of several things changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sleeps until one of the things changes (any of them may be NULL), or the instant has come: false. */
bool watch_sleep(const void *const *things, size_t count, int64_t until_ns, const char *what);
/* Wakes each thread that watches the thing. */
void watch_changed(const void *thing);
/* In a forked child: the threads that watched are not there. */
void watches_forget(void);

#endif

/* Stopping a process of the test, which then stands still until the test continues it: tests/support/stopper, which
 * continues what it has stopped, leaves such a process alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_STILL_H
#define STAND_STILL_H

#include <stdbool.h>
#include <sys/types.h>

/* Stops the caller's child, and returns when it stands still. False: it has ended instead. */
bool stand_still(pid_t child);
/* In the child: stops it. */
void stand_still_here(void);
/* Returns when the child has stopped itself so. False: it has ended instead. */
bool stand_still_await(pid_t child);
/* Continues the child; one that is killed while it stands still is continued, too, before or after. */
void stand_still_no_more(pid_t child);

#endif

/* Crossing: holds and waits of C and of Java that are under way when another server becomes the master. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CROSSING_H
#define CROSSING_H

#include <stdint.h>

/* On a stage of several servers: one lock held by C and one by Java, and at each a waiter of C and one of Java,
 * asleep. Both names are served by the server that serves `beside`. */
void crossing_begin(const char *beside);
/* They hold it still, and nobody else does: gives both back, and waits until each waiter has been served, one after the
 * other. Shows when. */
void crossing_end(void);

#endif

/* Parts: operations without a thread that are parts of one whole and wait at the same time, each at its own parker.
 * A part that is woken is put on the list of its whole, and the whole is woken, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PARTS_H
#define RLI_PARTS_H

#include "base/park.h"

#include <pthread.h>

typedef struct rli_parts {
    /* Held while a part is put on the list and the whole is woken. The thread that carries out the
     * whole takes parts from the list under it, so nobody touches the whole any more when its last part was taken and
     * has ended. */
    pthread_mutex_t mutex;
    rli_parker *last;  /* the part that was put there last; it leads to the one before */
    rli_parker *whole; /* an operation without a thread, too */
} rli_parts;

void rli_parts_init(rli_parts *parts, rli_parker *whole);
/* All parts must have ended. */
void rli_parts_destroy(rli_parts *parts);

/* Adds a parker that was woken, and wakes the whole. Any thread, with any mutex held. */
void rli_parts_add(rli_parts *parts, rli_parker *parker);
/* Takes all parkers from the list, and returns one of them, which leads to the next; NULL: none. The caller, who
 * carries out the whole, must rli_parker_resume each, and carry its operation out. */
rli_parker *rli_parts_take(rli_parts *parts);

#endif

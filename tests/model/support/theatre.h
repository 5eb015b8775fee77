/* Theatre: what a run of a sequence has to itself: a name that no run before it had, so that nothing of
 * those reaches it, and two clients. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef THEATRE_H
#define THEATRE_H

#include "tests/model/support/sequence.h"

#include <rlock/client.h>

extern struct theatre {
    char name[32];
    rlock_client *clients[2]; /* NULL: another stands in for it */
} theatre;

/* Empties the server; opens those clients for which nobody else stands in. */
void theatre_open(bool stand_in_first, bool stand_in_second);
void theatre_close(void);

/* What somebody else than the library does as a client, to an object that is no lock. `ids`: of permits,
 * `count` of them: where those acquired go, or those to be released. */
typedef outcome object_stand_in(const move *step, const char *name, char (*ids)[33], int count);

#endif

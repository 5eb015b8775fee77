/* Locks as a subject of sequences: two clients with two owners each, on one name, with locks of one
 * interface. A client is one of C's, or one that stands in for it, such as Redisson. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOCK_SUBJECT_H
#define LOCK_SUBJECT_H

#include "tests/model/support/lock_model.h"

#define CAST_KINDS 5

/* What a stand-in's lock of that kind and name does. */
typedef outcome stand_in(const move *step, const kind *of, const char *name);

typedef struct lock_cast {
    const char *name;
    const kind *kinds[CAST_KINDS]; /* each step is one's */
    int kind_count;
    stand_in *act[2];              /* of each client; NULL: C's library */
    const char *(*id)(void);       /* the client id of a stand-in */
} lock_cast;

/* As assert_as_modelled. One cast a test. */
void assert_locks_as_modelled(const lock_cast *cast, int count, int length);

#endif

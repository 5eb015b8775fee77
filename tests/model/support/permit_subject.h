/* The permit-expirable semaphore as a subject of sequences. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERMIT_SUBJECT_H
#define PERMIT_SUBJECT_H

#include "tests/model/support/theatre.h"

#define PERMITS_AT_ONCE 3

typedef enum permit_operation {
    PERMIT_PASS = MOVE_PASS,
    PERMIT_TRY_SET,
    PERMIT_SET,
    PERMIT_ADD,
    PERMIT_TRY, /* some, without waiting */
    PERMIT_RELEASE,
    PERMIT_TRY_RELEASE,
    PERMIT_RELEASE_MANY,
    PERMIT_TRY_RELEASE_MANY,
    PERMIT_UPDATE_LEASE,
    PERMIT_GET_LEASE,
    PERMIT_AVAILABLE,
    PERMIT_ACQUIRED,
    PERMIT_TOTAL,
    PERMIT_DELETE,
    PERMIT_OPERATIONS
} permit_operation;

/* As assert_as_modelled; who stands in for either client, or NULL. */
void assert_permits_as_modelled(object_stand_in *first, object_stand_in *second, int count, int length);

#endif

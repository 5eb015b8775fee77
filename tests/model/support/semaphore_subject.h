/* The semaphore as a subject of sequences. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEMAPHORE_SUBJECT_H
#define SEMAPHORE_SUBJECT_H

#include "tests/model/support/theatre.h"

typedef enum semaphore_operation {
    SEMAPHORE_PASS = MOVE_PASS,
    SEMAPHORE_TRY_SET,
    SEMAPHORE_TRY_SET_TTL,
    SEMAPHORE_TRY, /* without waiting */
    SEMAPHORE_ACQUIRE,
    SEMAPHORE_RELEASE,
    SEMAPHORE_RELEASE_IF_EXISTS,
    SEMAPHORE_ADD,
    SEMAPHORE_DRAIN,
    SEMAPHORE_AVAILABLE,
    SEMAPHORE_DELETE,
    SEMAPHORE_OPERATIONS
} semaphore_operation;

/* As assert_as_modelled; who stands in for either client, or NULL. */
void assert_semaphore_as_modelled(object_stand_in *first, object_stand_in *second, int count, int length);

#endif

/* The count-down latch as a subject of sequences. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCH_SUBJECT_H
#define LATCH_SUBJECT_H

#include "tests/model/support/theatre.h"

typedef enum latch_operation {
    LATCH_TRY_SET = MOVE_PASS + 1,
    LATCH_COUNT_DOWN,
    LATCH_GET_COUNT,
    LATCH_TRY_AWAIT, /* without waiting */
    LATCH_AWAIT,
    LATCH_DELETE,
    LATCH_OPERATIONS
} latch_operation;

/* As assert_as_modelled; who stands in for either client, or NULL. */
void assert_latch_as_modelled(object_stand_in *first, object_stand_in *second, int count, int length);

#endif

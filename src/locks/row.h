/* Row: the members of a composite in the order in which they are taken: one of them first, then the others in an
 * order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ROW_H
#define RLI_ROW_H

#include "locks/composite.h"

typedef struct rli_row {
    rlock *const *order;
    size_t lead; /* index in `order` of the first */
} rli_row;

/* Returns where the row's i-th member stands in the order. */
static inline size_t rli_row_index(const rli_row *row, size_t i)
{
    return i == 0 ? row->lead : i <= row->lead ? i - 1 : i;
}

static inline rlock *rli_row_at(const rli_row *row, size_t i)
{
    return row->order[rli_row_index(row, i)];
}

/* Returns how many members from the i-th on (step 1), or before it (-1), of `most`, are of one client. */
static inline size_t rli_row_reach(const rli_row *row, size_t i, size_t most, int step)
{
    const rlock_client *client = rli_composite_client_of(rli_row_at(row, i));
    size_t count = 1;
    while (count < most && rli_composite_client_of(rli_row_at(row, step > 0 ? i + count : i - count)) == client)
        count++;
    return count;
}

#endif

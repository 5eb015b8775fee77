/* Parts: operations without a thread that are parts of one whole and wait at the same time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parts.h"

#include <stddef.h>

void rli_parts_init(rli_parts *parts, rli_parker *whole)
{
    pthread_mutex_init(&parts->mutex, NULL);
    parts->last = NULL;
    parts->whole = whole;
}

void rli_parts_destroy(rli_parts *parts)
{
    pthread_mutex_destroy(&parts->mutex);
}

void rli_parts_add(rli_parts *parts, rli_parker *parker)
{
    pthread_mutex_lock(&parts->mutex);
    parker->next = parts->last;
    parts->last = parker;
    rli_unpark(parts->whole);
    pthread_mutex_unlock(&parts->mutex);
}

rli_parker *rli_parts_take(rli_parts *parts)
{
    pthread_mutex_lock(&parts->mutex);
    rli_parker *first = parts->last;
    parts->last = NULL;
    pthread_mutex_unlock(&parts->mutex);
    return first;
}

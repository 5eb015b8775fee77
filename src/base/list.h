/* Linked lists of items that carry their own `next` and `previous`.
 *
 * RLI_LIST_* keeps items in no order; `first` points to the first one. RLI_QUEUE_* keeps items in the order in which
 * they were appended; `queue` has the fields `first` and `last`. The macros may evaluate their arguments more than
 * once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_LIST_H
#define RLI_LIST_H

#include <stddef.h>

#define RLI_LIST_ADD(first, item)                                                                                      \
    do {                                                                                                               \
        (item)->previous = NULL;                                                                                       \
        (item)->next = (first);                                                                                        \
        if ((item)->next)                                                                                              \
            (item)->next->previous = (item);                                                                           \
        (first) = (item);                                                                                              \
    } while (0)

#define RLI_LIST_REMOVE(first, item)                                                                                   \
    do {                                                                                                               \
        if ((item)->next)                                                                                              \
            (item)->next->previous = (item)->previous;                                                                 \
        if ((item)->previous)                                                                                          \
            (item)->previous->next = (item)->next;                                                                     \
        else                                                                                                           \
            (first) = (item)->next;                                                                                    \
    } while (0)

#define RLI_QUEUE_APPEND(queue, item)                                                                                  \
    do {                                                                                                               \
        (item)->previous = (queue)->last;                                                                              \
        (item)->next = NULL;                                                                                           \
        if ((queue)->last)                                                                                             \
            (queue)->last->next = (item);                                                                              \
        else                                                                                                           \
            (queue)->first = (item);                                                                                   \
        (queue)->last = (item);                                                                                        \
    } while (0)

#define RLI_QUEUE_REMOVE(queue, item)                                                                                  \
    do {                                                                                                               \
        if ((item)->previous)                                                                                          \
            (item)->previous->next = (item)->next;                                                                     \
        else                                                                                                           \
            (queue)->first = (item)->next;                                                                             \
        if ((item)->next)                                                                                              \
            (item)->next->previous = (item)->previous;                                                                 \
        else                                                                                                           \
            (queue)->last = (item)->previous;                                                                          \
    } while (0)

/* `item`, a copy of an item of the queue, takes the place of that. */
#define RLI_QUEUE_REPLACE(queue, item)                                                                                 \
    do {                                                                                                               \
        if ((item)->previous)                                                                                          \
            (item)->previous->next = (item);                                                                           \
        else                                                                                                           \
            (queue)->first = (item);                                                                                   \
        if ((item)->next)                                                                                              \
            (item)->next->previous = (item);                                                                           \
        else                                                                                                           \
            (queue)->last = (item);                                                                                    \
    } while (0)

#endif

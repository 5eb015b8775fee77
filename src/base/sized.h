/* Structs that say how long they are, as programs built with headers of any version hand them over. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SIZED_H
#define RLI_SIZED_H

#include <rlock/status.h>
#include <stddef.h>

/* A struct whose first field is `size_t size`. It only ever grows at its end, where each field begins as the one before
 * it ends, so that no padding of an older program is taken for a newer field. */
typedef struct rli_sized {
    const char *what;  /* for messages: "options" */
    const char *start; /* what sets the size: "RLOCK_LOCK_OPTIONS_INIT" */
    size_t first;      /* its size in the first release */
    size_t known;      /* in this one */
} rli_sized;

/* `last` was the last field of the first release. */
#define RLI_SIZED(type, last, what, start)                                                                             \
    {                                                                                                                  \
        what, start, offsetof(type, last) + sizeof(((type *)0)->last), sizeof(type)                                    \
    }

/* Copies into `full`, which has the defaults, the fields that `given` has; of a newer program, those that this library
 * knows: the others must be 0, since they ask for what cannot be done here. full->size becomes given->size.
 * RLOCK_OK; RLOCK_INVALID: `given` is NULL, its size is that of no version, or a field that is not known is not 0. */
rlock_status rli_sized_read(void *full, const void *given, const rli_sized *sized);

#endif

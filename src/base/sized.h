/* Structs that carry their own size, so that programs built with other versions of the headers can pass them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SIZED_H
#define RLI_SIZED_H

#include <rlock/status.h>
#include <stddef.h>

/* Describes a struct whose first field is `size_t size`. Such a struct only grows at its end, and each new field
 * begins where the previous one ends: padding in an older program's struct must not be mistaken for a newer field. */
typedef struct rli_sized {
    const char *what;  /* its name in messages: "options" */
    const char *start; /* the initializer that sets the size: "RLOCK_LOCK_OPTIONS_INIT" */
    size_t first;      /* its size in the first release */
    size_t known;      /* its size in this release */
} rli_sized;

/* Initializer of an rli_sized for `type`; `last` was the last field of the first release. */
#define RLI_SIZED(type, last, what, start)                                                                             \
    {                                                                                                                  \
        what, start, offsetof(type, last) + sizeof(((type *)0)->last), sizeof(type)                                    \
    }

/* Copies the fields that `given` has into `full`, which the caller has filled with the defaults. `given` may be larger
 * than this library's struct; the fields beyond must then be 0, because they ask for something that this library
 * cannot do. full->size becomes given->size.
 *
 * RLOCK_OK; RLOCK_INVALID: `given` is NULL, its size fits no version, or an unknown field is not 0. */
rlock_status rli_sized_read(void *full, const void *given, const rli_sized *sized);

#endif

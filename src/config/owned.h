/* Owned: the memory that belongs to a config, and the warnings about its files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OWNED_H
#define RLI_OWNED_H

#include <rlock/status.h>
#include <stddef.h>

typedef struct rli_owned rli_owned;

/* NULL: out of memory. Everything that the functions below return lives until rli_owned_free(), which allows NULL. */
rli_owned *rli_owned_new(void);
void rli_owned_free(rli_owned *owned);

/* Allocates zeroed memory, or copies a string; NULL: out of memory. */
void *rli_owned_memory(rli_owned *owned, size_t size);
char *rli_owned_text(rli_owned *owned, const char *text, size_t length);

/* Adds a line to the warnings. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_owned_warn(rli_owned *owned, const char *line);
/* All warnings, each with its newline; "": none. */
const char *rli_owned_warnings(const rli_owned *owned);

/* Moves the memory of `older` (NULL: nothing to do) to `newer`, puts its warnings before those of `newer`,
 * and frees `older`. RLOCK_OK; RLOCK_NO_MEMORY: nothing changed. */
rlock_status rli_owned_join(rli_owned *newer, rli_owned *older);

#endif

/* What a config got from files: memory that goes with it, and warnings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OWNED_H
#define RLI_OWNED_H

#include <rlock/status.h>
#include <stddef.h>

typedef struct rli_owned rli_owned;

/* NULL: out of memory. Everything that is given out lives until rli_owned_free(); NULL is allowed there. */
rli_owned *rli_owned_new(void);
void rli_owned_free(rli_owned *owned);

/* Zeroed memory, and a copied text; NULL: out of memory. */
void *rli_owned_memory(rli_owned *owned, size_t size);
char *rli_owned_text(rli_owned *owned, const char *text, size_t length);

/* Adds a line. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_owned_warn(rli_owned *owned, const char *line);
/* All lines, each with its newline. */
const char *rli_owned_warnings(const rli_owned *owned);

/* `newer` takes over what `older` (NULL: nothing) gave out and its warnings, which go first; frees it. */
rlock_status rli_owned_join(rli_owned *newer, rli_owned *older);

#endif

/* Which name may have been meant by one that is unknown. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HINT_H
#define RLI_HINT_H

#include <stddef.h>

/* The i-th of the names that there are; NULL behind the last. */
typedef const char *rli_names_fn(size_t i);

/* ` (did you mean "timeout"?)`, or "" when none of the names is much like `name`. */
#define RLI_HINT_SHOWN 80
const char *rli_hint(const char *name, rli_names_fn *names, char shown[RLI_HINT_SHOWN]);

#endif

/* Hint: the known name that an unknown name may have been meant to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HINT_H
#define RLI_HINT_H

#include <stddef.h>

/* The i-th known name; NULL after the last one. */
typedef const char *rli_names_fn(size_t i);

/* Writes ` (did you mean "timeout"?)` to `shown`, or "" if no known name is similar to `name`. Returns `shown`. */
#define RLI_HINT_SHOWN 80
const char *rli_hint(const char *name, rli_names_fn *names, char shown[RLI_HINT_SHOWN]);

#endif

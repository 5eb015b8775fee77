/* Chance, to keep callers apart that would otherwise come back together. Not for secrets. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RANDOM_H
#define RLI_RANDOM_H

#include <stdint.h>

/* From 0 to `most`. Any thread. */
int64_t rli_random_up_to(int64_t most);

#endif

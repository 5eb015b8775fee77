/* Randomness that keeps threads from retrying all at the same moment. Not for secrets. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_RANDOM_H
#define RLI_RANDOM_H

#include <stdint.h>

/* A number from 0 to `most`, inclusive. Any thread. */
int64_t rli_random_up_to(int64_t most);

#endif

/* Names of hosts, and what they stand for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include <stdint.h>

/* From now on the name stands for these addresses (NULL-terminated; none: it is not known), which takes so long to find
 * out. */
void name_means(const char *name, const char *const *addresses, int64_t takes_ns);

#endif

/* Slots: which part of a cluster a key belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SLOT_H
#define RLI_SLOT_H

#include <stddef.h>

#define RLI_SLOTS 16384

/* The slot of a key, from 0: by what stands between its first { and the next }, if anything does. */
unsigned rli_slot_of(const char *key, size_t length);

#endif

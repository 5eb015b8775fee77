/* Slots: which part of a cluster a key belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SLOT_H
#define RLI_SLOT_H

#include <stddef.h>

#define RLI_SLOTS 16384

/* The slot of a key, 0 to RLI_SLOTS - 1. If the text between the first { and the next } is not empty, only that text
 * counts. */
unsigned rli_slot_of(const char *key, size_t length);

#endif

/* Sends that fail in the middle, as they do when the kernel is short of memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_SENDING_H
#define FAULT_SENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next send() of this process whose bytes begin with `start` sends `length` of them; the one after that on the same
 * descriptor fails with `error`. Once. */
void sending_fails(const char *start, size_t length, int error);
/* Waits until it has. False: not within ms. */
bool sending_has_failed(int64_t ms);

#endif

/* Names that are awkward for somebody on the way: in C, in Java, in the server or on the wire. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

extern const size_t name_count;
const char *name_at(size_t i);

#endif

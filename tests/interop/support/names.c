/* Names that are awkward for somebody on the way: in C, in Java, in the server or on the wire. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/names.h"

#define LONG_NAME_BYTES 4096

static char long_name[LONG_NAME_BYTES + 1];

static const char *const names[] = {
    "order:42",
    "a{x}b",
    "{whole}",
    "a{b",
    "a}b",
    " two words and  two blanks ",
    "Schlo\xc3\x9f \xe9\x94\x81 \xf0\x9f\x94\x92",
    "100%s%d%n+%20",
    "quote\"'\\back*[a-z]?",
    "line\r\nbreak\ttab",
    long_name,
};
const size_t name_count = sizeof names / sizeof *names;

const char *name_at(size_t i)
{
    for (size_t at = 0; at < LONG_NAME_BYTES; at++)
        long_name[at] = (char)('a' + at % 26);
    return names[i];
}

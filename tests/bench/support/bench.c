/* The bench: what every row of the report is measured with. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/bench.h"

#include <string.h>

bool bench_has_word(const char *words, const char *word)
{
    size_t wanted = strlen(word);
    for (const char *at = words; at; at = *at ? at + 1 : NULL) {
        size_t length = strcspn(at, ",");
        if (length == wanted && memcmp(at, word, length) == 0)
            return true;
        at += length;
    }
    return false;
}

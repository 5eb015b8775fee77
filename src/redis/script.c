/* A script's text, put together from what is embedded of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"

#include <stdlib.h>

/* Writes it at `to`, or only counts where that is NULL. */
static size_t unpack(const char *packed, rli_spread spread, char *to)
{
    size_t length = 0;
    for (; *packed; packed++) {
        const unsigned char byte = (unsigned char)*packed;
        if (byte < 128) {
            if (to)
                to[length] = *packed;
            length++;
            continue;
        }
        const unsigned part = byte - 128U;
        const char *text =
            part < RLI_SCRIPT_FORMS ? rli_script_forms[part][spread] : rli_script_includes[part - RLI_SCRIPT_FORMS];
        length += unpack(text, spread, to ? to + length : NULL);
    }
    return length;
}

char *rli_script_text(const rli_script *script, rli_spread spread, size_t *length)
{
    *length = unpack(script->packed, spread, NULL);
    char *text = malloc(*length + 1);
    if (text) {
        unpack(script->packed, spread, text);
        text[*length] = 0;
    }
    return text;
}

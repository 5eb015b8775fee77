/* Scripts: assembles a script's text from its embedded parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/script.h"

#include <stdlib.h>

/* Writes the text to `to` (NULL: only counts). Returns its length. */
static size_t unpack(const char *packed, rli_pubsub_mode pubsub_mode, char *to)
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
        const char *text = part < RLI_SCRIPT_FORMS ? rli_script_forms[part][pubsub_mode]
                                                   : rli_script_includes[part - RLI_SCRIPT_FORMS];
        length += unpack(text, pubsub_mode, to ? to + length : NULL);
    }
    return length;
}

char *rli_script_text(const rli_script *script, rli_pubsub_mode pubsub_mode, size_t *length)
{
    *length = unpack(script->packed, pubsub_mode, NULL);
    char *text = malloc(*length + 1);
    if (text) {
        unpack(script->packed, pubsub_mode, text);
        text[*length] = 0;
    }
    return text;
}

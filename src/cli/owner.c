/* Owner: the parts of an owner's text on the server, "<client id>:<number>". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/owner.h"

#include "cli/message.h"

#include <string.h>

size_t owner_client_length(const char *owner)
{
    const char *colon = strrchr(owner, ':');
    return colon ? (size_t)(colon - owner) : strlen(owner);
}

const char *owner_number(const char *owner)
{
    const char *number = owner + owner_client_length(owner);
    number += *number == ':';
    size_t digits = strspn(number, "0123456789");
    return digits && digits < 20 && !number[digits] && (*number != '0' || digits == 1) ? number : NULL;
}

void owner_print(FILE *out, const char *owner)
{
    const char *number = owner_number(owner);
    size_t length = owner_client_length(owner);
    char client[64];
    fputs("client ", out);
    if (!number || length >= sizeof client) {
        print_shown(out, owner);
        return;
    }
    memcpy(client, owner, length);
    client[length] = 0;
    print_shown(out, client);
    fprintf(out, ", number %s", number);
}

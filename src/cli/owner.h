/* Owner: the parts of an owner's text on the server, "<client id>:<number>". */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OWNER_H
#define CLI_OWNER_H

#include <stdio.h>

/* The length of the client id; the whole length if the text is not of this form. */
size_t owner_client_length(const char *owner);
/* The digits of the number, inside `owner`; NULL: it has none. */
const char *owner_number(const char *owner);

/* Prints "client <id>, number <n>". */
void owner_print(FILE *out, const char *owner);

#endif
